package reports_test

import (
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
)

// lacking is the sample on a machine without two programs and without Docker.
func lacking() reports.Report {
	r := sample()
	skip := func(name, why string) {
		s := r.Scenarios[3]
		s.Name, s.Planned, s.Trials = name, 2, reports.Count{Skip: 2}
		s.Findings = []gate.Finding{
			{Severity: gate.Skipped, Rule: "skipped", Message: "the trial was not run", Trial: 1, Evidence: why},
			{Severity: gate.Skipped, Rule: "skipped", Message: "the trial was not run", Trial: 2, Evidence: why},
		}
		r.Scenarios = append(r.Scenarios, s)
	}
	for n := range 12 {
		skip(fmt.Sprintf("agents/first-%02d", n+1), "the program first is not on this machine; install it")
		if n < 3 {
			skip(fmt.Sprintf("agents/second-%d", n+1), "the program `second` is not\nhere")
		}
	}
	skip("container/http", "Docker is not there")
	return r
}

var _ = Describe("scenarios that were skipped for the same reason", func() {
	DescribeTable("share a line", func(f renderer, columns int, file string) {
		golden.Expect(file, []byte(render(f, lacking(), options{terminal: console.Terminal{Width: columns}})))
	},
		Entry("on a terminal", renderer(asTerminal), 80, "skipped-80.txt"),
		Entry("in Markdown", renderer(asMarkdown), 0, "skipped.md"),
	)

	It("are separate from scenarios with another reason, or several", func() {
		r := lacking()
		r.Scenarios[4].Findings[0].Evidence = "something else"
		r.Scenarios[5].MoreFindings = 1
		text := render(asTerminal, r, options{})
		Expect(text).To(ContainSubstring("skipped 11 scenarios: the program first"))
		Expect(text).To(ContainSubstring("skipped 2 scenarios: the program `second`"))
		for _, s := range []reports.Scenario{r.Scenarios[4], r.Scenarios[5]} {
			Expect(text).To(ContainSubstring("\n  skip 0/2 " + s.Name))
		}
	})

	It("fit the width of the terminal, whatever their names", func() {
		r := lacking()
		for i := range r.Scenarios {
			r.Scenarios[i].Name = strings.Repeat("long/", 30) + fmt.Sprint(i)
		}
		r.Scenarios[3].Name = "short"
		text := render(asTerminal, r, options{detail: reports.Verbose, terminal: console.Terminal{Width: 80}})
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "    run again: ") { // a command is copied whole
				continue
			}
			Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 80), line)
		}
		Expect(regexp.MustCompile(`\n    in\s+long/`).FindAllString(text, -1)).To(HaveLen(2))
	})

	It("stay out of a table of failures", func() {
		Expect(render(asTerminal, lacking(), options{failuresOnly: true})).NotTo(ContainSubstring("skipped"))
	})

	It("are all in machine-readable reports", func() {
		Expect(strings.Count(render(asJUnit, lacking(), options{}), "<skipped")).To(BeNumerically(">=", 16))
		Expect(render(asJSON, lacking(), options{})).To(ContainSubstring("agents/first-12"))
	})
})
