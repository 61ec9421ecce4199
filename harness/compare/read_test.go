package compare_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
)

var _ = Describe("a comparison read from a file", Label("H-06"), func() {
	worse := func() compare.Result {
		return one(passed("a", 1, measured("calls", "", 1)), passed("a", 1, measured("calls", "", 2)))
	}
	missing := func() compare.Result {
		a, b := passed("a", 1, measured("calls", "", 1)), passed("b", 1, measured("calls", "", 1))
		return compare.Compare(run(a, b), run(a), compare.Options{})
	}
	It("is valid if unchanged", func() {
		better := one(passed("a", 1, measured("calls", "", 2)), passed("a", 1, measured("calls", "", 1)))
		nothing := compare.Compare(compare.Baseline{}, compare.Baseline{}, compare.Options{})
		for _, r := range []compare.Result{worse(), missing(), better, nothing} {
			Expect(r.Check()).To(Succeed(), "%s", r.Verdict)
		}
	})

	DescribeTable("is invalid after an edit of", func(result func() compare.Result, edit func(*compare.Result), want string) {
		r := result()
		Expect(r.Verdict).To(Equal(gate.Fail))
		edit(&r)
		Expect(r.Check()).To(MatchError(ContainSubstring(want)))
	},
		Entry("its verdict", worse, func(r *compare.Result) { r.Verdict = gate.Pass }, "the verdict is pass, but its findings amount to fail"),
		Entry("its findings", worse, func(r *compare.Result) { r.Findings = nil }, "the verdict is fail, but its findings amount to pass"),
		Entry("both", worse, func(r *compare.Result) { r.Verdict, r.Findings = gate.Pass, nil }, `calls of "a" is worse, but has no finding`),
		Entry("the severity of a finding", worse, func(r *compare.Result) {
			r.Verdict, r.Findings = gate.Pass, slices.Clone(r.Findings)
			for i := range r.Findings {
				r.Findings[i].Severity = gate.Info
			}
		}, `calls of "a" is worse, but has no finding`),
		Entry("the measure of a finding", worse, func(r *compare.Result) {
			r.Findings = slices.Clone(r.Findings)
			for i := range r.Findings {
				r.Findings[i].Scenario = "b"
			}
		}, `calls of "a" is worse, but has no finding`),
		Entry("the missing scenarios", missing, func(r *compare.Result) { r.Verdict, r.Findings = gate.Pass, nil }, "missing scenarios (1)"),
	)
})
