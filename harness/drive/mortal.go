package drive

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/folder"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// fate counts the writes of all processes of a trial and knows at which of them
// something happens. It is safe for concurrent use.
type fate struct {
	mu      sync.Mutex
	writes  int
	crashes []scenarios.Crash
	full    int // the write at which the disk is full; 0 is never
}

// write counts a write and says what becomes of it.
func (f *fate) write() (crash *scenarios.Crash, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	if len(f.crashes) > 0 && f.crashes[0].Write == f.writes {
		crash, f.crashes = &f.crashes[0], f.crashes[1:]
	}
	return crash, f.full == f.writes
}

// unfired are the things that were to happen and did not.
func (f *fate) unfired() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.crashes {
		all = append(all, fmt.Sprintf("crash at write %d of %d", c.Write, f.writes))
	}
	if f.full > f.writes {
		all = append(all, fmt.Sprintf("full disk at write %d of %d", f.full, f.writes))
	}
	return all
}

// mortal is the store of one life of a process. When that dies nothing more gets
// through, to the store or to the sink, and its context ends.
type mortal struct {
	journal.Store
	fate *fate
	sink event.Sink
	end  context.CancelCauseFunc

	mu   sync.Mutex
	dead bool
}

func (m *mortal) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

func (m *mortal) die() error {
	m.mu.Lock()
	m.dead = true
	m.mu.Unlock()
	m.end(errDead)
	return errDead
}

// write does one write to the store, unless fate has it otherwise.
func (m *mortal) write(do func() error) error {
	if m.died() {
		return errDead
	}
	crash, full := m.fate.write()
	switch {
	case crash != nil && crash.When != scenarios.CrashAfter:
		return m.die()
	case full:
		return folder.Explain(syscall.ENOSPC)
	}
	err := do()
	if crash != nil {
		return m.die()
	}
	return err
}

// Append implements journal.Store.
func (m *mortal) Append(records ...[]byte) error {
	return m.write(func() error { return m.Store.Append(records...) })
}

// Checkpoint implements journal.Store.
func (m *mortal) Checkpoint(snapshot []byte) error {
	return m.write(func() error { return m.Store.Checkpoint(snapshot) })
}

// Save implements journal.Store.
func (m *mortal) Save(name string, data []byte) error {
	return m.write(func() error { return m.Store.Save(name, data) })
}

// Tell implements event.Sink.
func (m *mortal) Tell(e event.Event) {
	if !m.died() {
		m.sink.Tell(e)
	}
}
