package measure_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// factsOf returns the facts of a trial with these events.
func factsOf(events ...event.Event) measure.Facts {
	var tr record.Trial
	for _, e := range events {
		tr.Events = append(tr.Events, record.Event{Event: e})
	}
	return measure.Trial(record.Scenario{}, tr, nil, nil)
}

func eventOf(kind event.Kind, name string, attrs map[string]any) event.Event {
	return event.Event{Kind: kind, Name: name, Detail: "because", Attrs: attrs}
}

type attrs = map[string]any

var _ = Describe("The facts of any agent", func() {
	It("name the invariant violations that the driver reported", func() {
		f := factsOf(
			eventOf(event.Verdict, "promise", attrs{"kept": true}),
			eventOf(event.Verdict, "promise", attrs{"kept": false}),
			eventOf(event.Guard, "promise", attrs{"kept": false}),
		)
		Expect(f.Run.Violations).To(Equal([]string{"because"}))
	})

	It("include the status of a resumed run", func() {
		f := factsOf(eventOf(event.State, "resumed", attrs{"status": "finished"}), eventOf(event.Guard, "resumed", attrs{"status": "failed"}))
		Expect(f.Run.Resumed).To(Equal("finished"))
		Expect(factsOf().Run.Resumed).To(BeEmpty())
	})

	It("include the cause of a failed run", func() {
		failed := record.Call{N: 1, Error: &record.CallError{Kind: "timeout"}}
		cause := func(exit int, calls ...record.Call) string {
			return measure.Trial(record.Scenario{}, record.Trial{Calls: calls, End: record.End{ExitCode: exit}}, nil, nil).Run.Cause
		}
		Expect(cause(1, failed)).To(Equal("timeout"))
		Expect(cause(0, failed)).To(BeEmpty(), "it ended well")
		Expect(cause(1, failed, record.Call{N: 2})).To(BeEmpty(), "the last call went well")
		Expect(cause(1, record.Call{N: 1, Error: &record.CallError{Kind: record.Cancelled}})).To(BeEmpty(), "it was cut off")
		Expect(cause(1)).To(BeEmpty())
	})
})
