package reports_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

var _ = Describe("flaky scenarios", Label("H-04"), func() {
	DescribeTable("are listed by what is known of them",
		func(x history.Flaky, tone doc.Tone, heading string) {
			share := 0.5
			x.Identity, x.FailRate = history.Identity{Scenario: "order"}, measure.Value{Value: &share}
			d := reports.FlakyDocument(&history.Flakiness{Flaky: []history.Flaky{x}, Runs: 4, Scenarios: 1})
			Expect(d.Tone).To(Equal(tone))
			var b strings.Builder
			Expect(doc.Markdown(&b, d, 0)).To(Succeed())
			for _, h := range []string{"NOT REPEATABLE", "Flaky: they pass and fail", "Perhaps flaky"} {
				Expect(strings.Contains(b.String(), h)).To(Equal(h == heading), h)
			}
		},
		Entry("in virtual time, trials of a run disagree", history.Flaky{Repeatable: true, Mixed: 1}, doc.Bad, "NOT REPEATABLE"),
		Entry("in virtual time, other versions disagree", history.Flaky{Repeatable: true, Flips: 2}, doc.Unsure, "Perhaps flaky"),
		Entry("trials of a run disagree", history.Flaky{Mixed: 1}, doc.Unsure, "Flaky: they pass and fail"),
		Entry("runs of a commit disagree", history.Flaky{SameCommit: true}, doc.Unsure, "Flaky: they pass and fail"),
		Entry("other versions disagree", history.Flaky{Flips: 3}, doc.Unsure, "Perhaps flaky"))
})
