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

// session stores the session that began in the attempt in progress. The task was killed in it if no outcome
// follows.
func (s *State) session(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	if !ok || r.Session == nil || !s.InProgress(i, r.Attempt) {
		return fmt.Errorf("%w: no attempt at the task %q is under way", errRecord, r.Task)
	}
	s.tasks.all[i].Session = r.Session
	return nil
}

// InProgress reports whether an attempt at a task can be in progress: the last one, or a parallel one.
func (s *State) InProgress(task, attempt int) bool {
	t := s.tasks.all[task]
	a, parallel := s.AttemptAt(task)
	return t.Stage == stageWaiting && (t.Attempts == attempt || parallel && a.Number == attempt)
}

// sessionAfter returns the session that can be continued after an attempt: by the next attempt, or if the
// answer was refused by the tasks that are derived from it. A new segment is a new conversation, and an
// attempt that stalled may have stalled because of its session.
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
