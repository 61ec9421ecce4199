package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

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
		if err := c.spendLost(ctx, tx, now); err != nil {
			return err
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
