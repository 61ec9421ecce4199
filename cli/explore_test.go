package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// TestExploreProgress tells how far an exploration is: drawn over ten times a second
// on a terminal, and each ten seconds in a log.
func TestExploreProgress(t *testing.T) {
	tell := func(p *exploreProgress, now *time.Time, done int, after time.Duration, o result.Outcome) {
		*now = now.Add(after)
		p.tell(explore.Progress{
			Doing: "perturbations", Done: done, Planned: 400,
			Cell: &result.Cell{Outcome: o, Perturb: []string{"call=1:timeout"}},
		})
	}

	t.Run("terminal", func(t *testing.T) {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		p := newExploreProgress(&out, tty.Terminal{Width: 40, Live: true}, func() time.Time { return now })
		tell(p, &now, 1, 0, result.Survived)
		tell(p, &now, 2, 50*time.Millisecond, result.Failed)
		tell(p, &now, 3, 50*time.Millisecond, result.Survived)
		p.status.Clear()
		p.status.Clear()
		gomega.NewWithT(t).Expect(out.String()).To(gomega.Equal("\r\x1b[Kperturbations: 1/400  call=1:timeout" +
			"\r\x1b[Kperturbations: 3/400, 1 failed  call=1…" + "\r\x1b[K"))
	})
	t.Run("log", func(t *testing.T) {
		var out bytes.Buffer
		now := time.Unix(0, 0)
		p := newExploreProgress(&out, tty.Terminal{}, func() time.Time { return now })
		tell(p, &now, 1, 9*time.Second, result.Failed)
		tell(p, &now, 2, time.Second, result.Survived)
		now = now.Add(10 * time.Second)
		p.tell(explore.Progress{Doing: "shrinking", Done: 1, Planned: 2})
		p.status.Clear()
		gomega.NewWithT(t).Expect(out.String()).To(gomega.Equal("perturbations: 2/400, 1 failed\nshrinking: 1/2, 1 failed\n"))
	})
}

// TestCompleteFamilies completes each family of a list, and none twice.
func TestCompleteFamilies(t *testing.T) {
	g := gomega.NewWithT(t)
	for start, want := range map[string][]string{
		"":               familyNames(),
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
