package interview

import (
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Queued returns the number of submissions that lock a session or wait for it.
func (s *Service) Queued(id string) int {
	s.locks.mu.Lock()
	defer s.locks.mu.Unlock()
	if l := s.locks.keys[id]; l != nil {
		return l.users
	}
	return 0
}

// Remembered reports whether the messages of a session are cached.
func (s *Service) Remembered(id string) bool {
	s.recall.mu.Lock()
	defer s.recall.mu.Unlock()
	return s.recall.find(id) != nil
}

// RecallsAfter returns the number of cached bytes of text after a number of interviews
// with size bytes of text each.
func RecallsAfter(interviews, size int) (bytes int) {
	var r recall
	for i := range interviews {
		r.add(strconv.Itoa(i), 0, []session.Message{{Text: strings.Repeat("x", size/2)}})
		r.add(strconv.Itoa(i), 1, []session.Message{{Text: strings.Repeat("x", size/2)}})
	}
	for i := range interviews {
		for _, m := range r.get(strconv.Itoa(i), 2) {
			bytes += len(m.Text)
		}
	}
	return bytes
}
