package interview

import (
	"context"
	"sync"
)

// locks serializes the submissions of each session. An entry exists only while a
// submission holds the lock or waits for it.
type locks struct {
	mu   sync.Mutex
	keys map[string]*lock
}

type lock struct {
	free  chan struct{} // has one token while the lock is free
	users int
}

// acquire locks a key, or fails when the context ends. waited is true if the key was
// locked.
func (l *locks) acquire(ctx context.Context, key string) (release func(), waited bool, err error) {
	entry := l.enter(key)
	select {
	case <-entry.free:
	default:
		waited = true
		select {
		case <-entry.free:
		case <-ctx.Done():
			l.leave(key, entry)
			return nil, true, context.Cause(ctx)
		}
	}
	return func() {
		entry.free <- struct{}{}
		l.leave(key, entry)
	}, waited, nil
}

func (l *locks) enter(key string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := l.keys[key]
	if entry == nil {
		entry = &lock{free: make(chan struct{}, 1)}
		entry.free <- struct{}{}
		if l.keys == nil {
			l.keys = map[string]*lock{}
		}
		l.keys[key] = entry
	}
	entry.users++
	return entry
}

func (l *locks) leave(key string, entry *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if entry.users--; entry.users == 0 {
		delete(l.keys, key)
	}
}

// gate counts the submissions in progress, and can be closed.
type gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{} // closed once the gate is closed and nothing is in progress
}

// enter admits a submission; it returns false if the gate is closed.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// close admits nothing more. The returned channel is closed when nothing is in progress.
func (g *gate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.closed, g.empty = true, make(chan struct{})
		if g.inside == 0 {
			close(g.empty)
		}
	}
	return g.empty
}
