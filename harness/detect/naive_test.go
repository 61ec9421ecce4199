package detect_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// samples has a text for each expression of document 000, by category.
var samples = map[string][]string{
	"next_steps": {
		"Prochaines étapes", "étape suivante", "prochaine action", "ACTIONS SUIVANTES", "dans les prochaines étapes", "les étapes à suivre",
		"next step", "following steps", "next\u00a0actions", "upcoming step", "steps to\nfollow",
	},
	"remaining_tasks": {
		"tâches restantes", "tâche à faire", "tâches à compléter", "TÂCHES À RÉALISER", "il restera à", "il faudrait", "reste à faire",
		"remaining tasks", "tasks to do", "task to complete", "needs to be done", "still need to",
	},
	"future_actions": {
		"Ensuite", "plus tard", "par la suite", "dans un second temps", "dans une prochaine itération", "ultérieurement", "à l'avenir", "dans le futur",
		"authentication", "later", "afterward", "subsequently", "in the future", "next time",
	},
	"conditional_intentions": {
		"on pourrait", "nous pourrions", "il serait bien de", "ce serait bien de", "je suggère de", "je recommande de",
		"we could", "we should", "it would be good to", "I suggest", "i recommends",
	},
	"enumerative_list": {"Points restantes étés:\n- a\n* b"},
}

var _ = Describe("the baseline", func() {
	It("knows all 49 expressions", func(ctx SpecContext) {
		d := detect.Naive()
		found := map[string]bool{}
		for category, texts := range samples {
			for _, text := range texts {
				p, err := ask(ctx, d, "<"+text+">")
				Expect(err).NotTo(HaveOccurred())
				Expect(p.Positive).To(BeTrue(), text)
				Expect(p.Categories).To(ContainElement(category), text)
				Expect(p.Spans).To(HaveEach(Satisfy(func(s [2]int) bool { return 1 <= s[0] && s[0] < s[1] })), text)
				for _, reason := range p.Reasons {
					found[reason] = true
				}
			}
		}
		Expect(found).To(HaveLen(49))
	})

	It("reports the first match of each expression, in the order of the text", func(ctx SpecContext) {
		Expect(ask(ctx, detect.Naive(), "later, then later")).To(HaveField("Spans", [][2]int{{0, 5}, {7, 11}}))
	})

	DescribeTable("does not match",
		func(ctx SpecContext, text string) {
			Expect(ask(ctx, detect.Naive(), text)).To(Equal(detect.Prediction{}))
		},
		Entry("nothing", ""),
		Entry("a done task", "J'ai complété toutes les étapes demandées."),
		Entry("a list of one", "restantes tout:\n- a"),
		Entry("a deferral in other words", "Let me run the tests:"),
	)

	It("is linear on a line that takes cubic time elsewhere", func(ctx SpecContext) {
		text := []byte("restantes x: ")
		for len(text) < 200_000 {
			text = append(text, "restantes é: "...)
		}
		Expect(ask(ctx, detect.Naive(), string(text))).To(HaveField("Positive", false))
	}, NodeTimeout(testTimeout))
})
