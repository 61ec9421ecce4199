// Package harness runs scenarios: it runs the trials in parallel, judges each from its record, and
// writes recordings in the order of the plan, whatever the number of workers.
package harness

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options configure a run.
type Options struct {
	// Workers is the number of trials that run in parallel; less than 1 means 1.
	Workers int
	// Env is shared by all drivers; the caller closes it after the run.
	Env *drive.Env
	// Sink receives the results in plan order, on the goroutine that called Run. While it
	// blocks, each worker runs at most 64 trials ahead.
	Sink Sink
	// Bare leaves Judged.Lines empty, for runs that are not recorded.
	Bare bool
	// Budget limits the whole run.
	Budget Budget
	// FailFast ends the run as soon as this number of scenarios have a trial that failed or has an error,
	// in the order of the plan; 0 means no limit.
	FailFast int
	// Snapshots, if set, takes snapshots during the run. Run sets its Sink and Language.
	Snapshots *SnapshotSink
	// Observer, if set, is called when trials begin and end.
	Observer Observer
	// Language measures and judges the facts of kinds of agents; nil supports the core facts only.
	Language *gate.Language
	// Remote runs the trials elsewhere; nil runs them here. Workers is then the number of trials that
	// are awaited at the same time.
	Remote Remote
}

// Sink receives the results of a run. The first error ends the run.
type Sink interface {
	// Scenario begins a scenario; its trials follow.
	Scenario(record.Scenario) error
	// Trial ends a trial of the scenario that began last.
	Trial(Judged) error
}

// Observer is called when trials begin and end, on the goroutines of the workers. An abandoned trial ends
// with the verdict "".
type Observer interface {
	TrialBegan(scenario string, trial int)
	TrialEnded(scenario string, trial int, verdict gate.Verdict)
}

// Judged is one trial with its measures and findings.
type Judged struct {
	Scenario *record.Scenario
	Trial    record.Trial
	// Lines are the trial's lines of the recording, without hashes.
	Lines    []byte
	Timings  []record.Timing
	Facts    measure.Facts
	Findings []gate.Finding
	Verdict  gate.Verdict
	// Stack is the stack of the agent's panic; nil if it did not panic. It is not recorded, because
	// addresses and paths differ from run to run.
	Stack []byte
}

// Outcome describes how much of the plan a run completed.
type Outcome struct {
	// Trials is the number of trials that the sink received.
	Trials int
	// Interrupted is true if the context ended before the plan was complete.
	Interrupted bool
	// Stopped describes the budget or the failures that ended the run, if any.
	Stopped string
	// FailFast is true if Options.FailFast ended the run.
	FailFast bool
	// NotRun are the scenarios without a trial.
	NotRun []string
}

// ahead limits the finished jobs of each worker that wait for an earlier one, and thus the memory of
// a run.
const ahead = 16

// maxBatch is the largest number of trials in a job. Waking a worker takes almost as long as a short
// trial; larger jobs save little more time and need more memory.
const maxBatch = 4

// Run runs all trials of the set. When ctx ends, unfinished trials are abandoned, and the outcome
// reports the run as interrupted. The error is that of the sink, or of a scenario that cannot be
// prepared; the outcome covers the trials before it.
func Run(ctx context.Context, set []scenarios.Scenario, opts Options) (Outcome, error) {
	drivers := make([]drive.Driver, len(set))
	for i, sc := range set {
		driver, err := drive.New(sc, opts.Env)
		if err != nil {
			return Outcome{}, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
		}
		drivers[i] = driver
	}
	return run(ctx, drivers, opts)
}

// RunDrivers is Run for drivers that are created as they are needed: the next one is requested, on
// another goroutine, when there is room for its trials. The error is that of the sink, or of a driver
// whose trials cannot be judged. Outcome.NotRun is empty.
func RunDrivers(ctx context.Context, drivers iter.Seq[drive.Driver], opts Options) (Outcome, error) {
	r := &runner{opts: opts}
	scenarios := func(yield func(*prepared, error) bool) {
		for driver := range drivers {
			if sc, err := r.prepare(driver); !yield(sc, err) || err != nil {
				return
			}
		}
	}
	out, _, err := r.run(ctx, scenarios, max(1, opts.Workers))
	return out, err
}

// run runs all trials of the drivers, in their order.
func run(ctx context.Context, drivers []drive.Driver, opts Options) (Outcome, error) {
	r := &runner{opts: opts}
	plan, trials := make([]*prepared, len(drivers)), 0
	for i, driver := range drivers {
		var err error
		if plan[i], err = r.prepare(driver); err != nil {
			return Outcome{}, err
		}
		plan[i].remote(r.opts.Remote, i)
		trials += plan[i].head.Trials
	}
	scenarios := func(yield func(*prepared, error) bool) {
		for _, sc := range plan {
			if !yield(sc, nil) {
				return
			}
		}
	}
	out, begun, err := r.run(ctx, scenarios, max(1, min(opts.Workers, trials)))
	for _, sc := range plan[begun:] {
		out.NotRun = append(out.NotRun, sc.head.Name)
	}
	return out, err
}

// runner carries out one run.
type runner struct {
	opts  Options
	paths paths
}

// run runs all trials of the scenarios, in their order. It returns the number of scenarios of which
// the sink received a trial.
func (r *runner) run(ctx context.Context, scenarios iter.Seq2[*prepared, error], workers int) (out Outcome, begun int, err error) {
	timed, done := r.opts.Budget.start(ctx)
	defer done()
	runCtx, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	queue := make(chan *job, workers*ahead) // in the order of the plan
	jobs := make(chan *job, cap(queue)+1)   // has room for the queue, and the job that collect waits for
	fed := make(chan bool, 1)
	go func() { fed <- feed(runCtx, scenarios, workers, jobs, queue) }()

	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() {
			for j := range jobs {
				j.done <- j.run(runCtx)
			}
		})
	}
	sink := &limiter{
		Sink: r.opts.Sink, budget: r.opts.Budget, failFast: r.opts.FailFast, failed: map[string]struct{}{},
		stop: func() { cancel(errStopped) },
	}
	out, begun, all, err := collect(queue, r.opts.Snapshots.before(sink, r.opts.Language))
	cancel(err)
	pool.Wait()
	if all = <-fed && all; all {
		return out, begun, err
	}
	switch out.Interrupted = clock.Err(ctx) != nil; {
	case errors.Is(err, errStopped) || err == nil && sink.over():
		out.Stopped, out.FailFast, out.Interrupted, err = sink.reason(), sink.failedEnough(), false, nil
	case !out.Interrupted && clock.Err(timed) != nil:
		out.Stopped = fmt.Sprintf("the budget of %s is used up", r.opts.Budget.Time)
	default:
		if remote, ok := errors.AsType[*RemoteError](err); ok {
			out.Stopped, out.Interrupted, err = remote.Error(), false, nil
		}
	}
	return out, begun, err
}

// prepared is a scenario that is ready to run.
type prepared struct {
	driver   drive.Driver
	head     record.Scenario
	judge    *gate.Judge
	redact   *redact.Redactor
	path     *path // the golden path of a perturbed scenario; nil for others
	bare     bool
	language *gate.Language
	observer Observer // may be nil
	fetch    fetch    // nil unless the trials run elsewhere
}

func (r *runner) prepare(driver drive.Driver) (*prepared, error) {
	sc := &prepared{
		driver: driver, head: driver.Head(), redact: r.opts.Env.Redactor, bare: r.opts.Bare,
		language: r.opts.Language, observer: r.opts.Observer,
	}
	if len(sc.head.Perturb) > 0 {
		sc.head.Invariants = slices.Concat(sc.language.Invariants(sc.head.Agent), sc.head.Invariants)
	}
	var err error
	if sc.judge, err = gate.ForScenario(sc.language, &sc.head); err == nil {
		sc.path, err = r.paths.of(sc)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare scenario %s: %w", sc.head.Name, err)
	}
	return sc, nil
}

// feed sends the trials to the queue, which limits how far workers can run ahead, and then to the
// workers. Each job in the queue gets its results. It reports whether all trials were sent.
func feed(ctx context.Context, scenarios iter.Seq2[*prepared, error], workers int, jobs, queue chan<- *job) bool {
	defer close(queue)
	defer close(jobs)
	for sc, err := range scenarios {
		if err != nil {
			j := &job{first: 1, done: make(chan []result, 1)}
			j.done <- []result{{err: err}}
			select {
			case queue <- j:
			case <-ctx.Done():
			}
			return false
		}
		size := sc.batch(workers)
		for n := 1; n <= sc.head.Trials; n += size {
			last := min(n+size-1, sc.head.Trials)
			j := &job{scenario: sc, first: n, last: last, done: make(chan []result, 1)}
			select {
			case queue <- j:
				jobs <- j
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

// batch returns the number of trials in a job: small enough to occupy all workers, and 1 in real
// time.
func (sc *prepared) batch(workers int) int {
	if sc.head.RealTime {
		return 1
	}
	return max(1, min(sc.head.Trials/(workers*ahead), maxBatch))
}

// collect sends the results to the sink in plan order, up to the first abandoned one. It
// returns the number of scenarios begun, and whether all results were sent.
func collect(queue <-chan *job, sink Sink) (out Outcome, begun int, all bool, err error) {
	for j := range queue {
		results := <-j.done
		n, err := j.deliver(results, sink)
		if out.Trials += n; n > 0 && j.first == 1 {
			begun++
		}
		if err != nil || n < len(results) {
			return out, begun, false, err
		}
	}
	return out, begun, true, nil
}
