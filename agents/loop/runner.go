package loop

import (
	"cmp"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// runner is the state of one run.
type runner struct {
	run.Run
	set Settings
	dep Deps

	breaker run.Breaker
	stalled progress
	errors  run.Repeats // of equal errors
	failed  int         // calls in a row

	dialogue dialogue
	refused  map[string]bool // completions that the stop guard refused
	refusals int
	todos    todoList
	same     run.Repeats // of refusals that leave equal steps
	left     []string    // the steps that the last prompt asks for
	result   Result
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
			return stop.Judge(said, stop.Options{Policy: s.StopGuard})
		}
	}
	r := &runner{
		set:      s,
		dep:      d,
		stalled:  newProgress(s),
		dialogue: newDialogue(s, d.Conversational),
		todos:    todoList{oneByOne: s.Todos == OneByOne, emit: d.Sink.Emit},
		refused:  map[string]bool{},
		result:   Result{Backend: cmp.Or(d.BackendID, s.Backend), Transcript: []Entry{}},
	}
	r.Run = run.New(run.Caller{
		Backend: d.Backend, ID: r.result.Backend, Clock: d.Clock, CallTimeout: s.CallTimeout.Std(),
		Budgets: []*llm.Budget{llm.NewBudget(s.Budget, d.Price, d.EURPerUSD), d.Shared},
	}, s.Timeout)
	if s.Breaker != nil {
		r.breaker = run.Breaker{Failures: s.Breaker.Failures, MaxOpens: s.Breaker.MaxOpens}
	}
	return r
}

// loop iterates until there is an ending.
func (r *runner) loop() *run.Ending {
	for n := 1; n <= r.set.MaxIterations; n++ {
		if end := r.ready(n); end != nil {
			return end
		}
		reply, err := r.call(n)
		if end := r.judge(n, reply, err); end != nil {
			return end
		}
	}
	return &run.Ending{
		Status: StatusMaxIterations, Guard: "max_iterations",
		Details: fmt.Sprintf("stopped after %d iterations without completion (max_iterations %d)", r.set.MaxIterations, r.set.MaxIterations),
	}
}

// ready returns the ending if the next call may not be made. It waits while the circuit is
// open.
func (r *runner) ready(n int) *run.Ending {
	if end := r.Over(); end != nil {
		return end
	}
	if end := r.Reserve(); end != nil {
		return end
	}
	if r.breaker.State() != run.Open {
		return nil
	}
	cooldown := r.set.Breaker.Cooldown
	if err := r.dep.Clock.Sleep(r.Context, cooldown.Std()); err != nil {
		return cmp.Or(r.Over(), &run.Ending{Status: StatusError, Details: "waiting for the circuit to cool: " + err.Error(), Err: err})
	}
	r.moveBreaker(n, fmt.Sprintf("cooled for %s, one call is tried", cooldown), r.breaker.Cooled)
	return r.Over()
}

// moveBreaker moves the circuit breaker and emits a change of its state.
func (r *runner) moveBreaker(n int, why string, move func()) {
	from := r.breaker.State()
	move()
	to := r.breaker.State()
	if from == to {
		return
	}
	r.dep.Sink.Emit(event.New(n, fmt.Sprintf("circuit %s, was %s: %s", to, from, why), BreakerMoved{string(from), string(to)}))
}

// finish completes the result and reports the end.
func (r *runner) finish(end *run.Ending) Result {
	res := &r.result
	res.Status, res.ExitCode = end.Status, end.Status.ExitCode()
	res.Guard, res.Details, res.Err = end.Guard, end.Details, end.Err
	res.Todos = r.todos.all
	res.Iterations, res.Duration = len(res.Transcript), r.Elapsed()
	res.Prose = r.said(res.Text, r.claim(llm.Reply{Text: res.Text}).summary)
	if end.Guard != "" {
		r.dep.Sink.Emit(event.Event{Kind: event.Guard, Name: end.Guard, N: res.Iterations, Detail: end.Details})
	}
	r.dep.Sink.Emit(end.Event(res.Iterations))
	return *res
}
