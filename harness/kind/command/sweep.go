package command

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
)

const (
	// orphanTimeout limits how long descendants may outlive a program: one that it does not
	// wait for may end a reapInterval later.
	orphanTimeout = 250 * time.Millisecond
	// killTimeout limits the killing of processes that keep starting new ones.
	killTimeout = 2 * time.Second
	// reapTimeout limits how long a killed process may take to end.
	reapTimeout = 500 * time.Millisecond
	// reapInterval is the interval of checking whether it has ended.
	reapInterval = time.Millisecond
	// pollInterval is the interval of looking for remaining processes.
	pollInterval = 5 * time.Millisecond
)

// sweepSite waits until all descendants of a program have ended, for at most d, kills the
// rest, and returns their names, sorted: members of the group and, if the platform can find
// them, descendants that left it. It is called when the leader has ended.
func sweepSite(site app.Site, group int, d time.Duration) []string {
	return sweep(site.Clock, d, func() []descendant {
		return append(members(group), orphans(site.Clock, group, site.Home, site.Folder)...)
	})
}

// Adopt makes this process the parent of descendants that lose theirs, so that Orphans
// can find them; Start calls it. It works on Linux only.
func Adopt() { adopt() }

// Orphans waits until the adopted orphans with a site's home in their environment have
// ended, for at most d, kills the rest, and returns its names, sorted. It finds orphans on
// Linux only.
func Orphans(clk clock.Clock, home string, d time.Duration) (killed []string) {
	return sweep(clk, d, func() []descendant { return orphans(clk, 0, home) })
}

// descendant is a descendant of a program.
type descendant struct {
	pid  int
	name string
}

// sweep waits until look finds no process, for at most d, kills the remaining ones, and returns
// their names, sorted.
func sweep(clk clock.Clock, d time.Duration, look func() []descendant) []string {
	left := awaitNone(clk, d, look)
	names := make([]string, len(left))
	for i, one := range left {
		names[i] = one.name
	}
	slices.Sort(names)
	for until := clk.Now().Add(killTimeout); len(left) > 0 && clk.Now().Before(until); left = look() {
		killAll(left)
		// Their orphans are only found when they have ended.
		for due := clk.Now().Add(reapTimeout); !reaped(left) && clk.Now().Before(due); {
			_ = clk.Sleep(context.Background(), reapInterval)
		}
	}
	return names
}

// awaitNone waits until look finds no process, for at most d, and returns the remaining ones.
func awaitNone(clk clock.Clock, d time.Duration, look func() []descendant) []descendant {
	for until := clk.Now().Add(d); ; {
		left := look()
		if len(left) == 0 || !clk.Now().Before(until) {
			return left
		}
		_ = clk.Sleep(context.Background(), pollInterval)
	}
}
