package state_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// deferring applies the records of a task that is done with an answer which may not stop.
func deferring(s *state.State, steps ...string) {
	GinkgoHelper()
	Expect(s.Apply(state.Record{Kind: state.KindBegin, Plan: "p"})).To(Succeed())
	apply(s, "a", state.Outcome{Grade: "done", Answer: "x", Refused: "it defers work", Steps: steps})
}

func apply(s *state.State, task string, o state.Outcome) {
	GinkgoHelper()
	t, _ := s.ByID(task)
	Expect(s.Apply(state.Record{Kind: state.KindIntent, Task: task, Attempt: t.Attempts + 1})).To(Succeed())
	Expect(s.Apply(state.Record{Kind: state.KindOutcome, Task: task, Attempt: t.Attempts + 1, Outcome: &o})).To(Succeed())
}

var _ = Describe("A deferral", Label("P-05"), func() {
	var s *state.State
	BeforeEach(func() {
		var err error
		s, err = state.New(plan.Plan{Name: "p", Tasks: []plan.Task{{ID: "a", Do: "x"}, {ID: "b", Do: "y"}}})
		Expect(err).NotTo(HaveOccurred())
	})

	It("is not settled by an answer that could not be judged", func() {
		deferring(s, "write the tests")
		Expect(s.Apply(state.Record{Kind: state.KindDerive, N: 1, Tasks: []state.Derived{
			{ID: "round-1.step-1", Do: "write the tests", From: plan.CheckStopGuard, Of: "a", Step: "write the tests"},
		}})).To(Succeed())
		apply(s, "round-1.step-1", state.Outcome{Grade: "done", Answer: "x", Unjudged: "no judge"})
		Expect(s.Deferrals).To(HaveLen(1))
	})
})
