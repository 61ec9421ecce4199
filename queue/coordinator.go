package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// Options configure a coordinator. Clock and Log are required; zero values of the others are the
// documented defaults.
type Options struct {
	// Program is the digest of the binary that workers must have.
	Program string
	// Lease is the time after which a worker that is not heard of is considered dead; default 15 s.
	Lease time.Duration
	// JobTime is the work in one job; default 1 s.
	JobTime time.Duration
	// Window is the number of jobs issued and not done for each slot of the workers; default 4, and 1 with
	// live models.
	Window int
	// Deaths is the number of workers that a trial may kill before it becomes an error; default 25.
	Deaths int
	// Patience is the time since the first failure of the database after which the run ends; default 1 min.
	Patience time.Duration
	// Resume is the key of the run to go on with; empty begins a new one.
	Resume string
	// Live limits the calls of live models; required if the plan allows them.
	Live *Live
	// Clock is this machine's. It times waiting only: leases use the clock of the database.
	Clock clock.Clock
	// Log receives messages for the user, one line each.
	Log func(message string)
}

func (o Options) withDefaults() Options {
	o.Lease, o.JobTime = cmp.Or(o.Lease, 15*time.Second), cmp.Or(o.JobTime, time.Second)
	window := 4
	if o.Live != nil {
		window = 1
	}
	o.Window, o.Deaths = cmp.Or(o.Window, window), cmp.Or(o.Deaths, 25)
	o.Patience = cmp.Or(o.Patience, time.Minute)
	return o
}

// How often the coordinator looks for results, and how often it tries again without the database.
const (
	pollTime  = 50 * time.Millisecond
	retryTime = 250 * time.Millisecond
)

// Coordinator coordinates a run: it is the harness.Remote that returns its trials. Close it.
type Coordinator struct {
	store  *Store
	opts   Options
	plan   Plan
	layout layout
	id     int64
	key    string
	epoch  int
	river  *river.Client[pgx.Tx]
	lock   *pgxpool.Conn // holds the advisory lock of the run
	stop   context.CancelFunc
	ended  chan struct{}
	watch  watch

	mu      sync.Mutex
	changed chan struct{} // is closed when done or failed changes
	open    map[int]span  // issued and not done, by their first trial
	done    []span        // done and not consumed, sorted
	blocks  map[int]*block
	failed  error            // nothing more will come
	merged  int              // trials consumed
	seen    map[int]struct{} // the first trials of all blocks that are or were in done

	todo     []span // not issued, sorted; for the loop only, as is estimate
	estimate estimate
}

// block is the result of a job that is being consumed.
type block struct {
	once    sync.Once
	err     error
	lost    string
	trials  []record.Trial
	timings [][]record.Timing
	left    int
}

// Coordinate begins a run, or goes on with one whose coordinator ended. The store must stay open
// until Close returns. The end of ctx ends the issuing of jobs.
func (s *Store) Coordinate(ctx context.Context, plan Plan, opts Options) (*Coordinator, error) {
	c := &Coordinator{
		store: s, opts: opts.withDefaults(), plan: plan, layout: newLayout(plan.Scenarios), ended: make(chan struct{}),
		changed: make(chan struct{}), open: map[int]span{}, blocks: map[int]*block{},
		seen: map[int]struct{}{},
	}
	var err error
	if c.river, err = river.NewClient(riverpgxv5.New(s.pool), &river.Config{Schema: s.schema, Logger: s.logger}); err == nil {
		err = c.begin(ctx)
	}
	if err != nil {
		c.unlock()
		return nil, fmt.Errorf("begin the run in the queue %s: %w", s.name, explain(err))
	}
	ctx, c.stop = context.WithCancel(ctx)
	go c.loop(ctx)
	return c, nil
}

// Key identifies the run in the queue.
func (c *Coordinator) Key() string { return c.key }

// Err returns why the queue failed; nil if it did not.
func (c *Coordinator) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// begin stores the run, or loads it, and becomes its only coordinator.
func (c *Coordinator) begin(ctx context.Context) (err error) {
	if c.lock, err = c.store.pool.Acquire(ctx); err != nil {
		return err
	}
	if c.opts.Resume != "" {
		return c.load(ctx)
	}
	plan, err := json.Marshal(c.plan)
	if err != nil {
		return err
	}
	c.key, c.epoch = c.plan.Header.ID+"-"+strings.ToLower(rand.Text()[:6]), 1
	c.todo = gaps(c.layout.trials(), nil)
	err = pgx.BeginFunc(ctx, c.store.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx,
			"INSERT INTO run (key, plan, program, trials, lease_ms) VALUES ($1, $2, $3, $4, $5) RETURNING id",
			c.key, plan, c.opts.Program, c.layout.trials(), c.opts.Lease.Milliseconds()).Scan(&c.id)
		if err != nil {
			return err
		}
		return c.opts.Live.store(ctx, tx, c.id)
	})
	if err != nil {
		return err
	}
	return c.becomeOnly(ctx)
}

// lockTime is how long a run waits for the lock of another coordinator: the server may notice that it ended
// a little later.
const lockTime = time.Second

// becomeOnly takes the lock of the run, which its session holds until it ends.
func (c *Coordinator) becomeOnly(ctx context.Context) error {
	for began := c.opts.Clock.Now(); ; {
		var got bool
		err := c.lock.QueryRow(ctx, "SELECT pg_try_advisory_lock(hashtextextended('rehearse run ' || $1, 0))", c.key).Scan(&got)
		switch {
		case got || err != nil:
			return err
		case c.opts.Clock.Now().Sub(began) > lockTime:
			return &UsageError{fmt.Sprintf("another coordinator runs %s; wait for it, or end it first", c.key)}
		}
		if err := c.opts.Clock.Sleep(ctx, pollTime); err != nil {
			return err
		}
	}
}

// UsageError is an error of what was asked for; nothing was run.
type UsageError struct{ Message string }

// Error implements error.
func (e *UsageError) Error() string { return e.Message }

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// Trial implements harness.Remote.
func (c *Coordinator) Trial(ctx context.Context, scenario, n int) (record.Trial, []record.Timing, error) {
	trial := c.layout.number(scenario, n)
	s, b, err := c.await(ctx, trial)
	if err != nil {
		return record.Trial{}, nil, err
	}
	b.once.Do(func() { b.err = c.fetch(ctx, s, b) })
	defer c.consumed(s, b)
	switch {
	case b.err != nil:
		return record.Trial{}, nil, b.err
	case b.lost != "":
		return record.Trial{}, nil, &harness.LostTrialError{Reason: b.lost}
	}
	at := trial - s.first
	return b.trials[at], b.timings[at], nil
}

// await waits until a trial is done, and returns the block that has it.
func (c *Coordinator) await(ctx context.Context, trial int) (span, *block, error) {
	for {
		c.mu.Lock()
		i, found := slices.BinarySearchFunc(c.done, trial, func(s span, trial int) int {
			switch {
			case s.last < trial:
				return -1
			case s.first > trial:
				return 1
			}
			return 0
		})
		changed, failed := c.changed, c.failed
		if found {
			s := c.done[i]
			b := c.blocks[s.first]
			if b == nil {
				b = &block{left: s.len()}
				c.blocks[s.first] = b
			}
			c.mu.Unlock()
			return s, b, nil
		}
		c.mu.Unlock()
		if failed != nil {
			return span{}, nil, failed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return span{}, nil, context.Cause(ctx)
		}
	}
}

// consumed counts a trial that was returned, and forgets the block after its last one.
func (c *Coordinator) consumed(s span, b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.merged++
	if b.left--; b.left > 0 {
		return
	}
	delete(c.blocks, s.first)
	if i, found := slices.BinarySearchFunc(c.done, s.first, func(s span, first int) int { return s.first - first }); found {
		c.done = slices.Delete(c.done, i, i+1)
	}
}

// fetch reads the result of a block. It tries again while the database is away.
func (c *Coordinator) fetch(ctx context.Context, s span, b *block) error {
	var packed []byte
	var failed *string
	err := c.persist(ctx, func() error {
		return c.store.pool.QueryRow(ctx, "SELECT result, failed FROM block WHERE run = $1 AND first = $2", c.id, s.first).
			Scan(&packed, &failed)
	})
	switch {
	case err != nil:
		return fmt.Errorf("read a result from the queue: %w", explain(err))
	case failed != nil:
		b.lost = *failed
		return nil
	}
	b.trials, b.timings, err = unpack(packed)
	if err == nil && len(b.trials) != s.len() {
		err = fmt.Errorf("a result has %d trials instead of %d", len(b.trials), s.len())
	}
	return err
}

// persist repeats what fails because the database is away, for as long as the options allow.
func (c *Coordinator) persist(ctx context.Context, do func() error) error {
	return persist(ctx, c.opts.Clock, c.opts.Patience, do)
}

func persist(ctx context.Context, clk clock.Clock, patience time.Duration, do func() error) error {
	began := clk.Now()
	for {
		err := do()
		if err == nil || !transient(err) || clk.Now().Sub(began) > patience {
			return err
		}
		if clk.Sleep(ctx, retryTime) != nil {
			return context.Cause(ctx)
		}
	}
}

// Close ends the coordination. A complete run is removed from the queue; any other can be resumed.
func (c *Coordinator) Close(ctx context.Context, complete bool) error {
	c.stop()
	<-c.ended
	defer c.unlock()
	err := c.persist(ctx, func() error { return c.end(ctx, complete) })
	if err != nil {
		return fmt.Errorf("end the run in the queue %s: %w", c.store.name, explain(err))
	}
	return nil
}

// end stores that the run has ended, and removes what nobody needs any more.
func (c *Coordinator) end(ctx context.Context, complete bool) error {
	state := "stopped"
	if complete {
		state = "done"
	}
	return pgx.BeginFunc(ctx, c.store.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, "UPDATE run SET state = $3, beat = now(), merged = $4 WHERE id = $1 AND epoch = $2 AND state = 'running'",
			c.id, c.epoch, state, c.merged)
		if err != nil || tag.RowsAffected() == 0 {
			return err
		}
		if err := spendHolds(ctx, tx, c.id, nil); err != nil {
			return err
		}
		if err := c.showNotes(ctx, tx); err != nil { // notes that arrived after the last look
			return err
		}
		return c.store.withdraw(ctx, tx, c.id, complete)
	})
}

// withdraw removes the jobs of a run and the blocks without a result, or all of its blocks. Workers
// abandon what they run.
func (s *Store) withdraw(ctx context.Context, tx pgx.Tx, run int64, all bool) error {
	_, err := tx.Exec(ctx, "DELETE FROM river_job WHERE id IN (SELECT job FROM block WHERE run = $1)", run)
	if err == nil {
		_, err = tx.Exec(ctx, "DELETE FROM block WHERE run = $1 AND (done IS NULL OR $2)", run, all)
	}
	return err
}

// unlock gives the run's lock back, with its session.
func (c *Coordinator) unlock() {
	if c.lock == nil {
		return
	}
	ctx, cancel := c.opts.Clock.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.lock.Conn().Close(ctx) // the lock ends with the session
	c.lock.Release()
	c.lock = nil
}
