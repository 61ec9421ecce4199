package interview

import (
	"context"
	"sync"
)

// locks lets one submission at a time work on each session. An entry exists only
// while somebody holds it or waits for it.
type locks struct {
	mu   sync.Mutex
	keys map[string]*lock
}

type lock struct {
	free  chan struct{} // holds one token while nobody holds the lock
	users int
}

// acquire waits until nobody else holds the key, or for the end of the context.
// Waited says that somebody held it.
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

// door counts who is inside, and can be closed.
type door struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{} // closed once the door is closed and nobody is inside
}

// enter reports whether the door is open.
func (d *door) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.inside++
	return true
}

func (d *door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside--; d.closed && d.inside == 0 {
		close(d.empty)
	}
}

// close lets nobody in any more and returns what ends when nobody is inside.
func (d *door) close() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.closed, d.empty = true, make(chan struct{})
		if d.inside == 0 {
			close(d.empty)
		}
	}
	return d.empty
}
