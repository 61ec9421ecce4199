package queue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/harness/drive"
)

// jobs runs the jobs that River claims.
type jobs struct {
	river.WorkerDefaults[jobArgs]
	worker *worker
}

// Timeout implements river.Worker: the lease alone decides whether a job is stuck.
func (*jobs) Timeout(*river.Job[jobArgs]) time.Duration { return -1 }

// NextRetry implements river.Worker: at once.
func (*jobs) NextRetry(job *river.Job[jobArgs]) time.Time { return *job.AttemptedAt }

// Work implements river.Worker.
func (j *jobs) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	w := j.worker
	w.mu.Lock()
	w.held[job.ID] = struct{}{}
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.held, job.ID)
	}()
	r := w.runs[job.Args.Run]
	if r != nil && (r.trials == nil || r.header != job.Args.Header) {
		r = nil
	}
	w.mu.Unlock()
	if r == nil {
		return river.JobCancel(errors.New("the run has ended"))
	}
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ctx, func() { cancel(nil) })()
	if r.live {
		ctx = drive.WithMeter(ctx, &meter{
			pool: w.store.pool, clock: w.opts.Clock, run: job.Args.Run, worker: w.id, until: r.ctx, maxOutput: r.maxOutput, stop: cancel,
		})
	}
	s := span{job.Args.First, job.Args.Last}
	ctx, end := w.spans.Start(ctx, "job", trace.SpanKindConsumer, attribute.String("rehearse.header", job.Args.Header),
		attribute.Int("rehearse.first_trial", s.first), attribute.Int("rehearse.trials", s.len()), attribute.Int("rehearse.attempt", job.Attempt))
	w.opts.Metrics.running.Inc()
	defer w.opts.Metrics.running.Dec()
	outcome, err := w.perform(ctx, job, r, s)
	w.opts.Metrics.jobs.WithLabelValues(outcome).Inc()
	errorType := ""
	if outcome == jobFailed {
		errorType = outcome
	}
	end(errorType, attribute.String("rehearse.outcome", outcome))
	return err
}

// perform runs a job and stores its result.
func (w *worker) perform(ctx context.Context, job *river.Job[jobArgs], r *workerRun, s span) (outcome string, err error) {
	began := w.opts.Clock.Now()
	res, failed, repeatable := w.run(ctx, r, job.Args.Run, s)
	if errors.Is(context.Cause(ctx), errRefused) {
		_ = w.opts.Clock.Sleep(r.ctx, refusedTime)
	}
	if ctx.Err() != nil {
		return jobGivenBack, ctx.Err()
	}
	took := w.opts.Clock.Now().Sub(began)
	w.opts.Metrics.took.Observe(took.Seconds())
	err = persist(ctx, w.opts.Clock, time.Minute, func() error {
		outcome, err = w.save(ctx, job, res, failed, repeatable, took)
		if outcome == jobFailed {
			w.opts.Metrics.errors.Inc()
		}
		if refused(err) {
			w.note(ctx, job.Args.Run, "a result cannot be stored, trying again: "+explain(err).Error())
		}
		return err
	})
	if ctx.Err() != nil && outcome == jobFailed {
		outcome = jobGivenBack
	}
	return outcome, err
}

// refusedTime is how long a job whose call was refused stays with its worker. The coordinator has ended the
// run by then.
const refusedTime = 2 * time.Second

// run runs the trials of a job. repeatable is true if running them again must give the same result.
func (w *worker) run(ctx context.Context, r *workerRun, id int64, s span) (res result, failed string, repeatable bool) {
	var lines bytes.Buffer
	repeatable = true
	for trial := s.first; trial <= s.last; trial++ {
		scenario, n := r.layout.locate(trial)
		judged, err := r.trials.Run(ctx, scenario, n)
		if err != nil {
			return result{}, err.Error(), false
		}
		w.opts.Metrics.trials.WithLabelValues(string(judged.Verdict)).Inc()
		if judged.Stack != nil {
			w.opts.Log(fmt.Sprintf("%s: %s\n%s", judged.Scenario.Name, judged.Trial.End.HarnessError, judged.Stack))
		}
		if end := &judged.Trial.End; end.Skipped != "" || end.AgentError { // other workers may have what it needs
			w.note(ctx, id, judged.Scenario.Name+" cannot be run here: "+cmp.Or(end.Skipped, end.HarnessError))
		}
		lines.Write(judged.Lines)
		res.timings = append(res.timings, judged.Timings...)
		repeatable = repeatable && !judged.Scenario.RealTime && !r.live
	}
	res.lines = lines.Bytes()
	return res, "", repeatable
}

// save stores a result and completes its job, in one transaction. The first result of a job counts.
func (w *worker) save(ctx context.Context, job *river.Job[jobArgs], res result, failed string, repeatable bool, took time.Duration) (
	outcome string, err error,
) {
	packed, digest, err := res.pack()
	if err != nil {
		return jobFailed, err
	}
	args := job.Args
	late := false
	err = pgx.BeginFunc(ctx, w.store.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `
			UPDATE block SET result = $4, digest = $5, failed = nullif($6, ''), took_ms = $7, worker = $8, done = now()
			WHERE run = $1 AND first = $2 AND last = $3 AND done IS NULL`,
			args.Run, args.First, args.Last, packed, digest, failed, float64(took)/float64(time.Millisecond), w.id)
		if err != nil {
			return err
		}
		late = tag.RowsAffected() == 0
		_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		if late && errors.Is(err, rivertype.ErrNotFound) {
			err = nil
		}
		return err
	})
	switch {
	case errors.Is(err, rivertype.ErrNotFound):
		return jobWithdrawn, river.JobCancel(errors.New("the job was withdrawn"))
	case err != nil:
		return jobFailed, err
	case !late:
		return jobStored, nil
	}
	return jobLate, w.already(ctx, args, digest, repeatable && failed == "")
}

// already compares a result that came late with the one that counts.
func (w *worker) already(ctx context.Context, args jobArgs, digest string, repeatable bool) error {
	var counts *string
	err := w.store.pool.QueryRow(ctx,
		"SELECT digest FROM block WHERE run = $1 AND first = $2 AND last = $3 AND failed IS NULL", args.Run, args.First, args.Last).
		Scan(&counts)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil // the run has ended, or the job was split
	case err != nil:
		return err
	}
	w.opts.Log(fmt.Sprintf("the result of trials %d to %d of run %d is already there", args.First, args.Last, args.Run))
	if counts != nil && *counts != digest && repeatable {
		w.note(ctx, args.Run, fmt.Sprintf("trials %d to %d of the plan are not repeatable: a second run of them differs", args.First, args.Last))
	}
	return nil
}
