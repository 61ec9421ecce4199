package web

import (
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// busy counts the requests that work on each session. The zero value has none.
type busy struct {
	mu       sync.Mutex
	requests map[string]int
}

// enter notes that a request begins to work on a session. Call leave at its end.
func (b *busy) enter(id string) (leave func()) {
	b.add(id, 1)
	return func() { b.add(id, -1) }
}

func (b *busy) add(id string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.requests == nil {
		b.requests = map[string]int{}
	}
	if b.requests[id] += n; b.requests[id] == 0 {
		delete(b.requests, id)
	}
}

func (b *busy) on(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests[id] > 0
}

// working reports whether somebody is making the message that a session owes: a
// request of this server, or another server while its claim lasts. What this one
// began before it was started anew is nobody's work any more.
func (s *Server) working(one session.Session) bool {
	switch {
	case one.Owed == nil || one.Phase != session.Owing:
		return false
	case s.busy.on(one.ID):
		return true
	}
	return one.Owed.InFlight > 0 && one.Owed.Holder != s.options.Instance && s.deps.Clock.Now().Before(one.Owed.Until)
}
