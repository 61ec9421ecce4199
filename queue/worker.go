package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
)

// WorkerOptions configure a worker. All but Tags, Name, IdleExit, Metrics and Spans are required.
type WorkerOptions struct {
	// Program is the digest of this binary.
	Program string
	// Slots is the number of jobs that run at the same time.
	Slots int
	// Tags are what this machine has, such as "docker".
	Tags []string
	// Name is part of the worker's id; default the host's name.
	Name string
	// Host and PID identify the process for people.
	Host string
	PID  int
	// IdleExit ends the worker when it had no run for this time; 0 never does.
	IdleExit time.Duration
	// Prepare loads the scenarios of a run on this machine, and returns the id of their header. The
	// trials are closed when the run has ended.
	Prepare func(Plan) (trials *harness.Trials, header string, closeTrials func(), err error)
	// Clock is this machine's.
	Clock clock.Clock
	// Log receives messages for the user, one line each.
	Log func(message string)
	// Metrics measure the worker; nil for none.
	Metrics *Metrics
	// Spans exports a span for each job; nil for none.
	Spans trace.TracerProvider
}

// workerBeat is the longest time between two signs of life, and until a new run is noticed.
const workerBeat = 250 * time.Millisecond

// stopTime limits giving the jobs back. What is not given back in time is noticed by the lease.
const stopTime = 20 * time.Second

// waitingRoom is a queue without jobs: a River client has at least one queue.
const waitingRoom = "none"

// worker is a running worker.
type worker struct {
	store *Store
	opts  WorkerOptions
	id    string
	river *river.Client[pgx.Tx]
	slots chan struct{}

	mu   sync.Mutex
	runs map[int64]*workerRun
	held map[int64]struct{} // the jobs that this worker runs
	all  sync.WaitGroup     // goroutines that join and leave runs

	spans telemetry.Tracer

	strays map[int64]time.Time // of beat alone: jobs that River has given to this worker, but it has not received
}

// workerRun is a run in which the worker takes part, or has refused to.
type workerRun struct {
	lease  time.Duration
	ctx    context.Context //nolint:containedctx // ends the jobs of the run
	cancel context.CancelFunc
	layout layout
	header string
	trials *harness.Trials // nil until it is prepared
	noted  map[string]struct{}
	// live is true if live models may be called, and maxOutput the limit of their output.
	live      bool
	maxOutput int
}

// Work takes part in the runs of the queue until ctx ends, or the worker was idle long enough. Jobs
// that are running when ctx ends are given back.
func (s *Store) Work(ctx context.Context, opts WorkerOptions) error {
	w := &worker{store: s, opts: opts, slots: make(chan struct{}, opts.Slots), runs: map[int64]*workerRun{}, held: map[int64]struct{}{}}
	w.id = fmt.Sprintf("%s-%d-%s", cmp.Or(opts.Name, opts.Host), opts.PID, strings.ToLower(rand.Text()[:6]))
	w.opts.Metrics = cmp.Or(opts.Metrics, NewMetrics(opts.Clock))
	w.opts.Metrics.slots.Set(float64(opts.Slots))
	w.spans = telemetry.Tracer{Provider: opts.Spans, Scope: "github.com/rehearse-dev/rehearse/queue", Now: opts.Clock.Now}
	workers := river.NewWorkers()
	river.AddWorker(workers, &jobs{worker: w})
	var err error
	w.river, err = river.NewClient(riverpgxv5.New(s.pool), &river.Config{
		ID: w.id, Schema: s.schema, Logger: s.logger, Workers: workers, JobTimeout: -1,
		Queues:        map[string]river.QueueConfig{waitingRoom: {MaxWorkers: 1, FetchPollInterval: time.Minute}},
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: workerBeat,
	})
	if err == nil {
		err = w.register(ctx)
	}
	background := context.WithoutCancel(ctx) // River ends its jobs itself
	if err == nil {
		err = w.river.Start(background)
	}
	if err != nil {
		return fmt.Errorf("join the queue %s: %w", s.name, explain(err))
	}
	opts.Log(fmt.Sprintf("worker %s has %d slots on %s", w.id, opts.Slots, s.name))
	err = w.loop(ctx)
	limited, cancel := opts.Clock.WithTimeout(background, stopTime)
	defer cancel()
	stopErr := w.river.StopAndCancel(limited)
	w.leaveAll()
	w.all.Wait()
	_, deleteErr := s.pool.Exec(limited, "DELETE FROM worker WHERE id = $1", w.id)
	if err == nil && stopErr != nil {
		err = fmt.Errorf("give the jobs back: %w", stopErr)
	}
	if err == nil && deleteErr != nil {
		err = fmt.Errorf("leave the queue %s: %w", s.name, explain(deleteErr))
	}
	return err
}

// register makes the worker known, before it claims a job.
func (w *worker) register(ctx context.Context) error {
	tags := w.opts.Tags
	if tags == nil {
		tags = []string{}
	}
	_, err := w.store.pool.Exec(ctx, "INSERT INTO worker (id, host, pid, program, slots, tags) VALUES ($1, $2, $3, $4, $5, $6)",
		w.id, w.opts.Host, w.opts.PID, w.opts.Program, w.opts.Slots, tags)
	return err
}

// loop gives signs of life, and joins and leaves runs.
func (w *worker) loop(ctx context.Context) error {
	busy := w.opts.Clock.Now()
	outage := outage{log: w.opts.Log}
	for ctx.Err() == nil {
		end := w.opts.Metrics.beginBeat()
		active, err := w.beat(ctx)
		end(err)
		now := w.opts.Clock.Now()
		switch {
		case ctx.Err() != nil:
			continue // ends the loop
		case err != nil && !transient(err):
			return fmt.Errorf("use the queue %s: %w", w.store.name, explain(err))
		}
		outage.update(err)
		if active || err != nil {
			busy = now
		}
		if w.opts.IdleExit > 0 && now.Sub(busy) >= w.opts.IdleExit {
			return nil
		}
		_ = w.opts.Clock.Sleep(ctx, w.interval()) // the loop sees the end of ctx
	}
	return nil
}

// interval returns the time until the next sign of life.
func (w *worker) interval() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	interval := workerBeat
	for _, r := range w.runs {
		interval = min(interval, r.lease/4)
	}
	return interval
}

// beat gives a sign of life and reads which runs there are. It reports whether there are any that
// this worker takes part in.
func (w *worker) beat(ctx context.Context) (active bool, err error) {
	ctx, cancel := w.opts.Clock.WithTimeout(ctx, 10*time.Second) // a connection that hangs is replaced
	defer cancel()
	tag, err := w.store.pool.Exec(ctx, "UPDATE worker SET beat = clock_timestamp() WHERE id = $1", w.id)
	if err == nil && tag.RowsAffected() == 0 { // it was removed, because it was silent for long
		err = w.register(ctx)
	}
	if err != nil {
		return false, err
	}
	rows, err := w.store.pool.Query(ctx, "SELECT id, lease_ms FROM run WHERE state = 'running' AND program = $1", w.opts.Program)
	if err != nil {
		return false, err
	}
	running := map[int64]time.Duration{}
	var id, lease int64
	_, err = pgx.ForEachRow(rows, []any{&id, &lease}, func() error {
		running[id] = time.Duration(lease) * time.Millisecond
		return nil
	})
	if err != nil {
		return false, err
	}
	if err := w.returnStrays(ctx); err != nil {
		return false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, r := range w.runs {
		if _, ok := running[id]; !ok {
			delete(w.runs, id)
			w.all.Go(func() { w.leave(id, r) })
		}
	}
	for id, lease := range running {
		r := w.runs[id]
		if r == nil {
			r = &workerRun{noted: map[string]struct{}{}}
			r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
			w.runs[id] = r
			w.all.Go(func() { w.join(id, r) })
		}
		r.lease = lease
		active = active || r.trials != nil
	}
	return active, nil
}

// strayTime is the time after which a job that this worker should run, and does not, is given back.
const strayTime = 2 * time.Second

// returnStrays gives jobs back that River has marked as run by this worker, but whose message was lost
// with the connection: nobody would ever run them, because this worker lives.
func (w *worker) returnStrays(ctx context.Context) error {
	rows, err := w.store.pool.Query(ctx, "SELECT id FROM river_job WHERE state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $1", w.id)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	w.mu.Lock()
	ids = slices.DeleteFunc(ids, func(id int64) bool { _, held := w.held[id]; return held })
	w.mu.Unlock()
	now := w.opts.Clock.Now()
	var due []int64
	w.strays, due = overdue(w.strays, ids, now)
	if len(due) == 0 {
		return nil
	}
	w.opts.Log(fmt.Sprintf("giving %d jobs back that never arrived", len(due)))
	_, err = w.store.pool.Exec(ctx,
		"UPDATE river_job SET state = 'available' WHERE id = ANY ($1) AND state = 'running' AND attempted_by[array_upper(attempted_by, 1)] = $2",
		due, w.id)
	return err
}

// join prepares a run and fetches its jobs, unless its scenarios differ from those of this machine.
func (w *worker) join(id int64, r *workerRun) {
	err := w.prepare(id, r)
	if err == nil || r.ctx.Err() != nil {
		return
	}
	w.note(r.ctx, id, "cannot take part: "+err.Error())
}

func (w *worker) prepare(id int64, r *workerRun) error {
	var stored []byte
	var plan Plan
	var maxOutput int
	err := w.store.pool.QueryRow(r.ctx, "SELECT plan, coalesce(max_output, 0) FROM run LEFT JOIN meter ON meter.run = run.id WHERE id = $1", id).
		Scan(&stored, &maxOutput)
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.runs, id) // the next sign of life tries again
		r.cancel()
		return err
	}
	if err := json.Unmarshal(stored, &plan); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	trials, header, closeTrials, err := w.opts.Prepare(plan)
	if err != nil {
		return err
	}
	context.AfterFunc(r.ctx, closeTrials)
	if header != plan.Header.ID {
		return errors.New("its scenario files, prices or program differ from those of the coordinator; use the same commit on both")
	}
	w.mu.Lock()
	r.layout, r.header, r.trials = newLayout(plan.Scenarios), header, trials
	r.live, r.maxOutput = plan.Live, maxOutput
	w.mu.Unlock()
	for lane, needs := range r.layout.lanes {
		if !serves(w.opts.Tags, needs) {
			continue
		}
		if err := w.river.Queues().Add(queueName(id, lane), river.QueueConfig{MaxWorkers: w.opts.Slots}); err != nil {
			return err
		}
	}
	return nil
}

// leave ends the jobs of a run that has ended, and fetches no more.
func (w *worker) leave(id int64, r *workerRun) {
	r.cancel()
	w.mu.Lock()
	layout := r.layout
	w.mu.Unlock()
	for lane := range layout.lanes {
		ctx, cancel := w.opts.Clock.WithTimeout(context.WithoutCancel(r.ctx), 10*time.Second)
		_ = w.river.Queues().Remove(ctx, queueName(id, lane)) // it may not have been added
		cancel()
	}
}

// leaveAll frees what was prepared for the runs.
func (w *worker) leaveAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		r.cancel()
	}
}

// note reports something to the coordinator of a run, and to the log, once.
func (w *worker) note(ctx context.Context, run int64, text string) {
	w.mu.Lock()
	noted := false
	if r := w.runs[run]; r != nil {
		_, noted = r.noted[text]
		r.noted[text] = struct{}{}
	}
	w.mu.Unlock()
	if noted {
		return
	}
	w.opts.Log(text)
	_, _ = w.store.pool.Exec(ctx, "INSERT INTO note (run, worker, text) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", run, w.id, text) // in the log anyway
}
