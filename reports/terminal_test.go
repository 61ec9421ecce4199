package reports_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
)

var _ = Describe("The terminal of a large run", Label("H-05"), func() {
	large := func(n int) string { return render(asTerminal, many(n), options{}) }

	It("has a line for each folder, whatever passed", func() {
		r := many(500)
		for i := range r.Scenarios {
			r.Scenarios[i] = sample().Scenarios[0]
			r.Scenarios[i].Name = fmt.Sprintf("f%d/scenario-%05d", i%3, i)
			r.Scenarios[i].File = "shipped:" + r.Scenarios[i].Name + ".yaml"
		}
		text := render(asTerminal, r, options{})
		Expect(text).To(MatchRegexp(`(?m)^f0/ +pass +167 +167$`))
		Expect(text).NotTo(ContainSubstring("scenario-"))
	})
	It("names every scenario that did not pass, and shows the findings of the first ones", func() {
		text := large(300)
		Expect(strings.Count(text, "\n  fail 3/5 ")).To(Equal(20))
		for i := 9; i < 300; i += 10 {
			Expect(text).To(MatchRegexp(`(?m)^.*scenario-%05d .*fail`, i))
		}
	})
	It("lists each scenario if it is asked to", func() {
		Expect(strings.Count(render(asTerminal, many(300), options{detail: reports.Verbose}), "\nscenario-")).To(Equal(300))
	})
	It("has only what did not pass if it is quiet", func() {
		text := render(asTerminal, many(12), options{detail: reports.Quiet})
		Expect(text).NotTo(ContainSubstring("folder"))
		Expect(text).To(ContainSubstring("scenario-00009"))
		Expect(text).NotTo(ContainSubstring("scenario-00008"))
	})
	It("fits 40 columns, except for commands", func() {
		text := render(asTerminal, hostile(), options{terminal: console.Terminal{Width: 40}})
		for line := range strings.Lines(text) {
			if !strings.Contains(line, "run again: ") && !strings.Contains(line, "accept with: ") && !strings.HasPrefix(line, "To accept") {
				Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 40), line)
			}
		}
	})
})

var _ = DescribeTable("The command that runs a scenario again", Label("H-05"),
	func(s reports.Scenario, want string) { Expect(reports.Rerun(s)).To(Equal(want)) },
	Entry("names the user's file", reports.Scenario{Name: "a", File: "my scenarios/a.yaml"}, "rehearse run 'my scenarios/a.yaml'"),
	Entry("names a shipped scenario", reports.Scenario{Name: "loop/a", File: "shipped:loop/a.yaml"}, "rehearse run loop/a"),
	Entry("repeats perturbations", reports.Scenario{
		Name: "loop/a [call=1:reset]", File: "shipped:loop/a.yaml", Perturb: []string{"call=1:reset"},
	}, "rehearse run loop/a --perturb 'call=1:reset'"),
	Entry("leaves out those of the file", reports.Scenario{Name: "a", File: "a.yaml", Perturb: []string{"call=1:reset"}}, "rehearse run a.yaml"),
	Entry("repeats all trials", reports.Scenario{Name: "a", File: "a.yaml", Planned: 3}, "rehearse run a.yaml --trials 3"),
	Entry("names a file that looks like a flag", reports.Scenario{Name: "a", File: "-a.yaml"}, "rehearse run ./-a.yaml"),
)
