package persist

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/clock"
)

// check runs all checks, or after a task of a round only the failed ones. The caller holds the lock,
// which is released while probes run.
func (r *supervisor) check(why state.Why) *ending {
	if r.checkpointDue() {
		if err := r.checkpoint("interval"); err != nil {
			return r.saveFailure(err)
		}
	}
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	var results []plan.CheckResult
	for _, info := range plan.Checks() {
		if why.FailedOnly() && !r.fails(info.Name) || why.BetweenTasks() && r.plan.Checks[info.Name].AtEnd {
			continue
		}
		result := r.answerCheck(info.Name)
		if clock.Err(r.ctx) != nil {
			return nil // endEarly returns the reason; the result may be due to the interruption
		}
		results = append(results, result)
	}
	record := state.Record{Kind: state.KindCheck, N: r.state.Counts.Checks + 1, Why: why, Results: results}.Bounded()
	if err := r.put(record); err != nil {
		return r.saveFailure(err)
	}
	r.emitChecks(record)
	return nil
}

// fails reports whether the last result of a check is a failure.
func (r *supervisor) fails(name plan.Check) bool {
	return slices.ContainsFunc(r.state.Results, func(c plan.CheckResult) bool { return c.Name == name && c.Verdict == plan.Fail })
}

// answerCheck answers one check with its probe or from the state.
func (r *supervisor) answerCheck(name plan.Check) plan.CheckResult {
	probe, given := r.Probes[name]
	why := r.plan.Checks[name].None
	switch {
	case given && probe != nil:
		return r.answerByProbe(name, probe)
	case why != "":
		return plan.CheckResult{Name: name, Verdict: plan.None, Details: why}
	}
	if _, planned := r.plan.Checks[name]; planned {
		return plan.CheckResult{Name: name, Verdict: plan.Unknown, Details: "the plan has a probe for it, but the run has none"}
	}
	if result, own := r.state.Own(name, r.checkpointDue(), r.saved.Soft == r.state.Segment); own {
		return result
	}
	return plan.CheckResult{Name: name, Verdict: plan.None, Details: "no probe is given"}
}

// answerByProbe runs a probe without the lock.
func (r *supervisor) answerByProbe(name plan.Check, p Probe) plan.CheckResult {
	r.mu.Unlock()
	defer r.mu.Lock()
	start := r.Clock.Now()
	result := runProbe(r.ctx, p)
	result.Name, result.Own, result.Took = name, false, r.Clock.Now().Sub(start)
	switch result.Verdict {
	case plan.Pass, plan.Fail, plan.Unknown, plan.None:
	default:
		result.Details = fmt.Sprintf("the probe returned the unknown verdict %q; %s", result.Verdict, result.Details)
		result.Verdict = plan.Unknown
	}
	return result
}

// runProbe runs a probe and converts a panic into an unknown verdict.
func runProbe(ctx context.Context, p Probe) (result plan.CheckResult) {
	defer func() {
		if v := recover(); v != nil {
			result = plan.CheckResult{Verdict: plan.Unknown, Details: fmt.Sprintf("the probe failed: panic: %v", v)}
		}
	}()
	return p(ctx)
}

// beginRound begins a round of tasks for failed checks.
func (r *supervisor) beginRound(move state.Move) *ending {
	if move.Forced {
		r.emitForced()
	}
	round := r.state.Counts.Rounds + 1
	if err := r.put(state.Record{Kind: state.KindDerive, N: round, Tasks: move.Tasks}); err != nil {
		return r.saveFailure(err)
	}
	var names []string
	for _, t := range move.Tasks {
		if name := string(t.From); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	r.emit(round, fmt.Sprintf("round %d for failed checks: %s", round, strings.Join(names, ", ")),
		RoundBegun{Tasks: len(move.Tasks), Checks: strings.Join(names, ",")})
	return nil
}

// beginSegment begins the next segment.
func (r *supervisor) beginSegment() *ending {
	n := r.state.Segment + 1
	calls := r.state.SegmentCalls
	if err := r.put(state.Record{Kind: state.KindSegment, N: n}); err != nil {
		return r.saveFailure(err)
	}
	detail := fmt.Sprintf("segment %d begins after %d tool calls (limits.hard_calls %d)", n, calls, r.limits.HardCalls)
	r.emit(n, detail, Guarded{"segment", r.nextTaskID()})
	if err := r.checkpoint("segment"); err != nil {
		return r.saveFailure(err)
	}
	return nil
}

// nextTaskID returns the id of the task whose turn it is, or "".
func (r *supervisor) nextTaskID() string {
	if move := r.state.Next(); move.Kind == state.KindIntent {
		return r.taskID(move.Task)
	}
	return ""
}
