package loop_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// files returns a rig whose work has a state after each iteration: the letters of states, after the first,
// which is the state before the run.
func files(o loop.Options, partial bool, states string, turns ...turn) *rig {
	r := newRig(o, turns...)
	at, last := 0, states[0]
	r.deps.Work = func(context.Context) (loop.Work, error) {
		at = len(r.requests)
		w := loop.Work{State: string(states[at]), Partial: partial, Changes: &loop.Changes{}}
		if states[at] != last {
			w.Changes.Count, last = 1, states[at]
		}
		return w, nil
	}
	return r
}

var _ = Describe("Changed files", Label("L-05"), func() {
	DescribeTable("are progress",
		func(o loop.Options, states string, answers []string, status loop.Status, iterations int, guard string) {
			r := files(o, false, states, all(answers...)...)
			res := r.run()
			Expect([]any{res.Status, res.Iterations, res.Guard}).To(Equal([]any{status, iterations, guard}))
			for n := range len(res.Transcript) { // and a run that is killed continues alike
				again := files(o, false, states[n:], all(answers[n:]...)...)
				again.deps.Past = past(res, n)
				got := again.run()
				Expect([]any{got.Status, got.Iterations, got.Guard}).To(Equal([]any{status, iterations, guard}), "after %d", n)
			}
		},
		Entry("equal answers with changed files", loop.Options{}, "abcde", []string{"x", "x", "x", "DONE"}, loop.StatusDone, 4, ""),
		Entry("equal answers with equal files", loop.Options{}, "aaaa", []string{"x", "x", "x"}, loop.StatusNoProgress, 3, "no_progress_limit"),
		Entry("equal answers after a change", loop.Options{}, "abbbb", []string{"x", "x", "x", "x"}, loop.StatusNoProgress, 3, "no_progress_limit"),
		Entry("chatter with equal files", loop.Options{}, "aaaaaa", []string{"p", "q", "r", "s", "t"}, loop.StatusNoProgress, 5, "unchanged_limit"),
		Entry("chatter with a change in between", loop.Options{UnchangedLimit: new(2)}, "aabbb", []string{"p", "q", "r", "s"},
			loop.StatusNoProgress, 4, "unchanged_limit"),
		Entry("chatter without a limit", loop.Options{UnchangedLimit: new(0), MaxIterations: new(6)}, "aaaaaaa",
			[]string{"p", "q", "r", "s", "t", "u"}, loop.StatusMaxIterations, 6, "max_iterations"),
		Entry("a completion counts although nothing changed", loop.Options{UnchangedLimit: new(1)}, "aa", []string{"DONE"}, loop.StatusDone, 1, ""),
		Entry("alternating answers with changed files", loop.Options{AlternationLimit: new(2)}, "abcdef", []string{"x", "y", "x", "y", "DONE"},
			loop.StatusDone, 5, ""),
	)

	It("do not count as unchanged where only some of them are known", func() {
		res := files(loop.Options{}, true, "aaaaaaa", all("p", "q", "r", "s", "t", "DONE")...).run()
		Expect(res.Status).To(Equal(loop.StatusDone))
	})

	It("are in the transcript", func() {
		res := files(loop.Options{}, false, "ab", all("DONE")...).run()
		Expect(res.Transcript[0]).To(And(HaveField("State", "b"), HaveField("Changes.Count", 1)))
	})

	It("are unknown after an error, which is reported once", func() {
		r := newRig(loop.Options{}, all("x", "x", "x")...)
		r.deps.Work = func(context.Context) (loop.Work, error) { return loop.Work{}, errors.New("git is gone") }
		Expect(r.run().Guard).To(Equal("no_progress_limit"))
		Expect(r.emitted(event.State)).To(ConsistOf(HaveField("Detail", "changes are unknown from now on: git is gone")))
	})
})

var _ = Describe("A prompt that changes", Label("L-01"), func() {
	changing := func(o loop.Options, conversational bool, prompts []string, turns ...turn) *rig {
		r := newRig(o, turns...)
		r.deps.Conversational = conversational
		r.deps.ReadPrompt = func() (string, error) {
			if text := prompts[len(r.requests)]; text != "" {
				return text, nil
			}
			return "", errors.New("read the prompt file: there is no file TASK.md")
		}
		return r
	}
	It("is sent from the next iteration on", func() {
		r := changing(loop.Options{Prompt: "One", History: loop.Fresh}, false, []string{"One", "One", "Two"}, all("a", "b", "DONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(r.sent(2)).To(Equal([]string{"One"}))
		Expect(r.sent(3)).To(Equal([]string{"Two"}))
	})
	It("is announced within a conversation", func() {
		r := changing(loop.Options{Prompt: "One"}, true, []string{"One", "Two"}, all("a", "DONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(r.sent(2)).To(Equal([]string{"One", "a", "The task has changed. It is now:\n\nTwo"}))
	})
	It("is announced within a session", func() {
		m := &memory{rig: changing(loop.Options{Prompt: "One", ContinuePrompt: "Go on."}, false, []string{"One", "One", "Two", "Two"}, all("a", "b", "c", "DONE")...)}
		m.deps.Backend = m
		Expect(m.run().Status).To(Equal(loop.StatusDone))
		Expect(m.sent(2)).To(Equal([]string{"Go on."}))
		Expect(m.sent(3)).To(Equal([]string{"The task has changed. It is now:\n\nTwo"}))
		Expect(m.sent(4)).To(Equal([]string{"Go on."}))
	})
	It("may differ before the first iteration", func() {
		r := changing(loop.Options{Prompt: "One"}, false, []string{"Two"}, all("DONE")...)
		r.run()
		Expect(r.sent(1)).To(Equal([]string{"Two"}))
	})
	It("ends the run if it cannot be read", func() {
		res := changing(loop.Options{Prompt: "One"}, false, []string{"One", ""}, all("a", "DONE")...).run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(Equal("prepare iteration 2: read the prompt file: there is no file TASK.md"))
		Expect(res.Iterations).To(Equal(1))
	})
})

var _ = Describe("The totals of a run", Label("L-01"), func() {
	usd := 0.5
	It("add up what is known and count the rest", func() {
		r := newRig(loop.Options{ErrorLimit: new(0)},
			answer(time.Second, llm.Reply{Text: "a", Usage: &llm.Usage{Input: 10, Output: 5}, ReportedUSD: &usd}),
			answer(time.Second, llm.Reply{Text: "b", Usage: &llm.Usage{Input: 1}}), fail(llm.Unavailable, "down"), say("DONE"))
		r.deps.EURPerUSD = 0.5
		r.deps.Price = func(_ string, u llm.Usage) (quantity.Money, bool) {
			return quantity.Money{Amount: float64(u.Total()), Currency: quantity.EUR}, true
		}
		Expect(r.run().Totals).To(Equal(loop.Totals{
			Tokens: 16, TokensUnknown: 1, Cost: quantity.Money{Amount: 2.5, Currency: quantity.USD}, CostUnknown: 1,
		}))
	})
	It("have the currency of the cap", func() {
		r := newRig(loop.Options{Budget: &llm.Caps{Cost: quantity.Money{Amount: 9, Currency: quantity.EUR}}},
			answer(time.Second, llm.Reply{Text: "DONE", Usage: &llm.Usage{}, ReportedUSD: &usd}))
		r.deps.EURPerUSD = 0.5
		Expect(r.run().Totals.Cost).To(Equal(quantity.Money{Amount: 0.25, Currency: quantity.EUR}))
	})
})
