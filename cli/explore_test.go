package cli

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/result"
)

// TestCompleteFamilies completes each family of a list, and none twice.
func TestCompleteFamilies(t *testing.T) {
	g := gomega.NewWithT(t)
	for start, want := range map[string][]string{
		"":               namesOf(result.Families()),
		"fa":             {"fault"},
		"fault,la":       {"fault,latency"},
		"crash,pair,p":   nil,
		"fault,latency,": {"fault,latency,outage", "fault,latency,text", "fault,latency,tool", "fault,latency,crash", "fault,latency,user", "fault,latency,pair"},
		"nothing":        nil,
	} {
		got, _ := completeFamilies(nil, nil, start)
		g.Expect(got).To(gomega.Equal(want), start)
	}
}
