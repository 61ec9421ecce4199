package measure_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// factsOf are the facts of a trial in which these events were told.
func factsOf(events ...event.Event) measure.Facts {
	var tr record.Trial
	for _, e := range events {
		tr.Events = append(tr.Events, record.Event{Event: e})
	}
	return measure.Of(record.Scenario{}, tr, nil)
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

var _ = Describe("The facts of any agent", func() {
	It("name the promises that were not kept", func() {
		f := factsOf(
			told(event.Verdict, "promise", attrs{"kept": true}),
			told(event.Verdict, "promise", attrs{"kept": false}),
			told(event.Guard, "promise", attrs{"kept": false}),
		)
		Expect(f.Run.Broken).To(Equal([]string{"because"}))
	})

	It("say how a run ended that was taken up again", func() {
		f := factsOf(told(event.State, "resumed", attrs{"status": "finished"}), told(event.Guard, "resumed", attrs{"status": "failed"}))
		Expect(f.Run.Resumed).To(Equal("finished"))
		Expect(factsOf().Run.Resumed).To(BeEmpty())
	})

	It("say what a run that failed ended with", func() {
		failed := record.Call{N: 1, Error: &record.CallError{Kind: "timeout"}}
		cause := func(exit int, calls ...record.Call) string {
			return measure.Of(record.Scenario{}, record.Trial{Calls: calls, End: record.End{ExitCode: exit}}, nil).Run.Cause
		}
		Expect(cause(1, failed)).To(Equal("timeout"))
		Expect(cause(0, failed)).To(BeEmpty(), "it ended well")
		Expect(cause(1, failed, record.Call{N: 2})).To(BeEmpty(), "the last call went well")
		Expect(cause(1, record.Call{N: 1, Error: &record.CallError{Kind: record.Cancelled}})).To(BeEmpty(), "it was cut off")
		Expect(cause(1)).To(BeEmpty())
	})
})

var _ = Describe("The facts of a supervisor", Label("H-04"), func() {
	It("are read from what it told, and from nothing else", func() {
		f := factsOf(
			told(event.Checkpoint, "answers", attrs{"answers": 3}), // of something else
			told(event.Checkpoint, "interval", attrs{"records": 1.0}),
			told(event.State, "resume", attrs{"records": 4.0}),
			told(event.Iteration, "task", attrs{"id": "a", "attempt": 1.0, "grade": "failed", "segment": 1.0, "calls": 3.0}),
			told(event.Iteration, "task", attrs{"id": "a", "attempt": 2, "grade": "done", "segment": 2, "calls": 4}),
			told(event.Iteration, "task", attrs{"id": "fix", "attempt": 1, "grade": "done", "segment": 2, "from": "tests"}),
			told(event.Iteration, "react", attrs{"grade": "done"}),
			told(event.Verdict, "check", attrs{"check": "tests", "verdict": "fail"}),
			told(event.Verdict, "check", attrs{"check": "compile", "verdict": "unknown"}),
			told(event.Verdict, "check", attrs{"check": "features", "verdict": "none"}),
			told(event.Verdict, "checks", nil),
			told(event.Verdict, "check", attrs{"check": "tests", "verdict": "pass"}),
			told(event.Verdict, "checks", nil),
			told(event.Guard, "sign", attrs{"sign": "short-run"}), told(event.Guard, "sign", attrs{"sign": "short-run"}),
			told(event.Guard, "continuation", nil), told(event.Guard, "stagnation", nil), told(event.Guard, "no-progress", nil),
			told(event.Checkpoint, "interval", attrs{"records": 8}), told(event.Checkpoint, "final", attrs{"records": 9}),
			told(event.State, "context", attrs{"files": 50.0, "evicted": 3.0}),
			told(event.State, "context", attrs{"files": 48, "restored": 1}),
			told(event.Checkpoint, "plan", attrs{"planned": 1.0, "open": 2.0, "stored": 9.0, "journal": "c0ffee"}),
			told(event.End, "inner", nil),
			told(event.End, "complete", attrs{"done": 2.0, "tasks": 2.0}),
		)
		Expect(f.Supervise).To(Equal(measure.SuperviseFacts{
			Attempts: 3, Graded: map[string]int{"failed": 1, "done": 2}, Retried: 1, Derived: 1, Done: 2, Tasks: 2,
			Order: []string{"a", "fix"}, Looks: 2,
			Failed: map[string]int{"tests": 1}, Unknown: map[string]int{"compile": 1}, None: map[string]int{"features": 1},
			Last:   map[string]string{"tests": "pass", "compile": "unknown", "features": "none"},
			Rounds: 1, Signs: map[string]int{"short-run": 2}, Stagnations: 1, Stalls: 1,
			Checkpoints: map[string]int{"interval": 2, "final": 1}, Segments: 2, ToolCalls: 7, Longest: 4,
			Planned: 1, Open: 2, Stored: 9, Journal: "c0ffee",
			Evicted: 3, Restored: 1, Files: 48, MaxFiles: 50, Resumes: 1,
		}))
	})

	It("are added up, with rates over what they are of", func() {
		var t measure.AgentTotals
		t.Add(measure.Facts{Run: measure.RunFacts{Status: "complete"}}) // no supervisor
		Expect(t.Close().Supervise).To(BeNil())
		for _, status := range []string{"complete", "capped"} {
			t.Add(measure.Facts{Run: measure.RunFacts{Status: status}, Supervise: measure.SuperviseFacts{
				Attempts: 10, Retried: 1, Done: 4, Tasks: 5, Looks: 2, Failed: map[string]int{"tests": 1, "todos": 2},
				Unknown: map[string]int{"compile": 1}, Signs: map[string]int{"short-run": 2}, Checkpoints: map[string]int{"final": 1},
			}})
		}
		got := values(t.Close().Supervise)
		Expect(got).To(And(
			HaveKeyWithValue("supervise_complete_rate", 0.5), HaveKeyWithValue("supervise_done_rate", 0.8),
			HaveKeyWithValue("supervise_retry_rate", 0.1), HaveKeyWithValue("supervise_attempts", 20.0),
			HaveKeyWithValue("supervise_failed_checks", 6.0), HaveKeyWithValue("supervise_unknown_checks", 2.0),
			HaveKeyWithValue("supervise_signs", 4.0), HaveKeyWithValue("supervise_checkpoints", 2.0),
		))
	})
})

var _ = Describe("The facts of ReAct agents", Label("H-04"), func() {
	It("are read from what they told, and from nothing else", func() {
		f := factsOf(
			told(event.Iteration, "react", attrs{"refused": "thought-required"}),
			told(event.Iteration, "react", attrs{"refused": ""}),
			told(event.Iteration, "task", nil),
			told(event.State, "action", attrs{"action": "search", "failed": false, "read": 2.0, "written": 0.0}),
			told(event.State, "action", attrs{"action": "generate", "failed": true, "rule": "outside-workspace", "written": 1}),
			told(event.Verdict, "reflection", attrs{"critical": true}), told(event.Verdict, "reflection", attrs{"critical": false}),
			told(event.Verdict, "verification", attrs{"passed": false}), told(event.Verdict, "verification", attrs{"passed": true, "verified": true}),
			told(event.HandOver, "person", attrs{"answered": true, "trigger": ""}),
			told(event.HandOver, "person", attrs{"answered": false, "trigger": "ambiguity"}),
			told(event.HandOver, "person", nil), // a supervisor's
			told(event.HandOver, "agent", attrs{"to": "helper", "depth": 1.0}),
			told(event.HandOver, "agent", attrs{"to": "helper", "depth": 2.0}),
			told(event.Guard, "delegation-cycle", nil), told(event.Guard, "delegation-depth", nil), told(event.Guard, "stuck", nil),
		)
		Expect(f.React).To(Equal(measure.ReactFacts{
			Iterations: 2, Refused: map[string]int{"thought-required": 1},
			Actions: map[string]int{"search": 1, "generate": 1}, Failed: map[string]int{"outside-workspace": 1}, Read: 2, Written: 1,
			Reflections: 2, Complacent: 1, Verifications: 2, Unverified: 1, Verified: true,
			Asked: 2, Answered: 1, Triggers: map[string]int{"ambiguity": 1},
			Delegations: map[string]int{"helper": 2}, Depth: 2, Cut: 2, Stuck: 1,
		}))
	})

	It("are added up, with rates over what they are of", func() {
		var t measure.AgentTotals
		t.Add(measure.Facts{Run: measure.RunFacts{Status: "done"}}) // no ReAct agent
		Expect(t.Close().React).To(BeNil())
		for _, status := range []string{"done", "escalate", "complete", "blocked"} {
			t.Add(measure.Facts{Run: measure.RunFacts{Status: status}, React: measure.ReactFacts{
				Iterations: 5, Refused: map[string]int{"a": 1, "b": 1}, Actions: map[string]int{"search": 4}, Failed: map[string]int{"x": 1},
				Reflections: 4, Complacent: 1, Verifications: 2, Unverified: 1, Asked: 1, Triggers: map[string]int{"ambiguity": 1},
				Delegations: map[string]int{"helper": 3},
			}})
		}
		Expect(values(t.Close().React)).To(And(
			HaveKeyWithValue("react_done_rate", 0.5), HaveKeyWithValue("react_refused_step_rate", 0.4),
			HaveKeyWithValue("react_failed_action_rate", 0.25), HaveKeyWithValue("react_complacent_rate", 0.25),
			HaveKeyWithValue("react_unverified_rate", 0.5), HaveKeyWithValue("react_escalations", 4.0),
			HaveKeyWithValue("react_delegations", 12.0), HaveKeyWithValue("react_questions", 4.0),
		))
	})
})
