// Package drive holds one adaptor for each kind of agent. An adaptor carries out
// a trial of a scenario: it builds the agent and its scripted backend, gives them
// one clock and one seed, lets the agent run, and returns what was recorded.
package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/app/coding"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Driver carries out the trials of one scenario. It is safe for concurrent use:
// each trial has its own agent, script, clock and seed.
type Driver interface {
	// Head describes the scenario for the recording.
	Head() record.Scenario
	// Trial carries out trial n, from 1. What goes wrong with the harness itself
	// is in End.HarnessError. Timings are empty where time was virtual.
	Trial(ctx context.Context, n int) (record.Trial, []record.Timing)
	// Perturbed is a driver of the same scenario with these departures from its path
	// in place of its own. It shares what was compiled, so that thousands are cheap.
	// Without any it is the driver of the golden path, always the same one. The error
	// says which of them cannot be made here, and why.
	Perturbed(ps []perturb.Perturbation) (Driver, error)
	// Points says where the path can be left, beside its calls.
	Points() Points
}

// Points are the places at which a scenario's path can be left, beside its calls,
// which the recording of the path lists.
type Points struct {
	// Timeouts are the limits of time that the agent is subject to, by name, such as
	// "call_timeout". A call that takes longer than one of them is cut off.
	Timeouts map[string]time.Duration
	// Faults are the kinds of fault that calls can suffer here.
	Faults []string
	// Attempts is how often a call is made at most before the agent gives it up, all
	// who try again taken together.
	Attempts int
	// NoWrites and NoTurns are empty, or say why there are none to perturb.
	NoWrites, NoTurns string
	// Turns are what can happen at a turn; empty: all that people do.
	Turns []string
}

// Env is what all drivers of a run share. Prices and Tokens are required. Close it
// after the run.
type Env struct {
	// Prices is the dated price table.
	Prices *price.Table
	// Tokens counts tokens where a script does not give usage.
	Tokens *token.Counter
	// Redactor takes secrets out of recordings; nil knows the well-known forms.
	Redactor *redact.Redactor
	// Executable is the program to start as a scripted command-line agent and as a
	// host's hook; it calls mocks/agent.Main and agents/stop/hook.Main first thing.
	// Empty means this program.
	Executable string

	// Functions are the agents that are Go functions, by the names that scenarios know
	// them under; nil where the program has none, so that their scenarios are skipped.
	Functions map[string]app.Maker
	// Required makes it an error if something that a scenario needs is not on this
	// machine (Docker, a coding agent's program); such a scenario is skipped otherwise.
	Required bool

	// Live allows scenarios with a live backend, unless REHEARSE_OFFLINE forbids them;
	// they are skipped otherwise.
	Live bool
	// Getenv looks up a variable; default os.Getenv.
	Getenv func(name string) string

	socket   socket
	programs coding.Programs
}

// Close stops the servers that drivers started.
func (e *Env) Close() error { return e.socket.close() }

// New returns the driver of a scenario.
func New(sc scenarios.Scenario, env *Env) (Driver, error) {
	ps := sc.Perturb
	sc.Perturb = nil
	golden, err := newDriver(sc, env)
	if err != nil || len(ps) == 0 {
		return golden, err
	}
	driver, err := golden.Perturbed(ps)
	if err != nil {
		return nil, err
	}
	driver.(interface{ inFile() }).inFile()
	return driver, nil
}

// newDriver returns the driver of a golden path.
func newDriver(sc scenarios.Scenario, env *Env) (Driver, error) {
	switch {
	case sc.Drive.Loop != nil:
		return newLoopDriver(sc, env)
	case sc.Drive.Hook != nil:
		return newHookDriver(sc, env)
	case sc.Drive.Interview != nil:
		return newInterviewDriver(sc, env)
	case sc.Drive.Supervise != nil:
		return newSuperviseDriver(sc, env)
	case sc.Drive.React != nil:
		return newReactDriver(sc, env)
	case sc.Drive.Function != nil, sc.Drive.Command != nil, sc.Drive.HTTP != nil, sc.Drive.Container != nil, sc.Drive.Coding != nil:
		return newAppDriver(sc, env)
	default:
		return nil, errors.New("the scenario drives no agent")
	}
}

// head is what every adaptor says of its scenario.
func head(sc scenarios.Scenario, agent string, env *Env) record.Scenario {
	h := record.Scenario{
		Name:     sc.Name,
		File:     sc.File,
		Where:    sc.Where,
		Digest:   sc.Digest,
		About:    env.Redactor.Text(sc.About),
		Proves:   sc.Proves,
		Tags:     sc.Tags,
		Seed:     sc.Seed,
		Trials:   max(sc.Trials, 1),
		Agent:    agent,
		Backend:  sc.Backend.Kind(),
		Model:    sc.Backend.Model,
		RealTime: realTime(sc),
		Expect:   sc.Expect,
	}
	// What is judged has no secrets either, so an expression must not have any.
	h.Expect.That = slices.Clone(sc.Expect.That)
	for i, text := range h.Expect.That {
		h.Expect.That[i] = env.Redactor.Text(text)
	}
	h.Invariants = slices.Clone(sc.Invariants)
	for i, text := range h.Invariants {
		h.Invariants[i] = env.Redactor.Text(text)
	}
	if quote, ok := env.Prices.Quote(sc.Backend.Model); ok {
		h.Price = &quote
	}
	return h
}

// realTime reports whether bytes cross a real socket or process, where time
// cannot be virtual.
func realTime(sc scenarios.Scenario) bool {
	if _, other := sc.Drive.Talk(); other && sc.Drive.Function == nil {
		return true
	}
	return sc.Backend.Kind() != scenarios.InProcess
}

// Seed derives the seed of trial n, from 1, of a scenario, so that a trial does
// not depend on those before it. The constants are those of SplitMix64 (Steele,
// Lea and Flood, 2014).
func Seed(scenario uint64, n int) uint64 {
	z := scenario + uint64(n)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// harnessError ends a trial that could not be carried out.
func harnessError(doing string, err error) record.End {
	return record.End{Status: "error", ExitCode: 1, HarnessError: fmt.Sprintf("%s: %v", doing, err)}
}
