package reports_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports"
)

// altered is the report of a recording in which many lines were changed after the run.
func altered() reports.Report {
	r := sample()
	found := record.Report{Altered: true, More: 3}
	for n := 1; n <= 8; n++ {
		found.Problems = append(found.Problems, record.Problem{Line: n, Message: "it was changed"})
	}
	r.CheckChain(found)
	return r
}

var _ = Describe("A report of an altered recording", Label("H-05"), func() {
	It("fails, and names the first altered lines before all other problems", func() {
		r := altered()
		Expect(r.Verdict).To(Equal(gate.Fail))
		Expect(r.Problems[:7]).To(HaveExactElements(
			HavePrefix("this recording was altered"), "line 1: it was changed", "line 2: it was changed", "line 3: it was changed",
			"line 4: it was changed", "line 5: it was changed", "and 6 more altered lines; rehearse report --verify lists them",
		))
		Expect(reports.Word(r)).To(Equal("fail (altered recording)"))
	})

	It("fails whatever the verdict of its comparison", func() {
		r := altered()
		r.Compare(*sample().Comparison)
		Expect(r.Verdict).To(Equal(gate.Fail))
	})

	It("is the same as before if only the end is missing, or nothing", func() {
		for _, found := range []record.Report{{}, {Problems: []record.Problem{{Line: 9, Message: "torn"}}}} {
			r := sample()
			found.Lines, found.Hash = r.Run.Lines, r.Run.LastHash
			r.CheckChain(found)
			Expect(r).To(Equal(sample()))
		}
	})

	It("ends with it on a terminal, above the verdict", func() {
		text := render(asTerminal, altered(), options{})
		at := strings.Index(text, "this recording was altered")
		Expect(text[at:]).To(And(Not(ContainSubstring("scenarios/loop")), MatchRegexp(`\n\nfail \(altered recording\): 4 scenarios`)))
	})

	DescribeTable("begins with it elsewhere", func(f renderer, begin string) {
		text := render(f, altered(), options{})
		at := strings.Index(text, "this recording was altered")
		Expect(at).To(BeNumerically(">", 0))
		Expect(text[:at]).NotTo(ContainSubstring("checkout"), "a scenario stands before it")
		Expect(text).To(HavePrefix(begin))
	},
		Entry("Markdown", renderer(asMarkdown), "<!-- rehearse:report -->"+"\n## Rehearsal: **FAIL** (altered recording)"),
		Entry("JUnit", renderer(asJUnit), "<?xml version"),
		Entry("annotations", renderer(asAnnotations), "::error title=recording::this recording"),
	)
})
