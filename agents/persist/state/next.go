package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Move is the next action of the supervisor.
type Move struct {
	// Kind is the kind of record that the move writes: KindIntent for an attempt at a task or for the end of
	// parallel attempts, KindOutcome for the acceptance of a reported task, KindCheck, KindDerive for a round,
	// KindSegment or KindEnd.
	Kind Kind
	// Task is the index of the task to attempt or to accept. Again is true if the intent is recorded already,
	// by a process that was killed.
	Task  int
	Again bool
	// Wait is the time to wait before the attempt.
	Wait time.Duration
	// Why is the reason for a check.
	Why Why
	// Forced is true for a round without which the run could stop.
	Forced bool
	// Tasks are the tasks of a round.
	Tasks []Derived
	// End is the end of the run.
	End End
}

// Next returns the next move. It only depends on the state.
func (s *State) Next() Move {
	ready := s.tasks.ready.Len() > 0
	down := s.Outage >= maxOutage
	full := s.Split || s.SegmentCalls >= s.limits.HardCalls
	begun := len(s.Parallel) > 0
	switch {
	case s.End != nil:
		return Move{Kind: KindEnd, End: *s.End}
	case s.Running >= 0 && s.Reported != nil:
		return Move{Kind: KindOutcome, Task: s.Running}
	case s.Running >= 0:
		return Move{Kind: KindIntent, Task: s.Running, Again: true}
	case s.Recheck && len(s.Results) > 0:
		return Move{Kind: KindCheck, Why: whyAfterTask}
	case full && s.Segment < s.limits.Segments:
		return Move{Kind: KindSegment}
	case ready && s.Round.Open == 0 && s.Since >= s.limits.CheckEvery:
		return Move{Kind: KindCheck, Why: whyInterval}
	}
	if s.Fresh && s.mayRound(ready) && !full && !down {
		return Move{Kind: KindDerive, Tasks: s.nextRound(), Forced: !ready}
	}
	switch {
	case ready && (!full && !down || begun): // parallel attempts end first
		return Move{Kind: KindIntent, Task: s.tasks.ready.heap[0], Wait: outageWait(s.Outage)}
	case !s.Fresh && s.Round.Failures != "":
		return Move{Kind: KindCheck, Why: whyFinal}
	case !s.Fresh:
		return Move{Kind: KindCheck, Why: whyQueueEmpty}
	}
	return Move{Kind: KindEnd, End: s.end(full && ready)}
}

// maxOutage is the largest number of attempts in a row that fail because of an outage.
const maxOutage = 10

// DescribeOutage describes the current outage for a person.
func (s *State) DescribeOutage() string {
	return fmt.Sprintf("a resource is unavailable (failure %d of %d in a row): %s", s.Outage, maxOutage, s.Down)
}

// outageWait returns the time to wait after n such attempts. All waits together cover more than an
// hour.
func outageWait(n int) time.Duration {
	waits := []time.Duration{0, 30 * time.Second, 2 * time.Minute, 8 * time.Minute, 10 * time.Minute}
	return waits[min(n, len(waits)-1)]
}

// mayRound reports whether failed checks begin a round. While the plan has ready tasks, only new
// failures do, because the plan may fix the others. Afterwards, the failures of the last round begin
// another one only if a task of the plan was done since.
func (s *State) mayRound(ready bool) bool {
	failures := s.failures()
	if failures == "" || s.Round.Open > 0 || s.Round.InRow >= s.limits.Rounds {
		return false
	}
	return failures != s.Round.Failures || !ready && s.Round.Moved
}

// end returns the end of a run without further moves, after a full check. Outspent is true if the last
// segment has no tool call left.
func (s *State) end(outspent bool) End {
	failed, unknown := s.named(plan.Fail), s.named(plan.Unknown)
	end := End{Spent: s.Spent}
	switch n := s.tasks.stages; {
	case s.Outage >= maxOutage && s.tasks.ready.Len() > 0: // otherwise no task needs the resource
		end.Status, end.Guard = "blocked", "outage"
		end.Details = fmt.Sprintf("stopped because a resource was unavailable in %d attempts in a row; last failure: %s", s.Outage, s.Down)
	case n[stageEscalated] > 0:
		end.Status = "escalated"
		end.Details = "a person must decide: " + s.describeTasks(stageEscalated)
	case n[stageFailed]+n[stageBlocked] > 0 || n[stageWaiting] > 0 && !outspent:
		end.Status = "blocked"
		end.Details = s.blockage(outspent)
	case outspent:
		end.Status, end.Guard = "capped", "segments"
		end.Details = fmt.Sprintf("stopped because segment %d, the last one, has no tool call left (limits.segments %d)",
			s.Segment, s.limits.Segments)
	case len(failed) > 0:
		end.Status = "capped"
		end.Guard, end.Details = s.capped(failed)
	case len(unknown) > 0:
		end.Status = "escalated"
		end.Details = "a person must review the work: " + s.describeChecks(unknown) + " could not be checked"
	case s.Inert > 0 && !s.probed():
		end.Status, end.Guard = "escalated", "unverified"
		end.Details = fmt.Sprintf("a person must review the work: %s done by a worker that cannot change anything, "+
			"and no check verifies the result; add a check with a command to the plan, or use an agent with tools",
			format.Plural(s.Inert, "task"))
	default:
		end.Status = "complete"
		end.Details = s.complete()
	}
	end.Details = clip(end.Details, maxDetails)
	return end
}

// probed reports whether a probe passed. Markers do not count, because they do not verify work.
func (s *State) probed() bool {
	return slices.ContainsFunc(s.Results, func(c plan.CheckResult) bool {
		return c.Verdict == plan.Pass && !c.Own && len(s.plan.Checks[c.Name].Markers) == 0
	})
}

// capped returns the limit that leaves checks failing.
func (s *State) capped(failed []plan.Check) (guard, details string) {
	if s.Round.InRow >= s.limits.Rounds {
		return "rounds", fmt.Sprintf("stopped after %s (limits.rounds) with %s failing",
			format.Plural(s.Round.InRow, "round"), s.describeChecks(failed))
	}
	return "no_progress", fmt.Sprintf("stopped because a round changed nothing: %s still failing", s.describeChecks(failed))
}

// blockage describes the tasks that cannot be done.
func (s *State) blockage(outspent bool) string {
	var parts []string
	if s.tasks.stages[stageFailed]+s.tasks.stages[stageBlocked] > 0 {
		parts = append(parts, s.describeTasks(stageFailed, stageBlocked))
	}
	lost := s.unreachable()
	if len(lost) == 0 && !outspent { // the tasks wait for each other
		lost = s.some(stageWaiting)
	}
	if n := len(lost); n > 0 {
		named := strings.Join(lost[:min(n, plan.MaxFindings)], ", ")
		parts = append(parts, fmt.Sprintf("%s with such a dependency (%s)", format.Plural(n, "task"), named))
	}
	return "the remaining tasks cannot be done: " + strings.Join(parts, "; ")
}

// describeTasks describes the tasks of the given stages with their details.
func (s *State) describeTasks(stages ...Stage) string {
	const most = 3
	var parts []string
	more := 0
	s.tasks.open(func(t *Task) bool {
		if !slices.Contains(stages, t.Stage) {
			return true
		}
		if len(parts) == most {
			more++
			return true
		}
		text := fmt.Sprintf("task %q %s", t.ID, t.Stage)
		if t.Details != "" {
			text += ": " + clip(t.Details, maxItem)
		}
		parts = append(parts, text)
		return true
	})
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

func (s *State) complete() string {
	text := fmt.Sprintf("%s done, every check passes", format.Plural(s.tasks.stages[stageDone], "task"))
	if left := s.named(plan.None); len(left) > 0 {
		text += "; not checked: " + join(left)
	}
	return text
}

// named returns the checks whose last verdict is v.
func (s *State) named(v plan.Verdict) []plan.Check {
	var names []plan.Check
	for _, c := range s.Results {
		if c.Verdict == v {
			names = append(names, c.Name)
		}
	}
	return names
}

func (s *State) describeChecks(names []plan.Check) string {
	var parts []string
	for _, c := range s.Results {
		if !slices.Contains(names, c.Name) {
			continue
		}
		text := string(c.Name)
		if c.Details != "" {
			text += " (" + clip(c.Details, maxItem) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func join(names []plan.Check) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}
