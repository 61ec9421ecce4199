package cli

import (
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// session is the agent's session of a call.
type session struct {
	known     bool // the program can continue sessions
	onSession func(id string)
	continued *llm.Session // nil for a new one

	id    string
	total *llm.Usage // of the whole session, if the program reports that
}

func (s *session) began(id string) {
	if id == "" || !s.known {
		return
	}
	s.id = id
	if s.onSession != nil {
		s.onSession(id)
	}
}

// current returns the session that answered, or nil.
func (s *session) current() *llm.Session {
	if s.id == "" {
		return nil
	}
	return &llm.Session{ID: s.id, Total: s.total}
}

// since returns the usage of this call from the total of the session. A continued session of unknown
// total counts as a whole, so that nothing is missed; so does another session than the continued one.
func (s *session) since(total llm.Usage) *llm.Usage {
	s.total = &total
	var before *llm.Usage
	if s.continued != nil && s.continued.ID == s.id {
		before = s.continued.Total
	}
	usage := total.Minus(before)
	return &usage
}

// noSession matches the messages of the programs about a session that they do not have.
var noSession = lazyregexp.New(`(?i)no conversation found with session id|no rollout found for thread id|` +
	`no session, task, or name matched|no saved session found with id|session not found`)
