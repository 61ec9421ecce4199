package cli

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// TestExplorationProgress checks the status line; package tty draws it.
func TestExplorationProgress(t *testing.T) {
	g := gomega.NewWithT(t)
	cell := &result.Cell{Perturb: []string{"call=1:timeout"}}
	text, detail := explorationProgress(explore.Progress{Doing: "perturbations", Done: 3, Planned: 400, Cell: cell}, 1)
	g.Expect(text + detail).To(gomega.Equal("perturbations: 3/400, 1 failed  call=1:timeout"))
	text, detail = explorationProgress(explore.Progress{Doing: "shrinking", Done: 1, Planned: 2}, 0)
	g.Expect(text + detail).To(gomega.Equal("shrinking: 1/2"))
}

// TestCompleteFamilies completes each family of a list, and none twice.
func TestCompleteFamilies(t *testing.T) {
	g := gomega.NewWithT(t)
	for start, want := range map[string][]string{
		"":               namesOf(result.Families()),
		"fa":             {"fault"},
		"fault,la":       {"fault,latency"},
		"crash,pair,p":   nil,
		"fault,latency,": {"fault,latency,outage", "fault,latency,text", "fault,latency,crash", "fault,latency,user", "fault,latency,pair"},
		"nothing":        nil,
	} {
		got, _ := completeFamilies(nil, nil, start)
		g.Expect(got).To(gomega.Equal(want), start)
	}
}
