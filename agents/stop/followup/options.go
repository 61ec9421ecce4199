package followup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

// Options are how to follow up; the zero value is the documented default.
type Options struct {
	// Task is what the user had asked for; where it is given, each call begins
	// with it.
	Task string `yaml:"task,omitempty" json:"task,omitempty"`
	// System is a system message; none by default.
	System string `yaml:"system,omitempty" json:"system,omitempty"`
	// Model is passed to the backend; default: the backend's own.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// Policy is that of the stop guard; default balanced.
	Policy stop.Policy `yaml:"policy,omitempty" json:"policy,omitempty" jsonschema:"enum=balanced,enum=strict"`
	// PerTodo makes one call for each todo, in the plan's order, in place of one
	// for all of a round.
	PerTodo bool `yaml:"per_todo,omitempty" json:"per_todo,omitempty"`
	// Rounds is how often todos are executed at most; default 3.
	Rounds int `yaml:"rounds,omitempty" json:"rounds,omitempty" jsonschema:"minimum=1"`
	// NoProgressLimit ends the run after that many rounds in a row that left the
	// same steps; default 2, negative for never.
	NoProgressLimit int `yaml:"no_progress_limit,omitempty" json:"no_progress_limit,omitempty"`
	// Timeout is for the whole run; default none.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitzero"`
	// CallTimeout is for each call, in which the agent may do all of a round's work;
	// default 30m, so that a backend that never answers does not hold the run for ever.
	CallTimeout quantity.Duration `yaml:"call_timeout,omitempty" json:"call_timeout,omitzero"`
	// Budget caps the run; a zero cap is no cap.
	Budget budget.Caps `yaml:"budget,omitempty" json:"budget,omitzero"`
}

// Deps are what a run is given. Only Backend is required.
type Deps struct {
	// Backend is the agent that does the work. It must have made the answer, or
	// be able to go on from it: each call sends the conversation so far.
	Backend llm.Backend
	// BackendID names the backend in errors.
	BackendID string
	// Clock is the run's time; default: the machine's.
	Clock clock.Clock
	// Sink is told of each verdict ("stop"), todo (a state "todo"), round (an
	// iteration), limit (a guard) and the end; default: nobody.
	Sink event.Sink
	// Judge judges an answer; default: stop.Judge under Options.Policy.
	Judge func(ctx context.Context, answer string) stop.Verdict
	// Price and EURPerUSD serve the cap on cost; see budget.New.
	Price     budget.Pricer
	EURPerUSD float64
	// Shared, if set, is a budget that this run shares with others, beside its
	// own of Options.Budget.
	Shared *budget.Budget
}

// Validate says what is wrong with the options, all of it at once.
func (o Options) Validate() error {
	var errs []error
	add := func(option, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", option, fmt.Sprintf(format, args...)))
	}
	if o.Policy != "" && o.Policy != stop.Balanced && o.Policy != stop.Strict {
		add("policy", `%q is not a policy of the stop guard; use "balanced" or "strict"`, o.Policy)
	}
	if o.Rounds < 0 {
		add("rounds", "%d is less than 0; use 1 or more, or 0 for the default of %d", o.Rounds, defaultRounds)
	}
	if o.Timeout < 0 {
		add("timeout", "%s is less than 0; use 0 for none", o.Timeout)
	}
	if o.CallTimeout < 0 {
		add("call_timeout", "%s is less than 0; use 0 for the default of %s", o.CallTimeout, DefaultCallTimeout)
	}
	if o.Budget.Calls < 0 || o.Budget.Tokens < 0 || o.Budget.Cost.Amount < 0 {
		add("budget", "a cap is less than 0; use 0 for none")
	}
	return errors.Join(errs...)
}

// DefaultCallTimeout is that of Options.
const DefaultCallTimeout = 30 * time.Minute

// The other defaults of Options.
const (
	defaultRounds          = 3
	defaultNoProgressLimit = 2
)

func (o Options) withDefaults() Options {
	o.Policy = cmp.Or(o.Policy, stop.Balanced)
	o.Rounds = cmp.Or(o.Rounds, defaultRounds)
	o.NoProgressLimit = cmp.Or(o.NoProgressLimit, defaultNoProgressLimit)
	return o
}

func (d Deps) withDefaults(o Options) Deps {
	if d.Clock == nil {
		d.Clock = clock.Real()
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	if d.Judge == nil {
		d.Judge = func(_ context.Context, answer string) stop.Verdict {
			return stop.Judge(answer, stop.Options{Policy: o.Policy})
		}
	}
	return d
}
