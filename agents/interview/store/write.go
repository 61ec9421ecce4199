package store

import (
	"context"
	"database/sql"
)

// apply carries out operations in one transaction. SQLite allows one writer at a time and polls, so
// writers queue here. A transaction that has begun is not interrupted, so that its outcome is known.
func (e *sqliteEngine) apply(ctx context.Context, ops []operation) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case e.writer <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-e.writer }()
	ctx = context.WithoutCancel(ctx)
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := e.run(ctx, tx, ops); err != nil {
		_ = tx.Rollback() // SQLite may have done it already
		return err
	}
	return tx.Commit()
}

func (e *sqliteEngine) run(ctx context.Context, tx *sql.Tx, ops []operation) error {
	for _, op := range ops {
		result, err := tx.StmtContext(ctx, e.statements[op.statement]).ExecContext(ctx, op.args...)
		if err != nil {
			return err
		}
		if !op.decides {
			continue
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n == 0 {
			return errStale
		}
	}
	return nil
}
