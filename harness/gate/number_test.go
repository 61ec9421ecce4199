package gate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

var _ = Describe("Expressions that yield numbers", func() {
	value := func(text string, change ...func(*measure.Facts)) (float64, string) {
		GinkgoHelper()
		n, err := language.CompileNumber(text)
		Expect(err).NotTo(HaveOccurred())
		f := facts(change...)
		return n.Of(&f)
	}

	DescribeTable("yield numbers of any type, and booleans",
		func(text string, want float64, share bool) {
			got, why := value(text, func(f *measure.Facts) { f.Calls.Total, f.Run.Duration, f.Run.DurationKnown = 3, 1.5, true })
			Expect(why).To(BeEmpty())
			Expect(got).To(Equal(want))
			n, err := language.CompileNumber(text)
			Expect(err).NotTo(HaveOccurred())
			Expect(n.Share()).To(Equal(share))
		},
		Entry("whole", "calls.total + 1", 4.0, false),
		Entry("with a fraction", "run.duration * 2.0", 3.0, false),
		Entry("a ratio", "run.duration / double(calls.total)", 0.5, false),
		Entry("true", "calls.total > 2", 1.0, true),
		Entry("false", "calls.total > 3", 0.0, true),
		Entry("either of two", "calls.total > 2 ? 7 : 8", 7.0, false),
		Entry("a size", "uint(calls.total)", 3.0, false),
	)

	DescribeTable("are unknown, with the reason, if a fact or the value is",
		func(text, want string, change func(*measure.Facts)) {
			_, why := value(text, change)
			Expect(why).To(ContainSubstring(want))
		},
		Entry("an unknown cost", "cost.eur", "no price", func(f *measure.Facts) { f.Cost = measure.CostFacts{Why: "no price"} }),
		Entry("a missing key", `calls.by["nobody"]`, "cannot be evaluated", func(*measure.Facts) {}),
		Entry("an infinite number", "run.duration / 0.0", "is not a finite number", func(f *measure.Facts) { f.Run.Duration, f.Run.DurationKnown = 1, true }),
		Entry("something else", `dyn(run.status)`, "not a number", func(*measure.Facts) {}),
	)

	DescribeTable("are rejected", func(text, want string) {
		_, err := language.CompileNumber(text)
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("text", "run.status", "yields string; expected a number, or true or false"),
		Entry("a list", "answers", "expected a number"),
		Entry("nonsense", "calls.total +", "Syntax error"),
		Entry("an unknown fact", "calls.totl", "totl"),
		Entry("no fact", "1 + 1", "reads no fact"),
		Entry("the golden run", "golden.calls.total", "golden"),
	)
})
