package reports_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

var _ = DescribeTable("measures without enough data in a terminal", Label("H-06"),
	func(verdict gate.Verdict, detail reports.Detail, shown bool) {
		r := interruptedRun()
		r.Compare(compare.Result{Before: "base.json", Verdict: verdict, Comparisons: []compare.Comparison{
			{Scenario: "a", Measure: "latency_p95", Verdict: compare.Insufficient, BeforeText: "1s", AfterText: "2s", Why: "too few trials"},
		}})
		var b strings.Builder
		Expect(doc.Terminal(&b, reports.TerminalDocument(r, detail, false), console.Terminal{})).To(Succeed())
		Expect(strings.Contains(b.String(), "latency_p95")).To(Equal(shown), b.String())
		Expect(strings.Contains(b.String(), "--verbose lists")).To(Equal(!shown))
		Expect(b.String()).To(ContainSubstring("1 without enough data"))
	},
	Entry("are counted if the comparison passes", gate.Pass, reports.Normal, false),
	Entry("are counted if the run is quiet", gate.Pass, reports.Quiet, false),
	Entry("are listed with --verbose", gate.Pass, reports.Verbose, true),
	Entry("are listed if the comparison fails", gate.Fail, reports.Quiet, true))
