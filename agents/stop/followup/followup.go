package followup

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Outcome is how a run ended.
type Outcome struct {
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"`
	// Answer is the last answer: of the round's last call with Options.PerTodo.
	Answer string `json:"answer"`
	// Verdict is the last one that was made. MayStop is true if and only if
	// nothing was found left, by the stop guard or in the todos.
	Verdict stop.Verdict `json:"verdict"`
	// Todos are all that there were, in the order in which they came up.
	Todos  []Todo  `json:"todos"`
	Rounds []Round `json:"rounds"`
	Calls  int     `json:"calls"`
	// Guard is the option whose limit ended the run, such as "rounds" or
	// "budget.cost", or "identical_answer"; empty if none did.
	Guard    string        `json:"guard,omitempty"`
	Duration time.Duration `json:"duration_ns"` // on the run's clock
	// Details says, for a person, why the run ended.
	Details string `json:"details"`
	// Err is the error behind the end; nil where no error was.
	Err error `json:"-"`
}

// Round is one execution of todos.
type Round struct {
	N int `json:"n"` // from 1
	// Todos are the ids of those that were to be done, in the plan's order.
	Todos []string `json:"todos"`
	// Answer is all that was answered in the round.
	Answer   string        `json:"answer"`
	At       time.Duration `json:"at_ns"` // since the start of the run
	Duration time.Duration `json:"duration_ns"`
}

// Run follows up an agent's answer until what it says may stop, or a bound is
// reached. It makes no call if the answer may stop; one that is empty or was cut off
// settles nothing and may not. It never panics: a panic of
// the backend is a failed call, and one of Deps.Judge or of the sink ends the run
// with StatusError, as do options that Validate refuses.
//
// When ctx ends, the run ends with StatusInterrupted, or with StatusTimeout if
// its cause is context.DeadlineExceeded.
func Run(ctx context.Context, o Options, d Deps, answer llm.Reply) (out Outcome) {
	r := newRun(o.withDefaults(), d)
	r.out.Answer = answer.Text
	defer func() {
		if p := recover(); p != nil {
			out = r.sum(&ending{
				status: StatusError, details: fmt.Sprintf("panic: %v", p),
				err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			})
		}
	}()
	if err := o.Validate(); err != nil {
		return r.finish(&ending{status: StatusError, details: "the options are not valid: " + err.Error(), err: err})
	}
	if d.Backend == nil {
		err := errors.New("no backend is given")
		return r.finish(&ending{status: StatusError, details: err.Error(), err: err})
	}
	r.outer, r.ctx = ctx, ctx
	if o.Timeout > 0 {
		timed, cancel := r.Clock.WithTimeout(ctx, o.Timeout.Std())
		defer cancel()
		r.ctx = timed
	}
	return r.finish(r.follow(answer))
}

// sum completes the outcome.
func (r *run) sum(end *ending) Outcome {
	out := r.out
	out.Status, out.ExitCode = end.status, end.status.ExitCode()
	out.Guard, out.Details, out.Err = end.guard, end.details, end.err
	out.Todos, out.Duration = r.todos.all, r.elapsed()
	return out
}

// finish tells of the end.
func (r *run) finish(end *ending) Outcome {
	out := r.sum(end)
	n := len(out.Rounds)
	if end.guard != "" {
		r.Sink.Tell(event.Event{Kind: event.Guard, Name: end.guard, N: n, Detail: end.details})
	}
	r.Sink.Tell(event.Event{
		Kind: event.End, Name: string(end.status), N: n, Detail: end.details,
		Attrs: map[string]any{"exit_code": out.ExitCode},
	})
	return out
}
