package state_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// parallel carries a plan out as a supervisor with up to n attempts at the same time does, on the same
// supervisor. Attempts end in the order that pick chooses.
type parallel struct {
	*supervisor
	n    int
	live []int
	pick func(n int) int
	most int // attempts at the same time
	// killed is true if the process was killed in this step.
	killed bool
	// wrong is the first violation of what holds at any time.
	wrong error
}

// step makes the next move.
func (p *parallel) step(m state.Move) error {
	p.killed = false
	if m.Kind != state.KindIntent || m.Again {
		return p.move(m)
	}
	for _, i := range p.state.Startable(p.n, func(task int) bool { return slices.Contains(p.live, task) }) {
		if err := p.start(i); err != nil {
			return err
		}
	}
	if i, due := p.state.Due(); due {
		a, _ := p.state.AttemptAt(i)
		t := p.state.Task(i)
		if err := p.put(state.Record{Kind: state.KindIntent, Task: t.ID, Attempt: a.Number, Context: use(t.Files)}); err != nil {
			return err
		}
		return p.put(state.Record{Kind: state.KindOutcome, Task: t.ID, Attempt: a.Number, Outcome: a.Outcome})
	}
	if p.killed {
		p.killed = false
		return nil
	}
	if len(p.live) == 0 {
		return fmt.Errorf("no attempt can begin, and none is in progress")
	}
	at := p.pick(len(p.live))
	t := p.state.Task(p.live[at])
	p.live = slices.Delete(p.live, at, at+1)
	t.Attempts++
	out := p.work(t)
	return p.put(state.Record{Kind: state.KindFinish, Task: t.ID, Attempt: t.Attempts, Outcome: &out})
}

// start begins an attempt.
func (p *parallel) start(i int) error {
	t := p.state.Task(i)
	for _, id := range t.After {
		if before, _ := p.state.ByID(id); before.Stage != "done" {
			p.wrong = fmt.Errorf("%s began, and %s is %s", t.ID, id, before.Stage)
		}
	}
	p.live = append(p.live, i)
	p.most = max(p.most, len(p.live))
	if _, begun := p.state.AttemptAt(i); begun { // by a process that was killed
		return nil
	}
	return p.put(state.Record{Kind: state.KindStart, Task: t.ID, Attempt: t.Attempts + 1})
}

// run goes on to an end.
func (p *parallel) run() (state.End, error) {
	if err := p.put(state.Record{Kind: state.KindBegin, Plan: "digest"}); err != nil {
		return state.End{}, err
	}
	for range most {
		move := p.state.Next()
		if move.Kind == state.KindEnd {
			return move.End, nil
		}
		if err := p.step(move); err != nil {
			return state.End{}, fmt.Errorf("%s: %w", move.Kind, err)
		}
	}
	return state.End{}, fmt.Errorf("no end after %d moves", most)
}

// order returns the ids of the tasks in the order in which they were done.
func order(s *supervisor) (ids []string) {
	for _, r := range s.records {
		if r.Kind == state.KindOutcome && r.Outcome.Grade == "done" {
			ids = append(ids, r.Task)
		}
	}
	return ids
}

// anyParallel returns a run of attempts that end in any order.
func anyParallel(t *rapid.T, s *supervisor) *parallel {
	return &parallel{
		supervisor: s, n: rapid.IntRange(1, 4).Draw(t, "parallel"),
		pick: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "ends") },
	}
}

var _ = Describe("Any run of parallel attempts", Label("P-08"), func() {
	It("ends, begins no task before its dependencies are done, and never more than n attempts", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := anySupervisor(t, anyPlan(t))
			p := anyParallel(t, s)
			end, err := p.run()
			switch {
			case err != nil:
				t.Fatal(err)
			case p.wrong != nil:
				t.Fatal(p.wrong)
			case p.most > p.n:
				t.Fatalf("%d attempts at the same time, at most %d are allowed", p.most, p.n)
			case len(s.state.Parallel) > 0 || len(p.live) > 0:
				t.Fatalf("the run ended with attempts: %+v, in progress %v", s.state.Parallel, p.live)
			}
			consistent(t, s, end)
		})
	})

	It("does the tasks in the order of a run without parallel attempts, if each succeeds", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p := anyPlan(t)
			alone, err := newSupervisor(p)
			if err != nil {
				t.Fatal(err)
			}
			want, err := alone.run(most)
			if err != nil {
				t.Fatal(err)
			}
			s, _ := newSupervisor(p)
			together := anyParallel(t, s)
			got, err := together.run()
			if err != nil {
				t.Fatal(err)
			}
			if got != want || !slices.Equal(order(alone), order(s)) {
				t.Fatalf("%+v in the order %v\n≠\n%+v in the order %v", got, order(s), want, order(alone))
			}
		})
	})

	It("is the same after a snapshot, and with processes that are killed at any record", Label("P-05"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p := anyPlan(t)
			s := anySupervisor(t, p)
			run := anyParallel(t, s)
			s.after = func() {
				if rapid.IntRange(0, 3).Draw(t, "kill") > 0 {
					return
				}
				data, err := s.state.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				restored, err := state.Restore(p, data)
				if err != nil {
					t.Fatal(err)
				}
				expectSame(t, restored, s.state)
				s.state, run.live, run.killed = restored, nil, true
			}
			end, err := run.run()
			if err != nil {
				t.Fatal(err)
			}
			consistent(t, s, end)
		})
	})
})

var _ = Describe("Parallel attempts", func() {
	// began returns a run of three ready tasks whose attempts began.
	began := func(limits plan.Limits) *parallel {
		s, err := newSupervisor(plan.Plan{Limits: limits, Tasks: []plan.Task{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d", After: []string{"b"}}}})
		Expect(err).NotTo(HaveOccurred())
		p := &parallel{supervisor: s, n: 3, pick: func(int) int { return 1 }}
		Expect(p.put(state.Record{Kind: state.KindBegin, Plan: "digest"})).To(Succeed())
		for _, i := range p.state.Startable(3, func(int) bool { return false }) {
			Expect(p.start(i)).To(Succeed())
		}
		Expect(p.live).To(Equal([]int{0, 1, 2}))
		return p
	}
	finish := func(p *parallel, id string, o state.Outcome) {
		GinkgoHelper()
		Expect(p.put(state.Record{Kind: state.KindFinish, Task: id, Attempt: 1, Outcome: &o})).To(Succeed())
	}

	It("are recorded in their turn if they did their task, and at once if they did not", func() {
		p := began(plan.Limits{})
		finish(p, "b", state.Outcome{Grade: "done"})
		_, due := p.state.Due()
		Expect(due).To(BeFalse(), "a comes first")
		finish(p, "c", state.Outcome{Grade: "failed"})
		i, due := p.state.Due()
		Expect(due).To(BeTrue())
		Expect(i).To(Equal(2))
	})

	It("count once for an outage if they failed at the same time", func() {
		p := began(plan.Limits{})
		p.live = nil
		for _, id := range []string{"a", "b", "c"} {
			finish(p, id, state.Outcome{Grade: "failed", Later: true})
		}
		for range 3 {
			Expect(p.step(p.state.Next())).To(Succeed())
		}
		Expect(p.state.Outage).To(Equal(1))
		Expect(p.state.Startable(3, func(int) bool { return false })).To(Equal([]int{0}), "one at a time")
	})

	It("have their usage counted when they end, once", func() {
		p := began(plan.Limits{})
		finish(p, "a", state.Outcome{Grade: "done", Used: &state.Used{Calls: 2}})
		Expect(p.state.Used.Calls).To(Equal(2))
		Expect(p.step(p.state.Next())).To(Succeed())
		Expect(p.state.Task(0).Used.Calls).To(Equal(2))
		Expect(p.state.Used.Calls).To(Equal(2))
	})

	It("keep their indices when the plan is amended, unless their task changed", func() {
		p := began(plan.Limits{})
		amended := p.plan
		amended.Tasks = append([]plan.Task{{ID: "first", Skip: "not needed"}}, amended.Tasks...)
		next, err := p.state.Amend(amended, []string{"b"})
		Expect(err).NotTo(HaveOccurred())
		Expect(next.Parallel).To(HaveLen(2))
		Expect(next.Parallel[0].Task).To(Equal(1))
		Expect(next.Parallel[1].Task).To(Equal(3))
		b, _ := next.ByID("b")
		Expect(b.Attempts).To(Equal(1), "the ended attempt has its number")
		amended.Tasks = amended.Tasks[:3]
		_, err = p.state.Amend(amended, nil)
		Expect(err).To(MatchError(ContainSubstring(`the task "c" has begun`)))
	})

	DescribeTable("are refused in a journal that they do not fit",
		func(r state.Record) {
			p := began(plan.Limits{})
			before, err := p.state.Snapshot()
			Expect(err).NotTo(HaveOccurred())
			Expect(p.state.Apply(r)).To(MatchError(ContainSubstring("does not fit the journal")))
			Expect(p.state.Snapshot()).To(Equal(before))
		},
		Entry("begun twice", state.Record{Kind: state.KindStart, Task: "a", Attempt: 1}),
		Entry("of a task that waits", state.Record{Kind: state.KindStart, Task: "d", Attempt: 1}),
		Entry("of nothing", state.Record{Kind: state.KindStart, Task: "z", Attempt: 1}),
		Entry("ended before they began", state.Record{Kind: state.KindFinish, Task: "d", Attempt: 1, Outcome: &state.Outcome{Grade: "done"}}),
		Entry("ended without an outcome", state.Record{Kind: state.KindFinish, Task: "a", Attempt: 1}),
		Entry("ended with another grade", state.Record{Kind: state.KindFinish, Task: "a", Attempt: 1, Outcome: &state.Outcome{Grade: "great"}}),
		Entry("recorded before they ended", state.Record{Kind: state.KindIntent, Task: "a", Attempt: 1}),
	)

	DescribeTable("are refused in a snapshot that they do not fit",
		func(old, changed string) {
			p := began(plan.Limits{})
			finish(p, "a", state.Outcome{Grade: "done"})
			data, err := p.state.Snapshot()
			Expect(err).NotTo(HaveOccurred())
			Expect(string(data)).To(ContainSubstring(old))
			_, err = state.Restore(p.plan, []byte(strings.Replace(string(data), old, changed, 1)))
			Expect(err).To(MatchError(ContainSubstring("does not belong to this plan")))
		},
		Entry("no such task", `{"task":2,`, `{"task":9,`),
		Entry("twice", `{"task":2,`, `{"task":1,`),
		Entry("of a task that waits", `{"task":2,`, `{"task":3,`),
		Entry("in progress and recorded", `"running":-1`, `"running":2`),
		Entry("with another grade", `"grade":"done"`, `"grade":"great"`),
	)
})
