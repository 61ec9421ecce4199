package store

import (
	"context"
	"errors"
	"fmt"
)

// CountTry implements session.Store.
func (s *Store) CountTry(ctx context.Context, id, day string, most int) (allowed bool, err error) {
	err = s.engine.apply(ctx, []operation{{statement: countTry, args: []any{id, day, most}, decides: true}})
	if err != nil && !errors.Is(err, errStale) {
		return false, fmt.Errorf("count an attempt at the code of session %s: %w", id, s.engine.explain(err))
	}
	return err == nil, nil
}

// ForgetTries implements session.Store.
func (s *Store) ForgetTries(ctx context.Context, id string) error {
	if err := s.engine.apply(ctx, []operation{{statement: forgetTries, args: []any{id}}}); err != nil {
		return fmt.Errorf("forget the attempts at the code of session %s: %w", id, s.engine.explain(err))
	}
	return nil
}
