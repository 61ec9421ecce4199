package kind_test

import (
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// step is an observed step of a supervisor.
type step func(kind.Verifier) error

func works(task, key string) step {
	return func(w kind.Verifier) error {
		w.Work(persist.Assignment{Task: plan.Task{ID: task}, Key: key})
		return nil
	}
}

func stores(task, grade string) step {
	return func(w kind.Verifier) error {
		return w.Store(state.Record{Kind: state.KindOutcome, Task: task, Attempt: 1, Outcome: &state.Outcome{Grade: grade}})
	}
}

func results(tasks ...persist.Task) step {
	return func(w kind.Verifier) error {
		w.Close(persist.Result{Tasks: tasks})
		return nil
	}
}

var _ = DescribeTable("The verifier of a supervisor", Label("P-05"),
	func(want string, steps ...step) {
		var broken []string
		w := kind.NewVerifier(event.SinkFunc(func(e event.Event) {
			if e.Kind == event.Checkpoint {
				return
			}
			Expect(e.Kind).To(Equal(event.Verdict))
			Expect(e.Name).To(Equal("promise"))
			Expect(e.Attrs).To(HaveKeyWithValue("kept", false))
			broken = append(broken, e.Detail)
		}))
		Expect(w.Load()).To(Succeed())
		for _, do := range steps {
			Expect(do(w)).To(Succeed())
		}
		if want == "" {
			Expect(broken).To(BeEmpty())
		} else {
			Expect(broken).To(ConsistOf(ContainSubstring(want)))
		}
	},
	Entry("accepts a correct run", "",
		works("a", "a#1"), stores("a", "failed"), works("a", "a#2"), stores("a", "done"), works("b", "b#1"),
		results(persist.Task{ID: "a", State: "done"}, persist.Task{ID: "b", State: "waiting"})),
	Entry("accepts an attempt that is repeated under its key after a crash", "",
		works("a", "a#1"), works("a", "a#1"), stores("a", "done")),
	Entry("reports a task that is done again", "task a is done again after its end was stored",
		works("a", "a#1"), stores("a", "done"), works("a", "a#2")),
	Entry("reports an end that is stored twice", "task a is stored as done twice",
		stores("a", "done"), stores("a", "done")),
	Entry("reports another key while an attempt is open", "begun anew with the key a#2 while the attempt a#1",
		works("a", "a#1"), works("a", "a#2")),
	Entry("reports a result with a done task that is not stored", "task a is done in the result",
		works("a", "a#1"), results(persist.Task{ID: "a", State: "done"})),
	Entry("reports a result without a stored task", "task a is waiting in the result",
		stores("a", "done"), results(persist.Task{ID: "a", State: "waiting"})),
	Entry("reports data that is not a record", "a record cannot be read",
		step(func(w kind.Verifier) error { return w.StoreRaw([]byte("{")) })),
)

var _ = Describe("The store of a process that crashes", func() {
	var emitted []string
	sink := event.SinkFunc(func(e event.Event) { emitted = append(emitted, e.Name) })

	at := func(n int, do string) perturb.Perturbation {
		return perturb.Perturbation{At: perturb.Write, N: n, Do: do}
	}

	// crashing returns a store with n records and its faults.
	crashing := func(n int, ps ...perturb.Perturbation) (*kind.CrashStore, *journal.Memory, func() []string) {
		emitted = nil
		memory := journal.NewMemory()
		_, err := memory.Load(func([]byte) error { return nil }, func([]byte) error { return nil })
		Expect(err).NotTo(HaveOccurred())
		m, unfired := kind.NewCrashStore(memory, sink, ps...)
		for range n {
			Expect(m.Append([]byte("x"))).To(Succeed())
		}
		return m, memory, unfired
	}
	// survivors returns the number of records that survive.
	survivors := func(memory *journal.Memory) int {
		found, err := memory.Reopen().Load(func([]byte) error { return nil }, func([]byte) error { return nil })
		Expect(err).NotTo(HaveOccurred())
		return found.Records
	}

	It("writes and emits nothing after the crash", func() {
		m, memory, unfired := crashing(1, at(2, perturb.CrashBefore))
		m.Emit(event.Event{Name: "alive"})
		Expect(m.Append([]byte("lost"))).NotTo(Succeed())
		Expect(m.Append([]byte("too late"))).NotTo(Succeed())
		Expect(m.Checkpoint([]byte("too late"))).NotTo(Succeed())
		Expect(m.Save("late", nil)).NotTo(Succeed())
		m.Emit(event.Event{Name: "dead"})
		Expect(emitted).To(Equal([]string{"alive"}))
		Expect(survivors(memory)).To(Equal(1))
		Expect(unfired()).To(BeEmpty())
	})

	It("keeps a write before the crash", func() {
		m, memory, _ := crashing(0, at(1, perturb.CrashAfter))
		Expect(m.Append([]byte("kept"))).NotTo(Succeed())
		Expect(survivors(memory)).To(Equal(1))
	})

	It("finds the disk full once, and continues", func() {
		m, memory, unfired := crashing(0, at(1, perturb.DiskFull))
		Expect(m.Append([]byte("no room"))).To(MatchError(syscall.ENOSPC))
		Expect(m.Append([]byte("room"))).To(Succeed())
		Expect(survivors(memory)).To(Equal(1))
		Expect(unfired()).To(BeEmpty())
	})

	It("reports faults that were not injected", func() {
		_, _, unfired := crashing(2, at(4, perturb.CrashBefore), at(3, perturb.DiskFull))
		Expect(unfired()).To(Equal([]string{"write=4:crash-before: there were 2 writes", "write=3:disk-full: there were 2 writes"}))
	})
})
