// Package harness runs scenarios: it drives the trials in parallel, judges each
// from what was recorded, and writes recordings in the order of the plan, so
// that the files do not depend on how many workers there were.
package harness

import (
	"context"
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are how a run is carried out.
type Options struct {
	// Workers is how many trials are under way at once; at least 1.
	Workers int
	// Env is what drivers share.
	Env *drive.Env
	// Sink is told everything in the order of the plan, on one goroutine.
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

// ahead is how many finished trials may wait for an earlier one, for each
// worker. It bounds the memory of a run whatever its length.
const ahead = 16

// Run drives every trial of the set. When ctx ends, trials under way are given
// up, those that were finished in order are kept, and the outcome says so. An
// error is the sink's, or that of a scenario that cannot be prepared.
func Run(ctx context.Context, set []scenarios.Scenario, opts Options) (Outcome, error) {
	plan, err := prepare(set, opts.Env)
	if err != nil {
		return Outcome{}, err
	}
	workers := max(opts.Workers, 1)
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	jobs := make(chan *job)
	queue := make(chan *job, workers*ahead) // in order of the plan
	go plan.feed(runCtx, jobs, queue)

	var pool sync.WaitGroup
	for range workers {
		pool.Go(func() {
			for j := range jobs {
				j.done <- j.run(runCtx)
			}
		})
	}
	outcome, err := plan.collect(runCtx, queue, opts.Sink)
	cancel(err)
	for range queue { //nolint:revive // drains, so that feed can end
	}
	pool.Wait()
	outcome.Interrupted = ctx.Err() != nil
	return outcome, err
}

// plan is a set of scenarios that are ready to be driven.
type plan []*prepared

type prepared struct {
	driver drive.Driver
	head   record.Scenario
	judge  *gate.Judge
}

func prepare(set []scenarios.Scenario, env *drive.Env) (plan, error) {
	p := make(plan, 0, len(set))
	for _, sc := range set {
		driver, err := drive.New(sc, env)
		if err != nil {
			return nil, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
		}
		head := driver.Head()
		judge, err := gate.NewJudge(head.Expect)
		if err != nil {
			return nil, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
		}
		p = append(p, &prepared{driver: driver, head: head, judge: judge})
	}
	return p, nil
}

// feed hands out the trials, first to the queue, which bounds how far workers
// may run ahead, then to the workers.
func (p plan) feed(ctx context.Context, jobs, queue chan<- *job) {
	defer close(queue)
	defer close(jobs)
	for _, sc := range p {
		for n := 1; n <= sc.head.Trials; n++ {
			j := &job{scenario: sc, n: n, done: make(chan result, 1)}
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				j.done <- result{given: true}
				return
			}
		}
	}
}

// collect takes the results in order and tells them to the sink.
func (p plan) collect(ctx context.Context, queue <-chan *job, sink Sink) (Outcome, error) {
	var out Outcome
	told := map[*prepared]bool{}
	for j := range queue {
		r := <-j.done
		if r.given || ctx.Err() != nil {
			break
		}
		if r.err != nil {
			return out, r.err
		}
		if !told[j.scenario] {
			told[j.scenario] = true
			if err := sink.Scenario(j.scenario.head); err != nil {
				return out, err
			}
		}
		if err := sink.Trial(r.Judged); err != nil {
			return out, err
		}
		out.Trials++
	}
	for _, sc := range p {
		if !told[sc] {
			out.NotRun = append(out.NotRun, sc.head.Name)
		}
	}
	return out, nil
}
