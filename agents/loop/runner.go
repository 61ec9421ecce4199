package loop

import (
	"cmp"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// runner runs one loop.
type runner struct {
	run.Run
	set Settings
	dep Deps

	breaker breaker
	stalled progress
	errors  run.Repeats   // of errors
	failed  int           // calls in a row
	denied  int           // iterations in a row that ended at the denial limit
	failing int           // iterations in a row that ended at the failure limit
	cutOff  int           // calls in which earlier processes were killed
	asked   time.Duration // the wait that the last failed call asked for
	until   time.Time     // the end of a usage limit, or zero

	events    *tap
	dialogue  dialogue
	session   session
	refused   map[string]bool // completions that the stop guard refused
	refusals  int
	unchecked int     // completions that checks did not confirm
	recorded  []Check // the checks of earlier processes that are left to replay
	// unconfirmed is the check that did not confirm the completion of this iteration; otherwise empty.
	unconfirmed string
	todos       todoList
	same        run.Repeats // of the steps that refusals leave
	left        []string    // steps that the last prompt asks for
	result      Result
}

func newRunner(s Settings, d Deps) *runner {
	if d.Clock == nil {
		d.Clock = clock.Real()
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	events := &tap{to: d.Sink}
	d.Sink = events
	if d.judge == nil && s.StopGuard != GuardOff {
		d.judge = func(request, answer string) stop.Verdict {
			return stop.Judge(answer, stop.Options{Policy: s.StopGuard, Request: request})
		}
	}
	r := &runner{
		set:      s,
		dep:      d,
		events:   events,
		stalled:  newProgress(s),
		dialogue: newDialogue(s, d.Conversational),
		session:  session{off: s.history(d.Conversational) != InSession, report: d.OnSession},
		todos:    todoList{oneByOne: s.Todos == OneByOne, emit: d.Sink.Emit},
		refused:  map[string]bool{},
		result:   Result{Backend: cmp.Or(d.BackendID, s.Backend), Transcript: []Entry{}},
	}
	r.Run = run.New(run.Caller{
		Backend: d.Backend, ID: r.result.Backend, Clock: d.Clock, CallTimeout: s.CallTimeout.Std(), IdleTimeout: s.IdleTimeout.Std(),
		Budgets: []*llm.Budget{llm.NewBudget(s.Budget, d.Price, d.EURPerUSD), d.Shared},
	}, s.Timeout)
	r.session.hand(d.Session)
	if d.Turn != "" {
		r.dialogue.turn = r.dialogue.agreed(d.Turn)
	}
	if d.Past != nil {
		r.Began = r.Began.Add(-d.Past.Elapsed)
	}
	if s.Breaker != nil {
		r.breaker = breaker{failures: s.Breaker.Failures, maxOpens: s.Breaker.MaxOpens}
	}
	return r
}

// loop iterates until there is an ending.
func (r *runner) loop() *run.Ending {
	for n := len(r.result.Transcript) + 1; n <= r.set.MaxIterations; n++ {
		if end := r.reread(n); end != nil {
			return end
		}
		if end := r.ready(n); end != nil {
			return end
		}
		r.unconfirmed = ""
		reply, err := r.call(n)
		end := r.judge(n, reply, err)
		if end = r.checkpoint(n, err, end); end != nil {
			return end
		}
	}
	return &run.Ending{
		Status: StatusMaxIterations, Guard: "max_iterations",
		Details: fmt.Sprintf("stopped after %d iterations without completion (max_iterations %d)", r.set.MaxIterations, r.set.MaxIterations),
	}
}

// ready waits after a failure, and while the circuit is open. It returns the ending if there may be no further call.
func (r *runner) ready(n int) *run.Ending {
	if end := r.Over(); end != nil {
		return end
	}
	if end := r.pause(n); end != nil {
		return end
	}
	if end := r.Reserve(); end != nil {
		return end
	}
	if r.breaker.current() != breakerOpen {
		return nil
	}
	cooldown := r.set.Breaker.Cooldown
	if err := r.dep.Clock.Sleep(r.Context, cooldown.Std()); err != nil {
		return cmp.Or(r.Over(), &run.Ending{Status: StatusError, Details: "waiting for the circuit to cool: " + err.Error(), Err: err})
	}
	r.moveBreaker(n, fmt.Sprintf("cooled for %s, one call is tried", cooldown), r.breaker.cool)
	return r.Over()
}

// moveBreaker moves the circuit breaker and emits a change of its state.
func (r *runner) moveBreaker(n int, why string, move func()) {
	from := r.breaker.current()
	move()
	to := r.breaker.current()
	if from == to {
		return
	}
	r.dep.Sink.Emit(event.New(n, fmt.Sprintf("circuit %s, was %s: %s", to, from, why), BreakerMoved{string(from), string(to)}))
}

// finish completes the result and emits the end.
func (r *runner) finish(end *run.Ending) Result {
	res := &r.result
	res.Status, res.ExitCode = end.Status, end.Status.ExitCode()
	res.Session = r.session.current
	res.Guard, res.Details, res.Err = end.Guard, end.Details, end.Err
	res.Todos, res.Totals = r.todos.all, r.totals()
	res.Iterations, res.Duration = len(res.Transcript), r.Elapsed()
	res.Prose = r.judgedText(res.Text, r.claim(llm.Reply{Text: res.Text}).summary)
	if end.Guard != "" {
		r.dep.Sink.Emit(event.Event{Kind: event.Guard, Name: end.Guard, N: res.Iterations, Detail: end.Details})
	}
	r.dep.Sink.Emit(end.Event(res.Iterations))
	return *res
}
