package reports_test

import (
	"bytes"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

var _ = Describe("Advice", Label("H-04"), func() {
	shown := func(detail reports.Detail, failuresOnly bool) string {
		note := gate.Finding{Severity: gate.Info, Rule: gate.AdviceRule, Message: "set the base URL"}
		other := gate.Finding{Severity: gate.Info, Rule: "other", Message: "something else"}
		r := reports.Report{Scenarios: []reports.Scenario{
			{Name: "a/one", Verdict: gate.Pass, Findings: []gate.Finding{note, note, other}},
			{Name: "a/two", Verdict: gate.Pass, Findings: []gate.Finding{note}},
			{Name: "a/three", Verdict: gate.Fail, Findings: []gate.Finding{{Severity: gate.Failing, Rule: "status", Message: "expected done"}, note}},
		}}
		var b bytes.Buffer
		Expect(doc.Terminal(&b, reports.TerminalDocument(r, detail, failuresOnly), console.Terminal{})).To(Succeed())
		return b.String()
	}

	It("is shown once, with its scenarios", func() {
		Expect(shown(reports.Normal, false)).To(ContainSubstring("Advice\n  a/three and 2 others: set the base URL\n"))
		Expect(shown(reports.Verbose, false)).To(ContainSubstring("a/three and 2 others: set the base URL"))
		Expect(shown(reports.Normal, false)).NotTo(ContainSubstring("something else"))
	})

	It("is about failures where only those are wanted", func() {
		Expect(shown(reports.Quiet, false)).To(ContainSubstring("a/three: set the base URL"))
		Expect(shown(reports.Verbose, true)).To(ContainSubstring("a/three: set the base URL"))
	})
})
