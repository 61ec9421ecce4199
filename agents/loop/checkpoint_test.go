package loop_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("Checkpoints", func() {
	var calls []string
	saved := func(n int, failure string) (event.Event, bool, error) {
		calls = append(calls, fmt.Sprintf("%d %s", n, failure))
		return event.Event{Kind: event.State, Name: "checkpoint", Detail: "saved"}, failure != "", nil
	}
	BeforeEach(func() { calls = nil })

	It("follow each iteration, with the failure of the call", func() {
		r := newRig(loop.Options{ErrorLimit: new(2)}, say("a"), fail(llm.Failed, "broken"), say("DONE"))
		r.deps.Checkpoint = saved
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(calls).To(Equal([]string{"1 ", "2 fake: failed: broken", "3 "}))
		var at []int
		for _, e := range r.emitted(event.State) {
			at = append(at, e.N)
		}
		Expect(at).To(Equal([]int{1, 2, 3}))
	})

	It("treat a completion that a check does not confirm as failed, and tell the agent that its changes were undone", func() {
		r := newRig(loop.Options{Checks: []string{"go test"}, History: loop.Conversation}, all("DONE", "DONE")...)
		verdicts := []loop.CheckVerdict{loop.CheckFail, loop.CheckPass}
		r.deps.Check = func(context.Context, string) loop.Check {
			c := loop.Check{Verdict: verdicts[0], Details: "exit status 1"}
			verdicts = verdicts[1:]
			return c
		}
		r.deps.Checkpoint = saved
		Expect(r.run().Status).To(Equal(loop.StatusDone))
		Expect(calls).To(Equal([]string{"1 the check go test did not pass: exit status 1", "2 "}))
		prompt := r.requests[1].Messages[2].Content
		Expect(prompt).To(HavePrefix("The changes that you made to files in your last turn were undone"))
		Expect(prompt).To(ContainSubstring("the check `go test` did not pass"))
	})

	It("are not recorded for an iteration that the user interrupted", func() {
		ctx, cancel := context.WithCancel(context.Background())
		r := newRig(loop.Options{}, say("a"), func(context.Context, clock.Clock) (llm.Reply, error) {
			cancel()
			return llm.Reply{}, ctx.Err()
		})
		r.deps.Checkpoint = saved
		Expect(r.runIn(ctx).Status).To(Equal(loop.StatusInterrupted))
		Expect(calls).To(Equal([]string{"1 "}))
	})

	It("end the run if they fail, before the next call", func() {
		r := newRig(loop.Options{}, all("a", "b", "DONE")...)
		r.deps.Checkpoint = func(n int, _ string) (event.Event, bool, error) {
			if n == 2 {
				return event.Event{}, false, errors.New("the disk is full")
			}
			return event.Event{}, false, nil
		}
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusError))
		Expect(res.Details).To(ContainSubstring("the disk is full"))
		Expect(r.requests).To(HaveLen(2))
	})

	It("leave the ending of a run that is done, and report that they failed", func() {
		r := newRig(loop.Options{}, say("DONE"))
		r.deps.Checkpoint = func(int, string) (event.Event, bool, error) {
			return event.Event{}, false, errors.New("the disk is full")
		}
		res := r.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Details).To(HaveSuffix("; the disk is full"))
	})
})
