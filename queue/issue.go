package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
)

// watch is what the coordinator knows of its workers.
type watch struct {
	last   time.Time // when it looked, on this machine's clock
	since  time.Time // since when the database is reached without interruption, on its own clock
	slots  int
	note   int64 // the last one that was shown
	idle   time.Time
	warned string
	split  []span // the jobs that replace others
}

// jobArgs are the arguments of a job in River. They have no secrets.
type jobArgs struct {
	Run   int64 `json:"run"`
	First int   `json:"first"`
	Last  int   `json:"last"`
	// Header is the id of the recording, which covers the digests of the scenarios.
	Header string `json:"header"`
}

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return "rehearse.trials" }

// maxAttempts is River's limit: 25 deaths and the retries of a database that is away.
const maxAttempts = 30_000

// loop issues jobs and looks for results until ctx ends or the queue fails.
func (c *Coordinator) loop(ctx context.Context) {
	defer close(c.ended)
	var failing time.Time // since the first failure; zero while the queue can be used
	outage := outage{log: c.opts.Log}
	for ctx.Err() == nil {
		err := c.step(ctx)
		wait := pollTime
		now := c.opts.Clock.Now()
		if failing.IsZero() {
			failing = now
		}
		_, over := errors.AsType[*capError](err)
		switch {
		case err == nil:
			failing = time.Time{}
		case over:
			c.fail(err)
			return
		case ctx.Err() != nil:
			return
		case !transient(err) || now.Sub(failing) > c.opts.Patience:
			c.fail(fmt.Errorf("the queue %s failed: %w", c.store.name, explain(err)))
			return
		default:
			c.watch.since, wait = time.Time{}, retryTime
		}
		outage.update(err)
		_ = c.opts.Clock.Sleep(ctx, wait) // the loop sees the end of ctx
	}
}

// transient reports whether an error may go away by itself: the server is restarting, cannot be
// reached, has no room, or is read-only until it is the primary server.
func transient(err error) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		class := failure.Code[:2]
		return class == "08" || class == "57" || class == "40" || class == "58" || refused(err)
	}
	_, wrong := errors.AsType[*UsageError](err)
	_, withdrawn := errors.AsType[*river.JobCancelError](err)
	if wrong || withdrawn {
		return false
	}
	return !errors.Is(err, errTaken) && !errors.Is(err, errCancelled)
}

// refused reports whether the server can be reached, but does not write: it is full, or read-only.
func refused(err error) bool {
	failure, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (failure.Code[:2] == "53" || failure.Code == "25006")
}

// outage logs that the queue cannot be used, and that it can be used again, once each.
type outage struct {
	log  func(string)
	away bool
}

// update receives the result of each use.
func (o *outage) update(err error) {
	switch away := err != nil; {
	case away && !o.away:
		o.log(fmt.Sprintf("the queue cannot be used, trying again: %v", explain(err)))
	case !away && o.away:
		o.log("the queue can be used again")
	}
	o.away = err != nil
}

// Reasons to end a run.
var (
	errTaken     = errors.New("another coordinator has resumed this run")
	errCancelled = errors.New("the run was cancelled with rehearse queue cancel")
)

// step does what is due.
func (c *Coordinator) step(ctx context.Context) error {
	if c.watch.since.IsZero() {
		if err := c.reload(ctx); err != nil {
			return err
		}
	}
	if err := c.collect(ctx); err != nil {
		return err
	}
	if err := c.checkCaps(ctx); err != nil {
		return err
	}
	if now := c.opts.Clock.Now(); c.watch.since.IsZero() || now.Sub(c.watch.last) >= c.opts.Lease/4 {
		c.watch.last = now
		if err := c.supervise(ctx); err != nil {
			return err
		}
	}
	return c.issue(ctx)
}

// reload finds out what is issued. A transaction may have been committed although the connection broke
// before the answer came.
func (c *Coordinator) reload(ctx context.Context) error {
	rows, err := c.store.pool.Query(ctx, "SELECT first, last FROM block WHERE run = $1 ORDER BY first", c.id)
	if err != nil {
		return err
	}
	spans, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s span, err error) {
		err = row.Scan(&s.first, &s.last)
		return s, err
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = gaps(c.layout.trials(), spans)
	clear(c.open)
	for _, s := range spans {
		if _, known := c.seen[s.first]; !known {
			c.open[s.first] = s
		}
	}
	return nil
}

// fail makes everybody who waits for a trial return.
func (c *Coordinator) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
	close(c.changed)
	c.changed = make(chan struct{})
}

// collect looks for blocks that are done.
func (c *Coordinator) collect(ctx context.Context) error {
	c.mu.Lock()
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	if len(open) == 0 {
		return nil
	}
	rows, err := c.store.pool.Query(ctx,
		"SELECT first, last, coalesce(took_ms, 0) FROM block WHERE run = $1 AND first = ANY ($2) AND done IS NOT NULL", c.id, open)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var s span
	var took float64
	before := len(c.open)
	_, err = pgx.ForEachRow(rows, []any{&s.first, &s.last, &took}, func() error {
		if c.open[s.first] != s {
			return nil
		}
		delete(c.open, s.first)
		c.seen[s.first] = struct{}{}
		at, _ := slices.BinarySearchFunc(c.done, s.first, func(s span, first int) int { return s.first - first })
		c.done = slices.Insert(c.done, at, s)
		c.estimate.add(&c.layout, s, milliseconds(took))
		return nil
	})
	if len(c.open) < before {
		close(c.changed)
		c.changed = make(chan struct{})
	}
	return err
}

// issue inserts jobs until there are enough for the workers.
func (c *Coordinator) issue(ctx context.Context) error {
	c.mu.Lock()
	room := roomFor(len(c.open), len(c.done), c.watch.slots, c.opts.Window)
	c.mu.Unlock()
	left := 0
	for _, s := range c.todo {
		left += s.len()
	}
	todo := slices.Clone(c.todo)
	var jobs []span
	for len(todo) > 0 && len(jobs) < room {
		s := batch(&c.layout, todo[0], &c.estimate, c.opts.JobTime, left, c.watch.slots)
		jobs, left = append(jobs, s), left-s.len()
		if todo[0].first = s.last + 1; todo[0].first > todo[0].last {
			todo = todo[1:]
		}
	}
	if len(jobs) == 0 {
		return nil
	}
	err := pgx.BeginFunc(ctx, c.store.pool, func(tx pgx.Tx) error {
		if err := c.stillOnly(ctx, tx); err != nil {
			return err
		}
		return c.insert(ctx, tx, jobs, 0)
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = todo
	for _, s := range jobs {
		c.open[s.first] = s
	}
	return nil
}

// insert inserts jobs with their blocks.
func (c *Coordinator) insert(ctx context.Context, tx pgx.Tx, jobs []span, deaths int) error {
	params := make([]river.InsertManyParams, len(jobs))
	for i, s := range jobs {
		scenario, _ := c.layout.locate(s.first)
		params[i] = river.InsertManyParams{
			Args:       jobArgs{c.id, s.first, s.last, c.plan.Header.ID},
			InsertOpts: &river.InsertOpts{Queue: queueName(c.id, c.layout.lane[scenario]), MaxAttempts: maxAttempts},
		}
	}
	inserted, err := c.river.InsertManyTx(ctx, tx, params)
	if err != nil {
		return err
	}
	rows := make([][]any, len(jobs))
	for i, s := range jobs {
		rows[i] = []any{c.id, s.first, s.last, inserted[i].Job.ID, deaths}
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{c.store.schema, "block"}, []string{"run", "first", "last", "job", "deaths"}, pgx.CopyFromRows(rows))
	return err
}

// stillOnly returns an error if somebody else has ended or resumed the run.
func (c *Coordinator) stillOnly(ctx context.Context, tx pgx.Tx) error {
	var epoch int
	var state string
	c.mu.Lock()
	merged := c.merged
	c.mu.Unlock()
	err := tx.QueryRow(ctx, "UPDATE run SET beat = now(), merged = $2 WHERE id = $1 RETURNING epoch, state", c.id, merged).Scan(&epoch, &state)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && state == "cancelled":
		return errCancelled
	case err != nil:
		return err
	case epoch != c.epoch:
		return errTaken
	}
	return nil
}
