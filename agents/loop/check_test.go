package loop_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// checked is a rig whose checks have the results of looks, one after the other, after one second each.
func checked(o loop.Options, looks []loop.Check, turns ...turn) (*rig, *[]loop.Check) {
	if o.Checks == nil {
		o.Checks = []string{"go test ./..."}
	}
	r, seen := newRig(o, turns...), &[]loop.Check{}
	r.deps.OnCheck = func(c loop.Check) { *seen = append(*seen, c) }
	r.deps.Check = func(ctx context.Context, _ string) loop.Check {
		Expect(looks).NotTo(BeEmpty(), "a check that nobody asked for")
		look := looks[0]
		looks = looks[1:]
		if err := r.clock.Sleep(ctx, time.Second); err != nil {
			return loop.Check{Verdict: loop.CheckUnknown, Details: "ended"}
		}
		return look
	}
	return r, seen
}

var _ = Describe("A check", Label("L-07"), func() {
	pass := loop.Check{Verdict: loop.CheckPass}
	red := loop.Check{Verdict: loop.CheckFail, Details: "exit status 1", Output: "FAIL: TestParse\n```\nDONE"}

	It("confirms a completion", func() {
		r, seen := checked(loop.Options{Checks: []string{"a", "b"}}, []loop.Check{pass, pass}, all("half", "DONE")...)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(*seen).To(Equal([]loop.Check{
			{N: 2, Command: "a", Verdict: "pass", Duration: time.Second}, {N: 2, Command: "b", Verdict: "pass", Duration: time.Second},
		}))
		Expect(r.emitted(event.Verdict)[0]).To(And(
			HaveField("Name", "check"), HaveField("N", 2), HaveField("Detail", "a: pass"),
			HaveField("Attrs", Equal(map[string]any{"command": "a", "verdict": "pass"}))))
	})

	DescribeTable("that fails makes its output the next prompt, with the contract",
		func(history loop.History, last int) {
			o := loop.Options{Contract: loop.AutoContract, History: history, Checks: []string{"a", "b"}}
			r, _ := checked(o, []loop.Check{red, pass, pass}, all("It works.\nDONE", "Corrected.\nDONE")...)
			res := r.run()
			Expect(res.Status).To(Equal(loop.StatusDone))
			Expect(res.Iterations).To(Equal(2))
			Expect(r.sent(2)).To(HaveLen(last + 1))
			Expect(r.sent(2)[last]).To(And(
				ContainSubstring("the check `a` did not pass (exit status 1)"),
				ContainSubstring("\n````\nFAIL: TestParse\n```\nDONE\n````\n\n"), HaveSuffix("BLOCKED: and say why.")))
		},
		Entry("without history", loop.Fresh, 0),
		Entry("in a conversation", loop.Conversation, 2),
	)

	It("speaks French about a French task", func() {
		o := loop.Options{Prompt: "Corrige le test qui échoue dans le module de paiement.", Contract: loop.AutoContract}
		r, _ := checked(o, []loop.Check{red, pass}, all("DONE", "DONE")...)
		r.run()
		Expect(r.sent(2)[0]).To(ContainSubstring("la vérification `go test ./...` n'a pas réussi"))
	})

	It("runs again after the same answer, because the files may have changed", func() {
		r, _ := checked(loop.Options{}, []loop.Check{red, red, red, pass}, all("DONE", "DONE", "DONE", "DONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusDone))
	})

	It("ends the run at its limit", func() {
		r, _ := checked(loop.Options{CheckLimit: new(2)}, []loop.Check{red, red}, all("DONE", "half", "DONE")...)
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusCapped))
		Expect(res.ExitCode).To(Equal(8))
		Expect(res.Guard).To(Equal("check_limit"))
		Expect(res.Details).To(Equal("stopped at completion 2 that its checks do not confirm (check_limit 2): go test ./...: exit status 1"))
	})

	It("without a limit runs up to the iteration limit", func() {
		looks := []loop.Check{red, red, red, red, red, red}
		r, _ := checked(loop.Options{CheckLimit: new(0), MaxIterations: new(6)}, looks, all("DONE", "DONE", "DONE", "DONE", "DONE", "DONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusMaxIterations))
	})

	DescribeTable("that is not known to succeed is no success",
		func(look loop.Check) {
			r, _ := checked(loop.Options{CheckLimit: new(1)}, []loop.Check{look}, all("DONE")...)
			Expect(r.run().Status).To(Equal(loop.StatusCapped))
		},
		Entry("cannot be run", loop.Check{Verdict: loop.CheckUnknown, Details: "not found"}),
		Entry("no verdict", loop.Check{}),
	)

	It("that hangs is ended at its time limit and is unknown", func() {
		r, seen := checked(loop.Options{CheckTimeout: within(time.Minute), CheckLimit: new(1)}, nil, all("DONE")...)
		r.deps.Check = func(ctx context.Context, _ string) loop.Check {
			_ = r.clock.Sleep(ctx, clock.Forever)
			return loop.Check{Verdict: loop.CheckPass}
		}
		Expect(r.run().Details).To(ContainSubstring("it did not end within 1m0s (check_timeout)"))
		Expect((*seen)[0]).To(And(HaveField("Verdict", loop.CheckUnknown), HaveField("Duration", time.Minute)))
	})

	It("ends with the time of the run", func() {
		r, _ := checked(loop.Options{Timeout: within(1500 * time.Millisecond)}, []loop.Check{pass}, all("DONE")...)
		Expect(r.run().Status).To(Equal(loop.StatusTimeout))
	})

	It("ends with an interrupt", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		r, _ := checked(loop.Options{}, nil, all("DONE")...)
		r.deps.Check = func(context.Context, string) loop.Check {
			cancel(errors.New("Ctrl-C"))
			return pass
		}
		Expect(r.runIn(ctx).Status).To(Equal(loop.StatusInterrupted))
	})

	It("does not run for a completion that the stop guard refuses, or after a denial", func() {
		r, seen := checked(loop.Options{StopGuard: "balanced", ContinuationLimit: new(0)}, nil, say("I will add the tests next.\nDONE"))
		Expect(r.run().Status).To(Equal(loop.StatusCapped))
		Expect(*seen).To(BeEmpty())
	})

	It("is not left out where nothing can run it", func() {
		r := newRig(loop.Options{Checks: []string{"true"}}, say("DONE"))
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(ContainSubstring("checks cannot be run here"))
		Expect(r.requests).To(BeEmpty())
	})

	DescribeTable("of a process that was killed is not run again, if its result was recorded",
		func(recorded int, left ...loop.Check) {
			o := loop.Options{Checks: []string{"a", "b"}}
			whole, seen := checked(o, []loop.Check{pass, red, pass, pass}, all("DONE", "DONE")...)
			want := whole.run()
			Expect(want.Status).To(Equal(loop.StatusDone))
			r, again := checked(o, left, say("DONE"))
			r.deps.Past = past(want, 1)
			r.deps.Past.Segments[0].Checks = (*seen)[:recorded]
			res := r.run()
			Expect(res.Status).To(Equal(loop.StatusDone))
			Expect(*again).To(HaveLen(4-recorded), "the others are run, and reported to be recorded")
			Expect(r.emitted(event.Verdict)).To(HaveLen(4 - recorded))
			Expect(r.sent(1)).To(Equal(whole.sent(2)))
		},
		Entry("none", 0, pass, red, pass, pass),
		Entry("the first", 1, red, pass, pass),
		Entry("both", 2, pass, pass),
	)

	It("has the default limits of the settings", func() {
		s, err := loop.Resolve(loop.Options{Prompt: "p"}, loop.Options{Checks: []string{"true"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.CheckTimeout).To(Equal(quantity.Duration(10 * time.Minute)))
	})
})
