// Package harness runs scenarios: it drives the trials in parallel, judges each
// from what was recorded, and writes recordings in the order of the plan, so
// that the files do not depend on how many workers there were.
package harness

import (
	"context"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are how a run is carried out.
type Options struct {
	// Workers is how many trials are under way at once; less than 1 means 1.
	Workers int
	// Env is what drivers share; the caller closes it after the run.
	Env *drive.Env
	// Sink is told everything in the order of the plan, on the goroutine that
	// called Run. While it takes its time, workers run at most 64 trials ahead
	// each.
	Sink Sink
}

// Sink takes a run's results. The first error ends the run.
type Sink interface {
	// Scenario begins a scenario; its trials follow.
	Scenario(record.Scenario) error
	// Trial ends a trial of the scenario that began last.
	Trial(Judged) error
}

// Judged is one trial with its measures and findings.
type Judged struct {
	Scenario *record.Scenario
	Trial    record.Trial
	// Lines is the trial as the recording holds it, still without its hashes.
	Lines    []byte
	Timings  []record.Timing
	Facts    measure.Facts
	Findings []gate.Finding
	Verdict  gate.Verdict
	// Stack is where the driven agent panicked; nil if it did not. It is not
	// recorded: addresses and paths differ from run to run.
	Stack []byte
}

// Outcome says how far a run came.
type Outcome struct {
	// Trials were judged and told to the sink.
	Trials int
	// Interrupted is true when the context ended before the plan was done.
	Interrupted bool
	// NotRun are the scenarios of which no trial was told to the sink.
	NotRun []string
}

// ahead is how many finished jobs may wait for an earlier one, for each worker.
// With the size of a job it bounds the memory of a run whatever its length.
const ahead = 16

// maxBatch is how many trials a job may be. Short trials are handed out several
// at a time, because waking a worker costs a good part of one; more than these
// save little time and cost memory.
const maxBatch = 4

// Run drives every trial of the set. When ctx ends, trials under way are given
// up, those that were finished in order are kept, and the outcome says so. An
// error is the sink's, or that of a scenario that cannot be prepared; the outcome
// then says how far the run had come.
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

// run drives every trial of the drivers, in their order.
func run(ctx context.Context, drivers []drive.Driver, opts Options) (Outcome, error) {
	plan, err := prepare(drivers, opts.Env.Redactor)
	if err != nil {
		return Outcome{}, err
	}
	planned := plan.trials()
	workers := max(1, min(opts.Workers, planned))
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	queue := make(chan *job, min(workers*ahead, planned)) // in the order of the plan
	// Of the jobs in the queue, and the one that collect waits for, all have room.
	jobs := make(chan *job, cap(queue)+1)
	go plan.feed(runCtx, workers, jobs, queue)

	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() {
			for j := range jobs {
				j.done <- j.run(runCtx)
			}
		})
	}
	outcome, err := plan.collect(queue, opts.Sink)
	cancel(err)
	pool.Wait()
	outcome.Interrupted = outcome.Trials < planned && clock.Err(ctx) != nil
	return outcome, err
}

// plan is a list of scenarios that are ready to be driven.
type plan []*prepared

type prepared struct {
	driver drive.Driver
	head   record.Scenario
	judge  *gate.Judge
	redact *record.Redactor
}

func prepare(drivers []drive.Driver, redact *record.Redactor) (plan, error) {
	p := make(plan, 0, len(drivers))
	for _, driver := range drivers {
		head := driver.Head()
		judge, err := gate.ForScenario(&head)
		if err != nil {
			return nil, fmt.Errorf("prepare scenario %s: %w", head.Name, err)
		}
		p = append(p, &prepared{driver: driver, head: head, judge: judge, redact: redact})
	}
	return p, nil
}

// trials counts what is planned.
func (p plan) trials() int {
	n := 0
	for _, sc := range p {
		n += sc.head.Trials
	}
	return n
}

// feed hands out the trials, first to the queue, which bounds how far workers
// may run ahead, then to the workers. What enters the queue gets its results.
func (p plan) feed(ctx context.Context, workers int, jobs, queue chan<- *job) {
	defer close(queue)
	defer close(jobs)
	for _, sc := range p {
		size := sc.batch(workers)
		for n := 1; n <= sc.head.Trials; n += size {
			last := min(n+size-1, sc.head.Trials)
			j := &job{scenario: sc, first: n, last: last, done: make(chan []result, 1)}
			select {
			case queue <- j:
				jobs <- j
			case <-ctx.Done():
				return
			}
		}
	}
}

// batch is how many trials make a job: few enough that all workers have their
// share, and one where trials take real time.
func (sc *prepared) batch(workers int) int {
	if sc.head.RealTime {
		return 1
	}
	return max(1, min(sc.head.Trials/(workers*ahead), maxBatch))
}

// collect takes the results in the order of the plan and tells them to the sink,
// up to the first that is none.
func (p plan) collect(queue <-chan *job, sink Sink) (Outcome, error) {
	var out Outcome
	told := 0 // scenarios
	for j := range queue {
		results := <-j.done
		n, err := j.tell(results, sink)
		if out.Trials += n; n > 0 && j.first == 1 {
			told++
		}
		if err != nil || n < len(results) {
			out.NotRun = p.names(told)
			return out, err
		}
	}
	out.NotRun = p.names(told)
	return out, nil
}

// names are those of the scenarios from number told on.
func (p plan) names(told int) []string {
	var names []string
	for _, sc := range p[told:] {
		names = append(names, sc.head.Name)
	}
	return names
}
