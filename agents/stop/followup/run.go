package followup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/call"
	"github.com/rehearse-dev/rehearse/agents/internal/guard"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// run is the state of one run.
type run struct {
	Options
	Deps
	caller call.Caller
	outer  context.Context // ends with the user's interrupt
	ctx    context.Context // ends when the run's time is up, too
	start  time.Time

	sent    []llm.Message // the conversation so far
	todos   todos
	refused map[[sha256.Size]byte]bool // answers that may not stop
	same    guard.Run                  // of equal sets of steps left
	before  []string                   // the steps that the last verdict orders
	out     Outcome
}

// ending is why a run ends; nil means that it goes on.
type ending struct {
	status  Status
	guard   string // the option whose limit was reached
	details string
	err     error
}

func newRun(o Options, d Deps) *run {
	d = d.withDefaults(o)
	r := &run{
		Options: o, Deps: d, start: d.Clock.Now(),
		caller: call.Caller{
			Backend: d.Backend, ID: d.BackendID, Clock: d.Clock, Timeout: cmp.Or(o.CallTimeout.Std(), DefaultCallTimeout),
			Budgets: []*budget.Budget{budget.New(o.Budget, d.Price, d.EURPerUSD), d.Shared},
		},
		refused: map[[sha256.Size]byte]bool{},
		out:     Outcome{Rounds: []Round{}},
	}
	r.todos = todos{all: []Todo{}, tell: d.Sink.Tell}
	return r
}

func (r *run) elapsed() time.Duration { return r.Clock.Now().Sub(r.start) }

// follow goes from answer to answer until there is an ending.
func (r *run) follow(first llm.Reply) *ending {
	if end := r.limits(); end != nil {
		return end
	}
	answer, verdict := first.Text, r.first(first)
	r.open(answer)
	for n := 1; ; n++ {
		end := r.decide(n, answer, verdict)
		r.tell(n, answer, verdict, end == nil)
		if end != nil {
			return end
		}
		if answer, verdict, end = r.round(n, verdict); end != nil {
			return end
		}
	}
}

// first is the verdict on the answer that is followed up.
func (r *run) first(answer llm.Reply) stop.Verdict {
	if why := unfinished(answer); why != "" {
		return stop.Verdict{Policy: r.Policy, Reason: why}
	}
	return r.Judge(r.ctx, answer.Text)
}

// decide says whether the run ends with an answer, the n-th from 1.
func (r *run) decide(n int, answer string, v stop.Verdict) *ending {
	r.out.Verdict = v
	if end := r.limits(); end != nil {
		return end
	}
	if v.MayStop {
		return &ending{status: StatusAllowed, details: fmt.Sprintf("answer %d may stop: %s", n, v.Reason)}
	}
	// Both are fed with each refused answer, so neither may be skipped.
	identical := r.repeats(answer)
	unchanged := r.same.Next(left(answer, v.Steps)) - 1
	switch {
	case identical:
		return &ending{status: StatusNoProgress, guard: "identical_answer", details: "stopped, as an answer that may not stop came again"}
	case r.NoProgressLimit > 0 && unchanged >= r.NoProgressLimit:
		return &ending{
			status: StatusNoProgress, guard: "no_progress_limit",
			details: fmt.Sprintf("stopped after %d rounds that left the same steps (no_progress_limit %d)", unchanged, r.NoProgressLimit),
		}
	case n > r.Rounds:
		return &ending{
			status: StatusCapped, guard: "rounds",
			details: fmt.Sprintf("stopped after %d rounds with work left (rounds %d): %s", n-1, r.Rounds, v.Reason),
		}
	}
	return nil
}

// repeats reports whether a refused answer was refused before.
func (r *run) repeats(answer string) bool {
	hash := sha256.Sum256([]byte(answer))
	before := r.refused[hash]
	r.refused[hash] = true
	return before
}

// left stands for what an answer leaves: the ids of the steps, or where none was
// found what the answer says apart from numbers, times and spacing.
func left(answer string, steps []stop.Step) string {
	if len(steps) == 0 {
		return guard.Near(answer)
	}
	var ids []string
	for _, s := range steps {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// limits returns the ending that goes before anything an answer says.
func (r *run) limits() *ending {
	return cmp.Or(r.interrupted(), overspent(r.caller.Check()), r.over())
}

func (r *run) interrupted() *ending {
	err := r.span().Interrupted()
	if err == nil {
		return nil
	}
	return &ending{status: StatusInterrupted, details: "interrupted: " + err.Error(), err: err}
}

// over returns the ending if the time is up.
func (r *run) over() *ending {
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

func (r *run) span() call.Span {
	return call.Span{Outer: r.outer, Run: r.ctx, Timeout: r.Timeout}
}

func overspent(e *budget.Exceeded) *ending {
	if e == nil {
		return nil
	}
	option := "budget." + e.Cap
	return &ending{status: StatusBudget, guard: option, details: fmt.Sprintf("stopped: %s (%s)", e, option), err: e}
}

// tell reports the verdict on an answer, and how many of the steps before it the
// answer reports as done; forced says that it makes the agent go on.
func (r *run) tell(n int, answer string, v stop.Verdict, forced bool) {
	attrs := v.Attrs()
	attrs["forced"] = forced
	attrs["executed"] = stop.Executed(r.before, answer)
	r.before = v.Order().Steps
	r.Sink.Tell(event.Event{Kind: event.Verdict, Name: "stop", N: n, Detail: v.Reason, Attrs: attrs})
}
