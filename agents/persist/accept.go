package persist

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/clock"
)

// acceptTask runs the acceptance commands of a task that was reported as done, and records its outcome.
// The caller holds the lock, which is released while the commands run.
func (r *supervisor) acceptTask(task int) *ending {
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	t := r.state.Task(task)
	results, err := r.runAcceptance(t)
	if err != nil {
		return failure("the acceptance commands of the task "+t.ID+" could not be run", err)
	}
	if clock.Err(r.ctx) != nil {
		return nil // endEarly returns the reason; the next run repeats the commands
	}
	o := *r.state.Reported
	if len(results) > 0 { // the plan of this run may have no commands any more
		o = state.Accepted(t, o, results)
	}
	o.Spent = r.spent(Outcome{})
	end := r.keepFiles(t, &o)
	record := state.Record{Kind: state.KindOutcome, Task: t.ID, Attempt: t.Attempts, Outcome: &o}.Bounded()
	if err := r.put(record); err != nil {
		return r.saveFailure(err)
	}
	for _, result := range results {
		r.emit(t.Attempts, result.Details, Accepted{Task: t.ID, Verdict: result.Verdict})
	}
	r.emitAttempt(t, record, nil)
	if end == nil && o.Grade == string(Escalated) {
		return r.ask(t, o.Details)
	}
	return end
}

// runAcceptance runs the acceptance commands of a task up to the first that does not pass, without the
// lock.
func (r *supervisor) runAcceptance(t state.Task) (results []plan.CheckResult, err error) {
	probes := r.Accept[t.ID]
	if r.inFork(t) {
		place, err := r.open(t)
		if err != nil {
			return nil, err
		}
		probes = place.Accept
	}
	r.mu.Unlock()
	defer r.mu.Lock()
	for i, probe := range probes {
		start := r.Clock.Now()
		result := runProbe(r.ctx, probe)
		result.Name, result.Took = plan.Check(fmt.Sprintf("accept-%d", i+1)), r.Clock.Now().Sub(start)
		if result.Verdict != plan.Pass && result.Verdict != plan.Fail {
			result.Verdict = plan.Unknown
		}
		results = append(results, result)
		if result.Verdict != plan.Pass {
			break
		}
	}
	return results, nil
}
