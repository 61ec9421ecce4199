package command

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
)

const (
	// afterlife is how long what a program started may outlive it: the end of one that
	// it does not wait for may come a moment later.
	afterlife = 250 * time.Millisecond
	// sweeping bounds how long it takes to kill what starts ever new processes.
	sweeping = 2 * time.Second
	// lag is how long a killed process may take to be gone.
	lag = 500 * time.Millisecond
	// moment is how often it is looked whether it is.
	moment = time.Millisecond
	// glance is how often is looked.
	glance = 5 * time.Millisecond
)

// sweepSite waits until nothing is left of what a program started, for at most d, kills
// the rest, and returns its names, sorted: members of the group and, where the platform
// can find them, descendants that left it. It is called when the leader has ended.
func sweepSite(site app.Site, group int, d time.Duration) []string {
	return sweep(site.Clock, d, func() []relative {
		return append(members(group), orphans(site.Clock, group, site.Home, site.Folder)...)
	})
}

// Adopt makes this process the parent of those of its descendants that lose theirs, so
// that Orphans can find them; Start does so, too. Only Linux can.
func Adopt() { adopt() }

// Orphans waits until the orphans that were adopted and have a site's home among their
// variables have ended, for at most d, kills the rest, and returns the names of that,
// sorted. It finds none where the platform cannot tell.
func Orphans(clk clock.Clock, home string, d time.Duration) (killed []string) {
	return sweep(clk, d, func() []relative { return orphans(clk, 0, home) })
}

// relative is a process that a program started, or one of those did.
type relative struct {
	pid  int
	name string
}

// sweep waits until look finds nobody, for at most d, kills whom it finds then, and
// returns their names, sorted.
func sweep(clk clock.Clock, d time.Duration, look func() []relative) []string {
	left := gone(clk, d, look)
	names := make([]string, len(left))
	for i, one := range left {
		names[i] = one.name
	}
	slices.Sort(names)
	for until := clk.Now().Add(sweeping); len(left) > 0 && clk.Now().Before(until); left = look() {
		killAll(left)
		// Only when they are gone it shows whom they leave behind themselves.
		for due := clk.Now().Add(lag); !buried(left) && clk.Now().Before(due); {
			_ = clk.Sleep(context.Background(), moment)
		}
	}
	return names
}

// gone waits until look finds nobody, for at most d, and returns whom it finds then.
func gone(clk clock.Clock, d time.Duration, look func() []relative) []relative {
	for until := clk.Now().Add(d); ; {
		left := look()
		if len(left) == 0 || !clk.Now().Before(until) {
			return left
		}
		_ = clk.Sleep(context.Background(), glance)
	}
}
