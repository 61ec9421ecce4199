package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Load implements session.Store.
func (s *Store) Load(ctx context.Context, id string) (session.Session, error) {
	found, err := read(ctx, s, scanSession, selectSession, id)
	if err == nil && len(found) == 0 {
		err = s.missing(ctx, id)
	}
	if err != nil {
		return session.Session{}, fmt.Errorf("load session %s: %w", id, err)
	}
	return found[0], nil
}

// Submitted implements session.Store.
func (s *Store) Submitted(ctx context.Context, id, submission string) (bool, error) {
	found, err := s.finds(ctx, selectSubmission, id, submission)
	if err != nil {
		return false, fmt.Errorf("look for a submission of session %s: %w", id, err)
	}
	return found, nil
}

// Message implements session.Store. Its error for an unknown message is ErrNotFound.
func (s *Store) Message(ctx context.Context, id string, seq int) (session.Message, error) {
	found, err := read(ctx, s, scanBody[session.Message], selectMessage, id, seq)
	if err == nil && len(found) == 0 {
		err = session.ErrNotFound
	}
	if err != nil {
		return session.Message{}, fmt.Errorf("read message %d of session %s: %w", seq, id, err)
	}
	return found[0], nil
}

// Messages implements session.Store.
func (s *Store) Messages(ctx context.Context, id string) ([]session.Message, error) {
	return all[session.Message](ctx, s, "messages", selectMessages, id)
}

// Answers implements session.Store.
func (s *Store) Answers(ctx context.Context, id string) ([]session.Answer, error) {
	return all[session.Answer](ctx, s, "answers", selectAnswers, id)
}

// Queues implements session.Store.
func (s *Store) Queues(ctx context.Context, id string) ([]session.Queue, error) {
	queues, err := all[session.Queue](ctx, s, "queues", selectQueues, id)
	steps := session.Steps()
	slices.SortFunc(queues, func(a, b session.Queue) int {
		return slices.Index(steps, a.Step) - slices.Index(steps, b.Step)
	})
	return queues, err
}

// Calls implements session.Store.
func (s *Store) Calls(ctx context.Context, id string) ([]session.Call, error) {
	return all[session.Call](ctx, s, "calls", selectCalls, id)
}

// SpentOn implements session.Store.
func (s *Store) SpentOn(ctx context.Context, day, address string) (session.Spending, error) {
	spent := session.Spending{Day: day, Address: address}
	rows, err := s.engine.query(ctx, selectSpending, day, address) // not by read, which finds nothing for an empty key
	if err == nil {
		defer func() { _ = rows.Close() }()
		if rows.Next() {
			err = rows.Scan(&spent.Calls, &spent.MicroEUR)
		}
		err = errors.Join(err, rows.Err())
	}
	if err != nil {
		return spent, fmt.Errorf("read what was spent on %s: %w", day, s.engine.explain(err))
	}
	return spent, nil
}

// all reads all rows of one kind of a session. Without rows it checks whether the session exists.
func all[T any](ctx context.Context, s *Store, what, statement, id string) ([]T, error) {
	found, err := read(ctx, s, scanBody[T], statement, id)
	if err == nil && len(found) == 0 {
		var known bool
		if known, err = s.finds(ctx, selectExists, id); err == nil && !known {
			err = s.missing(ctx, id)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the %s of session %s: %w", what, id, err)
	}
	return found, nil
}

func (s *Store) finds(ctx context.Context, statement string, args ...any) (bool, error) {
	found, err := read(ctx, s, func(*sql.Rows) (struct{}, error) { return struct{}{}, nil }, statement, args...)
	return len(found) > 0, err
}

// read returns the rows of a statement. It finds nothing for keys that cannot be stored.
func read[T any](
	ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), statement string, args ...any,
) (found []T, err error) {
	for _, arg := range args {
		if key, ok := arg.(string); ok && checkKey("key", key) != nil {
			return nil, ctx.Err()
		}
	}
	rows, err := s.engine.query(ctx, statement, args...)
	if err != nil {
		return nil, s.engine.explain(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, v)
	}
	if err := rows.Err(); err != nil {
		return nil, s.engine.explain(err)
	}
	return found, nil
}

func scanSession(rows *sql.Rows) (s session.Session, err error) {
	var version int64
	var body, queue sql.RawBytes
	if err := rows.Scan(&version, &body, &queue); err != nil {
		return s, fmt.Errorf("scan a session: %w", err)
	}
	if err := decode(body, &s); err != nil {
		return s, err
	}
	s.Version = version
	if queue != nil {
		s.Queue = new(session.Queue)
		err = decode(queue, s.Queue)
	}
	return s, err
}

func scanBody[T any](rows *sql.Rows) (v T, err error) {
	var body sql.RawBytes
	if err := rows.Scan(&body); err != nil {
		return v, fmt.Errorf("scan a row: %w", err)
	}
	return v, decode(body, &v)
}

func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v, options); err != nil {
		return fmt.Errorf("decode the stored %T: %w", v, err)
	}
	return nil
}
