package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	reached := c.opts.Clock.Now()
	for ctx.Err() == nil {
		err := c.step(ctx)
		wait := pollTime
		now := c.opts.Clock.Now()
		switch {
		case err == nil:
			reached = now
		case ctx.Err() != nil:
			return
		case !transient(err) || now.Sub(reached) > c.opts.Patience:
			c.fail(fmt.Errorf("the queue %s failed: %w", c.store.name, explain(err)))
			return
		default:
			c.watch.since, wait = time.Time{}, retryTime
		}
		_ = c.opts.Clock.Sleep(ctx, wait) // the loop sees the end of ctx
	}
}

// transient reports whether an error may go away by itself: the server is restarting, cannot be
// reached, or has no room.
func transient(err error) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		class := failure.Code[:2]
		return class == "08" || class == "53" || class == "57" || class == "40" || class == "58"
	}
	if _, wrong := errors.AsType[*UsageError](err); wrong {
		return false
	}
	return !errors.Is(err, errTaken) && !errors.Is(err, errCancelled)
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
	room := min(max(c.watch.slots, 1)*c.opts.Window-len(c.open), maxAhead-len(c.done)-len(c.open))
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

// orphan is a block whose job nobody runs.
type orphan struct {
	span
	job    int64
	deaths int
	gone   bool // River has no job for it that will run
}

// supervise finds dead workers and gives their jobs to others, counts the slots of the living, and
// shows what workers reported.
func (c *Coordinator) supervise(ctx context.Context) error {
	c.watch.split = nil
	err := pgx.BeginFunc(ctx, c.store.pool, func(tx pgx.Tx) error {
		if err := c.stillOnly(ctx, tx); err != nil {
			return err
		}
		var now time.Time
		if err := tx.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
			return err
		}
		if c.watch.since.IsZero() {
			c.watch.since = now
		}
		orphans, err := c.orphans(ctx, tx, now)
		if err != nil {
			return err
		}
		for i := range orphans {
			if err := c.reissue(ctx, tx, &orphans[i]); err != nil {
				return err
			}
		}
		if err := c.countWorkers(ctx, tx, now); err != nil {
			return err
		}
		return c.showNotes(ctx, tx)
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.watch.split {
		c.open[s.first] = s
	}
	return nil
}

// orphans returns the blocks that nobody works on although their jobs were begun.
func (c *Coordinator) orphans(ctx context.Context, tx pgx.Tx, now time.Time) ([]orphan, error) {
	rows, err := tx.Query(ctx, `
		SELECT b.first, b.last, b.job, b.deaths, coalesce(j.state::text, ''), coalesce(w.beat, 'epoch')
		FROM block b LEFT JOIN river_job j ON j.id = b.job LEFT JOIN worker w ON w.id = j.attempted_by[array_upper(j.attempted_by, 1)]
		WHERE b.run = $1 AND b.done IS NULL AND coalesce(j.state::text, '') NOT IN ('available', 'retryable', 'scheduled', 'pending')
		ORDER BY b.first`, c.id)
	if err != nil {
		return nil, err
	}
	var found []orphan
	var o orphan
	var state string
	var beat time.Time
	_, err = pgx.ForEachRow(rows, []any{&o.first, &o.last, &o.job, &o.deaths, &state, &beat}, func() error {
		if o.gone = state != "running"; o.gone || expired(now, beat, c.watch.since, c.opts.Lease) {
			found = append(found, o)
		}
		return nil
	})
	return found, err
}

// reissue gives an orphaned job to another worker, unless its workers died too often.
func (c *Coordinator) reissue(ctx context.Context, tx pgx.Tx, o *orphan) error {
	if o.gone { // somebody removed the job from River
		if _, err := tx.Exec(ctx, "DELETE FROM block WHERE run = $1 AND first = $2 AND done IS NULL", c.id, o.first); err != nil {
			return err
		}
		return c.insert(ctx, tx, []span{o.span}, o.deaths)
	}
	deaths := o.deaths + 1
	switch afterDeath(deaths, o.len(), c.opts.Deaths) {
	case split:
		return c.splitJob(ctx, tx, o)
	case giveUp:
		reason := fmt.Sprintf("the trial killed its worker %d times", deaths)
		tag, err := tx.Exec(ctx, "UPDATE block SET failed = $3, deaths = $4, done = now() WHERE run = $1 AND first = $2 AND done IS NULL",
			c.id, o.first, reason, deaths)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		_, err = tx.Exec(ctx, "DELETE FROM river_job WHERE id = $1", o.job)
		return err
	}
	// River has no call for this. scheduled_at stays: else the job would go to the end of the queue.
	tag, err := tx.Exec(ctx, "UPDATE river_job SET state = 'available' WHERE id = $1 AND state = 'running'", o.job)
	if err == nil && tag.RowsAffected() > 0 {
		_, err = tx.Exec(ctx, "UPDATE block SET deaths = $3 WHERE run = $1 AND first = $2", c.id, o.first, deaths)
	}
	return err
}

// splitJob replaces a job by one for each of its trials. Their deaths are counted anew.
func (c *Coordinator) splitJob(ctx context.Context, tx pgx.Tx, o *orphan) error {
	tag, err := tx.Exec(ctx, "DELETE FROM block WHERE run = $1 AND first = $2 AND done IS NULL", c.id, o.first)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, "DELETE FROM river_job WHERE id = $1", o.job); err != nil {
		return err
	}
	var singles []span
	for trial := o.first; trial <= o.last; trial++ {
		singles = append(singles, span{trial, trial})
	}
	c.watch.split = append(c.watch.split, singles...)
	return c.insert(ctx, tx, singles, 0)
}

// countWorkers counts the slots of the workers that can take part, and warns if there is nobody.
func (c *Coordinator) countWorkers(ctx context.Context, tx pgx.Tx, now time.Time) error {
	rows, err := tx.Query(ctx, "SELECT slots, tags, program, beat FROM worker WHERE beat > now() - interval '1 hour'")
	if err != nil {
		return err
	}
	var slots, total, others int
	var tags []string
	var program string
	var beat time.Time
	served := make([]bool, len(c.layout.lanes))
	_, err = pgx.ForEachRow(rows, []any{&slots, &tags, &program, &beat}, func() error {
		switch {
		case expired(now, beat, time.Time{}, max(c.opts.Lease, workerBeat*4)):
		case program != c.opts.Program:
			others++
		default:
			total += slots
			for i, needs := range c.layout.lanes {
				served[i] = served[i] || serves(tags, needs)
			}
		}
		return nil
	})
	c.watch.slots = total
	c.warn(served, others)
	return err
}

// patienceWithWorkers is the longest time until the user learns that nobody works.
const patienceWithWorkers = 10 * time.Second

// warn tells the user, once, that jobs wait for a worker that is not there.
func (c *Coordinator) warn(served []bool, others int) {
	warning := ""
	for i, needs := range c.layout.lanes {
		switch {
		case served[i]:
		case len(needs) > 0:
			warning = "no worker has --tag " + strings.Join(needs, ",") + ", which scenarios of this run need"
		case others > 0:
			warning = fmt.Sprintf("no worker has this build of the program; %d with another one cannot take part", others)
		default:
			warning = "no worker is there; start one with: rehearse worker --queue URL"
		}
	}
	now := c.opts.Clock.Now()
	switch {
	case warning == "":
		c.watch.idle, c.watch.warned = time.Time{}, ""
	case c.watch.idle.IsZero():
		c.watch.idle = now
	case now.Sub(c.watch.idle) >= min(patienceWithWorkers, 4*c.opts.Lease) && c.watch.warned != warning:
		c.watch.warned = warning
		c.opts.Log(warning)
	}
}

// showNotes shows what workers reported.
func (c *Coordinator) showNotes(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, "SELECT id, worker, text FROM note WHERE run = $1 AND id > $2 ORDER BY id LIMIT 100", c.id, c.watch.note)
	if err != nil {
		return err
	}
	var worker, text string
	_, err = pgx.ForEachRow(rows, []any{&c.watch.note, &worker, &text}, func() error {
		c.opts.Log("worker " + worker + ": " + text)
		return nil
	})
	return err
}
