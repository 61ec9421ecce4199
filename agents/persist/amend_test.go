package persist_test

import (
	"encoding/json"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// amend records the current plan of the run as its amendment.
func amend(r *rig) (*persist.Amendment, error) {
	r.store = r.store.reopen()
	a, err := persist.PrepareAmendment(r.plan, r.store)
	if err != nil {
		return nil, err
	}
	return a, a.Record()
}

var _ = Describe("An amendment of a plan", func() {
	// stuck returns an ended run of a, b<a and c<b, in which b failed.
	stuck := func() *rig {
		r := newRig(tasks("a", "b<a", "c<b"))
		r.deeds["b"] = []deed{grade(persist.Failed, "it cannot be done")}
		r.plan.Limits.Rounds = 1
		Expect(r.run().Status).To(Equal(persist.StatusBlocked))
		r.worked, r.deeds = nil, map[string][]deed{}
		return r
	}

	It("rewords a task that failed, which gets all its attempts under new keys", func() {
		r := stuck()
		r.plan.Tasks[1].Do = "Do only half of b."
		a, err := amend(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Changes).To(Equal(persist.PlanChanged{Changed: []string{"b"}}))
		r.deeds["b"] = []deed{nil, nil, nil, nil, grade(persist.Failed, "not yet"), done}
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"b#5", "b#6", "c#1"}))
		Expect(r.prompts[len(r.prompts)-2]).To(ContainSubstring("Task b: Do only half of b."))
	})

	It("adds, skips and removes tasks, and changes the order", func() {
		r := stuck()
		b, c := r.plan.Tasks[1], r.plan.Tasks[2]
		b.Skip = "nobody needs it"
		d := plan.Task{ID: "d", Do: "Do d.", After: []string{"b"}}
		r.plan.Tasks = []plan.Task{d, r.plan.Tasks[0], b}
		r.plan.Goal = "Less."
		a, err := amend(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Changes).To(Equal(persist.PlanChanged{
			Changed: []string{"b"}, Added: []string{"d"}, Removed: []string{c.ID}, Goal: true, Order: true,
		}))
		Expect(a.Skipped).To(Equal([]string{"b"}))
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"d#1"}))
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "b": "skipped", "d": "done"}))
		Expect(result.Tasks[2].Details).To(Equal("nobody needs it"))

		r.plan.Tasks[2].Skip = ""
		a, err = amend(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Restored).To(Equal([]string{"b"}))
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"d#1", "b#5"}))
	})

	It("continues a complete run with the tasks that it adds", func() {
		r := newRig(tasks("a"))
		r.run()
		r.plan = tasks("a", "b<a")
		_, err := amend(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "b#1"}))
	})

	It("keeps what the run used and counted, the answers and the notes", func() {
		r := asking()
		r.run()
		r.store = r.store.reopen()
		Expect(persist.Answer(r.plan, r.store, "a", "PostgreSQL.")).To(Succeed())
		r.plan.Tasks[1].Do = "Do b otherwise."
		_, err := amend(r)
		Expect(err).NotTo(HaveOccurred())
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(result.Counts.Attempts).To(Equal(4))
	})

	DescribeTable("is refused, and nothing is written,",
		func(change func(p *plan.Plan), why string) {
			r := stuck()
			change(&r.plan)
			before := len(r.store.lines)
			_, err := amend(r)
			Expect(err).To(MatchError(ContainSubstring(why)))
			Expect(r.store.lines).To(HaveLen(before))
		},
		Entry("of a done task's text", func(p *plan.Plan) { p.Tasks[0].Do = "Do more." }, `the task "a" is done, so it cannot be changed`),
		Entry("of a done task's dependencies", func(p *plan.Plan) {
			p.Tasks = append(p.Tasks, plan.Task{ID: "d", Do: "d"})
			p.Tasks[0].After = []string{"d"}
		},
			`the task "a" is done, so it cannot be changed`),
		Entry("that skips a done task", func(p *plan.Plan) { p.Tasks[0].Skip = "x" }, `the task "a" is done, so it cannot be changed`),
		Entry("that removes a task that has begun", func(p *plan.Plan) { p.Tasks = p.Tasks[:1] }, `the task "b" has begun (failed), so it cannot be removed`),
		Entry("that removes a done task", func(p *plan.Plan) { p.Tasks = p.Tasks[1:]; p.Tasks[0].After = nil }, `the task "a" has begun (done)`),
		Entry("without a change", func(*plan.Plan) {}, persist.ErrUnchanged.Error()),
	)

	It("is refused before the plan has begun, and for a plan that is not valid", func() {
		r := newRig(tasks("a"))
		_, err := amend(r)
		Expect(err).To(MatchError(persist.ErrRefused))
		r = stuck()
		r.plan.Tasks[2].After = []string{"z"}
		_, err = amend(r)
		Expect(err).To(MatchError(ContainSubstring(`"z"`)))
	})

	It("is refused for the id of a task that was derived from a check", func() {
		r := newRig(tasks("a"))
		r.deps.Probes[plan.CheckTests] = probe(plan.Fail, plan.Pass)
		r.run()
		r.plan.Tasks = append(r.plan.Tasks, plan.Task{ID: "round-1.tests", Do: "x"})
		_, err := amend(r)
		Expect(err).To(MatchError(ContainSubstring(`is that of a task that was derived from the check "tests"`)))
	})

	It("is also read without a snapshot, and after a crash before its plan is stored", Label("P-05"), func() {
		r := stuck()
		r.plan.Tasks[1].Do = "Do only half of b."
		r.store = r.store.reopen()
		a, err := persist.PrepareAmendment(r.plan, r.store)
		Expect(err).NotTo(HaveOccurred())
		r.store.fail = func(_ int, what string) failure {
			return failure{err: map[bool]error{true: errors.New("killed")}[what == "plan.json"]}
		}
		Expect(a.Record()).To(MatchError("killed"))
		// The plan is edited once more before the run goes on.
		r.plan.Tasks[1].Do = "Do a third of b."
		_, err = amend(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.again().Status).To(Equal(persist.StatusComplete))

		// A store with the records only.
		bare := newTape()
		_, err = bare.Load(func([]byte) error { return nil }, func([]byte) error { return nil })
		Expect(err).NotTo(HaveOccurred())
		Expect(bare.Append(r.store.lines...)).To(Succeed())
		result, err := persist.Look(r.plan, bare.reopen())
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(states(result)).To(Equal(map[string]string{"a": "done", "b": "done", "c": "done"}))
	})

	It("leaves the earlier plan as another one", func() {
		r := stuck()
		earlier := r.plan
		earlier.Tasks = append([]plan.Task{}, r.plan.Tasks...)
		r.plan.Tasks[1].Do = "Do only half of b."
		_, err := amend(r)
		Expect(err).NotTo(HaveOccurred())
		r.plan = earlier
		_, changed := errors.AsType[*persist.PlanChanged](r.again().Err)
		Expect(changed).To(BeTrue())
	})

	It("in the middle of an attempt that a crash cut off goes on with it, or with another one if its task changed", Label("P-05"), func() {
		for _, reword := range []bool{false, true} {
			r := newRig(tasks("a", "b<a"))
			r.store.fail = func(n int, _ string) failure { return failure{err: map[bool]error{true: errKilled}[n == 3]} }
			Expect(r.run().Status).To(Equal(persist.StatusError))
			Expect(r.worked).To(Equal([]string{"a#1"}))
			r.plan.Tasks = append([]plan.Task{{ID: "new", Do: "Do it first."}}, r.plan.Tasks...)
			if reword {
				r.plan.Tasks[1].Do = "Do a otherwise."
			}
			_, err := amend(r)
			Expect(err).NotTo(HaveOccurred())
			Expect(r.again().Status).To(Equal(persist.StatusComplete))
			want := []string{"a#1", "a#1", "new#1", "b#1"}
			if reword {
				want = []string{"a#1", "new#1", "a#2", "b#1"}
			}
			Expect(r.worked).To(Equal(want))
		}
	})

	It("needs the structure of the plan, which states of earlier versions get when they go on", func() {
		r := stuck()
		type old struct {
			Goal  string `json:"goal"`
			Tasks []struct {
				ID     string `json:"id"`
				Digest string `json:"digest"`
			} `json:"tasks"`
		}
		data, err := r.store.Read("plan.json")
		Expect(err).NotTo(HaveOccurred())
		var stored old
		Expect(json.Unmarshal(data, &stored)).To(Succeed())
		data, err = json.Marshal(stored)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.store.Save("plan.json", data)).To(Succeed())
		original := r.plan.Tasks[1].Do
		r.plan.Tasks[1].Do = "Do only half of b."
		_, err = amend(r)
		Expect(err).To(MatchError(ContainSubstring("start it once with the plan as it was")))
		r.plan.Tasks[1].Do = original
		r.deeds["b"] = []deed{grade(persist.Failed, "it cannot be done")}
		r.again()
		r.plan.Tasks[1].Do = "Do only half of b."
		_, err = amend(r)
		Expect(err).NotTo(HaveOccurred())
	})
})

var _ = Describe("A skipped task", func() {
	It("is not done, and does not hold up those after it", func() {
		p := tasks("a", "b<a", "c<b")
		p.Tasks[1].Skip = "nobody needs it"
		r := newRig(p)
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "c#1"}))
		Expect(states(result)["b"]).To(Equal("skipped"))
		Expect(r.again().Tasks).To(Equal(result.Tasks))
		Expect(r.store.of(state.KindReopen)).To(BeEmpty())
	})

	It("may be all there is", func() {
		p := tasks("a", "b<a")
		p.Tasks[0].Skip, p.Tasks[1].Skip = "x", "y"
		r := newRig(p)
		Expect(r.run().Status).To(Equal(persist.StatusComplete))
		Expect(r.clock.Elapsed()).To(BeNumerically("<", time.Second))
	})
})
