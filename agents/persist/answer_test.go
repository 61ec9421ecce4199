package persist_test

import (
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// asking returns a run whose task a asks for a database and is done once an answer is in its prompt.
func asking() *rig {
	r := newRig(tasks("a", "b<a", "c"))
	r.deeds["a"] = []deed{takes(time.Minute, func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		if strings.Contains(a.Prompt, "> PostgreSQL.") {
			return done(ctx, r, a)
		}
		return persist.Outcome{Grade: persist.Escalated, Details: "PostgreSQL or SQLite?"}
	})}
	return r
}

var _ = Describe("The answer of a person", func() {
	answer := func(r *rig, task, text string) error {
		r.store = r.store.reopen()
		return persist.Answer(r.plan, r.store, task, text)
	}

	It("is recorded, survives restarts, and goes to each further attempt", func() {
		r := asking()
		Expect(r.run().Status).To(Equal(persist.StatusEscalated))
		Expect(answer(r, "a", "PostgreSQL.")).To(Succeed())
		Expect(r.store.of(state.KindAnswer)).To(ConsistOf(HaveField("Text", "PostgreSQL.")))
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(r.worked).To(Equal([]string{"a#1", "c#1", "a#2", "b#1"}))
		Expect(r.prompts[2]).To(ContainSubstring("The question:\n> PostgreSQL or SQLite?\n\nThe answer, which you follow:\n> PostgreSQL.\n"))
		Expect(r.prompts[3]).NotTo(ContainSubstring("A person answered"), "another task")
	})

	It("is also in the prompt after a checkpoint and a failed attempt", func() {
		r := asking()
		Expect(r.run().Status).To(Equal(persist.StatusEscalated))
		Expect(answer(r, "a", "MariaDB.")).To(Succeed())
		Expect(r.again().Status).To(Equal(persist.StatusEscalated), "and its final checkpoint")
		Expect(answer(r, "a", "PostgreSQL.")).To(Succeed())
		r.deeds["a"] = []deed{grade(persist.Failed, "no"), done}
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		last := r.prompts[len(r.prompts)-2]
		Expect(last).To(And(ContainSubstring("> MariaDB."), ContainSubstring("> PostgreSQL.")))
	})

	It("keeps the last five answers to a task", func() {
		r := asking()
		r.run()
		for _, text := range []string{"1st", "2nd", "3rd", "4th", "5th", "6th"} {
			Expect(answer(r, "a", text)).To(Succeed())
		}
		r.again()
		Expect(r.prompts[2]).To(And(Not(ContainSubstring("> 1st")), ContainSubstring("> 2nd"), ContainSubstring("> 6th")))
	})

	DescribeTable("is refused, and nothing is written,",
		func(task, text, why string) {
			r := asking()
			r.run()
			before := len(r.store.lines)
			err := answer(r, task, text)
			Expect(err).To(MatchError(persist.ErrRefused))
			Expect(err).To(MatchError(ContainSubstring(why)))
			Expect(r.store.lines).To(HaveLen(before))
		},
		Entry("to a task that is done", "c", "yes", "it is done"),
		Entry("to an unknown task", "aa", "yes", `did you mean "a"?`),
		Entry("if it is empty", "a", " \n", "the answer is empty"),
		Entry("if it is too long", "a", strings.Repeat("x", state.MaxAnswer+1), "at most 8192 are allowed"),
	)

	It("is refused before the plan has begun, and for another plan", func() {
		r := asking()
		Expect(answer(r, "a", "yes")).To(MatchError(ContainSubstring("the plan has not begun")))
		r = asking()
		r.run()
		r.plan.Tasks[0].Do = "Something else."
		_, changed := errors.AsType[*persist.PlanChanged](answer(r, "a", "yes"))
		Expect(changed).To(BeTrue())
	})

	It("is asked for at once if a person is there, and again after each escalation", func() {
		r := asking()
		var asked []string
		r.deps.Ask = func(_ context.Context, task, question string) (string, bool) {
			asked = append(asked, task+": "+question)
			return map[int]string{1: "", 2: "PostgreSQL."}[len(asked)], true
		}
		Expect(r.run().Status).To(Equal(persist.StatusEscalated), "an empty answer leaves it open")
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete))
		Expect(asked).To(Equal([]string{"a: PostgreSQL or SQLite?", "a: PostgreSQL or SQLite?"}))
		Expect(r.attrs(event.State, "answer", "task")).To(Equal([]any{"a"}))
	})

	It("is not asked for after an interrupt", func() {
		r := asking()
		ctx, cancel := context.WithCancel(context.Background())
		r.deeds["a"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome {
			cancel()
			return persist.Outcome{Grade: persist.Escalated, Details: "?"}
		}}
		r.deps.Ask = func(context.Context, string, string) (string, bool) { panic("asked") }
		Expect(r.runIn(ctx).Status).To(Equal(persist.StatusInterrupted))
	})
})
