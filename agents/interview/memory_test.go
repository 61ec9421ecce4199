package interview_test

import (
	"context"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// memory keeps one session, as cheaply as it can be kept: for the fuzzer, and as
// the floor of the benchmarks.
type memory struct {
	session.Store // what is not implemented is not used
	s             session.Session
	submissions   []string
	messages      []session.Message
	answers       []session.Answer
}

func (m *memory) Create(_ context.Context, s session.Session, c session.Change) error {
	*m = memory{}
	s.Version = 0
	_, err := m.Commit(context.Background(), s, c)
	return err
}

func (m *memory) Load(_ context.Context, id string) (session.Session, error) {
	if id != m.s.ID {
		return session.Session{}, session.ErrNotFound
	}
	return m.s, nil
}

func (m *memory) Commit(_ context.Context, s session.Session, c session.Change) (int64, error) {
	known := func(a session.Answer) bool {
		return slices.ContainsFunc(c.Answers, func(b session.Answer) bool { return a.Step == b.Step && a.Index == b.Index })
	}
	if s.Version != m.s.Version || slices.Contains(m.submissions, c.Submission) || slices.ContainsFunc(m.answers, known) {
		return 0, session.ErrConflict
	}
	s.Version++
	m.s = s
	if c.Submission != "" {
		m.submissions = append(m.submissions, c.Submission)
	}
	m.messages = append(m.messages, c.Messages...)
	m.answers = append(m.answers, c.Answers...)
	return s.Version, nil
}

func (m *memory) Submitted(_ context.Context, _, submission string) (bool, error) {
	return slices.Contains(m.submissions, submission), nil
}

func (m *memory) Message(_ context.Context, _ string, seq int) (session.Message, error) {
	return m.messages[seq-1], nil
}

func (m *memory) Messages(context.Context, string) ([]session.Message, error) {
	return slices.Clone(m.messages), nil
}
