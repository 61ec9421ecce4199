package kind

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// ReactFacts describe the work of ReAct agents, including those that were delegated to.
// All are 0 where none ran.
type ReactFacts struct {
	// Iterations counts those of all agents, Refused those whose step was refused, by rule.
	Iterations int            `cel:"iterations" json:"iterations"`
	Refused    map[string]int `cel:"refused" json:"refused,omitempty"`
	// Actions counts the actions that were carried out, by name; Failed those that failed,
	// by rule.
	Actions map[string]int `cel:"actions" json:"actions,omitempty"`
	Failed  map[string]int `cel:"failed" json:"failed,omitempty"`
	// Read and Written count files, each time that they are read or written.
	Read    int `cel:"read" json:"read"`
	Written int `cel:"written" json:"written"`
	// Reflections counts the judged reflections, Complacent those that cite nothing.
	Reflections int `cel:"reflections" json:"reflections"`
	Complacent  int `cel:"complacent" json:"complacent"`
	// Verifications counts chains of verification, Unverified those in which a part failed.
	// Verified is true if the last chain passed, on more evidence than the agent's claim.
	Verifications int  `cel:"verifications" json:"verifications"`
	Unverified    int  `cel:"unverified" json:"unverified"`
	Verified      bool `cel:"verified" json:"verified"`
	// Asked counts questions to a person, Answered those with an answer, and Triggers the
	// reasons to escalate, by name.
	Asked    int            `cel:"asked" json:"asked"`
	Answered int            `cel:"answered" json:"answered"`
	Triggers map[string]int `cel:"triggers" json:"triggers,omitempty"`
	// Delegations counts delegations by the receiving agent; Depth is the deepest one; Cut
	// counts those that a cycle or the limit on the depth forbade.
	Delegations map[string]int `cel:"delegations" json:"delegations,omitempty"`
	Depth       int            `cel:"depth" json:"depth"`
	Cut         int            `cel:"cut" json:"cut"`
	// Stuck is the number of times that an agent went round in circles.
	Stuck int `cel:"stuck" json:"stuck"`
}

// The names of the events of agents/react from which facts are read.
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
