package persist_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("The files of the workers", func() {
	var calls []string
	keep := func(_ context.Context, task string, attempt int, failure string) (event.Event, error) {
		calls = append(calls, fmt.Sprintf("%s#%d %s", task, attempt, failure))
		return event.Event{Kind: event.State, Name: "checkpoint"}, nil
	}
	ends := func(out persist.Outcome) deed {
		return func(context.Context, *rig, persist.Assignment) persist.Outcome { return out }
	}
	BeforeEach(func() { calls = nil })

	It("are kept when a task is done and when an attempt failed", func() {
		r := newRig(tasks("a", "b<a"))
		r.deps.Checkpoint = keep
		r.deeds["a"] = []deed{
			ends(persist.Outcome{Grade: persist.Failed, Details: "no compiler"}),
			ends(persist.Outcome{Grade: persist.Failed, Later: true, Details: "overloaded"}),
			ends(persist.Outcome{Grade: persist.Done}),
		}
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(calls).To(Equal([]string{"a#1 no compiler", "a#3 ", "b#1 "}))
		Expect(r.emitted(event.State, "checkpoint")).To(HaveLen(3))
	})

	It("are left alone where a task waits for a person", func() {
		r := newRig(tasks("a"))
		r.deps.Checkpoint = keep
		r.deeds["a"] = []deed{ends(persist.Outcome{Grade: persist.Escalated, Details: "which one?"})}
		Expect(r.run().Status).To(Equal(persist.StatusEscalated))
		Expect(calls).To(BeEmpty())
	})

	It("are kept once a task is accepted, and count as failed before", func() {
		r := accepting(plan.Fail, plan.Pass)
		r.deps.Checkpoint = keep
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(calls).To(HaveLen(3))
		Expect(calls[0]).To(HavePrefix("a#1 not accepted: go test: fail"))
		Expect(calls[1:]).To(Equal([]string{"a#2 ", "b#1 "}))
	})

	It("end the run if they cannot be kept, and the next run repeats the attempt", func() {
		r := newRig(tasks("a", "b<a"))
		r.deps.Checkpoint = func(context.Context, string, int, string) (event.Event, error) {
			return event.Event{}, errors.New("the disk is full")
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Details).To(Equal("the files of the task a could not be kept: the disk is full"))
		r.deps.Checkpoint = keep
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(calls).To(Equal([]string{"a#1 ", "b#1 "}))
	})
})
