package harness

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// job is a batch of trials of a scenario.
type job struct {
	scenario    *prepared
	first, last int           // numbers of the trials
	done        chan []result // has room for one
}

type result struct {
	Judged
	err error
	// abandoned is true if the context ended before the trial, which is therefore not judged.
	abandoned bool
}

// run runs the trials up to the first abandoned one.
func (j *job) run(ctx context.Context) []result {
	results := make([]result, 0, j.last-j.first+1)
	for n := j.first; n <= j.last; n++ {
		r := j.scenario.observed(ctx, n)
		results = append(results, r)
		if r.abandoned {
			break
		}
	}
	return results
}

// observed is run for an observer.
func (sc *prepared) observed(ctx context.Context, n int) result {
	if sc.observer == nil {
		return sc.run(ctx, n)
	}
	sc.observer.TrialBegan(sc.head.Name, n)
	r := sc.run(ctx, n)
	sc.observer.TrialEnded(sc.head.Name, n, r.Verdict)
	return r
}

// run runs trial n and judges it from its record.
func (sc *prepared) run(ctx context.Context, n int) result {
	if clock.Err(ctx) != nil {
		return result{abandoned: true}
	}
	trial, timings, stack, err := sc.trial(ctx, n)
	if clock.Err(ctx) != nil {
		return result{abandoned: true}
	}
	if err != nil {
		return result{err: err}
	}
	var lines []byte
	if !sc.bare {
		if lines, err = record.Encode(trial); err != nil {
			return result{err: err}
		}
	}
	facts := measure.Trial(sc.head, trial, timings, sc.language.Extensions())
	findings := sc.judge.Judge(facts)
	for i := range findings {
		findings[i].Trial = n
	}
	return result{Judged: Judged{
		Scenario: &sc.head,
		Trial:    trial,
		Lines:    lines,
		Timings:  timings,
		Facts:    facts,
		Findings: findings,
		Verdict:  gate.VerdictOf(findings),
		Stack:    stack,
	}}
}

// drive runs the trial. If the driver or the agent panics, the trial's verdict is error, and the run
// continues.
func (sc *prepared) drive(ctx context.Context, n int) (trial record.Trial, timings []record.Timing, stack []byte) {
	defer func() {
		if p := recover(); p != nil {
			stack = debug.Stack()
			reason := fmt.Sprintf("the driven agent or its driver panicked: %v", p)
			trial = sc.notRun(n, record.End{Status: "error", ExitCode: 1, HarnessError: sc.redact.Text(reason)})
		}
	}()
	trial, timings = sc.driver.Trial(ctx, n)
	return trial, timings, nil
}

// deliver sends results to the sink up to the first abandoned one, after the scenario if
// they begin it. It returns the number of results that the sink received.
func (j *job) deliver(results []result, sink Sink) (int, error) {
	for i, r := range results {
		switch {
		case r.abandoned:
			return i, nil
		case r.err != nil:
			return i, r.err
		case i == 0 && j.first == 1:
			if err := sink.Scenario(j.scenario.head); err != nil {
				return i, err
			}
		}
		if err := sink.Trial(r.Judged); err != nil {
			return i, err
		}
	}
	return len(results), nil
}
