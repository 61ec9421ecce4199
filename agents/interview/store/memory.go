package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Memory is a session.Store for rehearsals that copy whole interviews: Fork takes no longer than a few
// reads. It contains sessions and what was spent; there are no invitations and shares, and the methods that
// delete and list sessions return errors.ErrUnsupported. The zero value is an empty store.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]kept
	spent    map[session.Spending]session.Spending // by day and address
}

var _ session.Store = (*Memory)(nil)

// kept is a stored session. The elements of its slices never change, so copies share them.
type kept struct {
	session     session.Session
	queues      []session.Queue
	submissions []string
	messages    []session.Message
	answers     []session.Answer
	calls       []session.Call
}

// Fork returns a copy, which does not see later changes.
func (m *Memory) Fork() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	forked := &Memory{sessions: make(map[string]kept, len(m.sessions)), spent: maps.Clone(m.spent)}
	for id, k := range m.sessions {
		// The copy appends to slices of its own.
		k.queues, k.submissions = slices.Clip(k.queues), slices.Clip(k.submissions)
		k.messages, k.answers, k.calls = slices.Clip(k.messages), slices.Clip(k.answers), slices.Clip(k.calls)
		forked.sessions[id] = k
	}
	return forked
}

// Create implements session.Store.
func (m *Memory) Create(_ context.Context, n session.Session, c session.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, known := m.sessions[n.ID]
	err := checkKey("session id", n.ID)
	switch {
	case err != nil:
	case c.Invitation != "":
		err = errors.ErrUnsupported
	case known || new(kept).conflicts(c):
		err = session.ErrConflict
	default:
		n.Version = 1
		m.put(kept{}, n, c)
	}
	if err != nil {
		return fmt.Errorf("create session %s: %w", n.ID, err)
	}
	return nil
}

// Commit implements session.Store.
func (m *Memory) Commit(_ context.Context, n session.Session, c session.Change) (version int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, known := m.sessions[n.ID]
	switch {
	case !known:
		err = session.ErrNotFound
	case k.session.Version != n.Version || k.conflicts(c):
		err = session.ErrConflict
	default:
		n.Version++
		m.put(k, n, c)
	}
	if err != nil {
		return 0, fmt.Errorf("store a step of session %s: %w", n.ID, err)
	}
	return n.Version, nil
}

// conflicts reports whether a part of a change is stored already, or is in it twice.
func (k *kept) conflicts(c session.Change) bool {
	for i, m := range c.Messages {
		same := func(b session.Message) bool { return m.Seq == b.Seq }
		if slices.ContainsFunc(k.messages, same) || slices.ContainsFunc(c.Messages[:i], same) {
			return true
		}
	}
	for i, a := range c.Answers {
		same := func(b session.Answer) bool { return a.Step == b.Step && a.Index == b.Index }
		if slices.ContainsFunc(k.answers, same) || slices.ContainsFunc(c.Answers[:i], same) {
			return true
		}
	}
	return c.Submission != "" && slices.Contains(k.submissions, c.Submission)
}

// put stores the next version of a session.
func (m *Memory) put(k kept, n session.Session, c session.Change) {
	k.session = n.Clone()
	if c.Submission != "" {
		k.submissions = append(k.submissions, c.Submission)
	}
	k.messages, k.answers = append(k.messages, c.Messages...), append(k.answers, c.Answers...)
	if c.Queue != nil {
		q := *c.Queue
		q.Questions = slices.Clone(q.Questions)
		k.queues = replaced(k.queues, q, func(other session.Queue) bool { return other.Step == q.Step })
	}
	for _, call := range c.Calls {
		k.calls = replaced(k.calls, call, func(other session.Call) bool { return other.N == call.N })
	}
	if m.sessions == nil {
		m.sessions, m.spent = map[string]kept{}, map[session.Spending]session.Spending{}
	}
	m.sessions[n.ID] = k
	for _, s := range c.Spent {
		m.spend(session.Spending{Day: s.Day}, s)
		if s.Address != "" {
			m.spend(session.Spending{Day: s.Day, Address: s.Address}, s)
		}
	}
}

func (m *Memory) spend(by, s session.Spending) {
	sum, ok := m.spent[by]
	if !ok {
		sum = by
	}
	sum.Calls, sum.MicroEUR = sum.Calls+s.Calls, sum.MicroEUR+s.MicroEUR
	m.spent[by] = sum
}

// replaced returns the list with a value in place of the one that is the same, or at its end.
func replaced[T any](list []T, value T, same func(T) bool) []T {
	i := slices.IndexFunc(list, same)
	if i < 0 {
		return append(list, value)
	}
	list = slices.Clone(list)
	list[i] = value
	return list
}

func (m *Memory) find(id string) (kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.sessions[id]
	if !ok {
		return k, session.ErrNotFound
	}
	return k, nil
}

// Load implements session.Store.
func (m *Memory) Load(_ context.Context, id string) (session.Session, error) {
	k, err := m.find(id)
	if err != nil {
		return session.Session{}, fmt.Errorf("load session %s: %w", id, err)
	}
	s := k.session
	s.Queue = nil
	if i := slices.IndexFunc(k.queues, func(q session.Queue) bool { return q.Step == s.Step }); i >= 0 {
		s.Queue = &k.queues[i]
	}
	return s.Clone(), nil
}

// Submitted implements session.Store.
func (m *Memory) Submitted(_ context.Context, id, submission string) (bool, error) {
	k, _ := m.find(id)
	return slices.Contains(k.submissions, submission), nil
}

// Message implements session.Store.
func (m *Memory) Message(_ context.Context, id string, seq int) (session.Message, error) {
	k, _ := m.find(id)
	i := slices.IndexFunc(k.messages, func(m session.Message) bool { return m.Seq == seq })
	if i < 0 {
		return session.Message{}, fmt.Errorf("read message %d of session %s: %w", seq, id, session.ErrNotFound)
	}
	return k.messages[i], nil
}

// Messages implements session.Store.
func (m *Memory) Messages(_ context.Context, id string) ([]session.Message, error) {
	return ordered(m, "messages", id, func(k *kept) []session.Message { return k.messages },
		func(a, b session.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}

// Answers implements session.Store.
func (m *Memory) Answers(_ context.Context, id string) ([]session.Answer, error) {
	return ordered(m, "answers", id, func(k *kept) []session.Answer { return k.answers }, func(a, b session.Answer) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Index, b.Index))
	})
}

// Queues implements session.Store.
func (m *Memory) Queues(_ context.Context, id string) ([]session.Queue, error) {
	steps := session.Steps()
	return ordered(m, "queues", id, func(k *kept) []session.Queue { return k.queues }, func(a, b session.Queue) int {
		return slices.Index(steps, a.Step) - slices.Index(steps, b.Step)
	})
}

// Calls implements session.Store.
func (m *Memory) Calls(_ context.Context, id string) ([]session.Call, error) {
	return ordered(m, "calls", id, func(k *kept) []session.Call { return k.calls },
		func(a, b session.Call) int { return cmp.Compare(a.N, b.N) })
}

// ordered returns a sorted copy of a list of a session.
func ordered[T any](m *Memory, what, id string, list func(*kept) []T, compare func(a, b T) int) ([]T, error) {
	k, err := m.find(id)
	if err != nil {
		return nil, fmt.Errorf("read the %s of session %s: %w", what, id, err)
	}
	found := slices.Clone(list(&k))
	slices.SortStableFunc(found, compare)
	return found, nil
}

// SpentOn implements session.Store.
func (m *Memory) SpentOn(_ context.Context, day, address string) (session.Spending, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	by := session.Spending{Day: day, Address: address}
	if spent, ok := m.spent[by]; ok {
		return spent, nil
	}
	return by, nil
}

// Close implements session.Store.
func (m *Memory) Close() error { return nil }
