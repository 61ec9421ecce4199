package loop

import (
	"slices"

	"github.com/rehearse-dev/rehearse/llm"
)

// session is the session of a command-line agent across the calls of a run.
type session struct {
	off     bool         // each call begins a new session
	current *llm.Session // the next call continues it; nil: it begins a new one
	begun   string       // the id that the agent reported during the last call
	failed  int          // calls in a row
	handed  bool         // an earlier run began current, and this run has not called it yet
	report  func(id string)
}

// begin receives the id of the session when the agent reports it, which is before its work.
func (s *session) begin(id string) {
	s.begun = id
	if s.report != nil && (s.current == nil || s.current.ID != id) {
		s.report(id)
	}
}

// lose forgets a session that the agent does not have.
func (s *session) lose() { s.current, s.handed = nil, false }

// next returns the session of a call and decides whether the next call continues it. A session whose last
// two calls failed may itself be the reason, so the next call begins a new one.
func (s *session) next(reply llm.Reply, err error) *llm.Session {
	of := reply.Session
	switch handed := s.handed && !passing(err); {
	case err == nil:
		s.failed = 0
	case handed: // the earlier run may have ended with a failed call
		s.failed += 2
		of = s.cutOff(err)
	default:
		s.failed++
		of = s.cutOff(err)
	}
	s.handed = s.handed && passing(err)
	s.current = of
	if s.off || s.failed > 1 {
		s.current = nil
	}
	return of
}

// hand continues a session that an earlier run began.
func (s *session) hand(of *llm.Session) {
	if of != nil && !s.off {
		s.current, s.handed = of, true
	}
}

// passing reports whether the backend is the cause of an error, and not the session.
func passing(err error) bool {
	return slices.Contains([]llm.ErrorKind{llm.Unavailable, llm.RateLimited}, llm.KindOf(err))
}

// cutOff returns the session of a failed call, or nil if none had begun. A call that failed because of the
// backend before the agent reported its session did not change it.
func (s *session) cutOff(err error) *llm.Session {
	switch {
	case s.begun == "" && passing(err):
		return s.current
	case s.begun == "":
		return nil
	case s.current != nil && s.current.ID == s.begun:
		return s.current
	}
	return &llm.Session{ID: s.begun}
}
