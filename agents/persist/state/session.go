package state

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/llm"
)

// Session is a session that a command-line agent stores and can continue.
type Session struct {
	// Agent is the id of the backend.
	Agent string `json:"agent"`
	llm.Session
}

// session stores the session that began in the attempt in progress. If no outcome follows, the process was
// killed in it.
func (s *State) session(r Record) error {
	if r.Session == nil || !s.InProgress(r.Task, r.Attempt) {
		return fmt.Errorf("%w: no attempt at the task %q is in progress", errRecord, r.Task)
	}
	s.tasks.all[s.tasks.byID[r.Task]].Session = r.Session
	return nil
}

// InProgress reports whether an attempt at a task can be in progress: its last one, or a parallel one.
func (s *State) InProgress(id string, attempt int) bool {
	t, known := s.ByID(id)
	a, parallel := s.AttemptOf(id)
	return known && t.Stage == stageWaiting && (t.Attempts == attempt || parallel && a.Number == attempt)
}

// sessionAfter returns the session that the next attempt can continue or, if the answer was refused, the tasks
// that are derived from it. A new segment begins a new conversation, and so does the attempt after one that
// stalled, perhaps because of its session.
func sessionAfter(o *Outcome) *Session {
	if o.Grade == gradeSplit || o.Cause != "" || o.Grade == gradeDone && o.Refused == "" {
		return nil
	}
	return o.Session
}

// inherit gives a derived task the session of the answer that announced it.
func (s *State) inherit(t *Task) {
	if i, ok := s.tasks.byID[t.of]; ok {
		t.Session = s.tasks.all[i].Session
	}
}
