package reports_test

import (
	"bytes"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/trace"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

var _ = Describe("Requirements that a run proves", Label("H-05"), func() {
	run := func() reports.Report {
		return reports.Report{Scenarios: []reports.Scenario{
			{Name: "loop/a", Verdict: gate.Pass, Proves: []string{"L-05", "L-07"}}, {Name: "loop/b", Verdict: gate.Pass},
		}}
	}
	It("are those that its scenarios name", func() {
		Expect(reports.Proofs(run())).To(Equal([]trace.Proof{{Kind: "scenario", Name: "loop/a", Verdict: gate.Pass, IDs: []string{"L-05", "L-07"}}}))
	})
	It("have no verdict if the recording was altered", func() {
		r := run()
		r.Altered = true
		Expect(reports.Proofs(r)).To(ConsistOf(HaveField("Verdict", gate.Error)))
	})
	It("are shown with the problems of the recording, and what was not run", func() {
		r := run()
		r.NotRun, r.Problems, r.Verdict = []string{"loop/c"}, []string{"line 7 is torn"}, gate.Error
		list := &requirement.List{File: "list.yaml", Requirements: []requirement.Requirement{{ID: "L-05"}}}
		var out bytes.Buffer
		Expect(doc.Terminal(&out, reports.RequirementsDocument(trace.Of(list, reports.Proofs(r)), r), console.Terminal{})).To(Succeed())
		text := out.String()
		Expect(text).To(And(ContainSubstring("line 7 is torn"), ContainSubstring("1 planned scenario was not run; what it would prove is unknown."),
			ContainSubstring("incomplete list.yaml"), ContainSubstring("1 of 1 requirement proven, 1 unknown id")))
	})
})
