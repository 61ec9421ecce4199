package harness

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drive"
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
	// givenUp is true when the context ended before the trial did: what it would
	// show is the harness's doing.
	givenUp bool
}

// run drives the trial and judges it from what was recorded.
func (j *job) run(ctx context.Context) result {
	if clock.Err(ctx) != nil {
		return result{givenUp: true}
	}
	trial, timings, stack := j.drive(ctx)
	if clock.Err(ctx) != nil {
		return result{givenUp: true}
	}
	lines, err := record.Encode(trial)
	if err != nil {
		return result{err: err}
	}
	facts := measure.Of(j.scenario.head, trial, timings)
	findings := j.scenario.judge.Judge(facts)
	for i := range findings {
		findings[i].Trial = j.n
	}
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
	head := &j.scenario.head
	defer func() {
		if p := recover(); p != nil {
			stack = debug.Stack()
			reason := fmt.Sprintf("the driven agent or its driver panicked: %v", p)
			trial = record.Trial{
				Head: record.TrialHead{Scenario: head.Name, N: j.n, Seed: drive.Seed(head.Seed, j.n)},
				End:  record.End{Status: "error", ExitCode: 1, HarnessError: j.scenario.redact.Text(reason)},
			}
		}
	}()
	trial, timings = j.scenario.driver.Trial(ctx, j.n)
	return trial, timings, nil
}

// tell hands a result to the sink, after its scenario if it is the first one.
func (j *job) tell(r result, sink Sink) error {
	if r.err != nil {
		return r.err
	}
	if j.n == 1 {
		if err := sink.Scenario(j.scenario.head); err != nil {
			return err
		}
	}
	return sink.Trial(r.Judged)
}
