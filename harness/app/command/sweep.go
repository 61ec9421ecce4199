package command

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/internal/child"
)

const (
	// afterlife is how long what a program started may outlive it: the end of one that
	// it does not wait for may come a moment later.
	afterlife = 250 * time.Millisecond
	// sweeping bounds how long it takes to kill what starts ever new processes.
	sweeping = 2 * time.Second
	// lag is how long a killed process may take to be gone.
	lag = 100 * time.Millisecond
	// glance is how often is looked.
	glance = 5 * time.Millisecond
)

// sweep waits a little for what the program started to end, kills the rest, and returns
// the names of that, sorted: of the group, and, where the platform can tell, of what left
// it. It is called when the leader has ended.
func (p *Process) sweep() []string {
	left := p.wait(p.patience())
	if len(left) == 0 {
		child.Kill(p.cmd) // whoever was about to start
		return nil
	}
	names := make([]string, len(left))
	for i, one := range left {
		names[i] = one.name
	}
	slices.Sort(names)
	killed := left
	for until := p.site.Clock.Now().Add(sweeping); len(left) > 0 && p.site.Clock.Now().Before(until); {
		child.Kill(p.cmd)
		killAll(left)
		left = p.wait(lag)
		killed = append(killed, left...)
	}
	buryAll(killed)
	return names
}

// patience is how long the end of what is left is waited for: not at all where the
// program is ended from here.
func (p *Process) patience() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || p.broken != nil {
		return 0
	}
	return afterlife
}

// relative is a process that a program started, or one of those did.
type relative struct {
	pid  int
	name string
}

// wait waits until nothing is left of the program, for at most d, and returns what is.
func (p *Process) wait(d time.Duration) []relative {
	for until := p.site.Clock.Now().Add(d); ; {
		left := relatives(p.cmd.Process.Pid, p.site.Home)
		if len(left) == 0 || !p.site.Clock.Now().Before(until) {
			return left
		}
		_ = p.site.Clock.Sleep(context.Background(), glance)
	}
}
