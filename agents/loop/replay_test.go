package loop_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// past returns the record of a run with the first n iterations, after which its process was killed.
func past(res loop.Result, n int) *loop.Past {
	p := &loop.Past{Segments: []loop.Segment{{Entries: res.Transcript[:n]}}}
	if n > 0 {
		last := res.Transcript[n-1]
		p.Elapsed = last.At + last.Duration
	}
	return p
}

// ended returns the record of a run that ended.
func ended(res loop.Result, answer string) *loop.Past {
	return &loop.Past{Segments: []loop.Segment{{Entries: res.Transcript, Ended: true, Answer: answer}}, Elapsed: res.Duration}
}

var _ = Describe("A run that was killed", Label("L-01"), func() {
	const deferring = "The parser is written. I will write the tests later.\nDONE"
	used := func(text string, input int) turn {
		return answer(time.Second, llm.Reply{Text: text, Finish: llm.FinishStop, Usage: &llm.Usage{Input: input}})
	}
	DescribeTable("continues after any iteration as if nothing had happened",
		func(o loop.Options, conversational bool, turns []turn) {
			whole := newRig(o, turns...)
			whole.deps.Conversational = conversational
			want := whole.run()
			for n := range len(want.Transcript) {
				r := newRig(o, turns[n:]...)
				r.deps.Conversational = conversational
				r.deps.Past = past(want, n)
				got := r.run()
				want.Err, got.Err = nil, nil
				Expect(got).To(Equal(want), "after %d iterations", n)
				for i := range r.requests {
					Expect(r.requests[i].Messages).To(Equal(whole.requests[n+i].Messages), "call %d after %d iterations", i+1, n)
				}
			}
		},
		Entry("plainly", loop.Options{}, false, all("a", "b", "c\nDONE")),
		Entry("with the whole conversation", loop.Options{System: "Be brief."}, true, all("a", "b", "c\nDONE")),
		Entry("with refused completions", loop.Options{StopGuard: "balanced"}, true, all(deferring, "half", deferring, "The tests are written.\nDONE")),
		Entry("with todos", loop.Options{StopGuard: "strict", Todos: loop.OneByOne}, false,
			all("Next steps:\n1. Write the tests\n2. Deploy the site\nDONE", "The tests are written.\nDONE", "The site is deployed.\nDONE")),
		Entry("after refused tool calls", loop.Options{}, false, []turn{
			answer(time.Second, llm.Reply{Text: "a", Denials: []llm.Denial{{Tool: "Edit", Detail: "main.go"}}}), say("b"), say("c\nDONE"),
		}),
		Entry("after a call that reached a usage limit", loop.Options{ErrorLimit: new(0)}, false, []turn{
			say("a"), fail(llm.RateLimited, "slow down"), say("b\nDONE"),
		}),
		Entry("up to the limit of identical answers", loop.Options{}, false, all("a", "a", "a")),
		Entry("up to the limit of alternating answers", loop.Options{AlternationLimit: new(2)}, false, all("a", "b", "a", "b")),
		Entry("up to the limit of failed calls", loop.Options{ErrorLimit: new(3)}, false,
			[]turn{say("a"), fail(llm.Unavailable, "x"), fail(llm.Unavailable, "y"), fail(llm.Unavailable, "z")}),
		Entry("up to the limit of refusals", loop.Options{StopGuard: "balanced", ContinuationLimit: new(1)}, false, all(deferring, deferring+" ")),
		Entry("up to the limit of tokens", loop.Options{Budget: &llm.Caps{Tokens: 100}}, false, []turn{used("a", 40), used("b", 40), used("c", 40)}),
		Entry("up to the limit of calls", loop.Options{Budget: &llm.Caps{Calls: 2}}, false, all("a", "b")),
		Entry("up to the limit of time", loop.Options{Timeout: within(150 * time.Second)}, false,
			[]turn{sayIn(time.Minute, "a"), sayIn(time.Minute, "b"), sayIn(time.Minute, "c")}),
		Entry("through an open circuit", loop.Options{Breaker: &loop.BreakerOptions{Failures: 1, Cooldown: quantity.Duration(time.Minute)}}, false,
			[]turn{fail(llm.Unavailable, "x"), say("a"), fail(llm.Unavailable, "y"), say("DONE")}),
	)

	It("is complete if its last answer was", func() {
		r := newRig(loop.Options{}, all("a", "DONE")...)
		res := r.run()
		r = newRig(loop.Options{})
		r.deps.Past = past(res, 2)
		got := r.run()
		Expect(got.Status).To(Equal(loop.StatusDone))
		Expect(r.requests).To(BeEmpty())
	})

	It("does not know what the call had used that was cut off", func() {
		turns := []turn{used("a", 40), used("DONE", 2)}
		res := newRig(loop.Options{}, turns...).run()
		Expect(res.Totals).To(Equal(loop.Totals{Tokens: 42, CostUnknown: 2}))
		r := newRig(loop.Options{}, turns[1])
		r.deps.Past = past(res, 1)
		r.deps.Past.Segments = append(r.deps.Past.Segments, loop.Segment{}) // one that was killed before its first call
		r.deps.Past.Segments[0].CutOff = true
		got := r.run()
		Expect(got.Totals).To(Equal(loop.Totals{Tokens: 42, TokensUnknown: 1, CostUnknown: 3}))
		tokens, cost := got.Totals.Describe()
		Expect(tokens + ", " + cost).To(Equal("at least 42 tokens, unknown cost"))
	})

	It("reports each call before it begins", func() {
		r := newRig(loop.Options{}, say("a"), say("DONE"))
		var calls []int
		r.deps.OnCall = func(n int, at time.Duration) {
			Expect(at).To(Equal(time.Duration(n-1) * time.Second))
			Expect(r.requests).To(HaveLen(n - 1))
			calls = append(calls, n)
		}
		r.run()
		Expect(calls).To(Equal([]int{1, 2}))
	})

	Describe("with a session", func() {
		const note = "Your last turn was cut off. Some of its work may be done already: check before you repeat it.\n\n"
		It("continues the session that began in the call that was cut off", func() {
			m := &memory{rig: newRig(loop.Options{}, say("all\nDONE")), lost: map[string]bool{}}
			m.deps.Backend = m
			m.deps.Past = &loop.Past{Segments: []loop.Segment{{Session: "s-1"}}}
			Expect(m.run().Status).To(Equal(loop.StatusDone))
			Expect(m.sessions()).To(Equal([]string{"s-1"}))
			Expect(m.sent(1)).To(Equal([]string{note + "Task"}))
		})
		It("continues the session of the last iteration, with its total", func() {
			m := &memory{rig: newRig(loop.Options{ContinuePrompt: "Go on."}, say("all\nDONE")), lost: map[string]bool{}}
			m.deps.Backend = m
			total := &llm.Usage{Input: 5}
			m.deps.Past = &loop.Past{Segments: []loop.Segment{{Entries: []loop.Entry{
				{N: 1, Prompt: "Task", Answer: "half", Session: &llm.Session{ID: "s-1", Total: total}},
			}}}}
			Expect(m.run().Iterations).To(Equal(2))
			Expect(m.requests[0].Session).To(Equal(&llm.Session{ID: "s-1", Total: total}))
			Expect(m.sent(1)).To(Equal([]string{note + "Go on."}))
		})
	})
})

var _ = Describe("A run that ended", Label("L-01"), func() {
	// again continues a run with other options.
	again := func(res loop.Result, answer string, o loop.Options, turns ...turn) (*rig, loop.Result) {
		r := newRig(o, turns...)
		r.deps.Past = ended(res, answer)
		return r, r.run()
	}

	It("is continued with a higher limit of iterations", func() {
		res := newRig(loop.Options{MaxIterations: new(2)}, all("a", "b")...).run()
		_, got := again(res, "", loop.Options{MaxIterations: new(4)}, all("c", "d", "DONE")...)
		Expect(got.Status).To(Equal(loop.StatusMaxIterations))
		Expect(got.Iterations).To(Equal(4))
		Expect(got.Transcript[3].N).To(Equal(4))
		Expect(got.Duration).To(Equal(4 * time.Second))
	})

	It("begins its series of equal answers and errors anew, as a person looked at them", func() {
		res := newRig(loop.Options{}, all("a", "a", "a")...).run()
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		_, got := again(res, "", loop.Options{}, all("a", "a", "DONE")...)
		Expect(got.Status).To(Equal(loop.StatusDone))
		down := fail(llm.Unavailable, "down")
		res = newRig(loop.Options{ErrorLimit: new(2)}, down, down).run()
		Expect(res.Status).To(Equal(loop.StatusError))
		_, got = again(res, "", loop.Options{ErrorLimit: new(2)}, down, say("DONE"))
		Expect(got.Status).To(Equal(loop.StatusDone))
	})

	It("repeats the call that an interrupt cut off", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		first := newRig(loop.Options{}, say("a"), func(context.Context, clock.Clock) (llm.Reply, error) {
			cancel(errors.New("ctrl-c"))
			return llm.Reply{}, errors.New("ctrl-c")
		})
		first.deps.Conversational = true
		res := first.runIn(ctx)
		Expect(res.Status).To(Equal(loop.StatusInterrupted))
		r := newRig(loop.Options{}, say("DONE"))
		r.deps.Conversational = true
		r.deps.Past = ended(res, "")
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(r.requests[0].Messages).To(Equal(first.requests[1].Messages))
	})

	DescribeTable("gets the answer of a person after a hand-over", func(history loop.History) {
		o := loop.Options{History: history}
		res := newRig(o, say("BLOCKED: which database?")).run()
		Expect(res.Status).To(Equal(loop.StatusBlocked))
		r, got := again(res, "The first.", o, say("DONE"))
		Expect(got.Status).To(Equal(loop.StatusDone))
		sent := r.sent(1)
		Expect(sent[len(sent)-1]).To(ContainSubstring("You handed over to a person: which database?\nThe answer: The first."))
		Expect(sent[0]).To(HavePrefix("Task"))
	}, Entry(nil, loop.Fresh), Entry(nil, loop.Conversation))

	It("is continued more than once", func() {
		first := newRig(loop.Options{MaxIterations: new(1)}, say("a")).run()
		r := newRig(loop.Options{MaxIterations: new(2)}, say("b"))
		r.deps.Past = ended(first, "")
		second := r.run()
		r = newRig(loop.Options{MaxIterations: new(3)}, say("c"))
		r.deps.Past = &loop.Past{Segments: []loop.Segment{
			{Entries: second.Transcript[:1], Ended: true}, {Entries: second.Transcript[1:], Ended: true},
		}, Elapsed: second.Duration}
		got := r.run()
		var answers []string
		for _, e := range got.Transcript {
			answers = append(answers, fmt.Sprint(e.N, " ", e.Answer))
		}
		Expect(answers).To(Equal([]string{"1 a", "2 b", "3 c"}))
	})
})
