package kind

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// ReactFacts are what ReAct agents did, those that were delegated to included, as
// they told. All are 0 where none ran.
type ReactFacts struct {
	// Iterations are those of all agents; Refused the ones whose step was not accepted, by rule.
	Iterations int            `cel:"iterations" json:"iterations"`
	Refused    map[string]int `cel:"refused" json:"refused,omitempty"`
	// Actions are those that were done, by name; Failed those that could not be done, by rule.
	Actions map[string]int `cel:"actions" json:"actions,omitempty"`
	Failed  map[string]int `cel:"failed" json:"failed,omitempty"`
	// Read and Written are files, one counted again each time.
	Read    int `cel:"read" json:"read"`
	Written int `cel:"written" json:"written"`
	// Reflections are those that were judged, Complacent the ones that cite nothing.
	Reflections int `cel:"reflections" json:"reflections"`
	Complacent  int `cel:"complacent" json:"complacent"`
	// Verifications are chains of verification, Unverified those with a part that
	// does not hold. Verified is true if the last one held by more than the agent's word.
	Verifications int  `cel:"verifications" json:"verifications"`
	Unverified    int  `cel:"unverified" json:"unverified"`
	Verified      bool `cel:"verified" json:"verified"`
	// Asked are questions to a person, Answered those with an answer; Triggers the
	// reasons to escalate, by name.
	Asked    int            `cel:"asked" json:"asked"`
	Answered int            `cel:"answered" json:"answered"`
	Triggers map[string]int `cel:"triggers" json:"triggers,omitempty"`
	// Delegations are by the agent that was handed over to; Depth is how deep they went;
	// Cut are those that a cycle or the bound on depth forbade.
	Delegations map[string]int `cel:"delegations" json:"delegations,omitempty"`
	Depth       int            `cel:"depth" json:"depth"`
	Cut         int            `cel:"cut" json:"cut"`
	// Stuck is how often an agent went round in circles.
	Stuck int `cel:"stuck" json:"stuck"`
}

// The names of events that facts are read from; agents/react tells them.
const (
	reactName        = "react"
	actionName       = "action"
	reflectionName   = "reflection"
	verificationName = "verification"
	personName       = "person"
	agentName        = "agent"
)

func factsOf(_ *record.Scenario, tr *record.Trial, _ *measure.Facts) any {
	f := &ReactFacts{}
	for i := range tr.Events {
		e := &tr.Events[i].Event
		switch {
		case e.Kind == event.Iteration && e.Name == reactName:
			f.iteration(e.Attrs)
		case e.Kind == event.State && e.Name == actionName:
			f.action(e.Attrs)
		case e.Kind == event.Verdict && e.Name == reflectionName:
			f.Reflections++
			if e.Attrs["critical"] != true {
				f.Complacent++
			}
		case e.Kind == event.Verdict && e.Name == verificationName:
			f.verification(e.Attrs)
		case e.Kind == event.HandOver && e.Name == personName && e.Attrs["answered"] != nil:
			f.person(e.Attrs)
		case e.Kind == event.HandOver && e.Name == agentName:
			to, _ := e.Attrs["to"].(string)
			measure.Increment(&f.Delegations, to)
			f.Depth = max(f.Depth, measure.Int(e.Attrs["depth"]))
		case e.Kind == event.Guard:
			f.guard(e.Name)
		}
	}
	return f
}

func (f *ReactFacts) iteration(attrs map[string]any) {
	f.Iterations++
	if rule, _ := attrs["refused"].(string); rule != "" {
		measure.Increment(&f.Refused, rule)
	}
}

func (f *ReactFacts) action(attrs map[string]any) {
	name, _ := attrs["action"].(string)
	measure.Increment(&f.Actions, name)
	if attrs["failed"] == true {
		rule, _ := attrs["rule"].(string)
		measure.Increment(&f.Failed, rule)
	}
	f.Read += measure.Int(attrs["read"])
	f.Written += measure.Int(attrs["written"])
}

func (f *ReactFacts) verification(attrs map[string]any) {
	f.Verifications++
	f.Verified = attrs["verified"] == true
	if attrs["passed"] != true {
		f.Unverified++
	}
}

func (f *ReactFacts) person(attrs map[string]any) {
	f.Asked++
	if attrs["answered"] == true {
		f.Answered++
	}
	if trigger, _ := attrs["trigger"].(string); trigger != "" {
		measure.Increment(&f.Triggers, trigger)
	}
}

func (f *ReactFacts) guard(name string) {
	switch name {
	case "delegation-cycle", "delegation-depth":
		f.Cut++
	case "stuck":
		f.Stuck++
	}
}
