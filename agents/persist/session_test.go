package persist_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/llm"
)

// talks is the worker of an agent that stores its sessions: it records what each attempt continues.
type talks struct {
	*rig
	continued []string // the sessions that attempts continue, or "-"
	turns     []string
}

// talking returns a run whose attempts leave the session s-1.
func talking(r *rig) *talks {
	t := &talks{rig: r}
	r.deps.Workers["default"] = t
	return t
}

// Work implements persist.Worker.
func (t *talks) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	id := "-"
	if a.Session != nil {
		id = a.Session.ID
	}
	t.continued, t.turns = append(t.continued, id), append(t.turns, a.Turn)
	if a.Session == nil {
		a.Began(persist.Session{Agent: "claude", Session: llm.Session{ID: "s-" + fmt.Sprint(len(t.continued))}})
	}
	out := t.rig.Work(ctx, a)
	out.Session = a.Session
	if out.Session == nil {
		out.Session = &persist.Session{Agent: "claude", Session: llm.Session{ID: "s-" + fmt.Sprint(len(t.continued)), Total: &llm.Usage{Input: 7}}}
	}
	return out
}

// sessions returns the sessions in the records of a kind; "-" for none.
func (t *talks) sessions(kind state.Kind) []string {
	GinkgoHelper()
	var all []string
	for _, line := range t.store.lines {
		r, err := state.Decode(line)
		Expect(err).NotTo(HaveOccurred())
		switch {
		case r.Kind != kind:
		case r.Session != nil:
			all = append(all, r.Session.ID)
		default:
			all = append(all, "-")
		}
	}
	return all
}

var _ = Describe("The session of an agent", Label("P-05"), func() {
	It("is continued after an acceptance command that failed, with its output and without the goal", func() {
		t := talking(accepting(plan.Fail, plan.Pass))
		Expect(t.run().Status).To(Equal(persist.StatusComplete))
		Expect(t.continued).To(Equal([]string{"-", "s-1", "-"}), "b is another task")
		Expect(t.turns[0]).To(BeEmpty())
		Expect(t.turns[1]).To(And(ContainSubstring("not accepted: go test: fail"), ContainSubstring("> cart_test.go:12: got 3"),
			ContainSubstring("- go test ./...\n"), ContainSubstring("Do this task wholly now."), Not(ContainSubstring("All is well."))))
		Expect(t.sessions(state.KindIntent)).To(Equal([]string{"-", "s-1", "-"}), "the journal has the choice")
		Expect(t.sessions(state.KindSession)).To(Equal([]string{"s-1", "s-3"}))
	})

	It("is a new one in each attempt on request", func() {
		t := talking(accepting(plan.Fail, plan.Pass))
		t.deps.FreshSessions = true
		Expect(t.run().Status).To(Equal(persist.StatusComplete))
		Expect(t.continued).To(Equal([]string{"-", "-", "-"}))
		Expect(t.sessions(state.KindIntent)).To(Equal([]string{"-", "-", "-"}))
		Expect(t.prompts[1]).To(ContainSubstring("All is well."))
	})

	It("is continued after the answer of a person, in another process", func() {
		t := talking(newRig(tasks("a")))
		t.deeds["a"] = []deed{grade(persist.Escalated, "Which database?"), done}
		first := t.run()
		Expect(first.Status).To(Equal(persist.StatusEscalated))
		Expect(first.Tasks[0].Session).To(Equal("s-1"))
		Expect(persist.Answer(t.plan, t.store.reopen(), "a", "PostgreSQL.")).To(Succeed())
		Expect(t.again().Status).To(Equal(persist.StatusComplete))
		Expect(t.continued).To(Equal([]string{"-", "s-1"}))
		Expect(t.turns[1]).To(And(ContainSubstring("> Which database?"), ContainSubstring("> PostgreSQL.")))
	})

	It("is continued for the steps of a refused completion", func() {
		t := talking(newRig(tasks("a")))
		t.deeds["a"] = []deed{says("I've implemented login. I'll add the tests later.")}
		t.plan.Limits.Rounds = 1
		t.run()
		Expect(t.continued).To(HaveLen(2))
		Expect(t.continued[1]).To(Equal("s-1"))
		Expect(t.turns[1]).To(ContainSubstring("announced it and did not do it"))
	})

	It("that began in an attempt in which the process was killed is continued, with a note", func() {
		t := talking(newRig(tasks("a")))
		ctx, kill := context.WithCancelCause(context.Background())
		t.deeds["a"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome {
			t.store.dead = errKilled // nothing is written any more
			kill(errors.New("killed"))
			return persist.Outcome{Grade: persist.Failed}
		}}
		t.runIn(ctx)
		t.deeds["a"] = []deed{done}
		Expect(t.again().Status).To(Equal(persist.StatusComplete))
		Expect(t.worked).To(Equal([]string{"a#1", "a#1"}), "the attempt is repeated")
		Expect(t.continued).To(Equal([]string{"-", "s-1"}))
		Expect(t.turns[1]).To(And(HavePrefix("Your last turn was cut off."), ContainSubstring("All is well.")))
	})

	It("is a new one in a new segment, and after an attempt that stalled", func() {
		t := talking(newRig(tasks("a")))
		t.deeds["a"] = []deed{grade(persist.Split, "the segment is full"), hangs, done}
		Expect(t.run().Status).To(Equal(persist.StatusComplete))
		Expect(t.continued).To(Equal([]string{"-", "-", "-"}))
	})

	It("survives in a snapshot with its totals, until the task is done", func() {
		p := tasks("a")
		s, err := state.New(p)
		Expect(err).NotTo(HaveOccurred())
		session := &persist.Session{Agent: "codex", Session: llm.Session{ID: "s-1", Total: &llm.Usage{Input: 7}}}
		for _, r := range []state.Record{
			{Kind: state.KindBegin, Plan: "x"},
			{Kind: state.KindIntent, Task: "a", Attempt: 1},
			{Kind: state.KindOutcome, Task: "a", Attempt: 1, Outcome: &state.Outcome{Grade: "failed", Session: session}},
		} {
			Expect(s.Apply(r)).To(Succeed())
		}
		Expect(s.Apply(state.Record{Kind: state.KindSession, Task: "a", Attempt: 2, Session: session})).NotTo(Succeed(), "no such attempt")
		data, err := s.Snapshot()
		Expect(err).NotTo(HaveOccurred())
		restored, err := state.Restore(p, data)
		Expect(err).NotTo(HaveOccurred())
		Expect(restored.Task(0).Session).To(Equal(session))
		Expect(restored.Apply(state.Record{Kind: state.KindIntent, Task: "a", Attempt: 2, Session: session})).To(Succeed())
		Expect(restored.Apply(state.Record{
			Kind: state.KindOutcome, Task: "a", Attempt: 2, Outcome: &state.Outcome{Grade: "done", Session: session},
		})).To(Succeed())
		Expect(restored.Task(0).Session).To(BeNil())
	})
})
