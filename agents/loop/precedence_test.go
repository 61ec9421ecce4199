package loop_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// cause makes one reason for an end true in the last iteration of a run.
type cause struct {
	status loop.Status
	set    func(*rig)
}

// The causes that an answer can meet, the strongest first.
var causes = []cause{
	{loop.StatusInterrupted, func(*rig) {}}, // made by the backend below
	{loop.StatusBudget, func(r *rig) { r.options.Budget = &llm.Caps{Tokens: 1} }},
	{loop.StatusTimeout, func(r *rig) { r.options.Timeout = within(time.Second) }},
	{loop.StatusBlocked, func(*rig) {}},
	{loop.StatusCapped, func(r *rig) {
		r.deps.SetJudge(refuse(9))
		r.options.ContinuationLimit = new(0)
	}},
	{loop.StatusDone, func(*rig) {}},
	{loop.StatusNoProgress, func(r *rig) { r.options.NoProgressLimit = new(1) }},
	{loop.StatusMaxIterations, func(r *rig) { r.options.MaxIterations = new(1) }},
}

var _ = Describe("Precedence", Label("L-07"), func() {
	for i, strong := range causes {
		for _, weak := range causes[i+1:] {
			It(string(strong.status)+" takes precedence over "+string(weak.status), func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				text := "x"
				for _, c := range []cause{strong, weak} {
					switch c.status {
					case loop.StatusDone, loop.StatusCapped:
						text = "DONE\n" + text
					case loop.StatusBlocked:
						text = "BLOCKED: y\n" + text
					default: // needs no words
					}
				}
				r := newRig(loop.Options{})
				// A backend that pays no heed to its context, so that an answer can
				// arrive after the time is up.
				r.deps.Backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
					if strong.status == loop.StatusInterrupted {
						cancel()
					}
					return llm.Reply{Text: text, Usage: &llm.Usage{Output: 2}}, r.clock.Sleep(context.Background(), time.Second)
				})
				strong.set(r)
				weak.set(r)
				Expect(r.runIn(ctx).Status).To(Equal(strong.status))
			})
		}
	}

	// After a failed call, the strongest first.
	failures := []cause{
		{loop.StatusBudget, func(r *rig) { r.options.Budget = &llm.Caps{Tokens: 1} }},
		{loop.StatusTimeout, func(r *rig) { r.options.Timeout = within(time.Second) }},
		{loop.StatusError, func(r *rig) {
			r.options.Breaker = &loop.BreakerOptions{Failures: 1, Cooldown: quantity.Duration(1), MaxOpens: 1}
		}},
		{loop.StatusNoProgress, func(r *rig) { r.options.RepeatedErrorLimit = new(1) }},
		{loop.StatusError, func(r *rig) { r.options.ErrorLimit = new(1) }},
		{loop.StatusMaxIterations, func(r *rig) { r.options.MaxIterations = new(1) }},
	}
	guards := []string{"budget.tokens", "timeout", "breaker.max_opens", "repeated_error_limit", "error_limit", "max_iterations"}
	for i, strong := range failures {
		for j, weak := range failures[i+1:] {
			It("after a failed call "+guards[i]+" takes precedence over "+guards[i+1+j], func() {
				r := newRig(loop.Options{ErrorLimit: new(0)}, func(_ context.Context, c clock.Clock) (llm.Reply, error) {
					Expect(c.Sleep(context.Background(), time.Second)).To(Succeed())
					return llm.Reply{}, &llm.Error{Kind: llm.Failed, Usage: &llm.Usage{Output: 2}}
				})
				weak.set(r)
				strong.set(r)
				res := r.run()
				Expect(res.Status).To(Equal(strong.status))
				Expect(res.Guard).To(Equal(guards[i]))
			})
		}
	}
})

var _ = Describe("Hand-over", Label("L-09"), func() {
	It("ends with exit code 6 and the reason for the person", func() {
		r := newRig(loop.Options{}, all("a", "BLOCKED: which vault?")...)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusBlocked))
		Expect(res.ExitCode).To(Equal(6))
		Expect(res.Summary).To(Equal("which vault?"))
		Expect(res.Details).To(Equal("handed over to a person: which vault?"))
		Expect(r.emitted(event.HandOver)).To(ConsistOf(event.Event{Kind: event.HandOver, Name: "person", N: 2, Detail: "which vault?"}))
	})

	It("needs no reason", func() {
		Expect(newRig(loop.Options{Mode: loop.JSON}, say(`{"status":"escalate"}`)).run().Details).To(Equal("handed over to a person"))
	})

	It("does not ask the stop guard", func() {
		r := newRig(loop.Options{}, say("DONE\nBLOCKED: x"))
		r.deps.SetJudge(func(_, _ string) stop.Verdict { panic("asked") })
		Expect(r.run().Status).To(Equal(loop.StatusBlocked))
	})
})

var _ = Describe("Stop guard", func() {
	It("sees the task and the completion, and may allow it", func() {
		var seen []string
		r := newRig(loop.Options{Mode: loop.JSON}, all(`{"status":"continue"}`, `{"status":"done","summary":"all"}`)...)
		r.deps.SetJudge(func(request, answer string) stop.Verdict {
			seen = []string{request, answer}
			return stop.Verdict{MayStop: true, Reason: "clean"}
		})
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(seen).To(Equal([]string{"Task", "all"}))
		verdicts := r.emitted(event.Verdict)
		Expect(verdicts).To(HaveLen(1))
		Expect(verdicts[0].N).To(Equal(2))
		Expect(verdicts[0].Detail).To(Equal("clean"))
		Expect(verdicts[0].Attrs).To(And(HaveKeyWithValue("allow", true), HaveKeyWithValue("steps", 0),
			HaveKeyWithValue("forced", false), HaveKeyWithValue("executed", 0)))
	})

	It("continues a conversation with the steps", func() {
		r := newRig(loop.Options{History: loop.Conversation, ContinuePrompt: "Go on."}, all("DONE", "testing", "tested\nDONE")...)
		r.deps.SetJudge(refuse(1, "Test", "Deploy"))
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		steps := "The work is not finished yet (tests are missing).\nYou wrote (quoted; this gives no permission):\n1. \"Test\"\n2. \"Deploy\"\n" +
			"Continue with those that are part of the user's task and that you may do without asking; otherwise say that you need a decision.\n" +
			"Then say again that it is done."
		Expect(r.sent(3)).To(Equal([]string{"Task", "DONE", steps, "testing", "Go on."}))
	})

	It("sends the task with the steps when history is fresh", func() {
		r := newRig(loop.Options{}, all("DONE", "testing", "tested\nDONE")...)
		r.deps.SetJudge(refuse(1))
		r.run()
		again := "Task\n\nThe work is not finished yet (tests are missing).\n" +
			"Continue with what is part of the user's task and what you may do without asking; otherwise say that you need a decision.\n" +
			"Then say again that it is done."
		Expect(r.sent(1)).To(Equal([]string{"Task"}))
		Expect(r.sent(2)).To(Equal([]string{again}))
		Expect(r.sent(3)).To(Equal([]string{again}))
	})

	DescribeTable("continues a run up to its limit, then the run ends capped with exit code 8", Label("L-09"),
		func(limit, refusals int, status loop.Status) {
			r := newRig(loop.Options{ContinuationLimit: new(limit)}, all("1\nDONE", "2\nDONE", "3\nDONE", "4\nDONE", "5\nDONE")...)
			r.deps.SetJudge(refuse(refusals))
			res := r.run()
			Expect(res.Status).To(Equal(status))
			if status == loop.StatusCapped {
				Expect(res.ExitCode).To(Equal(8))
				Expect(res.Iterations).To(Equal(limit + 1))
				Expect(res.Details).To(HaveSuffix("tests are missing"))
				Expect(res.Guard).To(Equal("continuation_limit"))
			}
		},
		Entry("none", 0, 1, loop.StatusCapped),
		Entry("one refusal too many", 2, 3, loop.StatusCapped),
		Entry("just not", 2, 2, loop.StatusDone),
	)

	It("yields to no progress when a refused completion is repeated", Label("L-07", "L-05"), func() {
		asked := 0
		r := newRig(loop.Options{NoProgressLimit: new(3), ContinuationLimit: new(9)}, all("DONE", "DONE", "DONE")...)
		r.deps.SetJudge(func(_, _ string) stop.Verdict { asked++; return stop.Verdict{} })
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusNoProgress))
		Expect(res.Iterations).To(Equal(3))
		Expect(asked).To(Equal(2), "the guard is not asked about the answer that ends the run")
	})

	It("yields to alternation of refused completions too", Label("L-07", "L-10"), func() {
		r := newRig(loop.Options{AlternationLimit: new(2), ContinuationLimit: new(9)}, all("a\nDONE", "b\nDONE", "a\nDONE", "b\nDONE")...)
		r.deps.SetJudge(refuse(9))
		Expect(r.run().Status).To(Equal(loop.StatusNoProgress))
	})

	It("judges a new completion even where a guard has fired", Label("L-07"), func() {
		r := newRig(loop.Options{NearIdenticalLimit: new(2)}, all("v1\nDONE", "v2\nDONE")...)
		r.deps.SetJudge(refuse(1))
		Expect(r.run().Status).To(Equal(loop.StatusDone))
	})
})
