package command

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
)

const (
	// afterlife limits how long descendants may outlive a program: one that it does not
	// wait for may end a moment later.
	afterlife = 250 * time.Millisecond
	// sweeping limits how long processes are killed that start ever new ones.
	sweeping = 2 * time.Second
	// lag limits how long a killed process may take to be gone.
	lag = 500 * time.Millisecond
	// moment is the interval of checking whether it is.
	moment = time.Millisecond
	// glance is the interval of looking for processes that are left.
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

// Adopt makes this process the parent of descendants that lose theirs, so that Orphans
// can find them; Start calls it. It works on Linux only.
func Adopt() { adopt() }

// Orphans waits until the adopted orphans with a site's home in their environment have
// ended, for at most d, kills the rest, and returns its names, sorted. It finds orphans on
// Linux only.
func Orphans(clk clock.Clock, home string, d time.Duration) (killed []string) {
	return sweep(clk, d, func() []relative { return orphans(clk, 0, home) })
}

// relative is a descendant of a program.
type relative struct {
	pid  int
	name string
}

// sweep waits until look finds no process, for at most d, kills those that it finds then,
// and returns their names, sorted.
func sweep(clk clock.Clock, d time.Duration, look func() []relative) []string {
	left := awaitNone(clk, d, look)
	names := make([]string, len(left))
	for i, one := range left {
		names[i] = one.name
	}
	slices.Sort(names)
	for until := clk.Now().Add(sweeping); len(left) > 0 && clk.Now().Before(until); left = look() {
		killAll(left)
		// What they leave behind is only found when they are gone.
		for due := clk.Now().Add(lag); !reaped(left) && clk.Now().Before(due); {
			_ = clk.Sleep(context.Background(), moment)
		}
	}
	return names
}

// awaitNone waits until look finds no process, for at most d, and returns those that it
// finds then.
func awaitNone(clk clock.Clock, d time.Duration, look func() []relative) []relative {
	for until := clk.Now().Add(d); ; {
		left := look()
		if len(left) == 0 || !clk.Now().Before(until) {
			return left
		}
		_ = clk.Sleep(context.Background(), glance)
	}
}
