package reflect_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
)

const (
	audit    = "Trouvé:\n- L.12: eval() avec variable\n- L.34: innerHTML sans sanitization\n- L.45: SQL string concatenation"
	nothing  = "Aucune occurrence trouvée.\nPas de fonction de sanitization.\nPas de prepared statements."
	failures = "=== RUN   TestParse\n--- FAIL: TestParse/empty (0.00s)\n    parse_test.go:41: got nil, want EOF\nFAIL\n9 passed, 3 failed in 2.4s"
	missing  = "cat: config/settings.yaml: No such file or directory"
)

var _ = Describe("A reflection", func() {
	DescribeTable("is critical if it cites a fact",
		func(observation, text string) {
			v := reflect.Judge(observation, text)
			Expect(v.Critical).To(BeTrue(), "%+v", v)
			Expect(v.Score).To(BeNumerically("<", 0.5))
			Expect(v.Facts).NotTo(BeEmpty())
		},
		Entry("a count of listed things", audit, "L'analyse a identifié 3 problèmes de sécurité."),
		Entry("a count in words", audit, "Trois vulnérabilités critiques identifiées."),
		Entry("a line", audit, "La ligne 34 est la plus grave."),
		Entry("a function", audit, "The eval call is the worst of it."),
		Entry("a name", audit, "innerHTML needs a sanitizer before anything else."),
		Entry("a missing thing", nothing, "Aucune mitigation en place."),
		Entry("a missing thing in other words", nothing, "Nothing was found, so the findings stand."),
		Entry("a number with the counted thing", failures, "3 tests failed; the others are fine."),
		Entry("the same in French", failures, "Trois échecs : le reste est bon."),
		Entry("a position", failures, "parse_test.go line 41 shows that nil comes back."),
		Entry("a path by its last element", missing, "settings.yaml does not exist, the path must be wrong."),
		Entry("the emptiness of the observation", "", "Nothing came back, the output is empty."),
	)

	DescribeTable("is complacent if it cites no fact",
		func(observation, text string) {
			v := reflect.Judge(observation, text)
			Expect(v.Critical).To(BeFalse(), "%+v", v)
			Expect(v.Score).To(BeNumerically(">=", 0.5))
			Expect(v.Reason).NotTo(BeEmpty())
		},
		Entry("praise", audit, "Ça a bien marché, je continue."),
		Entry("praise in English", audit, "All good, the result looks fine and as expected."),
		Entry("generic words", failures, "The tests gave a result, I can continue with the next step."),
		Entry("a wrong number", audit, "J'ai trouvé 7 problèmes."),
		Entry("a count of its own steps", failures, "Only 3 steps are left, going on."),
		Entry("no problem", nothing, "Aucun problème, on continue."),
		Entry("an empty reflection", audit, ""),
		Entry("an empty observation", "", "It went well."),
	)
})
