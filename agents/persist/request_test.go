package persist_test

import (
	"context"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// asked adds requests that are made when a task is done, and returns what became of them.
func (r *rig) asked(after string, requests ...persist.Request) *[]error {
	var replies []error
	r.deps.Requests = func() (made []persist.Request) {
		if after != "" && len(r.store.of(state.KindOutcome)) == 0 && len(r.worked) == 0 {
			return nil
		}
		made, requests = requests, nil
		for i := range made {
			made[i].Done = func(err error) { replies = append(replies, err) }
		}
		return made
	}
	return &replies
}

// amendment returns the request to replace the plan of a rig.
func (r *rig) amendment(p plan.Plan) persist.Request {
	return persist.Request{Plan: p, Workers: r.deps.Workers, Probes: r.deps.Probes, Accept: r.deps.Accept}
}

var _ = Describe("A plan that is amended while it runs", Label("H-01"), func() {
	It("goes on with the new plan, and so does the next process", func() {
		r := newRig(tasks("a", "b", "c"))
		amended := tasks("a", "b", "d", "c")
		amended.Tasks[1].Skip = "not needed"
		amended.Tasks[3].Do = "Do c well."
		replies := r.asked("a", r.amendment(amended))
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(*replies).To(Equal([]error{nil}))
		Expect(r.worked).To(Equal([]string{"a#1", "d#1", "c#1"}))
		Expect(r.prompts[2]).To(ContainSubstring("Do c well."))
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "b": "skipped", "d": "done", "c": "done"}))
		Expect(r.emitted(event.State, "amend")).To(HaveLen(1))
		Expect(r.store.of(state.KindAmend)).To(HaveLen(1))

		r.plan, r.deps.Requests = amended, nil
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(persist.Look(tasks("a", "b", "c"), r.store.reopen())).Error().To(HaveOccurred(), "it is another plan now")
	})

	It("is the same after a process was killed at any write", Label("P-05"), func() {
		amended := tasks("a", "d", "b")
		run := func(r *rig) persist.Result {
			if len(r.store.of(state.KindAmend)) == 0 {
				r.plan = tasks("a", "b")
				r.asked("a", r.amendment(amended))
			} else {
				r.plan, r.deps.Requests = amended, nil
			}
			return r.run()
		}
		want := newRig(amended)
		Expect(run(want).Status).To(Equal(persist.StatusComplete))
		for _, late := range []bool{false, true} {
			for k := 1; ; k++ {
				r := newRig(amended)
				r.store.fail = func(n int, _ string) failure {
					return failure{err: map[bool]error{true: errKilled}[n == k], late: late}
				}
				through := run(r).Status == persist.StatusComplete
				r.store = r.store.reopen()
				r.deps.Store = r.store
				Expect(run(r).Status).To(Equal(persist.StatusComplete), "write %d", k)
				Expect(r.store.text()).To(Equal(want.store.text()), "write %d", k)
				if through {
					Expect(k).To(BeNumerically(">", 5))
					break
				}
			}
		}
	})

	It("stays as it is if the amendment does not fit, and says why", func() {
		r := newRig(tasks("a", "b"))
		changed := tasks("a", "b")
		changed.Tasks[0].Do = "Do something else."
		unknown := tasks("a", "b")
		unknown.Tasks[1].By = "nobody"
		replies := r.asked("a", r.amendment(changed), r.amendment(unknown), r.amendment(tasks("a", "b")),
			persist.Request{Task: "z", Text: "Yes."}, persist.Request{Task: "a", Text: "Yes."}, persist.Request{Task: "b", Text: "Use plain sh."})
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(*replies).To(HaveExactElements(
			And(MatchError(persist.ErrRefused), MatchError(ContainSubstring(`the task "a" is done`))),
			MatchError(persist.ErrRefused),
			MatchError(persist.ErrUnchanged),
			MatchError(ContainSubstring("there is no such task")),
			MatchError(ContainSubstring("it is done")),
			Not(HaveOccurred())))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1"}))
		Expect(r.prompts[1]).To(ContainSubstring("Use plain sh."))
	})

	It("ends the parallel attempts at tasks that changed, and begins new ones", func() {
		r, w := inParallel(tasks("a", "b"), 2, newDisk(), newTape())
		amended := tasks("a", "b")
		amended.Tasks[1].Do = "Do b well."
		began := make(chan struct{})
		w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
			switch a.Key {
			case "a#1":
				<-began
			case "b#1":
				close(began)
				<-ctx.Done()
				return persist.Outcome{Grade: persist.Failed, Details: "ended", Used: &persist.Used{Calls: 1}}
			}
			files[a.Task.ID] = a.Task.Do
			return done(ctx, r, a)
		}
		sent, ended := false, atomic.Bool{}
		r.deps.Sink = event.SinkFunc(func(e event.Event) {
			if e.Name == "attempt-ended" {
				ended.Store(true)
			}
		})
		r.deps.Requests = func() []persist.Request {
			if sent || !ended.Load() {
				return nil
			}
			sent = true
			q := r.amendment(amended)
			q.Done = func(err error) { Expect(err).NotTo(HaveOccurred()) }
			return []persist.Request{q}
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(w.main).To(Equal(map[string]string{"a": "Do a.", "b": "Do b well."}))
		Expect(w.worked).To(ConsistOf("a#1", "b#1", "b#2"))
	})
})
