package kind_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// factsOf are the facts of a trial in which these events were emitted.
func factsOf(events ...event.Event) *kind.ReactFacts {
	var tr record.Trial
	for _, e := range events {
		tr.Events = append(tr.Events, record.Event{Event: e})
	}
	f := measure.Trial(record.Scenario{}, tr, nil, []measure.Extension{kind.Extension()})
	return f.Extensions["react"].(*kind.ReactFacts)
}

func newEvent(kind event.Kind, name string, attrs map[string]any) event.Event {
	return event.Event{Kind: kind, Name: name, Detail: "because", Attrs: attrs}
}

// values are measures by name.
func values(all []measure.Value) map[string]float64 {
	out := map[string]float64{}
	for _, v := range all {
		if v.Value != nil {
			out[v.Name] = *v.Value
		}
	}
	return out
}

type attrs = map[string]any

var _ = Describe("The facts of ReAct agents", Label("H-04"), func() {
	It("are read from the emitted events only", func() {
		f := factsOf(
			newEvent(event.Iteration, "react", attrs{"refused": "thought-required"}),
			newEvent(event.Iteration, "react", attrs{"refused": ""}),
			newEvent(event.Iteration, "task", nil),
			newEvent(event.State, "action", attrs{"action": "search", "failed": false, "read": 2.0, "written": 0.0}),
			newEvent(event.State, "action", attrs{"action": "generate", "failed": true, "rule": "outside-workspace", "written": 1}),
			newEvent(event.Verdict, "reflection", attrs{"critical": true}), newEvent(event.Verdict, "reflection", attrs{"critical": false}),
			newEvent(event.Verdict, "verification", attrs{"passed": false}), newEvent(event.Verdict, "verification", attrs{"passed": true, "verified": true}),
			newEvent(event.HandOver, "person", attrs{"answered": true, "trigger": ""}),
			newEvent(event.HandOver, "person", attrs{"answered": false, "trigger": "ambiguity"}),
			newEvent(event.HandOver, "person", nil), // a supervisor's
			newEvent(event.HandOver, "agent", attrs{"to": "helper", "depth": 1.0}),
			newEvent(event.HandOver, "agent", attrs{"to": "helper", "depth": 2.0}),
			newEvent(event.Guard, "delegation-cycle", nil), newEvent(event.Guard, "delegation-depth", nil), newEvent(event.Guard, "stuck", nil),
		)
		Expect(f).To(Equal(&kind.ReactFacts{
			Iterations: 2, Refused: map[string]int{"thought-required": 1},
			Actions: map[string]int{"search": 1, "generate": 1}, Failed: map[string]int{"outside-workspace": 1}, Read: 2, Written: 1,
			Reflections: 2, Complacent: 1, Verifications: 2, Unverified: 1, Verified: true,
			Asked: 2, Answered: 1, Triggers: map[string]int{"ambiguity": 1},
			Delegations: map[string]int{"helper": 2}, Depth: 2, Cut: 2, Stuck: 1,
		}))
	})

	It("are added up, with rates over what they are of", func() {
		t := measure.NewAgentTotals([]measure.Extension{kind.Extension()})
		t.Add(&measure.Facts{Run: measure.RunFacts{Status: "done"}, Extensions: map[string]any{"react": &kind.ReactFacts{}}}) // no ReAct agent
		Expect(t.Close()).To(BeEmpty())
		for _, status := range []string{"done", "escalate", "complete", "blocked"} {
			t.Add(&measure.Facts{Run: measure.RunFacts{Status: status}, Extensions: map[string]any{"react": &kind.ReactFacts{
				Iterations: 5, Refused: map[string]int{"a": 1, "b": 1}, Actions: map[string]int{"search": 4}, Failed: map[string]int{"x": 1},
				Reflections: 4, Complacent: 1, Verifications: 2, Unverified: 1, Asked: 1, Triggers: map[string]int{"ambiguity": 1},
				Delegations: map[string]int{"helper": 3}, Cut: 2, Stuck: 1,
			}}})
		}
		Expect(values(t.Close().All())).To(And(
			HaveKeyWithValue("react_done_rate", 0.5), HaveKeyWithValue("react_refused_step_rate", 0.4),
			HaveKeyWithValue("react_failed_action_rate", 0.25), HaveKeyWithValue("react_complacent_rate", 0.25),
			HaveKeyWithValue("react_unverified_rate", 0.5), HaveKeyWithValue("react_escalations", 4.0),
			HaveKeyWithValue("react_cut_delegations", 8.0), HaveKeyWithValue("react_stuck", 4.0),
			HaveKeyWithValue("react_iterations", 20.0), HaveKeyWithValue("react_actions", 16.0), HaveKeyWithValue("react_delegations", 12.0), HaveKeyWithValue("react_questions", 4.0),
		))
	})
})
