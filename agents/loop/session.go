package loop

import "github.com/rehearse-dev/rehearse/llm"

// session is the session of a command-line agent across the calls of a run.
type session struct {
	off     bool         // each call begins a new session
	current *llm.Session // the next call continues it; nil: it begins a new one
	begun   string       // the id that the agent reported during the last call
	failed  int          // calls in a row
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
func (s *session) lose() { s.current = nil }

// next returns the session of a call and decides whether the next call continues it. A session whose last
// two calls failed may itself be the reason, so the next call begins a new one.
func (s *session) next(reply llm.Reply, err error) *llm.Session {
	of := reply.Session
	if err == nil {
		s.failed = 0
	} else {
		s.failed++
		of = s.cutOff()
	}
	s.current = of
	if s.off || s.failed > 1 {
		s.current = nil
	}
	return of
}

// cutOff returns the session of a failed call, or nil if none had begun.
func (s *session) cutOff() *llm.Session {
	switch {
	case s.begun == "":
		return nil
	case s.current != nil && s.current.ID == s.begun:
		return s.current
	}
	return &llm.Session{ID: s.begun}
}
