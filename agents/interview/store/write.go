package store

import (
	"context"
	"database/sql"
	"slices"
	"sync"
)

// group collects the transactions that wait while another one is written. They are then written
// together, so that they share one flush to the disk.
type group struct {
	writer  chan struct{} // has a token during a write
	mu      sync.Mutex
	waiting []*transaction
}

// transaction has operations that are stored together or not at all.
type transaction struct {
	ops    []operation
	result chan error // has room for the result
}

// take removes and returns the waiting transactions.
func (g *group) take() []*transaction {
	g.mu.Lock()
	defer g.mu.Unlock()
	taken := g.waiting
	g.waiting = nil
	return taken
}

// withdraw removes a transaction, unless it was taken.
func (g *group) withdraw(t *transaction) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, t)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// apply carries out operations in one transaction, and returns when they are on the disk. SQLite allows one
// writer at a time and polls, so writers queue here; the first one in the queue writes for all. A transaction
// that has begun is not interrupted, so that its outcome is known.
func (e *sqliteEngine) apply(ctx context.Context, ops []operation) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	own := &transaction{ops: ops, result: make(chan error, 1)}
	e.mu.Lock()
	e.waiting = append(e.waiting, own)
	e.mu.Unlock()
	select {
	case e.writer <- struct{}{}:
		e.write(context.WithoutCancel(ctx), e.take())
		<-e.writer
	case err := <-own.result:
		return err
	case <-ctx.Done():
		if e.withdraw(own) {
			return context.Cause(ctx)
		}
	}
	return <-own.result
}

// write stores transactions in one transaction of the database. If one of them fails, each half is written
// by itself, so that it fails alone. If the database cannot begin or commit, all of them fail.
func (e *sqliteEngine) write(ctx context.Context, all []*transaction) {
	if len(all) == 0 {
		return
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err == nil {
		for _, t := range all {
			if err = e.run(ctx, tx, t.ops); err == nil {
				continue
			}
			_ = tx.Rollback() // SQLite may have done it already
			if half := len(all) / 2; half > 0 {
				e.write(ctx, all[:half])
				e.write(ctx, all[half:])
				return
			}
			break
		}
		if err == nil {
			err = tx.Commit()
		}
	}
	for _, t := range all {
		t.result <- err
	}
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
