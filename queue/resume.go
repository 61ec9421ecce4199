package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// load loads the run to go on with: what is done stays done.
func (c *Coordinator) load(ctx context.Context) error {
	c.key = c.opts.Resume
	var state, program string
	var stored []byte
	if err := c.becomeOnly(ctx); err != nil { // first: until then another coordinator may change the state
		return err
	}
	err := c.store.pool.QueryRow(ctx, "SELECT id, state, program, plan FROM run WHERE key = $1", c.key).
		Scan(&c.id, &state, &program, &stored)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return &UsageError{fmt.Sprintf("there is no run %q; see what there is with: rehearse queue", c.key)}
	case err != nil:
		return err
	}
	if err := c.sameRun(state, program, stored); err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, c.store.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx,
			"UPDATE run SET epoch = epoch + 1, state = 'running', beat = now(), lease_ms = $2 WHERE id = $1 RETURNING epoch",
			c.id, c.opts.Lease.Milliseconds()).Scan(&c.epoch)
		if err != nil {
			return err
		}
		return c.opts.Live.store(ctx, tx, c.id)
	})
	if err != nil {
		return err
	}
	return c.loadBlocks(ctx)
}

// sameRun returns an error unless a stored run is the one that was asked for.
func (c *Coordinator) sameRun(state, program string, stored []byte) error {
	var plan Plan
	if err := json.Unmarshal(stored, &plan); err != nil {
		return fmt.Errorf("read the plan of %s: %w", c.key, err)
	}
	switch {
	case state == "done" || state == "cancelled":
		return &UsageError{fmt.Sprintf("the run %s is %s; begin a new one without --resume", c.key, state)}
	case program != c.opts.Program:
		return &UsageError{fmt.Sprintf("the run %s was begun by another build of this program; resume it with that one", c.key)}
	case plan.Live != c.plan.Live:
		return &UsageError{fmt.Sprintf("the run %s was begun with other use of --live; repeat its command line with --resume", c.key)}
	case plan.Header.ID != c.plan.Header.ID:
		return &UsageError{fmt.Sprintf("the run %s has other scenarios, trials, labels or prices; repeat its command line with --resume", c.key)}
	}
	return nil
}

// loadBlocks finds out what is done, what is issued, and what is to be issued.
func (c *Coordinator) loadBlocks(ctx context.Context) error {
	rows, err := c.store.pool.Query(ctx,
		"SELECT first, last, done IS NOT NULL, coalesce(took_ms, 0) FROM block WHERE run = $1 ORDER BY first", c.id)
	if err != nil {
		return err
	}
	var covered []span
	var s span
	var done bool
	var took float64
	_, err = pgx.ForEachRow(rows, []any{&s.first, &s.last, &done, &took}, func() error {
		covered = append(covered, s)
		if !done {
			c.open[s.first] = s
			return nil
		}
		c.done, c.seen[s.first] = append(c.done, s), struct{}{}
		c.estimate.add(&c.layout, s, milliseconds(took))
		return nil
	})
	c.todo = gaps(c.layout.trials(), covered)
	trials := 0
	for _, s := range c.done {
		trials += s.len()
	}
	c.opts.Log(fmt.Sprintf("resuming %s: %d of %d trials are done", c.key, trials, c.layout.trials()))
	return err
}
