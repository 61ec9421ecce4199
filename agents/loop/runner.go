package loop

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/call"
	"github.com/rehearse-dev/rehearse/agents/internal/guard"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// runner is the state of one run.
type runner struct {
	set    Settings
	dep    Deps
	caller call.Caller
	outer  context.Context // ends with the user's interrupt
	ctx    context.Context // ends when the run's time is up, too
	start  time.Time

	breaker guard.Breaker
	stalled progress
	errors  guard.Run // of equal errors
	failed  int       // calls in a row

	dialogue dialogue
	refused  map[string]bool // completions that the stop guard refused
	refusals int
	todos    todoList
	same     guard.Run // of refusals that leave equal steps
	left     []string  // the steps that the last prompt asks for
	result   Result
}

// ending is why a run ends; nil means that it goes on.
type ending struct {
	status  Status
	guard   string // the option whose limit was reached
	details string
	err     error
}

func newRunner(s Settings, d Deps) *runner {
	if d.Clock == nil {
		d.Clock = clock.Real()
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	if d.judge == nil && s.StopGuard != GuardOff {
		d.judge = func(said string) stop.Verdict {
			return stop.Judge(said, stop.Options{Policy: stop.Policy(s.StopGuard)})
		}
	}
	r := &runner{
		set:      s,
		dep:      d,
		start:    d.Clock.Now(),
		stalled:  newProgress(s),
		dialogue: newDialogue(s, d.Conversational),
		todos:    todoList{oneByOne: s.Todos == OneByOne, emit: d.Sink.Tell},
		refused:  map[string]bool{},
		result:   Result{Backend: cmp.Or(d.BackendID, s.Backend), Transcript: []Entry{}},
	}
	r.caller = call.Caller{
		Backend: d.Backend, ID: r.result.Backend, Clock: d.Clock, Timeout: s.CallTimeout.Std(),
		Budgets: []*budget.Budget{budget.New(s.Budget, d.Price, d.EURPerUSD), d.Shared},
	}
	if s.Breaker != nil {
		r.breaker = guard.Breaker{Failures: s.Breaker.Failures, MaxOpens: s.Breaker.MaxOpens}
	}
	return r
}

func (r *runner) elapsed() time.Duration { return r.dep.Clock.Now().Sub(r.start) }

// loop iterates until there is an ending.
func (r *runner) loop() *ending {
	for n := 1; n <= r.set.MaxIterations; n++ {
		if end := r.ready(n); end != nil {
			return end
		}
		reply, err := r.call(n)
		if end := r.judge(n, reply, err); end != nil {
			return end
		}
	}
	return &ending{
		status: StatusMaxIterations, guard: "max_iterations",
		details: fmt.Sprintf("stopped after %d iterations without completion (max_iterations %d)", r.set.MaxIterations, r.set.MaxIterations),
	}
}

// ready returns why the next call may not be made. It waits while the circuit is
// open.
func (r *runner) ready(n int) *ending {
	if end := r.over(); end != nil {
		return end
	}
	if end := spent(r.caller.Reserve()); end != nil {
		return end
	}
	if r.breaker.State() != guard.Open {
		return nil
	}
	cooldown := r.set.Breaker.Cooldown
	if err := r.dep.Clock.Sleep(r.ctx, cooldown.Std()); err != nil {
		return cmp.Or(r.over(), &ending{status: StatusError, details: "waiting for the circuit to cool: " + err.Error(), err: err})
	}
	r.moveBreaker(n, fmt.Sprintf("cooled for %s, one call is tried", cooldown), r.breaker.Cooled)
	return r.over()
}

// limits returns the ending that goes before anything an answer says.
func (r *runner) limits() *ending {
	return cmp.Or(r.interrupted(), spent(r.caller.Check()), r.over())
}

func (r *runner) interrupted() *ending {
	err := r.span().Interrupted()
	if err == nil {
		return nil
	}
	return &ending{status: StatusInterrupted, details: "interrupted: " + err.Error(), err: err}
}

// over returns the ending if the user interrupted or the time is up.
func (r *runner) over() *ending {
	if end := r.interrupted(); end != nil {
		return end
	}
	details, own, err := r.span().Over()
	if err == nil {
		return nil
	}
	end := &ending{status: StatusTimeout, details: details, err: err}
	if own {
		end.guard = "timeout"
	}
	return end
}

func (r *runner) span() call.Span {
	return call.Span{Outer: r.outer, Run: r.ctx, Timeout: r.set.Timeout}
}

// spent returns the ending if a cap tripped.
func spent(e *budget.Exceeded) *ending {
	if e == nil {
		return nil
	}
	option := "budget." + e.Cap
	return &ending{status: StatusBudget, guard: option, details: fmt.Sprintf("stopped: %s (%s)", e, option), err: e}
}

// moveBreaker moves the circuit breaker and tells if its state changed.
func (r *runner) moveBreaker(n int, why string, move func()) {
	from := r.breaker.State()
	move()
	to := r.breaker.State()
	if from == to {
		return
	}
	r.dep.Sink.Tell(event.Event{
		Kind: event.State, Name: "breaker", N: n, Detail: fmt.Sprintf("circuit %s, was %s: %s", to, from, why),
		Attrs: map[string]any{"from": string(from), "to": string(to)},
	})
}

// finish completes the result and tells of the end.
func (r *runner) finish(end *ending) Result {
	res := &r.result
	res.Status, res.ExitCode = end.status, end.status.ExitCode()
	res.Guard, res.Details, res.Err = end.guard, end.details, end.err
	res.Todos = r.todos.all
	res.Iterations, res.Duration = len(res.Transcript), r.elapsed()
	res.Prose = r.said(res.Text, r.verdict(llm.Reply{Text: res.Text}).Summary)
	if end.guard != "" {
		r.dep.Sink.Tell(event.Event{Kind: event.Guard, Name: end.guard, N: res.Iterations, Detail: end.details})
	}
	r.dep.Sink.Tell(event.Event{
		Kind: event.End, Name: string(end.status), N: res.Iterations, Detail: end.details,
		Attrs: map[string]any{"exit_code": res.ExitCode},
	})
	return *res
}
