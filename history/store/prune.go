package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Remove removes runs and the rows that only they use, in one transaction, and returns the number of
// runs. It ignores unknown ids.
func (s *Store) Remove(ctx context.Context, ids []string) (removed int, err error) {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("remove runs from the history: %w", explain(err))
	}
	defer func() { _ = tx.Rollback() }()
	removed, err = s.remove(ctx, tx, ids)
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return 0, fmt.Errorf("remove runs from the history: %w", explain(err))
	}
	return removed, nil
}

func (s *Store) remove(ctx context.Context, tx *sql.Tx, ids []string) (removed int, err error) {
	if s.postgres { // writers must not use an outcome that is about to be removed
		if _, err := tx.ExecContext(ctx, `LOCK TABLE history_outcomes, history_scenarios IN SHARE ROW EXCLUSIVE MODE`); err != nil {
			return 0, err
		}
	}
	for chunk := range slices.Chunk(ids, maxParameters) {
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = id
		}
		result, err := tx.ExecContext(ctx, `DELETE FROM history_runs WHERE id IN `+s.tuple(1, len(chunk)), args...)
		if err != nil {
			return 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		removed += int(n)
	}
	for _, statement := range []string{
		`DELETE FROM history_outcomes WHERE NOT EXISTS (SELECT 1 FROM history_results t WHERE t.outcome = history_outcomes.id)`,
		`DELETE FROM history_scenarios WHERE NOT EXISTS (SELECT 1 FROM history_results t WHERE t.scenario = history_scenarios.id)`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	return removed, nil
}
