package state

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Own answers a check from the state. It returns false for a check that needs a probe. Checkpoints are
// not recorded, so the caller passes whether one is due, and whether one was saved after the soft
// limit of this segment.
func (s *State) Own(name plan.Check, checkpointDue, softLimitSaved bool) (result plan.CheckResult, ok bool) {
	n := s.tasks.stages
	switch name {
	case plan.CheckTodos:
		open := []Stage{stageWaiting, stageFailed, stageBlocked, stageEscalated}
		result = verdict(n[stageWaiting]+n[stageFailed]+n[stageBlocked]+n[stageEscalated], "%s not done", s.some(open...))
	case plan.CheckPending:
		result = verdict(n[stageWaiting], "%s waiting", s.some(stageWaiting))
	case plan.CheckProblems:
		open := []Stage{stageFailed, stageBlocked, stageEscalated}
		result = verdict(n[stageFailed]+n[stageBlocked]+n[stageEscalated], "%s with an open problem", s.some(open...))
	case plan.CheckDependencies:
		lost := s.unreachable()
		result = verdict(len(lost), "%s with a dependency that cannot be done", lost)
	case plan.CheckCorrections:
		result = verdict(s.Round.Open, "%s of a correction not finished", nil)
	case plan.CheckCheckpoints:
		result = s.limit(!checkpointDue, "a checkpoint is due")
	case plan.CheckSoftLimit:
		result = s.limit(s.SegmentCalls < s.limits.SoftCalls || softLimitSaved,
			fmt.Sprintf("%d tool calls without a checkpoint (limits.soft_calls %d)", s.SegmentCalls, s.limits.SoftCalls))
	case plan.CheckToolCalls:
		result = s.limit(s.SegmentCalls < s.limits.HardCalls,
			fmt.Sprintf("%d tool calls in segment %d (limits.hard_calls %d)", s.SegmentCalls, s.Segment, s.limits.HardCalls))
	case plan.CheckStopGuard:
		result = s.deferred()
	default:
		return plan.CheckResult{}, false
	}
	result.Name, result.Own = name, true
	return result, true
}

// verdict returns a pass if n is 0, and otherwise a failure with items.
func verdict(n int, what string, items []string) plan.CheckResult {
	if n == 0 {
		return plan.CheckResult{Verdict: plan.Pass}
	}
	items = clipAll(items)
	return plan.CheckResult{Verdict: plan.Fail, Details: fmt.Sprintf(what, format.Plural(n, "task")), Items: items}
}

func (s *State) limit(ok bool, details string) plan.CheckResult {
	if ok {
		return plan.CheckResult{Verdict: plan.Pass}
	}
	return plan.CheckResult{Verdict: plan.Fail, Details: clip(details, maxDetails)}
}

// unreachable returns the ids of waiting tasks that depend on a task that cannot be done.
func (s *State) unreachable() []string {
	n := s.tasks.stages
	if n[stageFailed]+n[stageBlocked]+n[stageEscalated] == 0 {
		return nil
	}
	seen := map[int]bool{}
	var queue []int
	for i := s.tasks.first; i != none; i = s.tasks.all[i].next {
		if s.tasks.all[i].Stage != stageWaiting {
			queue = append(queue, i)
		}
	}
	var ids []string
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range s.tasks.needed[i] {
			if t := s.tasks.all[j]; !seen[j] && t.Stage == stageWaiting {
				seen[j] = true
				ids = append(ids, t.ID)
				queue = append(queue, j)
			}
		}
	}
	return ids
}
