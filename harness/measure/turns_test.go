package measure_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

var _ = Describe("The facts of an external agent", func() {
	// turn returns a turn as drivers record it; calls are counted from the beginning.
	turn := func(n int, user, text string, more attrs) event.Event {
		a := attrs{"user": user}
		for k, v := range more {
			a[k] = v
		}
		return event.Event{Kind: event.State, Name: "turn", N: n, Detail: text, Attrs: a}
	}

	It("contain its turns, each with its number of calls", func() {
		f := factsOf(
			turn(1, "When?", "At nine.", attrs{"calls": 2, "status": 200}),
			event.Event{Kind: event.State, Name: "turn", Attrs: attrs{"turn": "of another driver"}},
			turn(2, "And?", "", attrs{"calls": 2}),
			turn(3, "Well?", "", attrs{"calls": 5.0, "error": "it crashed"}), // as read from a file
		)
		Expect(f.Turns).To(HaveLen(3))
		Expect(f.Turns[0]).To(Equal(measure.TurnFacts{
			N: 1, User: "When?", Text: "At nine.", Calls: 2, Attrs: attrs{"status": 200},
		}))
		Expect(f.Turns[1]).To(Equal(measure.TurnFacts{N: 2, User: "And?"}))
		Expect(f.Turns[2].Calls).To(Equal(3))
		Expect(f.Turns[2].Error).To(Equal("it crashed"))
	})

	It("contain the files that it left", func() {
		f := factsOf(
			eventOf(event.State, "file", attrs{"path": "a/b.txt", "bytes": 7}),
			eventOf(event.Guard, "file", attrs{"path": "c.txt"}),
			event.Event{Kind: event.State, Name: "file", Detail: "hi", Attrs: attrs{"path": "d.txt"}},
		)
		Expect(f.Files).To(Equal(map[string]string{"a/b.txt": "because", "d.txt": "hi"}))
	})

	It("come from events of their own types", func() {
		for _, name := range []string{"turn", "file", "log"} {
			Expect(measure.IsConversation(event.Event{Kind: event.State, Name: name})).To(BeTrue())
			Expect(measure.IsConversation(event.Event{Kind: event.Guard, Name: name})).To(BeFalse())
		}
		Expect(measure.IsConversation(event.Event{Kind: event.State, Name: "session"})).To(BeFalse())
	})

	It("are empty without a conversation", func() {
		f := factsOf(eventOf(event.State, "session", nil))
		Expect(f.Turns).To(BeEmpty())
		Expect(f.Files).To(BeEmpty())
	})
})
