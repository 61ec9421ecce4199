package web

import (
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// busy counts the requests in progress for each session. The zero value is empty.
type busy struct {
	mu       sync.Mutex
	requests map[string]int
}

// enter counts a request for a session until leave is called.
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

// working reports whether the owed message of a session is being produced: by a request of this
// server, or by another server while its claim lasts. A call that this server began before it was
// restarted does not count.
func (s *Server) working(one session.Session) bool {
	switch {
	case one.Owed == nil || one.Phase != session.Owing:
		return false
	case s.busy.on(one.ID):
		return true
	}
	return one.Owed.InFlight > 0 && one.Owed.Holder != s.options.Instance && s.deps.Clock.Now().Before(one.Owed.Until)
}
