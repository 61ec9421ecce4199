package interview

import (
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// recall remembers what was said in the interviews under way, so that a call need
// not read all of it again. Messages never change and their numbers have no gaps:
// whoever remembers as many as a session has, remembers all of them. What another
// server added makes the numbers differ, and the store is read.
//
// There are two generations of interviews, each of at most half the limit; one that
// is not worked on for longer than that is forgotten.
type recall struct {
	mu            sync.Mutex
	recent, older map[string][]session.Message
	size          int // of recent, in bytes
}

const (
	recallLimit   = 16 << 20
	recallMessage = 200 // bytes of a message beside its text, about
)

// get returns the n messages of a session, or nil if they are not remembered. The
// caller does not change them.
func (r *recall) get(id string, n int) []session.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if all := r.find(id); len(all) == n {
		return slices.Clip(all) // whoever appends to it gets a copy
	}
	return nil
}

// add remembers messages that were stored behind the first so many of a session.
// Where those are not remembered, nothing is.
func (r *recall) add(id string, had int, more []session.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []session.Message
	if had > 0 {
		if all = r.find(id); len(all) != had {
			return
		}
	}
	all = append(all, more...)
	if _, known := r.recent[id]; !known {
		more = all
	}
	grown := 0
	for i := range more {
		grown += len(more[i].Text) + recallMessage
	}
	if r.recent == nil || r.size+grown > recallLimit/2 {
		r.older, r.recent, r.size = r.recent, map[string][]session.Message{}, 0
	}
	r.recent[id] = all
	r.size += grown
}

// forget forgets a session.
func (r *recall) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.recent, id)
	delete(r.older, id)
}

func (r *recall) find(id string) []session.Message {
	if all, ok := r.recent[id]; ok {
		return all
	}
	return r.older[id]
}
