package prompt_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/fixtures"
)

var _ = Describe("The warnings about a job", Label("I-02"), func() {
	about := func(language, text string) (all []string) {
		for _, w := range prompt.JobWarnings("j.yaml", fmt.Appendf(nil, "language: %s\ntitle: T\nmission: %q\n", language, text)) {
			Expect([]any{w.Line, w.Column, w.Path}).To(Equal([]any{3, 10, "mission"}))
			all = append(all, w.Message)
		}
		return all
	}
	DescribeTable("name what an interview leaves alone", func(language, text, want string) {
		Expect(about(language, text)).To(HaveExactElements(ContainSubstring(want)))
	},
		Entry(nil, "en", "Join a young and dynamic team.", `age ("young and dynamic")`),
		Entry(nil, "en", "A young, dynamic team.", `age ("young dynamic")`),
		Entry(nil, "en", "Candidates under 35.", `age ("candidates under 35")`),
		Entry(nil, "en", "You are between 25 and 35 years old.", `age ("between 25 and 35 years old")`),
		Entry(nil, "en", "Ideally without children.", `family ("without children")`),
		Entry(nil, "en", "Able-bodied.", `health ("able bodied")`),
		Entry(nil, "en", "A native speaker of English.", `origin ("native speaker")`),
		Entry(nil, "fr", "Une équipe jeune et dynamique.", `age ("jeune et dynamique")`),
		Entry(nil, "fr", "Moins de 30 ans.", `age ("moins de 30 ans")`),
		Entry(nil, "fr", "Personne sans enfants, mobile.", `family ("sans enfants")`),
		Entry(nil, "fr", "Célibataire de préférence.", `family ("celibataire")`),
		Entry(nil, "fr", "En excellente santé.", `health ("excellente sante")`),
		Entry(nil, "fr", "Non syndiqué.", `union ("syndiqué")`),
		Entry(nil, "fr", "De nationalité française.", `origin ("de nationalite francaise")`),
	)
	DescribeTable("leave the work itself alone", func(language, text string) { Expect(about(language, text)).To(BeEmpty()) },
		Entry(nil, "en", "Under 40 calls a day, with over 30 years of experience in the team."),
		Entry(nil, "en", "Two nurses and a doctor on call; quiet nights, and some that are not."),
		Entry(nil, "en", "You advise young companies and dynamic markets."),
		Entry(nil, "fr", "Moins de 20 ans d'expérience suffisent, une entreprise de 30 ans."),
		Entry(nil, "fr", "Accompagner les familles des patients, soigner des enfants."),
		Entry(nil, "fr", "Développer un portefeuille de clients, sans astreinte."),
	)

	It("are none for the shipped jobs", func() {
		for _, file := range []string{"jobs/sales.fr.yaml", "jobs/sales.en.yaml"} {
			data, err := fixtures.Jobs.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			Expect(prompt.JobWarnings(file, data)).To(BeEmpty())
		}
	})

	It("have the position of a requirement, and one entry for each subject", func() {
		found := prompt.JobWarnings("j.yaml", []byte("language: fr\ntitle: Équipe jeune et dynamique\nrequirements:\n  - rigueur\n  - célibataire, sans enfants, moins de 30 ans\n"))
		Expect(found).To(HaveExactElements(
			And(HaveField("Line", 2), HaveField("Path", "title")),
			And(HaveField("Line", 5), HaveField("Path", "requirements[1]"), HaveField("Message", ContainSubstring("age"))),
			And(HaveField("Line", 5), HaveField("Message", ContainSubstring("family"))),
		))
	})
})
