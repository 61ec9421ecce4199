package reports_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports"
)

// interruptedRun is a report of one scenario of four, with these findings.
func interruptedRun(findings ...gate.Finding) reports.Report {
	b := reports.Builder{Extensions: kinds.Language().Extensions(), Run: record.Run{Scenarios: 4}, Interrupted: true, NotRun: []string{"b", "c", "d"}}
	b.Add(record.Scenario{Name: "a", Trials: 1}, measure.Facts{Run: measure.RunFacts{Status: "done"}, Calls: measure.CallFacts{Total: 1}}, findings)
	return b.Close()
}

var _ = Describe("a run that was interrupted", Label("H-05"), func() {
	It("has not passed, in any format", func() {
		r := interruptedRun()
		Expect(r.Verdict).To(Equal(gate.Error))
		text := render(asTerminal, r, options{terminal: console.Terminal{Width: 80, Color: true}})
		last := text[strings.LastIndex(text, "\n\n")+2:]
		Expect(strings.Join(strings.Fields(last), " ")).To(HavePrefix("\x1b[33minterrupted\x1b[0m: 1 scenario: 1 pass; 3 not completed; 1 call, "))
		Expect(text).To(ContainSubstring("Not completed"))
		Expect(render(asMarkdown, r, options{})).To(And(
			ContainSubstring("## Rehearsal: **INTERRUPTED**\n"), ContainSubstring("### Not completed\n"), Not(ContainSubstring("PASS"))))
		Expect(render(asJUnit, r, options{})).To(And(
			ContainSubstring(`errors="1"`), ContainSubstring(`message="the run was interrupted before its plan was done"`)))
		Expect(render(asJSON, r, options{})).To(ContainSubstring(`"verdict": "error"`))
	})

	It("still has failed if something did", func() {
		r := interruptedRun(gate.Finding{Severity: gate.Failing, Rule: "calls", Message: "too many"})
		Expect(r.Verdict).To(Equal(gate.Fail))
		Expect(reports.Word(r)).To(Equal("fail (interrupted)"))
	})

	It("is an error if a trial is an error", func() {
		Expect(reports.Word(interruptedRun(gate.Finding{Severity: gate.Broken, Rule: "harness", Message: "broke"}))).To(Equal("error (interrupted)"))
	})
})
