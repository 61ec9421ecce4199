package kind

import (
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// ReactFacts are the facts about ReAct agents and their delegates; zero if none ran.
type ReactFacts struct {
	// Iterations counts the iterations of all agents, Refused the refused steps by rule.
	Iterations int            `cel:"iterations" json:"iterations"`
	Refused    map[string]int `cel:"refused" json:"refused,omitempty"`
	// Actions counts actions by name, Failed failed actions by rule.
	Actions map[string]int `cel:"actions" json:"actions,omitempty"`
	Failed  map[string]int `cel:"failed" json:"failed,omitempty"`
	// Read and Written count reads and writes of files.
	Read    int `cel:"read" json:"read"`
	Written int `cel:"written" json:"written"`
	// Reflections counts the judged reflections, Complacent the complacent ones.
	Reflections int `cel:"reflections" json:"reflections"`
	Complacent  int `cel:"complacent" json:"complacent"`
	// Verifications counts verifications, Unverified the failed ones. Verified is true if the last
	// one passed on more evidence than the claim of the agent.
	Verifications int  `cel:"verifications" json:"verifications"`
	Unverified    int  `cel:"unverified" json:"unverified"`
	Verified      bool `cel:"verified" json:"verified"`
	// Asked counts questions to a person, Answered the answered ones, and Triggers the reasons to
	// escalate by name.
	Asked    int            `cel:"asked" json:"asked"`
	Answered int            `cel:"answered" json:"answered"`
	Triggers map[string]int `cel:"triggers" json:"triggers,omitempty"`
	// Delegations counts delegations by the receiving agent; Depth is the deepest one; Cut counts
	// delegations refused because of a cycle or the limit of depth.
	Delegations map[string]int `cel:"delegations" json:"delegations,omitempty"`
	Depth       int            `cel:"depth" json:"depth"`
	Cut         int            `cel:"cut" json:"cut"`
	// Stuck counts agents that were stuck.
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
