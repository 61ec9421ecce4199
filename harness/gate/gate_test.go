package gate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
)

var _ = Describe("Verdicts", Label("H-04"), func() {
	DescribeTable("of findings: the worst severity decides",
		func(want gate.Verdict, severities ...gate.Severity) {
			var found []gate.Finding
			for _, s := range severities {
				found = append(found, gate.Finding{Severity: s})
			}
			Expect(gate.VerdictOf(found)).To(Equal(want))
		},
		Entry("none", gate.Pass),
		Entry("only notes", gate.Pass, gate.Info, gate.Info),
		Entry("nothing carried out", gate.Skip, gate.Info, gate.Skipped, gate.Info),
		Entry("a fail outranks a skip", gate.Fail, gate.Failing, gate.Skipped),
		Entry("a fail after a skip", gate.Fail, gate.Skipped, gate.Failing),
		Entry("one failing", gate.Fail, gate.Info, gate.Failing, gate.Info),
		Entry("error after fail", gate.Error, gate.Failing, gate.Broken),
		Entry("error before fail", gate.Error, gate.Broken, gate.Failing),
		Entry("an unknown severity", gate.Error, gate.Severity("fatal")),
	)

	DescribeTable("of several: the worst one decides, and the exit code with it",
		func(overall gate.Verdict, code int, verdicts ...gate.Verdict) {
			Expect(gate.Overall(verdicts)).To(Equal(overall))
			Expect(gate.ExitCode(verdicts)).To(Equal(code))
		},
		Entry("all pass", gate.Pass, 0, gate.Pass, gate.Pass),
		Entry("a skip beside a pass", gate.Pass, 0, gate.Skip, gate.Pass, gate.Skip),
		Entry("one fail", gate.Fail, 1, gate.Pass, gate.Fail, gate.Pass),
		Entry("a skip beside a fail", gate.Fail, 1, gate.Fail, gate.Skip),
		Entry("an error outranks a fail", gate.Error, 3, gate.Fail, gate.Error, gate.Pass),
		Entry("an error after a fail", gate.Error, 3, gate.Error, gate.Fail),
		Entry("only skips do not pass", gate.Skip, 3, gate.Skip, gate.Skip),
		Entry("nothing selected is a usage error", gate.Skip, 2),
		Entry("an unknown verdict", gate.Error, 3, gate.Pass, gate.Verdict("passed")),
		Entry("an empty verdict", gate.Error, 3, gate.Pass, gate.Verdict("")),
	)
})
