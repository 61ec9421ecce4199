package kind

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// forkPoint is the state of an interview between two submissions, at which perturbed trials start. It is
// not changed.
type forkPoint struct {
	progress
	store           *store.Memory
	calls, sessions int32
	submissions     int64
	writes, crashes int
}

// forks reports whether the trials of the scenario can start in the middle: its state is in the store and in
// the candidate, and the store can be a store.Memory.
func (r *rehearsed) forks() bool {
	if r.opts.Invite || r.opts.Store != "" && r.opts.Store != "sqlite" {
		return false
	}
	return !slices.ContainsFunc(r.opts.Moves, func(m Move) bool {
		return m.Do == moveLink || m.Do == moveExport || m.Do == moveDelete || m.Do == moveCrash
	})
}

// checkpoint lets perturbed trials start here, if the trial is recorded on a tape.
func (c *candidate) checkpoint() {
	kept, ok := c.store.(*store.Memory)
	if !ok {
		return
	}
	writes, crashes := c.crashes.Count()
	c.trial.Checkpoint(writes, c.turn, func() any {
		return &forkPoint{
			progress: c.copied(), store: kept.Fork(), calls: c.calls.Load(), sessions: c.sessions.Load(),
			submissions: c.submissions.Load(), writes: writes, crashes: crashes,
		}
	})
}

// continueFrom continues at a state, with a service that has just started.
func (c *candidate) continueFrom(from *forkPoint) {
	c.progress = from.copied()
	c.calls.Store(from.calls)
	c.sessions.Store(from.sessions)
	c.submissions.Store(from.submissions)
	c.crashes.Continue(from.writes, from.crashes)
}

// copied returns a copy that shares nothing that changes.
func (p progress) copied() progress {
	p.did, p.accepted = slices.Clone(p.did), slices.Clip(p.accepted)
	return p
}
