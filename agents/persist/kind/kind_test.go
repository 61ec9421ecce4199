package kind_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// factsOf returns the facts of a trial with these events.
func factsOf(events ...event.Event) *kind.SuperviseFacts {
	var tr record.Trial
	for _, e := range events {
		tr.Events = append(tr.Events, record.Event{Event: e})
	}
	f := measure.Trial(record.Scenario{}, tr, nil, []measure.Extension{kind.Extension()})
	return f.Extensions["supervise"].(*kind.SuperviseFacts)
}

func newEvent(kind event.Kind, name string, attrs map[string]any) event.Event {
	return event.Event{Kind: kind, Name: name, Detail: "because", Attrs: attrs}
}

// values returns metrics by name.
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

var _ = Describe("The facts of a supervisor", Label("H-04"), func() {
	It("are read from its events only", func() {
		f := factsOf(
			newEvent(event.Checkpoint, "answers", attrs{"answers": 3}), // of something else
			newEvent(event.Checkpoint, "interval", attrs{"records": 1.0}),
			newEvent(event.State, "resume", attrs{"records": 4.0}),
			newEvent(event.Iteration, "task", attrs{"id": "a", "attempt": 1.0, "grade": "failed", "segment": 1.0, "calls": 3.0}),
			newEvent(event.Iteration, "task", attrs{"id": "a", "attempt": 2, "grade": "done", "segment": 2, "calls": 4}),
			newEvent(event.Iteration, "task", attrs{"id": "fix", "attempt": 1, "grade": "done", "segment": 2, "from": "tests"}),
			newEvent(event.Iteration, "react", attrs{"grade": "done"}),
			newEvent(event.Verdict, "check", attrs{"check": "tests", "verdict": "fail"}),
			newEvent(event.Verdict, "check", attrs{"check": "compile", "verdict": "unknown"}),
			newEvent(event.Verdict, "check", attrs{"check": "features", "verdict": "none"}),
			newEvent(event.Verdict, "checks", nil),
			newEvent(event.Verdict, "check", attrs{"check": "tests", "verdict": "pass"}),
			newEvent(event.Verdict, "checks", nil),
			newEvent(event.Guard, "sign", attrs{"sign": "short-run"}), newEvent(event.Guard, "sign", attrs{"sign": "short-run"}),
			newEvent(event.Guard, "continuation", nil), newEvent(event.Guard, "stagnation", nil), newEvent(event.Guard, "no-progress", nil),
			newEvent(event.Checkpoint, "interval", attrs{"records": 8}), newEvent(event.Checkpoint, "final", attrs{"records": 9}),
			newEvent(event.State, "context", attrs{"files": 50.0, "evicted": 3.0}),
			newEvent(event.State, "context", attrs{"files": 48, "restored": 1}),
			newEvent(event.Checkpoint, "plan", attrs{"planned": 1.0, "open": 2.0, "stored": 9.0, "journal": "c0ffee"}),
			newEvent(event.End, "inner", nil),
			newEvent(event.End, "complete", attrs{"done": 2.0, "tasks": 2.0}),
		)
		Expect(f).To(Equal(&kind.SuperviseFacts{
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

	It("are added up to metrics", func() {
		t := measure.NewAgentTotals([]measure.Extension{kind.Extension()})
		t.Add(&measure.Facts{Run: measure.RunFacts{Status: "complete"}, Extensions: map[string]any{"supervise": &kind.SuperviseFacts{}}}) // no supervisor
		Expect(t.Close()).To(BeEmpty())
		for _, status := range []string{"complete", "capped"} {
			t.Add(&measure.Facts{Run: measure.RunFacts{Status: status}, Extensions: map[string]any{"supervise": &kind.SuperviseFacts{
				Attempts: 10, Retried: 1, Done: 4, Tasks: 5, Looks: 2, Failed: map[string]int{"tests": 1, "todos": 2},
				Unknown: map[string]int{"compile": 1}, Signs: map[string]int{"short-run": 2}, Checkpoints: map[string]int{"final": 1},
				Derived: 3, Rounds: 4, Stagnations: 5, Segments: 6, ToolCalls: 7, Evicted: 8, Resumes: 9,
			}}})
		}
		got := values(t.Close().All())
		Expect(got).To(And(
			HaveKeyWithValue("supervise_complete_rate", 0.5), HaveKeyWithValue("supervise_done_rate", 0.8),
			HaveKeyWithValue("supervise_retry_rate", 0.1), HaveKeyWithValue("supervise_attempts", 20.0),
			HaveKeyWithValue("supervise_failed_checks", 6.0), HaveKeyWithValue("supervise_unknown_checks", 2.0),
			HaveKeyWithValue("supervise_signs", 4.0), HaveKeyWithValue("supervise_checkpoints", 2.0),
			HaveKeyWithValue("supervise_derived_attempts", 6.0), HaveKeyWithValue("supervise_continuations", 8.0),
			HaveKeyWithValue("supervise_stagnations", 10.0), HaveKeyWithValue("supervise_segments", 12.0),
			HaveKeyWithValue("supervise_tool_calls", 14.0), HaveKeyWithValue("supervise_evicted_files", 16.0), HaveKeyWithValue("supervise_resumes", 18.0),
		))
	})
})
