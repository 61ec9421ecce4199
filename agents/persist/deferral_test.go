package persist_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/event"
)

// saysDone returns what a loop makes of an answer that ends with DONE.
func saysDone(prose string) deed {
	return func(context.Context, *rig, persist.Assignment) persist.Outcome {
		return persist.Outcome{Grade: persist.Done, Answer: prose + "\nDONE", Prose: prose}
	}
}

var _ = Describe("Work that an answer defers", Label("P-03"), func() {
	const clean = "It is written, and the tests pass."

	// Plans with open work: whatever task says it and whatever comes after it, the
	// run is not complete while the follow-up defers again.
	DescribeTable("keeps a run from being complete, wherever in the plan it is",
		func(ids, deferring string, answer deed) {
			r := newRig(tasks(strings.Fields(ids)...))
			r.deeds[deferring] = []deed{answer}
			for _, step := range []string{"step", "step-1", "step-2"} {
				r.deeds["round-1."+step] = []deed{answer}
				r.deeds["round-2."+step] = []deed{answer}
			}
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusCapped), result.Details)
			Expect(failing(result)).To(Equal([]plan.Check{plan.CheckStopGuard}))
			Expect(result.Details).To(ContainSubstring("stop-guard"))
			Expect(len(r.worked)).To(BeNumerically("<=", len(strings.Fields(ids))+4), "an agent that defers again is not asked for ever")
		},
		Entry("first of two", "impl docs", "impl", says("I've implemented login. I'll add the tests later.")),
		Entry("last of two", "docs impl", "impl", says("I've implemented login. I'll add the tests later.")),
		Entry("third of six", "a b c d e f", "c", says("The form is in place. I will write the tests later.")),
		Entry("before a check in between", "a b c d e f g", "b", says("The form is in place. I will write the tests later.")),
		Entry("a list in the first of two", "a b", "a", says("The design is done.\n\nNext steps:\n1. Write the code.\n2. Add tests.")),
		Entry("before a task that depends on it", "a b<a", "a", says("The design is done.\n\nNext steps:\n1. Write the code.")),
		Entry("behind DONE, later", "a b", "b", saysDone("I will add the tests later.")),
		Entry("behind DONE, next", "a b", "a", saysDone("I'll write the tests next.")),
		Entry("behind DONE, first word", "a b", "b", saysDone("Next, I will add the tests.")),
		Entry("behind DONE, in French", "a b", "b", saysDone("Je vais ensuite ajouter les tests.")),
		Entry("in French, first of three", "a b c", "a", says("La page est en place. J'ajouterai les tests plus tard.")),
	)

	It("becomes a task that names its origin, and is settled by its answer", func() {
		r := newRig(tasks("impl", "docs"))
		r.deeds["impl"] = []deed{says("Login works.\n\nNext steps:\n1. Add the tests.\n2. Update the changelog.")}
		r.deeds["round-1.step-1"] = []deed{says("The tests are there already: the task docs wrote them.")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"impl#1", "docs#1", "round-1.step-1#1", "round-1.step-2#1"}))
		Expect(r.prompts[2]).To(ContainSubstring("This task is there because the answer to the task impl announced it and did not do it:\n> "))
		Expect(r.prompts[2]).To(ContainSubstring("If it is done already, or not wanted any more, say so"))
	})

	It("is kept for each task apart, in one round", func() {
		r := newRig(tasks("a", "b", "c"))
		r.deeds["a"] = []deed{says("The form is in place.\n\nNext steps:\n1. Run the migration.")}
		r.deeds["b"] = []deed{says("The page is in place.\n\nNext steps:\n1. Update the changelog.")}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.Counts.Rounds).To(Equal(1))
		Expect(result.Tasks[3].Do).To(ContainSubstring("Run the migration"))
		Expect(result.Tasks[4].Do).To(ContainSubstring("Update the changelog"))
	})

	It("stays when the next step of the same round answers well", func() {
		r := newRig(tasks("a"))
		r.deeds["a"] = []deed{says("The form is in place.\n\nNext steps:\n1. Write the tests.\n2. Update the changelog.")}
		r.deeds["round-1.step-1"] = []deed{says("I looked at the tests. I will write them later.")}
		r.deeds["round-1.step-2"] = []deed{says(clean)}
		r.deeds["round-2.step-1"] = []deed{says(clean)}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(ContainElement("round-2.step-1#1"))
		Expect(result.Counts.Rounds).To(Equal(2))
	})

	It("stays while the person who should do it does not answer", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{says("The form is in place.\n\nNext steps:\n1. Write the tests.")}
		r.deeds["round-1.step-1"] = []deed{says("")}
		Expect(r.run().Status).To(Equal(persist.StatusCapped))
	})

	It("is there again after an end, also when only the journal is left", func() {
		r := newRig(tasks("a", "b"))
		r.plan.Limits.Rounds = 1
		r.deeds["a"] = []deed{says("The form is in place.\n\nNext steps:\n1. Write the tests.")}
		r.deeds["round-1.step-1"] = []deed{says("I will write the tests later.")}
		Expect(r.run().Status).To(Equal(persist.StatusCapped))
		result := r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(ContainElement("round-2.step-1#1"))
	})

	It("is forced on as a sign also after a good answer", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{says("The form is in place.\n\nNext steps:\n1. Write the tests.")}
		r.run()
		var forced bool
		for _, e := range r.emitted(event.Guard, "sign") {
			forced = forced || e.Attrs["sign"] == "stop-guard" && e.Attrs["forced"] == true
		}
		Expect(forced).To(BeTrue())
	})
})

var _ = Describe("A worker that cannot change anything", Label("P-08"), func() {
	inert := func(context.Context, *rig, persist.Assignment) persist.Outcome {
		return persist.Outcome{Grade: persist.Done, Answer: "greet.sh is written.\nDONE", Prose: "greet.sh is written.", Inert: true}
	}

	It("leaves a plan without probes unverified", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{inert}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusEscalated))
		Expect(result.ExitCode).To(Equal(9))
		Expect(result.Guard).To(Equal("unverified"))
		Expect(result.Details).To(HavePrefix("a person must review the work: 1 task done by a worker that cannot change anything"))
		Expect(r.again().Status).To(Equal(persist.StatusEscalated), "started again, it is no better")
	})

	DescribeTable("is believed as far as a probe has looked",
		func(look persist.Status, probed plan.Probe, verdict plan.Verdict) {
			r := newRig(tasks("a"))
			r.deeds["a"] = []deed{inert}
			r.plan.Checks = map[plan.Check]plan.Probe{plan.CheckTests: probed}
			r.deps.Probes[plan.CheckTests] = probe(verdict)
			Expect(r.run().Status).To(Equal(look))
		},
		Entry("a command that passes", persist.StatusComplete, plan.Probe{Command: []string{"true"}}, plan.Pass),
		Entry("no command", persist.StatusEscalated, plan.Probe{Command: []string{"true"}}, plan.None),
		Entry("no marker of open work where there may be no work at all", persist.StatusEscalated, plan.Probe{Markers: []string{"TODO"}}, plan.Pass),
	)
})

var _ = Describe("An answer that uses the budget up", Label("P-08"), func() {
	It("is stored, and passed to the next attempt", func() {
		r := newRig(tasks("a", "b"))
		r.deeds["a"] = []deed{func(context.Context, *rig, persist.Assignment) persist.Outcome {
			return persist.Outcome{
				Grade: persist.Failed, Capped: "tokens", Details: "all tokens are used",
				Answer: "The half of it is written.", Carry: "The last answer was:\nThe half of it is written.",
			}
		}, done}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusBudget))
		Expect(result.Guard).To(Equal("budget.tokens"))
		Expect(result.Answer).To(Equal("The half of it is written."))
		Expect(states(result)).To(HaveKeyWithValue("a", "waiting"))
		result = r.again()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(r.worked).To(Equal([]string{"a#1", "a#2", "b#1"}))
		Expect(r.prompts[1]).To(ContainSubstring("> The half of it is written."))
		Expect(result.Counts.Retries).To(BeZero(), "it has not failed")
	})
})

var _ = It("reports a leftover process, whatever ended the attempt", Label("P-04"), func() {
	r := newRig(tasks("a"))
	r.plan.Tasks[0].Retries = new(0)
	r.deeds["a"] = []deed{func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		out := hangs(ctx, r, a)
		out.Warning = "something may still run"
		return out
	}}
	result := r.run()
	Expect(result.Details).To(ContainSubstring("no activity for 10m"))
	Expect(result.Details).To(ContainSubstring("something may still run"))
})
