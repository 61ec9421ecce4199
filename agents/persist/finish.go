package persist

import (
	"errors"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// finish records the end, saves the last checkpoint, and returns the result.
func (r *supervisor) finish(end *ending) Result {
	r.endAttempts()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if err := r.recordEnd(end); err != nil && end.Status != StatusError {
		end = r.saveFailure(errors.Join(err, end.Err))
	}
	r.emitLeftForks(r.removeForks())
	result := Result{Tasks: []Task{}}
	if r.written != nil {
		result = report(r.written, r.saved)
		result.Counts.Resumes = r.resumed
	}
	result.Status, result.ExitCode = end.Status, end.Status.ExitCode()
	result.Guard, result.Details, result.Err = end.Guard, end.Details, end.Err
	result.Duration = r.Clock.Now().Sub(r.start)
	r.emitEnd(end, result.Counts.Done, len(result.Tasks))
	return result
}

// recordEnd records the end of the run, except for an error.
func (r *supervisor) recordEnd(end *ending) error {
	if r.state == nil || end.recorded || end.Status == StatusError {
		return nil
	}
	last := &state.End{Status: string(end.Status), Guard: end.Guard, Details: end.Details, Spent: r.spent(Outcome{}), Used: r.cutOff}
	if err := r.put(state.Record{Kind: state.KindEnd, End: last, Cut: r.forks.cut}.Bounded()); err != nil {
		return err
	}
	return r.checkpoint("final")
}

// Look returns the stored state of a run without continuing it. The Status is empty if the run has
// not ended. The error wraps a *PlanChanged if the store belongs to another plan.
func Look(p plan.Plan, from reader) (Result, error) {
	f, _, err := fold(p, from)
	if err != nil {
		return Result{}, err
	}
	result := report(f.state, f.saved)
	if result.Counts.Resumes, err = resumes(from); err != nil {
		return Result{}, err
	}
	if f.state.End == nil {
		addCurrent(result.Tasks, f.state)
	}
	if end := f.state.End; end != nil {
		result.Status, result.Guard, result.Details = Status(end.Status), end.Guard, end.Details
		result.ExitCode = result.Status.ExitCode()
	}
	return result, nil
}

// addCurrent adds the attempts without a recorded outcome to the tasks of a state.
func addCurrent(tasks []Task, s *state.State) {
	if i := s.Running; i >= 0 {
		tasks[i].Current = &Current{Attempt: s.Task(i).Attempts}
		if s.Reported != nil {
			tasks[i].Current.Grade = Done
		}
	}
	for _, a := range s.Parallel {
		tasks[a.Task].Current = &Current{Attempt: a.Number}
		if a.Outcome != nil {
			tasks[a.Task].Current.Grade = Grade(a.Outcome.Grade)
		}
	}
}

func report(s *state.State, checkpoints saved) Result {
	c := s.Counts
	result := Result{
		Tasks: make([]Task, 0, s.Len()), Checks: s.Results, Answer: s.Answer, Used: s.Used,
		Counts: Counts{
			Done: s.CountDone(), Attempts: c.Attempts, Retries: c.Retries,
			Checks: c.Checks, Rounds: c.Rounds, Derived: c.Derived,
			Checkpoints: checkpoints.Checkpoints, Stagnations: c.Stagnations,
			Segments: s.Segment, ToolCalls: c.Calls,
			Evicted: c.Evicted, Restored: c.Restored,
		},
	}
	if inAttempt(s) || len(inParallel(s)) > 0 {
		result.Used = result.Used.Plus(&unknownUse)
	}
	for _, t := range s.Tasks() {
		if t.Skip != "" {
			t.Details = t.Skip
		}
		task := Task{
			ID: t.ID, Do: t.Do, State: string(t.Stage), Attempts: t.Attempts, From: string(t.From), Details: t.Details,
			Accepted: t.Accepted, Used: t.Used,
		}
		if t.Session != nil && !t.Over() {
			task.Session = t.Session.ID
		}
		result.Tasks = append(result.Tasks, task)
	}
	return result
}
