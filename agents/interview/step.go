package interview

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// step is the handling of one submission.
type step struct {
	*Service
	ctx     context.Context // does not end when the client disconnects
	request request
	// late is true if the session may have changed between the arrival of the submission
	// and its turn.
	late bool

	// stored is the session as it is stored; now is the session after change.
	stored, now session.Session
	change      session.Change
	shown       *session.Message // the message shown last; nil if not loaded
	history     []session.Message
	// pending are events that are emitted after the next commit, so that they agree with
	// the ledger even after a crash.
	pending []event.Event

	fellBack bool // a fallback text was shown
	// The attributes of Submitted.
	calls                      int
	queued, answered, repeated bool
}

// load reads the session and discards uncommitted changes.
func (t *step) load() error {
	s, err := t.dep.Store.Load(t.ctx, t.request.Session)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return unknownSession(err)
	case err != nil:
		return storeFailed("load the session", err)
	}
	t.stored, t.now, t.change, t.shown, t.history = s, s, session.Change{}, nil, nil
	t.pending = nil
	return nil
}

// apply adds a move to the pending change.
func (t *step) apply(m session.Move, at time.Time) {
	t.now = m.Session
	t.now.Updated = at
	if t.now.Owed != nil && t.now.Owed.Since.IsZero() {
		owed := *t.now.Owed
		owed.Since = at
		t.now.Owed = &owed
	}
	if m.Queue != nil {
		t.change.Queue = m.Queue
	}
	if m.Heard != nil {
		heard := t.addMessage(*m.Heard, at)
		if m.Answer != nil {
			answer := *m.Answer
			answer.Message = heard.Seq
			t.change.Answers = append(t.change.Answers, answer)
		}
	}
	if m.Say != nil {
		shown := *m.Say
		if m.Fixed != "" {
			shown.Text = strings.TrimSpace(t.prompts[t.now.Language].Fixed(m.Fixed, t.now.Register) + "\n\n" + shown.Text)
		}
		shown = t.addMessage(shown, at)
		t.now.Shown, t.shown = shown.Seq, &shown
	}
}

// addMessage numbers a message, counts its tokens and adds it to the change.
func (t *step) addMessage(m session.Message, at time.Time) session.Message {
	t.now.Messages++
	m.Seq, m.At = t.now.Messages, at
	m.Tokens = t.dep.Count(t.set.Model, m.Text)
	t.change.Messages = append(t.change.Messages, m)
	return m
}

// putCall adds a call to the ledger, or replaces its entry.
func (t *step) putCall(c session.Call) {
	same := func(other session.Call) bool { return other.N == c.N }
	if i := slices.IndexFunc(t.change.Calls, same); i >= 0 {
		t.change.Calls[i] = c
		return
	}
	t.change.Calls = append(t.change.Calls, c)
}

// commit stores the change. Its error is an *Error or session.ErrConflict.
func (t *step) commit() error {
	version, err := t.dep.Store.Commit(t.ctx, t.now, t.change)
	switch {
	case errors.Is(err, session.ErrConflict):
		return err
	case errors.Is(err, session.ErrNotFound): // deleted in the meantime
		t.recall.forget(t.now.ID)
		return unknownSession(err)
	case err != nil:
		return storeFailed("store the step", err)
	}
	t.now.Version = version
	t.committed()
	return nil
}

// committed emits the events of a commit and begins a new change.
func (t *step) committed() {
	before := t.stored
	t.stored = t.now
	t.answered = t.answered || len(t.change.Answers) > 0
	for i := range t.change.Messages {
		m := &t.change.Messages[i]
		t.queued = m.Kind == session.KindQuestion && m.Role == llm.Assistant && m.Call == 0 && !t.fellBack
	}
	t.recall.add(t.stored.ID, before.Messages, t.change.Messages)
	if t.stored.Phase == session.Finished {
		t.recall.forget(t.stored.ID)
	}
	t.emitCommit(before)
	t.change = session.Change{}
}
