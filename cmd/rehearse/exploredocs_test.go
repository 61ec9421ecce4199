package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TestExploreDocsName holds docs/explore.md and the help to the code: each family,
// each outcome and each invariant that ships, with the agents that it is of.
func TestExploreDocsName(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readDoc(t, "explore.md")
	for _, f := range survival.Families() {
		g.Expect(text).To(gomega.ContainSubstring("| `%s` | ", f))
		g.Expect(familyHelp()).To(gomega.MatchRegexp(`(?m)^  %s +\S+`, f))
	}
	for _, outcome := range []string{"survived", "degraded", "failed", "could not happen", "no verdict"} {
		g.Expect(text).To(gomega.MatchRegexp("(?m)^\\| `.` \\| %s \\| ", outcome))
	}

	agents := []string{"loop", "hook", "interview", "supervise", "react", "function", "command", "http", "container", "coding"}
	of := map[string][]string{}
	var order []string
	for _, agent := range agents {
		for _, invariant := range gate.Invariants(agent) {
			words, _ := gate.Words(invariant)
			id, says, _ := strings.Cut(words, ": ")
			row := fmt.Sprintf("| `%s` | %s |", id, says)
			if of[row] == nil {
				order = append(order, row)
			}
			of[row] = append(of[row], agent)
		}
	}
	for _, row := range order {
		who := strings.Join(of[row], ", ")
		switch {
		case slices.Equal(of[row], agents):
			who = "all"
		case slices.Equal(of[row], agents[5:]):
			who = "agents of other people"
		}
		who = strings.Replace(who, strings.Join(agents[5:], ", "), "agents of other people", 1)
		g.Expect(text).To(gomega.ContainSubstring("%s %s |\n", row, who))
	}
}

// TestExploreDocsKeep holds the list of what was found to the scenarios that keep it.
func TestExploreDocsKeep(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readDoc(t, "explore.md")
	kept := 0
	for _, name := range scenarios.Names() {
		if strings.Contains(name, "/explored-") {
			g.Expect(text).To(gomega.ContainSubstring("| `%s` |\n", name))
			kept++
		}
	}
	g.Expect(strings.Count(text, "/explored-")).To(gomega.Equal(kept), "docs/explore.md names a scenario that is not there")
}
