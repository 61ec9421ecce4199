package scenarios_test

import (
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/kind/coding"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("Scenarios of coding agents", func() {
	var set []scenarios.Scenario
	BeforeEach(func() {
		var found scenarios.Diagnostics
		set, found = scenarios.Load([]string{"coding-agents/*"}, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
	})

	It("state the usage of each call, because requests contain paths and dates", func() {
		for _, sc := range set {
			for _, line := range sc.Backend.Replies {
				Expect(line.Usage).NotTo(BeNil(), sc.Name)
			}
		}
	})
	It("match the number in the handbook, whose example is valid", func() {
		data, err := os.ReadFile("../docs/how-to/coding-agents.md")
		Expect(err).NotTo(HaveOccurred())
		text := string(data)
		Expect(text).To(ContainSubstring(fmt.Sprintf("the %d scenarios", len(set))))
		_, rest, _ := strings.Cut(text, "```yaml\n")
		block, _, _ := strings.Cut(rest, "```")
		sc, found := scenarios.Parse("docs/how-to/coding-agents.md", []byte(block), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(sc.Drive.Options.(*coding.Options).Guard).To(Equal("balanced"))
	})
	It("show the same of Claude Code and Codex", func() {
		of := map[string][]string{}
		for _, sc := range set {
			agent, shows, _ := strings.Cut(strings.TrimPrefix(sc.Name, "coding-agents/"), "-")
			Expect(agent).To(Equal(sc.Drive.Options.(*coding.Options).Agent), sc.Name)
			of[agent] = append(of[agent], shows)
		}
		Expect(len(of["claude"])).To(BeNumerically(">", 15))
		Expect(of["codex"]).To(ContainElements(of["claude"]))
	})
})
