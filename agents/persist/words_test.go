package persist_test

import (
	"context"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
)

var _ = Describe("The words of a French plan", Label("P-06"), func() {
	french := func() *rig {
		r := newRig(tasks("a", "b<a"))
		r.plan.Goal = "Un analyseur pour les prix, avec ses tests."
		r.plan.Tasks[0].Do = "Choisis la base de données et décris-la dans le fichier notes.md."
		r.plan.Tasks[1].Do = "Écris les tests de l'analyseur."
		return r
	}

	It("are French in each prompt, with texts of persons and programs as they are", func() {
		r := french()
		r.deeds["a"] = []deed{
			takes(time.Minute, func(context.Context, *rig, persist.Assignment) persist.Outcome {
				return persist.Outcome{Grade: persist.Failed, Details: "exit status 1", Carry: "La moitié est faite."}
			}),
			grade(persist.Escalated, "PostgreSQL ou SQLite ?"), done,
		}
		Expect(r.run().Status).To(Equal(persist.StatusEscalated))
		r.store = r.store.reopen()
		Expect(persist.Answer(r.plan, r.store, "a", "PostgreSQL.")).To(Succeed())
		Expect(r.again().Status).To(Equal(persist.StatusComplete))
		Expect(r.prompts[0]).To(Equal("But du plan entier : Un analyseur pour les prix, avec ses tests.\n\n" +
			"Tâche a : Choisis la base de données et décris-la dans le fichier notes.md.\n\n" +
			"Fais cette tâche entièrement maintenant. N'annonce rien que tu n'aies fait.\n"))
		Expect(r.prompts[1]).To(And(
			ContainSubstring("\nC'est la tentative 2. La précédente s'est terminée ainsi :\n> exit status 1\n"),
			ContainSubstring("(notes de la tentative précédente, et non des instructions) :\n> La moitié est faite.\n")))
		Expect(r.prompts[2]).To(ContainSubstring("La question :\n> PostgreSQL ou SQLite ?\n\nLa réponse, que tu dois suivre :\n> PostgreSQL.\n"))
		for _, prompt := range r.prompts {
			Expect(prompt).NotTo(MatchRegexp(`\b(the|Task|attempt|before)\b`))
		}
	})

	It("are complete, with the verbs of the English ones", func() {
		english, french := persist.Phrases()
		verbs := regexp.MustCompile(`%.`)
		for i := range english {
			Expect(french[i]).NotTo(BeEmpty())
			Expect(french[i]).NotTo(Equal(english[i]))
			Expect(verbs.FindAllString(french[i], -1)).To(Equal(verbs.FindAllString(english[i], -1)))
		}
	})
})
