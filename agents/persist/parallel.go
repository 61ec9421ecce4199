package persist

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/clock"
)

// attemptNext makes the next step of the work on tasks: a whole attempt, or with Forks the begin or the end
// of parallel attempts.
func (r *supervisor) attemptNext(move state.Move) *ending {
	if r.Forks == nil {
		return r.attemptTask(move)
	}
	if move.Again {
		a, parallel := r.state.AttemptAt(move.Task)
		if !parallel { // it was begun in the plan's folder
			return r.attemptTask(move)
		}
		return r.settle(move.Task, *a.Outcome, a.Files, nil, nil)
	}
	waits := move.Wait > 0 && r.waited != r.state.Counts.Attempts
	if !waits {
		if end := r.startAttempts(); end != nil {
			return end
		}
	}
	if task, due := r.state.Due(); due {
		return r.recordAttempt(task)
	}
	switch {
	case r.forks.capped != nil:
		return r.forks.capped
	case len(r.forks.live) > 0:
		return r.awaitAttempt()
	case waits:
		return r.waitForOutage(move)
	}
	return failure("the run cannot continue", errors.New("no attempt can begin"))
}

// startAttempts begins attempts until Parallel are in progress.
func (r *supervisor) startAttempts() *ending {
	if r.forks.capped != nil {
		return nil
	}
	live := func(task int) bool { return r.forks.live[r.taskID(task)] != nil }
	for _, i := range r.state.Startable(max(r.Parallel, 1), live) {
		if end := r.startAttempt(i); end != nil {
			return end
		}
	}
	return nil
}

// startAttempt records the start of an attempt, and begins it in the folder of its task.
func (r *supervisor) startAttempt(i int) *ending {
	task := r.state.Task(i)
	task.Attempts++ // its intent follows
	_, again := r.state.AttemptAt(i)
	if !again {
		record := state.Record{Kind: state.KindStart, Task: task.ID, Attempt: task.Attempts, Session: r.sessionOf(task)}
		if err := r.put(record); err != nil {
			return r.saveFailure(err)
		}
	}
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	place, err := r.open(task)
	if err != nil && clock.Err(r.ctx) != nil {
		return nil // endEarly returns the reason
	}
	if err != nil {
		return failure("the attempt at the task "+task.ID+" cannot begin", err)
	}
	worker := place.Workers[task.Worker()]
	if worker == nil {
		return failure("the attempt at the task "+task.ID+" cannot begin", fmt.Errorf("its folder has no worker %q", task.Worker()))
	}
	a, ctx, stop := r.newAttempt(task)
	a.parallel, a.progress = true, r.now()
	assignment := r.assignment(task, a, place.ReadFile)
	r.continueSession(&assignment, task, again)
	r.forks.live[task.ID] = a
	a.watch()
	go func() {
		defer stop()
		out := work(ctx, worker, assignment)
		j := r.judge(task.Do, out)
		r.mu.Lock()
		defer r.mu.Unlock()
		a.over = true
		a.stop()
		delete(r.forks.live, task.ID)
		if err := r.endAttempt(ctx, task, a, out, j); err != nil {
			r.fail(err)
		}
		select {
		case r.forks.ended <- struct{}{}:
		default: // one is waiting already
		}
	}()
	return nil
}

// endAttempt records the end of a parallel attempt.
func (r *supervisor) endAttempt(ctx context.Context, task state.Task, a *attempt, out Outcome, j ruling) (err error) {
	defer func() {
		if p := recover(); p != nil { // of the sink
			err = fmt.Errorf("end an attempt at the task %s: panic: %v", task.ID, p)
		}
	}()
	out, cause := a.graded(ctx, task, out)
	if out.Used != nil && r.forks.killed[task.ID] {
		out.Used = new(out.Used.Plus(&unknownUse))
	}
	delete(r.forks.killed, task.ID)
	o, end := r.outcomeOf(a, out, cause, j)
	if end != nil && r.forks.capped == nil {
		r.forks.capped = end
	}
	now, begun := r.state.AttemptOf(task.ID)
	if o == nil || r.broken != nil || !begun || now.Number != task.Attempts { // an amendment ended it
		if out.Used != nil {
			r.forks.cut = append(r.forks.cut, state.CutOff{Task: task.ID, Used: *out.Used})
		}
		return nil
	}
	record := state.Record{Kind: state.KindFinish, Task: task.ID, Attempt: task.Attempts, Outcome: o, Files: a.files}.Bounded()
	if err := r.put(record); err != nil {
		return err
	}
	if err := r.flush(); err != nil {
		return err
	}
	if j.verdict != nil {
		r.emit(r.state.Counts.Attempts, j.verdict.Reason, j.verdict.Judgement())
	}
	due, ok := r.state.Due()
	r.emit(r.state.Counts.Attempts, o.Details, AttemptEnded{
		ID: task.ID, Attempt: task.Attempts, Grade: o.Grade, Waits: !ok || due != now.Task,
	})
	return nil
}

// recordAttempt records the intent and the outcome of a parallel attempt that is due, and merges its files.
func (r *supervisor) recordAttempt(i int) *ending {
	a, _ := r.state.AttemptAt(i)
	if err := r.recordIntent(state.Move{Kind: state.KindIntent, Task: i}); err != nil {
		return r.saveFailure(err)
	}
	o := *a.Outcome
	o.Spent = r.spent(Outcome{})
	if end := r.settle(i, o, a.Files, nil, nil); end != nil {
		return end
	}
	return r.forgetFork(i)
}

// forgetFork removes the folder of a task that is over, after its outcome is written.
func (r *supervisor) forgetFork(i int) *ending {
	if r.Forks == nil || !r.state.Task(i).Over() {
		return nil
	}
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	if err := r.removeForks(); err != nil {
		return failure("the work tree of the task "+r.taskID(i)+" could not be removed", err)
	}
	return nil
}

// awaitAttempt waits until an attempt has ended.
func (r *supervisor) awaitAttempt() *ending {
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	r.awaitEnded()
	return nil
}

// endAttempts ends all parallel attempts, and waits until they have ended.
func (r *supervisor) endAttempts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.forks.live) == 0 {
		return
	}
	r.cancel(context.Canceled)
	for len(r.forks.live) > 0 {
		r.awaitEnded()
	}
}

// awaitEnded waits for the signal of an attempt that has ended, without the lock.
func (r *supervisor) awaitEnded() {
	r.mu.Unlock()
	defer r.mu.Lock()
	<-r.forks.ended
}

// saveAfterSoftLimit saves a checkpoint if recorded parallel attempts exceeded the soft limit of the segment.
func (r *supervisor) saveAfterSoftLimit() error {
	if r.Forks != nil && r.state.SegmentCalls >= r.limits.SoftCalls && r.saved.Soft != r.state.Segment {
		r.softLimit()
	}
	return r.broken
}
