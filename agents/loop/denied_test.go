package loop_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// denying answers after permissions refused tool calls.
func denying(text string, denials ...llm.Denial) turn {
	return answer(time.Second, llm.Reply{Text: text, Denials: denials, Usage: &llm.Usage{Output: 2}})
}

var _ = Describe("Tool calls that permissions refuse", Label("L-09"), func() {
	edit := llm.Denial{Tool: "Edit", Detail: "main.go"}

	DescribeTable("keep a completion from being done",
		func(options loop.Options, replies ...string) {
			r := newRig(options, denying(replies[0], edit))
			for _, text := range replies[1:] {
				r.turns = append(r.turns, denying(text))
			}
			res := r.run()
			Expect(res.Status).To(Equal(loop.StatusBlocked))
			Expect(res.ExitCode).To(Equal(6))
			Expect(res.Guard).To(Equal("permissions"))
			Expect(res.Details).To(HaveSuffix("its permissions refused 1 tool call: Edit (main.go)"))
			Expect(res.Denials).To(Equal([]llm.Denial{edit}))
			Expect(res.Transcript[0].Denials).To(Equal([]llm.Denial{edit}))
			Expect(r.emitted(event.Iteration)[0].Attrs).To(HaveKeyWithValue("denied", HavePrefix("1 tool call: ")))
		},
		Entry("in the same answer", loop.Options{}, "All is edited.\nDONE"),
		Entry("in JSON", loop.Options{Mode: loop.JSON}, `{"status":"done","summary":"All is edited."}`),
		Entry("in an answer before", loop.Options{}, "I may not edit.", "All is edited.\nDONE"),
		Entry("with the stop guard", loop.Options{StopGuard: "balanced"}, "All is edited.\nDONE"),
	)

	It("names the first of many, and how many there are", func() {
		res := newRig(loop.Options{}, denying("DONE", edit, edit, edit, edit, llm.Denial{Tool: "Bash"})).run()
		Expect(res.Details).To(HaveSuffix("refused 5 tool calls: Edit (main.go), Edit (main.go), Edit (main.go) and 2 more"))
	})

	It("change nothing of another end, and are in its result", func() {
		res := newRig(loop.Options{NoProgressLimit: new(2)}, denying("No.", edit), denying("No.", edit)).run()
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		Expect(res.Denials).To(HaveLen(2))
	})
})

var _ = Describe("The prose of a result", func() {
	DescribeTable("is the last answer without what makes it a completion",
		func(mode loop.Mode, text, want string) {
			Expect(newRig(loop.Options{Mode: mode}, say(text)).run().Prose).To(Equal(want))
		},
		Entry("marker", loop.Mode("marker"), "I will add the tests later.\nDONE", "I will add the tests later."),
		Entry("JSON with a summary", loop.JSON, "Written.\n```json\n{\"status\":\"done\",\"summary\":\"Tests come next.\"}\n```", "Written.\n\nTests come next."),
		Entry("an emphasised marker", loop.Marker, "All is written.\n\n**DONE**\n", "All is written."),
		Entry("marker alone", loop.Mode("marker"), "DONE", ""),
	)
})

var _ = Describe("An answer that trips the budget", Label("L-07"), func() {
	It("is known to be a completion", func() {
		budget := &llm.Caps{Tokens: 1}
		done := newRig(loop.Options{Budget: budget}, denying("All is written.\nDONE")).run()
		Expect(done.Status).To(Equal(loop.StatusBudget))
		Expect(done.Completed).To(BeTrue())
		open := newRig(loop.Options{Budget: budget}, denying("A half is written.")).run()
		Expect(open.Status).To(Equal(loop.StatusBudget))
		Expect(open.Completed).To(BeFalse())
	})
})
