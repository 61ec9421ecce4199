package harness

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// job is one trial on its way through the workers.
type job struct {
	scenario *prepared
	n        int
	done     chan result // buffered for one
}

type result struct {
	Judged
	err error
	// given is true when the trial was given up before it was begun.
	given bool
}

// run drives the trial and judges it from what was recorded.
func (j *job) run(ctx context.Context) result {
	trial, timings, stack := j.drive(ctx)
	lines, err := record.Encode(trial)
	if err != nil {
		return result{err: fmt.Errorf("record trial %d of %s: %w", j.n, j.scenario.head.Name, err)}
	}
	facts := measure.Of(j.scenario.head, trial, timings)
	findings := j.scenario.judge.Judge(facts)
	return result{Judged: Judged{
		Scenario: &j.scenario.head,
		Trial:    trial,
		Lines:    lines,
		Timings:  timings,
		Facts:    facts,
		Findings: findings,
		Verdict:  gate.VerdictOf(findings),
		Stack:    stack,
	}}
}

// drive carries out the trial. A driver that panics is a fault of the harness or
// of the driven agent: the trial's verdict is then error, and the run goes on.
func (j *job) drive(ctx context.Context) (trial record.Trial, timings []record.Timing, stack []byte) {
	defer func() {
		if p := recover(); p != nil {
			stack = debug.Stack()
			trial = record.Trial{
				Head: record.TrialHead{Scenario: j.scenario.head.Name, N: j.n},
				End: record.End{
					Status:       "error",
					ExitCode:     1,
					HarnessError: fmt.Sprintf("the driven agent or its driver panicked: %v", p),
				},
			}
		}
	}()
	trial, timings = j.scenario.driver.Trial(ctx, j.n)
	return trial, timings, nil
}
