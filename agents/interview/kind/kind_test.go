package kind

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

func emitted(kind event.Kind, name string, attrs map[string]any) event.Event {
	return event.Event{Kind: kind, Name: name, Detail: "because", Attrs: attrs}
}

// factsIn returns the facts of a trial in which these events were emitted.
func factsIn(events ...event.Event) (measure.Facts, *InterviewFacts) {
	var tr record.Trial
	for _, e := range events {
		tr.Events = append(tr.Events, record.Event{Event: e})
	}
	f := measure.Trial(record.Scenario{}, tr, nil, []measure.Extension{extension()})
	return f, f.Extensions["interview"].(*InterviewFacts)
}

var _ = Describe("The facts of an interview", func() {
	It("are read from its own events only", func() {
		submission := func(attrs map[string]any) event.Event { return emitted(event.Iteration, "submission", attrs) }
		verdict := func(attrs map[string]any) event.Event { return emitted(event.Verdict, "validator", attrs) }
		core, f := factsIn(
			emitted(event.State, "interview", map[string]any{"step": "BLOC_01"}),
			emitted(event.State, "breaker", map[string]any{"step": "open"}),
			emitted(event.State, "interview", map[string]any{"step": "BLOC_02A"}),
			emitted(event.Iteration, "loop", map[string]any{"answered": true}),
			submission(map[string]any{"answered": true, "queued": true, "calls": 0.0, "code": ""}),
			submission(map[string]any{"answered": true, "queued": true, "calls": 2.0}),
			submission(map[string]any{"answered": true, "queued": false, "calls": 1}),
			submission(map[string]any{"repeated": true}),
			submission(map[string]any{"code": "empty_answer"}),
			verdict(map[string]any{"valid": true, "warnings": 0.0}),
			verdict(map[string]any{"valid": true, "warnings": 2.0}),
			verdict(map[string]any{"valid": false, "rule": "too-long"}),
			emitted(event.Verdict, "stop", map[string]any{"valid": false}),
			emitted(event.Guard, "transport-retry", nil), emitted(event.Guard, "validation-retry", nil),
			emitted(event.Guard, "validation-retry", nil), emitted(event.Guard, "exhausted", nil),
			emitted(event.Guard, "lost-call", nil), emitted(event.Guard, "trimmed", nil), emitted(event.Guard, "budget", nil),
			emitted(event.Checkpoint, "commit", nil), emitted(event.Checkpoint, "commit", nil),
			emitted(event.Checkpoint, "answers", map[string]any{"answers": 7.0}),
		)
		Expect(f).To(Equal(&InterviewFacts{
			Submissions: 5, Answered: 3, Repeated: 1, Refused: map[string]int{"empty_answer": 1},
			Queued: 2, QueuedCalls: 2, Validated: 3, Rejected: map[string]int{"too-long": 1}, Warned: 1,
			TransportRetries: 1, ValidationRetries: 2, Exhausted: 1, Lost: 1, Trimmed: 1,
			Step: "BLOC_02A", Answers: 7, Commits: 2,
		}))
		Expect(core.Run.Violations).To(Equal([]string{"a question that was queued was asked for with 2 calls"}))
	})
})

var _ = Describe("The metrics of interviews", func() {
	It("are empty without an interview", func() {
		t := measure.NewAgentTotals([]measure.Extension{extension()})
		t.Add(&measure.Facts{Run: measure.RunFacts{Status: "finished"}, Calls: measure.CallFacts{Total: 3}, Extensions: map[string]any{"interview": &InterviewFacts{}}})
		Expect(t.Close()).To(BeEmpty())
	})

	It("sum up interviews, with rates over their own totals", func() {
		t := measure.NewAgentTotals([]measure.Extension{extension()})
		t.Add(&measure.Facts{
			Run: measure.RunFacts{Status: "finished"}, Calls: measure.CallFacts{Total: 26},
			Extensions: map[string]any{"interview": &InterviewFacts{
				Submissions: 50, Answers: 40, Queued: 21, Repeated: 2, Validated: 25, Warned: 3,
				Rejected: map[string]int{"a": 1, "b": 2}, TransportRetries: 1, Trimmed: 4,
			}},
		})
		t.Add(&measure.Facts{
			Run: measure.RunFacts{Status: "failed"}, Calls: measure.CallFacts{Total: 4},
			Extensions: map[string]any{"interview": &InterviewFacts{Submissions: 5, Answers: 3, Validated: 5, Exhausted: 1, Lost: 1}},
		})
		values := map[string]float64{}
		for _, v := range t.Close().All() {
			Expect(v.Known).To(BeTrue())
			values[v.Name] = *v.Value
		}
		Expect(values).To(Equal(map[string]float64{
			"interview_finished_rate": 0.5, "interview_submissions": 55, "interview_answers": 43,
			"interview_queued_questions": 21, "interview_repeated_submissions": 2, "interview_rejected_rate": 0.1,
			"interview_warned_rate": 0.1, "interview_transport_retry_rate": 1.0 / 30, "interview_trimming_rate": 4.0 / 30,
			"interview_exhausted_messages": 1, "interview_lost_calls": 1,
		}))
	})
})
