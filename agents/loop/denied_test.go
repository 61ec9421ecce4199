package loop_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
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

var _ = Describe("Denied calls", Label("L-09"), func() {
	edit := llm.Denial{Tool: "Edit", Detail: "main.go"}
	stopped := func(text string) turn {
		return answer(time.Second, llm.Reply{Text: text, Finish: llm.FinishDenials, Denials: []llm.Denial{edit}})
	}

	DescribeTable("are named in the next prompt, before the contract",
		func(prompt, note string) {
			r := newRig(loop.Options{Prompt: prompt, Contract: loop.AutoContract, MaxIterations: new(2)}, denying("I may not edit.", edit), say("half"))
			r.run()
			Expect(r.sent(2)[0]).To(MatchRegexp(`(?s)^\Q` + prompt + `\E\n\n` + note + `.*BLOCKED:`))
		},
		Entry("in English", "Fix the failing test.", `The permissions of this run refused 1 tool call: Edit \(main\.go\)\. Do not repeat`),
		Entry("in French", "Corrige le test qui échoue dans le module de paiement.", `Les permissions de cette exécution ont refusé 1 appel d'outil : Edit`),
	)

	It("are not named where the agent has no contract", func() {
		r := newRig(loop.Options{MaxIterations: new(2)}, denying("I may not edit.", edit), say("half"))
		r.run()
		Expect(r.sent(2)).To(Equal([]string{"Task"}))
	})

	It("end the run when a second iteration in a row ends at their limit", func() {
		r := newRig(loop.Options{DenialLimit: new(7)}, stopped("Trying."), stopped("Trying again."))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusBlocked))
		Expect(res.Guard).To(Equal("denial_limit"))
		Expect(res.Details).To(And(ContainSubstring("denial_limit 7"), HaveSuffix("refused 1 tool call: Edit (main.go)")))
		Expect(r.requests[0].DenialLimit).To(Equal(7), "the backend counts")
		r = newRig(loop.Options{MaxIterations: new(3)}, stopped("Trying."), say("Another way."), stopped("Trying again."))
		Expect(r.run().Status).To(Equal(loop.StatusMaxIterations))
	})
})

var _ = Describe("The limits of an iteration", Label("L-03"), func() {
	DescribeTable("leave the answer unfinished, whatever it claims",
		func(finish llm.FinishReason) {
			r := newRig(loop.Options{MaxTurns: new(20)}, answer(time.Second, llm.Reply{Text: "DONE", Finish: finish}), say("All is written.\nDONE"))
			res := r.run()
			Expect(res.Status).To(Equal(loop.StatusDone))
			Expect(res.Iterations).To(Equal(2))
			Expect(res.Transcript[0].Finish).To(Equal(finish))
			Expect(r.requests[0].MaxTurns).To(Equal(20))
		},
		Entry("turns", llm.FinishTurns), Entry("denials", llm.FinishDenials), Entry("failures", llm.FinishFailures), Entry("cost", llm.FinishCost),
	)

	It("have what the cap on cost leaves", func() {
		spent := 0.4
		r := newRig(loop.Options{Budget: &llm.Caps{Cost: quantity.Money{Amount: 1, Currency: quantity.USD}}},
			answer(0, llm.Reply{Text: "half", Usage: &llm.Usage{Output: 1}, ReportedUSD: &spent}), say("DONE"))
		r.run()
		Expect(r.requests[0].MaxUSD).To(Equal(1.0))
		Expect(r.requests[1].MaxUSD).To(Equal(0.6))
	})

	It("convert the currency of the cap", func() {
		r := newRig(loop.Options{Budget: &llm.Caps{Cost: eur(1)}}, say("DONE"))
		r.deps.EURPerUSD = 0.8
		r.run()
		Expect(r.requests[0].MaxUSD).To(Equal(1.25))
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

var _ = Describe("Tool calls that fail", Label("L-09"), func() {
	failing := answer(time.Second, llm.Reply{Text: "All is edited.\nDONE", Finish: llm.FinishFailures})

	It("end the run when a second iteration in a row ends at their limit", func() {
		r := newRig(loop.Options{FailureLimit: new(7)}, failing, failing)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		Expect(res.Guard).To(Equal("failure_limit"))
		Expect(res.Details).To(Equal("stopped at iteration 2, the second in a row that ended at tool calls that fail (failure_limit 7)"))
		Expect(r.requests[0].FailureLimit).To(Equal(7), "the backend counts")
	})

	It("may be followed by calls that succeed", func() {
		res := newRig(loop.Options{}, failing, say("half"), failing, say("DONE")).run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Iterations).To(Equal(4))
	})
})
