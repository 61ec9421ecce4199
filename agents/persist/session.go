package persist

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// sessionOf returns the session that an attempt at a task continues, or nil.
func (r *supervisor) sessionOf(t state.Task) *Session {
	if r.FreshSessions {
		return nil
	}
	return t.Session
}

// continueSession makes an attempt continue the session of the previous attempt, and record a session that it
// begins. Again is true for an attempt in which an earlier process was killed.
func (r *supervisor) continueSession(a *Assignment, t state.Task, again bool) {
	if a.Session = r.sessionOf(t); a.Session != nil {
		a.Turn = r.turn(t)
		if again {
			a.Turn = r.words.cutOff + a.Prompt
		}
	}
	id, attempt := t.ID, t.Attempts
	a.Began = func(s Session) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.state.InProgress(id, attempt) || r.broken != nil {
			return
		}
		err := r.put(state.Record{Kind: state.KindSession, Task: id, Attempt: attempt, Session: &s})
		if err == nil {
			err = r.flush()
		}
		if err != nil {
			r.fail(err)
		}
	}
}

// turn returns the request to a session that knows the task: the end of the previous attempt, and what came
// after it.
func (r *supervisor) turn(t state.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, r.words.task, t.ID, t.Do)
	r.reason(&b, t)
	r.words.accepted(&b, t)
	r.words.earlier(&b, t)
	r.words.answers(&b, t)
	if t.Accepted != "" { // otherwise it is the agent's own answer
		r.words.left(&b, t)
	} else if t.Attempts > 1 && len(t.Answers) == 0 {
		b.WriteString(r.words.maybeDone)
	}
	b.WriteString(r.words.conclusion)
	return b.String()
}
