package kind

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm/token"
)

// The purpose of each persona; the other specs apply to all of them.
var _ = Describe("Each persona", func() {
	answers := func(name string) map[session.Step][]string {
		GinkgoHelper()
		p, err := LoadPersona(name)
		Expect(err).NotTo(HaveOccurred())
		return p.Answers
	}

	It("lea answers at length", func() {
		words, count := 0, 0
		for step, texts := range answers("lea") {
			if step.Block() == 0 {
				continue
			}
			for _, text := range texts {
				words += len(strings.Fields(text))
				count++
			}
		}
		Expect(words / count).To(BeNumerically(">", 30))
	})

	It("tom names his medium in words", func() {
		Expect(answers("tom")[session.Block2A][0]).To(And(ContainSubstring("I prefer movies"), Not(MatchRegexp(`\b[AB]\b`))))
	})

	It("karim answers in one word, except for the three works", func() {
		for step, texts := range answers("karim") {
			for i, text := range texts {
				if step == session.Block2A && i == 1 {
					continue
				}
				Expect(strings.Fields(text)).To(HaveLen(1), "%s %d", step, i)
			}
		}
	})

	It("nora has one answer of about 5,000 tokens without repeated sentences", func() {
		counter := token.NewCounter(token.Options{})
		story := answers("nora")[session.Block5][2]
		Expect(counter.Count("gpt-6.1-terra", story)).To(BeNumerically("~", 5000, 250))
		seen := map[string]bool{}
		for sentence := range strings.FieldsFuncSeq(story, func(r rune) bool { return strings.ContainsRune(".!?…\n", r) }) {
			sentence = strings.TrimSpace(sentence)
			if len(strings.Fields(sentence)) > 3 {
				Expect(seen).NotTo(HaveKey(sentence))
			}
			seen[sentence] = true
		}
	})

	DescribeTable("sam mentions topics that an interview must not enter",
		func(zone string) {
			var all []string
			for _, texts := range answers("sam") {
				all = append(all, texts...)
			}
			Expect(strings.Join(all, "\n")).To(MatchRegexp(`(?i)` + zone))
		},
		Entry("origin", `my dad came over from`),
		Entry("religion", `church|pastor|prayers`),
		Entry("politics", `i vote for|calls me a liberal`),
		Entry("health", `diagnosis|diabetes`),
		Entry("disability", `bad hip`),
		Entry("sexuality", `being gay`),
		Entry("union", `the union`),
		Entry("trauma", `my childhood`),
		Entry("pathology", `anxiety|therapy`),
	)
})
