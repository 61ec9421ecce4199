package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TestExploreDocsName compares docs/how-to/explore.md and the help with the code: each family,
// each outcome and each invariant that ships, with the agents that it is of.
func TestExploreDocsName(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readDoc(t, "how-to/explore.md")
	for _, f := range result.Families() {
		g.Expect(text).To(gomega.ContainSubstring("| `%s` | ", f))
		g.Expect(familyHelp()).To(gomega.MatchRegexp(`(?m)^  %s +\S+`, f))
	}
	for _, outcome := range []string{"survived", "degraded", "failed", "could not happen", "no verdict"} {
		g.Expect(text).To(gomega.MatchRegexp("(?m)^\\| `.` \\| %s \\| ", outcome))
	}

	of := map[string][]string{}
	var order []string
	var agents []string
	for _, kind := range kinds.All() {
		agents = append(agents, kind.Name)
		for _, invariant := range kind.Invariants {
			row := fmt.Sprintf("| `%s` | %s |", invariant.ID, invariant.Words)
			if of[row] == nil {
				order = append(order, row)
			}
			of[row] = append(of[row], kind.Name)
		}
	}
	for _, row := range order {
		who := strings.Join(of[row], ", ")
		switch {
		case slices.Equal(of[row], agents):
			who = "all"
		case slices.Equal(of[row], agents[5:]):
			who = "your own agents"
		}
		who = strings.Replace(who, strings.Join(agents[5:], ", "), "your own agents", 1)
		g.Expect(text).To(gomega.ContainSubstring("%s %s |\n", row, who))
	}
}

// TestExploreDocsKeep compares the list of found bugs with their scenarios.
func TestExploreDocsKeep(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readDoc(t, "how-to/explore.md")
	saved := 0
	for _, name := range scenarios.Names() {
		if strings.Contains(name, "/explored-") {
			g.Expect(text).To(gomega.ContainSubstring("| `%s` |\n", name))
			saved++
		}
	}
	g.Expect(strings.Count(text, "/explored-")).To(gomega.Equal(saved), "docs/how-to/explore.md names a scenario that is not there")
}
