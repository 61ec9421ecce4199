package cli

import (
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// loopOptions are the flags that set loop.Options.
type loopOptions struct {
	options                  loop.Options
	stream                   bool
	mode, history            string
	timeout, callTimeout     textFlag[*quantity.Duration]
	budget                   budgetFlags
	maxIterations            int
	noProgress, alternation  int
	nearIdentical, sameError int
	errors                   int
	stopGuard                string
	continuations, sameSteps int
	todos                    string
}

func (o *loopOptions) register(f *pflag.FlagSet) {
	d := loop.Defaults()
	o.timeout.into, o.callTimeout.into = new(d.Timeout), new(d.CallTimeout)
	f.StringVar(&o.options.System, "system", "", "system message")
	f.StringVar(&o.mode, "mode", "", "how a finished answer is recognised: marker, json or answer (default "+string(d.Mode)+")")
	f.StringVar(&o.options.Marker, "marker", "", "the line that means done (default "+d.Marker+")")
	f.StringVar(&o.history, "history", "", "what each call sends: fresh or conversation")
	f.BoolVar(&o.stream, "stream", false, "stream the answers")
	f.IntVar(&o.maxIterations, "max-iterations", d.MaxIterations, "stop after that many answers")
	f.Var(&o.timeout, "timeout", "stop after that time; 0s never does")
	f.Var(&o.callTimeout, "call-timeout", "the longest that one call may take; 0s means no limit")
	f.IntVar(&o.noProgress, "no-progress-limit", d.NoProgressLimit, "stop after that many identical answers; 0 never does")
	f.IntVar(&o.alternation, "alternation-limit", d.AlternationLimit, "stop when a cycle of answers came that often; 0 never does")
	f.IntVar(&o.nearIdentical, "near-identical-limit", d.NearIdenticalLimit,
		"stop after that many answers alike but for digits and spacing; 0 never does")
	f.IntVar(&o.sameError, "repeated-error-limit", d.RepeatedErrorLimit, "stop after that many equal errors; 0 never does")
	f.IntVar(&o.errors, "error-limit", d.ErrorLimit, "stop after that many failed calls in a row; 0 never does")
	f.StringVar(&o.stopGuard, "stop-guard", "", "make the agent do the work that its last message defers: balanced, strict or off (default "+
		string(d.StopGuard)+")")
	f.IntVar(&o.continuations, "continuation-limit", d.ContinuationLimit, "how often the stop guard may continue a completion")
	f.StringVar(&o.todos, "todos", "",
		"keep the steps that the stop guard finds until answers report them as done, and ask for them together or one-by-one")
	f.IntVar(&o.sameSteps, "same-steps-limit", d.SameStepsLimit,
		"stop after that many refused completions that leave the same steps; 0 never does")
	o.budget.register(f)
}

// given returns the options whose flags the user gave.
func (o *loopOptions) given(f *pflag.FlagSet) loop.Options {
	out := o.options
	out.Mode, out.History = loop.Mode(o.mode), loop.History(o.history)
	out.StopGuard = stop.Policy(o.stopGuard)
	out.Todos = loop.TodoMode(o.todos)
	set(f, "same-steps-limit", &out.SameStepsLimit, o.sameSteps)
	set(f, "continuation-limit", &out.ContinuationLimit, o.continuations)
	set(f, "stream", &out.Stream, o.stream)
	set(f, "max-iterations", &out.MaxIterations, o.maxIterations)
	set(f, "timeout", &out.Timeout, *o.timeout.into)
	set(f, "call-timeout", &out.CallTimeout, *o.callTimeout.into)
	set(f, "no-progress-limit", &out.NoProgressLimit, o.noProgress)
	set(f, "alternation-limit", &out.AlternationLimit, o.alternation)
	set(f, "near-identical-limit", &out.NearIdenticalLimit, o.nearIdentical)
	set(f, "repeated-error-limit", &out.RepeatedErrorLimit, o.sameError)
	set(f, "error-limit", &out.ErrorLimit, o.errors)
	if o.budget.given(f) {
		caps := o.budget.capsOver(f, llm.Caps{})
		out.Budget = &caps
	}
	return out
}

// budgetFlags limit what an agent spends.
type budgetFlags struct {
	calls, tokens int
	cost          textFlag[*quantity.Money]
}

func (b *budgetFlags) register(f *pflag.FlagSet) {
	b.cost.into = new(quantity.Money)
	f.IntVar(&b.calls, "max-calls", 0, "the most calls of the run; 0 means no limit")
	f.IntVar(&b.tokens, "max-tokens", 0, "the most tokens of the run; 0 means no limit")
	f.Var(&b.cost, "max-cost", `the most that the run may cost, such as "0.50 EUR"`)
	f.Lookup("max-cost").DefValue = "" // help would show "0"
}

// given reports whether the user gave any of the flags.
func (b *budgetFlags) given(f *pflag.FlagSet) bool {
	return f.Changed("max-calls") || f.Changed("max-tokens") || f.Changed("max-cost")
}

// capsOver returns caps, overridden by the flags.
func (b *budgetFlags) capsOver(f *pflag.FlagSet, caps llm.Caps) llm.Caps {
	if f.Changed("max-calls") {
		caps.Calls = b.calls
	}
	if f.Changed("max-tokens") {
		caps.Tokens = b.tokens
	}
	if f.Changed("max-cost") {
		caps.Cost = *b.cost.into
	}
	return caps
}

// set points field at value if the flag was given.
func set[T any](f *pflag.FlagSet, name string, field **T, value T) {
	if f.Changed(name) {
		*field = &value
	}
}

// textFlag is a flag whose value unmarshals text.
type textFlag[T interface {
	UnmarshalText([]byte) error
	String() string
}] struct{ into T }

// String implements pflag.Value.
func (t *textFlag[T]) String() string {
	if t == nil || any(t.into) == nil {
		return ""
	}
	return t.into.String()
}

// Set implements pflag.Value.
func (t *textFlag[T]) Set(s string) error { return t.into.UnmarshalText([]byte(s)) }

// Type implements pflag.Value.
func (t *textFlag[T]) Type() string { return "value" }
