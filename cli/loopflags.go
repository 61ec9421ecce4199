package cli

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// loopOptions are the flags that set loop.Options.
type loopOptions struct {
	loop.Options
	stream, noContract, wait bool
	// freshSession is short for History fresh.
	freshSession bool
	budget       budgetFlags
}

func (o *loopOptions) register(f *pflag.FlagSet) {
	d := loop.Defaults()
	f.StringVar(&o.System, "system", "", "system message")
	f.StringVar((*string)(&o.Mode), "mode", "", "how a finished answer is recognised: marker, json or answer (default "+string(d.Mode)+")")
	f.StringVar(&o.Marker, "marker", "", "the line that means done (default "+d.Marker+")")
	f.StringVar(&o.Contract, "contract", "", "the text that tells the agent how to report the end (default: one for the mode and the markers)")
	f.BoolVar(&o.noContract, "no-contract", false, "append no such text to the prompt")
	f.StringVar((*string)(&o.Language), "language", "", "language of that text: en or fr (default: that of the prompt)")
	f.StringVar((*string)(&o.History), "history", "",
		"what each call sends: the next prompt in the agent's own session, the task to a fresh one, or the whole conversation")
	f.BoolVar(&o.freshSession, "fresh-session", false, "begin a new session of the agent in each iteration, as --history fresh")
	f.BoolVar(&o.stream, "stream", false, "stream the answers")
	optionalInt(f, &o.MaxIterations, "max-iterations", d.MaxIterations, "stop after this many answers")
	optionalDuration(f, &o.Timeout, "timeout", d.Timeout, "stop after this time; 0s means no limit")
	optionalDuration(f, &o.CallTimeout, "call-timeout", d.CallTimeout, "time limit of one call; 0s means no limit")
	optionalDuration(f, &o.IdleTimeout, "idle-timeout", d.IdleTimeout, "end a call without any event for this time; 0s means never")
	optionalInt(f, &o.MaxTurns, "max-turns", d.MaxTurns,
		"end an iteration after this many turns of a command-line agent; 0 means no limit")
	optionalInt(f, &o.DenialLimit, "denial-limit", d.DenialLimit,
		"end an iteration after this many denied calls of one tool; 0 means never")
	optionalInt(f, &o.FailureLimit, "failure-limit", d.FailureLimit,
		"end an iteration after this many failed tool calls of a command-line agent in a row; 0 means never")
	optionalInt(f, &o.NoProgressLimit, "no-progress-limit", d.NoProgressLimit, "stop after this many identical answers; 0 means never")
	optionalInt(f, &o.AlternationLimit, "alternation-limit", d.AlternationLimit,
		"stop after this many repetitions of a cycle of answers; 0 means never")
	optionalInt(f, &o.NearIdenticalLimit, "near-identical-limit", d.NearIdenticalLimit,
		"stop after this many answers that differ only in digits and spacing; 0 means never")
	optionalInt(f, &o.UnchangedLimit, "unchanged-limit", d.UnchangedLimit,
		"stop after this many answers that changed no file of the git work tree; 0 means never")
	optionalInt(f, &o.RepeatedErrorLimit, "repeated-error-limit", d.RepeatedErrorLimit, "stop after this many equal errors; 0 means never")
	optionalInt(f, &o.ErrorLimit, "error-limit", d.ErrorLimit, "stop after this many failed calls in a row; 0 means never")
	optionalDuration(f, &o.Backoff, "backoff", d.Backoff, "wait after a failed call; doubles with each further one, up to 5m")
	f.BoolVar(&o.wait, "wait-for-limits", false, "wait until a usage limit ends; otherwise the run ends as limited")
	f.StringVar((*string)(&o.StopGuard), "stop-guard", "",
		"make the agent do the work that its last message defers: balanced, strict, careful or off (default "+string(d.StopGuard)+")")
	optionalInt(f, &o.ContinuationLimit, "continuation-limit", d.ContinuationLimit, "how often the stop guard may continue a completion")
	f.StringArrayVar(&o.Checks, "check", nil,
		"a shell command that must succeed before a completion counts, such as 'go test ./...'; repeatable")
	optionalDuration(f, &o.CheckTimeout, "check-timeout", quantity.Duration(10*time.Minute), "time limit of each check; 0s means no limit")
	optionalInt(f, &o.CheckLimit, "check-limit", 5, "stop after this many completions that checks do not confirm; 0 means never")
	f.StringVar((*string)(&o.Todos), "todos", "",
		"keep the steps that the stop guard finds until answers report them as done, and ask for them together or one-by-one")
	optionalInt(f, &o.SameStepsLimit, "same-steps-limit", d.SameStepsLimit,
		"stop after this many refused completions that leave the same steps; 0 means never")
	o.budget.register(f)
}

// given returns the options whose flags the user gave.
func (o *loopOptions) given(f *pflag.FlagSet) loop.Options {
	out := o.Options
	if f.Changed("stream") {
		out.Stream = &o.stream
	}
	if f.Changed("wait-for-limits") {
		out.WaitForLimits = &o.wait
	}
	if o.freshSession {
		out.History = loop.Fresh
	}
	if o.noContract {
		out.Contract = loop.NoContract
	}
	if o.budget.given(f) {
		caps := o.budget.capsOver(f, llm.Caps{})
		out.Budget = &caps
	}
	return out
}

// optional is a flag that leaves a field nil unless the user gives it.
type optional[T any] struct {
	field **T
	usual T // the default, for help
	parse func(string) (T, error)
	kind  string
}

// String implements pflag.Value.
func (o optional[T]) String() string { return fmt.Sprint(o.usual) }

// Type implements pflag.Value.
func (o optional[T]) Type() string { return o.kind }

// Set implements pflag.Value.
func (o optional[T]) Set(s string) error {
	value, err := o.parse(s)
	*o.field = &value
	return err
}

func optionalInt(f *pflag.FlagSet, field **int, name string, usual int, usage string) {
	f.Var(optional[int]{field, usual, strconv.Atoi, "int"}, name, usage)
}

func optionalDuration(f *pflag.FlagSet, field **quantity.Duration, name string, usual quantity.Duration, usage string) {
	parse := func(s string) (d quantity.Duration, err error) {
		err = d.UnmarshalText([]byte(s))
		return d, err
	}
	f.Var(optional[quantity.Duration]{field, usual, parse, "duration"}, name, usage)
}

// budgetFlags limit what an agent spends.
type budgetFlags struct {
	calls, tokens int
	cost          moneyFlag
}

func (b *budgetFlags) register(f *pflag.FlagSet) {
	f.IntVar(&b.calls, "max-calls", 0, "maximum number of calls; 0 means no limit")
	f.IntVar(&b.tokens, "max-tokens", 0, "maximum number of tokens; 0 means no limit")
	f.Var(&b.cost, "max-cost", `maximum cost, such as "0.50 EUR"`)
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
		caps.Cost = b.cost.Money
	}
	return caps
}

// durationFlag reads a duration.
type durationFlag struct{ quantity.Duration }

// Set implements pflag.Value.
func (d *durationFlag) Set(s string) error { return d.UnmarshalText([]byte(s)) }

// Type implements pflag.Value.
func (d *durationFlag) Type() string { return "duration" }
