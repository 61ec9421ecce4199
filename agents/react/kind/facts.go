package kind

import (
	"github.com/rehearse-dev/rehearse/agents/react"
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

func factsOf(_ *record.Scenario, tr *record.Trial, _ *measure.Facts) any {
	f := &ReactFacts{}
	for i := range tr.Events {
		e := &tr.Events[i].Event
		f.add(e)
		if e.Kind == event.Guard {
			f.guard(e.Name)
		}
	}
	return f
}

// add adds an event of an agent.
func (f *ReactFacts) add(e *event.Event) {
	if it, ok := event.Read[react.Iterated](e); ok {
		f.Iterations++
		if it.Refused != "" {
			measure.Increment(&f.Refused, it.Refused)
		}
	}
	if act, ok := event.Read[react.Acted](e); ok {
		measure.Increment(&f.Actions, act.Action)
		if act.Failed {
			measure.Increment(&f.Failed, act.Rule)
		}
		f.Read += act.Read
		f.Written += act.Written
	}
	if reflection, ok := event.Read[react.Reflected](e); ok {
		f.Reflections++
		if !reflection.Critical {
			f.Complacent++
		}
	}
	if output, ok := event.Read[react.Verified](e); ok {
		f.Verifications++
		f.Verified = output.Verified
		if !output.Passed {
			f.Unverified++
		}
	}
	// A supervisor hands over to a person, too, without an answer.
	if asked, ok := event.Read[react.AskedPerson](e); ok && e.Attrs["answered"] != nil {
		f.asked(asked)
	}
	if to, ok := event.Read[react.Delegated](e); ok {
		measure.Increment(&f.Delegations, to.To)
		f.Depth = max(f.Depth, to.Depth)
	}
}

func (f *ReactFacts) asked(a react.AskedPerson) {
	f.Asked++
	if a.Answered {
		f.Answered++
	}
	if a.Trigger != "" {
		measure.Increment(&f.Triggers, a.Trigger)
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
