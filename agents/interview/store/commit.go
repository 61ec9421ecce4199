package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// errStale is returned by an engine if a deciding operation did not change a row.
var errStale = errors.New("row not found")

// Create implements session.Store.
func (s *Store) Create(ctx context.Context, n session.Session, c session.Change) error {
	ops, err := creation(n, c)
	if err != nil {
		return fmt.Errorf("create a session: %w", err)
	}
	err = s.engine.apply(ctx, ops)
	if errors.Is(err, errStale) || err != nil && s.engine.duplicate(err) {
		err = session.ErrConflict // errStale: the id was deleted
	}
	if err != nil {
		return fmt.Errorf("create session %s: %w", n.ID, s.engine.explain(err))
	}
	return nil
}

// Commit implements session.Store. It stores the queue of the change, and does not change the id,
// candidate and creation time of a session.
func (s *Store) Commit(ctx context.Context, n session.Session, c session.Change) (version int64, err error) {
	ops, err := update(n, c)
	if err != nil {
		return 0, fmt.Errorf("store a step of a session: %w", err)
	}
	err = s.engine.apply(ctx, ops)
	switch {
	case err == nil:
		return n.Version + 1, nil
	case errors.Is(err, errStale):
		err = s.stale(ctx, n.ID)
	case s.engine.duplicate(err):
		err = session.ErrConflict
	}
	return 0, fmt.Errorf("store a step of session %s: %w", n.ID, s.engine.explain(err))
}

// stale returns why a session does not have the expected version.
func (s *Store) stale(ctx context.Context, id string) error {
	known, err := s.finds(ctx, selectExists, id)
	switch {
	case err != nil:
		return err
	case !known:
		return s.missing(ctx, id)
	}
	return session.ErrConflict
}
