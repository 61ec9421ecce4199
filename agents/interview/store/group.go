package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
)

// group gathers what is to be committed while the writer is at work, so that all
// of it waits for the disk once: waiting takes ten times as long as writing.
// SQLite has one writer at a time anyway, and who waits for it inside SQLite
// polls.
type group struct {
	writer  chan struct{} // holds a token while somebody writes
	mu      sync.Mutex
	waiting []*job
}

// job is one caller's transaction.
type job struct {
	ops    []operation
	result chan error
}

func newGroup() group { return group{writer: make(chan struct{}, 1)} }

// apply is not interrupted once it is being written: that takes microseconds, or
// as long as the disk takes, and its outcome is known.
func (e *sqliteEngine) apply(ctx context.Context, ops []operation) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	j := &job{ops: ops, result: make(chan error, 1)}
	e.enter(j)
	select {
	case err := <-j.result:
		return err
	case e.writer <- struct{}{}:
		// What others wait for is written too, and j perhaps was.
		e.write(context.WithoutCancel(ctx), e.enough())
		<-e.writer
	case <-ctx.Done():
		if e.leave(j) {
			return context.Cause(ctx)
		}
	}
	return <-j.result
}

func (g *group) enter(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, j)
}

// leave reports whether nobody has begun to write j, and nobody will.
func (g *group) leave(j *job) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, j)
	if i < 0 {
		return false
	}
	g.waiting = slices.Delete(g.waiting, i, i+1)
	return true
}

// enough takes all that wait.
func (g *group) enough() []*job {
	g.mu.Lock()
	defer g.mu.Unlock()
	jobs := g.waiting
	g.waiting = nil
	return jobs
}

// write carries out jobs in one transaction, of which each may fail by itself.
// Where the transaction fails, each gets one of its own.
func (e *sqliteEngine) write(ctx context.Context, jobs []*job) {
	if len(jobs) > 1 {
		if results, err := e.writeTogether(ctx, jobs); err == nil {
			for i, j := range jobs {
				j.result <- results[i]
			}
			return
		}
	}
	for _, j := range jobs {
		j.result <- e.transact(ctx, func(tx *sql.Tx) error { return e.run(ctx, tx, j.ops) })
	}
}

func (e *sqliteEngine) writeTogether(ctx context.Context, jobs []*job) (results []error, err error) {
	results = make([]error, len(jobs))
	return results, e.transact(ctx, func(tx *sql.Tx) error {
		for i, j := range jobs {
			if err := e.exec(ctx, tx, savepoint); err != nil {
				return err
			}
			err := e.run(ctx, tx, j.ops)
			if err != nil && !errors.Is(err, errStale) && !e.duplicate(err) {
				return err // SQLite may have undone the whole transaction
			}
			if err != nil {
				results[i], err = err, e.exec(ctx, tx, rollbackTo)
			}
			if err == nil {
				err = e.exec(ctx, tx, releaseSavepoint)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// The statements that part the jobs of one transaction.
const (
	savepoint        = "SAVEPOINT job"
	rollbackTo       = "ROLLBACK TO job"
	releaseSavepoint = "RELEASE job"
)

func (e *sqliteEngine) transact(ctx context.Context, do func(tx *sql.Tx) error) error {
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // SQLite may have done it already
		return err
	}
	return tx.Commit()
}

// run carries out the operations of one job.
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

func (e *sqliteEngine) exec(ctx context.Context, tx *sql.Tx, statement string) error {
	_, err := tx.StmtContext(ctx, e.statements[statement]).ExecContext(ctx)
	return err
}
