package interview_test

import (
	"context"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// memory stores one session at little cost, for properties that run hundreds of
// interviews. The real stores have a contract suite of their own.
type memory struct {
	session.Store // methods that are not implemented are not used
	s             session.Session
	submissions   map[string]bool
	messages      []session.Message
	answers       []session.Answer
	queues        map[session.Step]session.Queue
	calls         map[int]session.Call
}

// Create replaces the stored session.
func (m *memory) Create(ctx context.Context, s session.Session, c session.Change) error {
	*m = memory{submissions: map[string]bool{}, queues: map[session.Step]session.Queue{}, calls: map[int]session.Call{}}
	s.Version = 0
	_, err := m.Commit(ctx, s, c)
	return err
}

func (m *memory) Load(_ context.Context, id string) (session.Session, error) {
	if id != m.s.ID {
		return session.Session{}, session.ErrNotFound
	}
	s := m.s
	if s.Owed != nil {
		owed := *s.Owed
		s.Owed = &owed
	}
	s.Queue = nil
	if q, ok := m.queues[s.Step]; ok {
		q.Questions = slices.Clone(q.Questions)
		s.Queue = &q
	}
	return s, nil
}

func (m *memory) Commit(_ context.Context, s session.Session, c session.Change) (int64, error) {
	known := func(a session.Answer) bool {
		return slices.ContainsFunc(c.Answers, func(b session.Answer) bool { return a.Step == b.Step && a.Index == b.Index })
	}
	if s.Version != m.s.Version || m.submissions[c.Submission] || slices.ContainsFunc(m.answers, known) {
		return 0, session.ErrConflict
	}
	s.Version++
	if s.Owed != nil {
		owed := *s.Owed
		s.Owed = &owed
	}
	m.s = s
	if c.Submission != "" {
		m.submissions[c.Submission] = true
	}
	m.messages = append(m.messages, c.Messages...)
	m.answers = append(m.answers, c.Answers...)
	if c.Queue != nil {
		q := *c.Queue
		q.Questions = slices.Clone(q.Questions)
		m.queues[q.Step] = q
	}
	for _, call := range c.Calls {
		m.calls[call.N] = call
	}
	return s.Version, nil
}

func (m *memory) Invitation(context.Context, string) (session.Invitation, error) {
	return session.Invitation{}, session.ErrNotFound
}

func (m *memory) SpentOn(context.Context, string, string) (session.Spending, error) {
	return session.Spending{}, nil
}

func (m *memory) Submitted(_ context.Context, _, submission string) (bool, error) {
	return m.submissions[submission], nil
}

func (m *memory) Message(_ context.Context, _ string, seq int) (session.Message, error) {
	return m.messages[seq-1], nil
}

func (m *memory) Messages(context.Context, string) ([]session.Message, error) {
	return slices.Clone(m.messages), nil
}

func (m *memory) Answers(context.Context, string) ([]session.Answer, error) {
	return slices.Clone(m.answers), nil
}

func (m *memory) Queues(context.Context, string) (all []session.Queue, err error) {
	for _, step := range session.Steps() {
		if q, ok := m.queues[step]; ok {
			all = append(all, q)
		}
	}
	return all, nil
}

func (m *memory) Calls(context.Context, string) (all []session.Call, err error) {
	for _, n := range slices.Sorted(maps.Keys(m.calls)) {
		all = append(all, m.calls[n])
	}
	return all, nil
}
