package state

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
)

// Saved is what the supervisor knows of its checkpoints, which no record reports.
type Saved struct {
	// Due says that the time for a checkpoint has passed.
	Due bool
	// Soft says that a checkpoint was made in this segment past the soft limit.
	Soft bool
}

// Own answers a check from the state; ok is false for one that it cannot answer.
func (s *State) Own(name check.Name, saved Saved) (result check.Result, ok bool) {
	n := s.tasks.stages
	switch name {
	case check.Todos:
		open := []Stage{Waiting, Failed, Blocked, Escalated}
		result = verdict(n[Waiting]+n[Failed]+n[Blocked]+n[Escalated], "%s not done", s.some(open...))
	case check.Pending:
		result = verdict(n[Waiting], "%s waiting", s.some(Waiting))
	case check.Problems:
		open := []Stage{Failed, Blocked, Escalated}
		result = verdict(n[Failed]+n[Blocked]+n[Escalated], "%s with an open problem", s.some(open...))
	case check.Dependencies:
		lost := s.unreachable()
		result = verdict(len(lost), "%s after one that cannot be done", lost)
	case check.Corrections:
		result = verdict(s.Round.Open, "%s of a correction not through", nil)
	case check.Checkpoints:
		result = s.limit(!saved.Due, "a checkpoint is due")
	case check.SoftLimit:
		result = s.limit(s.SegmentCalls < s.limits.SoftCalls || saved.Soft,
			fmt.Sprintf("%d tool calls without a checkpoint (limits.soft_calls %d)", s.SegmentCalls, s.limits.SoftCalls))
	case check.ToolCalls:
		result = s.limit(s.SegmentCalls < s.limits.HardCalls,
			fmt.Sprintf("%d tool calls in segment %d (limits.hard_calls %d)", s.SegmentCalls, s.Segment, s.limits.HardCalls))
	case check.StopGuard:
		result = s.deferred()
	default:
		return check.Result{}, false
	}
	result.Name, result.Own = name, true
	return result, true
}

// verdict passes if nothing was found.
func verdict(n int, what string, items []string) check.Result {
	if n == 0 {
		return check.Result{Verdict: check.Pass}
	}
	items = clipAll(items)
	return check.Result{Verdict: check.Fail, Details: fmt.Sprintf(what, count(n, "task")), Items: items}
}

func (s *State) limit(ok bool, details string) check.Result {
	if ok {
		return check.Result{Verdict: check.Pass}
	}
	return check.Result{Verdict: check.Fail, Details: Clip(details, MaxDetails)}
}

// unreachable returns the ids of the tasks that wait for one that is not waiting, and not
// done. It looks at these only.
func (s *State) unreachable() []string {
	n := s.tasks.stages
	if n[Failed]+n[Blocked]+n[Escalated] == 0 {
		return nil
	}
	seen := map[int]bool{}
	var way []int
	for i := s.tasks.first; i != none; i = s.tasks.all[i].next {
		if s.tasks.all[i].Stage != Waiting {
			way = append(way, i)
		}
	}
	var ids []string
	for len(way) > 0 {
		i := way[0]
		way = way[1:]
		for _, j := range s.tasks.needed[i] {
			if t := s.tasks.all[j]; !seen[j] && t.Stage == Waiting {
				seen[j] = true
				ids = append(ids, t.ID)
				way = append(way, j)
			}
		}
	}
	return ids
}

// Bounded returns a result of a probe as a record holds it.
func Bounded(c check.Result) check.Result {
	c.Details, c.Output = Clip(c.Details, MaxDetails), Clip(c.Output, maxOutput)
	c.Items = clipAll(c.Items)
	return c
}
