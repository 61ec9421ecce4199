package scenarios_test

import (
	"strings"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("scores", func() {
	const head = "name: a/b\ndrive: {loop: {prompt: Work.}}\nbackend: {model: gpt-4.1-mini, rules: [{text: DONE}]}\nexpect: {status: done}\nscores:\n"
	const judge = "  - name: polite\n    judge:\n      rubric: It is polite.\n      agreement: agreement.json\n      backend: {model: gpt-4.1-mini, rules: [{text: x}]}\n"
	files := fstest.MapFS{"agreement.json": {Data: []byte(`{"kappa": 1}`)}, "broken.json": {Data: []byte(`{`)}}
	load := func(scores string) (scenarios.Scenario, []string) {
		sc, found := scenarios.Parse("s.yaml", []byte(head+scores), files, scenarios.Options{Kinds: kinds.All().Formats()})
		var all []string
		for _, d := range found {
			all = append(all, d.Path+": "+d.Message)
		}
		return sc, all
	}

	It("has rules, and judges with what was measured of them", func() {
		sc, found := load("  - {name: short, rule: {max_words: 5}}\n" + judge)
		Expect(found).To(BeEmpty())
		Expect(sc.Scores[0].Rule.MaxWords).To(Equal(5))
		Expect(string(sc.Scores[1].Judge.Measured)).To(Equal(`{"kappa": 1}`))
	})

	It("includes its agreement in the digest", func() {
		one, _ := load(judge)
		files["agreement.json"] = &fstest.MapFile{Data: []byte(`{"kappa": 0.9}`)}
		DeferCleanup(func() { files["agreement.json"] = &fstest.MapFile{Data: []byte(`{"kappa": 1}`)} })
		two, _ := load(judge)
		Expect(one.Digest).NotTo(Equal(two.Digest))
	})

	It("does without an agreement until it is measured", func() {
		sc, found := load(strings.Replace(judge, "agreement.json", "later.json", 1))
		Expect(found).To(BeEmpty())
		Expect(sc.Scores[0].Judge.Measured).To(BeNil())
	})

	DescribeTable("reports errors with their place", func(scores string, want ...string) {
		_, found := load(scores)
		Expect(found).To(Equal(want))
	},
		Entry("a name", "  - {name: A b, rule: {contains: [x]}}\n", `scores[0].name: "A b" is not a name; write lower-case letters, digits, ".", "_" and "-"`),
		Entry("the same name", "  - {name: a, rule: {contains: [x]}}\n  - {name: a, rule: {lacks: [x]}}\n", `scores[1].name: the name "a" is used by an earlier score`),
		Entry("neither", "  - {name: a}\n", "scores[0]: a score needs either a rule or a judge"),
		Entry("an empty rule", "  - {name: a, rule: {}}\n", "scores[0].rule: the rule has no criterion; write contains, lacks, matches, equals, min_words or max_words"),
		Entry("a pattern", "  - {name: a, rule: {matches: '('}}\n", "scores[0].rule: matches: error parsing regexp: missing closing ): `(` (RE2 syntax)"),
		Entry("no rubric", strings.Replace(judge, "It is polite.", "''", 1), "scores[0].judge.rubric: the judge needs a rubric: what the answer must meet"),
		Entry("an agreement that is none", strings.Replace(judge, "agreement.json", "broken.json", 1), `scores[0].judge.agreement: "broken.json" is not an agreement; measure it with rehearse judge`),
		Entry("an agreement outside", strings.Replace(judge, "agreement.json", "../a.json", 1), `scores[0].judge.agreement: "../a.json" must be a relative path with slashes that stays in the script's folder`),
		Entry("kappa", judge+"      least_kappa: 2\n", "scores[0].judge.least_kappa: found the number 2"),
		Entry("a model that has no price", strings.Replace(judge, "{model: gpt-4.1-mini,", "{model: no-model,", 1),
			"scores[0].judge.backend.model: the price table has no model \"no-model\"; correct it, or write unpriced: true for an unknown cost"),
		Entry("a script", strings.Replace(judge, "rules: [{text: x}]", "rules: [{}]", 1),
			"scores[0].judge.backend.rules[0]: the line has neither an answer (text, file, template, frames, media, tool_calls, refusal, finish) nor a fault"),
		Entry("a process", strings.Replace(judge, "{model", "{as: claude, model", 1),
			"scores[0].judge.backend.as: a judge is a scripted backend in process (openai) or a live one, not claude"),
	)
})
