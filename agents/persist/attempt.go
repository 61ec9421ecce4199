package persist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
)

// attempt is an attempt in progress. It is the Meter of its worker.
type attempt struct {
	run    *supervisor
	cancel context.CancelCauseFunc
	stop   func() // the watchdog's timer

	// parallel is true for an attempt beside others. Each of them may make the calls of a segment.
	parallel bool

	active   time.Duration // time of the last activity
	progress time.Duration // time when a task was done last
	pauses   int           // in progress
	paused   time.Duration // since when, during a pause
	calls    int
	full     bool // the segment has no room for a call
	over     bool
	touched  map[string]bool
	files    []string // touched, in order
}

// attemptTask attempts a task, from the intent to the outcome. The caller holds the lock, which is
// released while the worker works.
func (r *supervisor) attemptTask(move state.Move) *ending {
	if move.Wait > 0 && r.waited != r.state.Counts.Attempts {
		return r.waitForOutage(move)
	}
	if err := r.recordIntent(move); err != nil {
		return r.saveFailure(err)
	}
	task := r.state.Task(move.Task)
	a, ctx, stop := r.newAttempt(task)
	defer stop()
	assignment := r.assignment(task, a, r.ReadFile)
	r.continueSession(&assignment, task, move.Again)
	r.attempt = a
	a.watch()
	r.mu.Unlock()
	out := work(ctx, r.Workers[task.Worker()], assignment)
	judged := r.judge(task.Do, out)
	r.mu.Lock()
	a.over, r.attempt = true, nil
	a.stop()
	out, cause := a.graded(ctx, task, out)
	if out.Used != nil {
		out.Used = new(out.Used.Plus(r.cutOff))
	}
	r.cutOff = nil
	o, end := r.outcomeOf(a, out, cause, judged)
	if o == nil {
		r.cutOff = out.Used
		return end
	}
	return r.settle(move.Task, *o, a.files, judged.verdict, end)
}

// newAttempt returns an attempt at a task with its context. The caller must call stop.
func (r *supervisor) newAttempt(task state.Task) (a *attempt, ctx context.Context, stop func()) {
	a = &attempt{run: r, active: r.now(), progress: r.state.Progress, touched: map[string]bool{}}
	if r.now()-a.progress >= r.limits.NoProgress.Std() { // the time went to checks, not to a task
		a.progress = r.now()
	}
	ctx, a.cancel = context.WithCancelCause(r.ctx)
	release := func() {}
	if limit := task.Timeout.Std(); limit > 0 {
		ctx, release = r.Clock.WithTimeout(ctx, limit)
	}
	return a, ctx, func() {
		release()
		a.cancel(context.Canceled)
	}
}

// assignment returns the assignment of the last attempt at a task, whose files are read with read.
func (r *supervisor) assignment(task state.Task, a *attempt, read fileReader) Assignment {
	return Assignment{
		Task: task.Task, Key: task.Key(), Attempt: task.Attempts, Segment: r.state.Segment,
		Prompt: r.prompt(task, read), Meter: a,
	}
}

// ruling is the verdict of the stop guard on an answer.
type ruling struct {
	verdict *stop.Verdict // nil if the guard was not asked or failed
	failed  string
}

// judge asks the stop guard about the answer to a task that is done.
func (r *supervisor) judge(request string, out Outcome) (j ruling) {
	answer := cmp.Or(out.Prose, out.Answer)
	if out.Grade != Done || answer == "" || clock.Err(r.ctx) != nil {
		return ruling{}
	}
	defer func() {
		if p := recover(); p != nil {
			j = ruling{failed: fmt.Sprintf("the stop guard failed: panic: %v", p)}
		}
	}()
	v := r.Judge(r.ctx, request, answer)
	return ruling{verdict: &v}
}

// waitForOutage waits during an outage. Afterwards the next move is decided again.
func (r *supervisor) waitForOutage(move state.Move) *ending {
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	r.waited = r.state.Counts.Attempts
	task := r.state.Task(move.Task)
	r.emit(r.waited, fmt.Sprintf("%s; waiting for %s", r.state.DescribeOutage(), move.Wait), waited{task.ID, int(move.Wait.Seconds())})
	r.mu.Unlock()
	err := r.Clock.Sleep(r.ctx, move.Wait)
	r.mu.Lock()
	if err != nil && clock.Err(r.ctx) == nil {
		return failure("wait for an unavailable resource", err)
	}
	return nil // endEarly returns the reason if the run ends
}

// recordIntent writes the intent of an attempt together with the pending records.
func (r *supervisor) recordIntent(move state.Move) error {
	if !move.Again {
		task := r.state.Task(move.Task)
		record := state.Record{Kind: state.KindIntent, Task: task.ID, Attempt: task.Attempts + 1}
		if _, parallel := r.state.AttemptAt(move.Task); !parallel { // its begin has the session
			record.Session = r.sessionOf(task)
		}
		r.enterContext(&record, task.Files, move.Task)
		if err := r.put(record); err != nil {
			return err
		}
		r.emitContext(record)
	}
	return r.flush()
}

// work calls the worker and turns a panic into a failed attempt.
func work(ctx context.Context, w Worker, a Assignment) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = Outcome{Grade: Failed, Details: fmt.Sprintf("panic: %v", p)}
		}
	}()
	return w.Work(ctx, a)
}

// graded returns the outcome with its grade, which depends on the reason for the end of the attempt,
// and the cause if it stalled. A task that is done stays done, however late.
func (a *attempt) graded(ctx context.Context, task state.Task, out Outcome) (graded Outcome, stalled string) {
	cause, limits := clock.Err(ctx), a.run.limits
	fail := func(stalled, format string, args ...any) (Outcome, string) {
		out.Grade, out.Later, out.Details = Failed, false, fmt.Sprintf(format, args...)
		return out, stalled
	}
	switch {
	case out.Grade == Done:
	case !slices.Contains([]Grade{Failed, Blocked, Escalated, Split}, out.Grade):
		return fail("", "the worker returned the unknown grade %q; %s", out.Grade, out.Details)
	case errors.Is(cause, errStagnation):
		return fail(state.CauseStagnation, "no activity for %s (limits.stagnation)", limits.Stagnation)
	case errors.Is(cause, errNoProgress):
		return fail(state.CauseNoProgress, "no task was done in %s of activity (limits.no_progress)", limits.NoProgress)
	case a.full && out.Grade == Failed:
		out.Grade = Split
	case errors.Is(cause, context.DeadlineExceeded) && clock.Err(a.run.ctx) == nil:
		return fail("", "no result within %s (timeout)", task.Timeout)
	}
	return out, ""
}

// outcomeOf returns the outcome to record of an attempt, and the end of the run if its budget is used up. An
// attempt during which the run ended has no outcome; the next run repeats it.
func (r *supervisor) outcomeOf(a *attempt, out Outcome, cause string, j ruling) (o *state.Outcome, end *ending) {
	if out.Grade != Done && (r.broken != nil || clock.Err(r.ctx) != nil) {
		return nil, nil // endEarly returns the reason
	}
	grade := string(out.Grade)
	if out.Grade != Done && out.Capped != "" {
		end = ended(run.Overspent(out.Capped, cmp.Or(r.Budget.Check(), errors.New(cmp.Or(out.Details, "the worker was capped")))))
		if out.Answer == "" && out.Carry == "" {
			return nil, end
		}
		grade = state.GradePaused // the next run continues from this answer
	}
	o = &state.Outcome{
		Grade: grade, Answer: out.Answer, Details: detailsOf(out), Carry: out.Carry, Inert: out.Inert,
		Cause: cause, Later: out.Later && out.Grade == Failed, Calls: a.calls, Spent: r.spent(out), Used: out.Used,
		Session: out.Session, Unjudged: j.failed,
	}
	if v := j.verdict; v != nil && !v.MayStop {
		o.Refused, o.Steps = cmp.Or(v.Reason, "it may not stop"), v.Order().Steps
	}
	return o, end
}

// settle records the outcome of the attempt in progress and keeps or merges its files. If the task has
// acceptance commands, a report is recorded instead, and the commands are next.
func (r *supervisor) settle(task int, o state.Outcome, files []string, v *stop.Verdict, end *ending) *ending {
	t := r.state.Task(task)
	kind := state.KindOutcome
	if o.Grade == string(Done) && len(r.Accept[t.ID]) > 0 {
		end = cmp.Or(end, r.refresh(t, &o))
		if o.Grade == string(Done) { // without a conflict
			kind = state.KindReport
		}
	} else {
		end = cmp.Or(end, r.keepFiles(t, &o))
	}
	record := state.Record{Kind: kind, Task: t.ID, Attempt: t.Attempts, Outcome: &o}.Bounded()
	r.enterContext(&record, files, task)
	if err := r.put(record); err != nil {
		return r.saveFailure(err)
	}
	r.emitAttempt(t, record, v)
	if end == nil && o.Grade == string(Escalated) {
		return r.ask(t, o.Details)
	}
	return end
}

func detailsOf(out Outcome) string {
	if out.Warning == "" {
		return out.Details
	}
	return strings.TrimPrefix(out.Details+"; "+out.Warning, "; ")
}

// spent returns the total of the run after an outcome.
func (r *supervisor) spent(out Outcome) state.Spent {
	if r.Budget != nil {
		return state.Spent(r.Budget.Spent())
	}
	spent := r.state.Spent
	if out.Usage != nil {
		spent.Tokens += out.Usage.Total()
	}
	return spent
}

// watch ends an attempt that was idle or without progress for too long. Otherwise it starts the timer
// of the watchdog.
func (a *attempt) watch() {
	r := a.run
	a.stop = func() {}
	if a.pauses > 0 { // resuming calls watch
		return
	}
	idle := a.active + r.limits.Stagnation.Std() - r.now()
	stuck := a.progress + r.limits.NoProgress.Std() - r.now()
	switch {
	case idle <= 0:
		a.cancel(errStagnation)
	case stuck <= 0:
		a.cancel(errNoProgress)
	default:
		a.stop = r.Clock.AfterFunc(min(idle, stuck), func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if !a.over && !r.closed {
				a.watch()
			}
		})
	}
}

// Call implements Meter.
func (a *attempt) Call(n int) error {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	a.active = r.now()
	before := a.calls
	if !a.parallel {
		before += r.state.SegmentCalls
	}
	// A call that exceeds a whole segment gets its own segment.
	if a.over || before+n > r.limits.HardCalls && before > 0 {
		a.full = true
		a.cancel(ErrSegment)
		return ErrSegment
	}
	if r.broken != nil {
		return r.broken
	}
	a.calls += n
	if !a.parallel && before+n >= r.limits.SoftCalls && r.saved.Soft != r.state.Segment {
		r.softLimit()
	}
	return r.broken
}

// softLimit saves a checkpoint before the segment ends.
func (r *supervisor) softLimit() {
	detail := fmt.Sprintf("%d tool calls in segment %d (limits.soft_calls %d)", r.calls(), r.state.Segment, r.limits.SoftCalls)
	r.emit(r.state.Segment, detail, Guarded{"soft-limit", r.taskID(r.state.Running)})
	if err := r.checkpoint("soft-limit"); err != nil {
		r.fail(err)
	}
}

// calls returns the tool calls of the segment, including those of the attempt in progress.
func (r *supervisor) calls() int {
	n := r.state.SegmentCalls
	if r.attempt != nil {
		n += r.attempt.calls
	}
	return n
}

// Active implements Meter.
func (a *attempt) Active() {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.active = a.run.now()
}

// Pause implements Meter.
func (a *attempt) Pause() (resume func()) {
	r := a.run
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.pauses++; a.pauses == 1 {
		a.paused = r.now()
	}
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if a.pauses--; a.pauses > 0 || a.over {
			return
		}
		a.active = r.now()
		a.progress += r.now() - a.paused
		a.stop()
		a.watch()
	})
}

// Touch implements Meter.
func (a *attempt) Touch(paths ...string) {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.active = a.run.now()
	for _, path := range paths {
		if !a.touched[path] && len(a.files) < maxFiles && len(path) <= maxPath {
			a.touched[path] = true
			a.files = append(a.files, path)
		}
	}
}

// The limits of the files that an attempt adds to the context.
const (
	maxFiles = 1000
	maxPath  = 4096 // bytes
)
