package interview

import (
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// recall caches the messages of recent interviews, so that a call does not have to read
// all of them again. Messages never change and their numbers have no gaps: a cache with
// as many messages as the session has is complete. If another server added messages,
// the numbers differ and the store is read.
//
// The cache has two generations of interviews, each of at most half the limit; the older
// one is dropped as a whole.
type recall struct {
	mu            sync.Mutex
	recent, older map[string][]session.Message
	size          int // of recent, in bytes
}

const (
	recallLimit   = 16 << 20
	recallMessage = 200 // bytes of a message beside its text, about
)

// get returns the n messages of a session; nil if they are not cached. The caller must not
// change them.
func (r *recall) get(id string, n int) []session.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	if all := r.find(id); len(all) == n {
		return slices.Clip(all) // an append copies
	}
	return nil
}

// add caches messages that follow the first had messages of a session. If those are not
// cached, it does nothing.
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

// forget drops a session.
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
