// Package drive carries out the trials of a scenario: it connects an agent and its
// scripted backend, gives them one clock and one seed, lets the agent run, and returns
// what was recorded. How a kind of agent is run is up to its Maker.
package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/seed"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/redact"
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
	// Makers make the drivers of scenarios, by the name of the kind of agent that they
	// drive.
	Makers map[string]Maker
	// Executable is the program to start as a scripted command-line agent, or as another
	// part that a kind of agent plays; it calls their Main functions first. Empty means
	// this program.
	Executable string

	// Required makes it an error if something that a scenario needs is not on this
	// machine (Docker, a coding agent's program); such a scenario is skipped otherwise.
	Required bool

	// Live allows scenarios with a live backend, unless REHEARSE_OFFLINE forbids them;
	// they are skipped otherwise.
	Live bool
	// Getenv looks up a variable; default os.Getenv.
	Getenv func(name string) string

	socket socket
}

// Program returns the path of the program that starts itself again to play other parts.
func (e *Env) Program() (string, error) {
	if e.Executable != "" {
		return e.Executable, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return self, nil
}

// Maker returns the driver of the golden path of a scenario, whose Drive.Options are
// those of the kind of agent. Most makers return that of NewAgent or NewConversation.
type Maker func(sc scenarios.Scenario, env *Env) (Driver, error)

// Close stops the servers that drivers started.
func (e *Env) Close() error { return e.socket.close() }

// New returns the driver of a scenario.
func New(sc scenarios.Scenario, env *Env) (Driver, error) {
	maker, ok := env.Makers[sc.Drive.Kind]
	if sc.Drive.Kind == "" {
		return nil, errors.New("the scenario drives no agent")
	}
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(env.Makers)), ", ")
		return nil, fmt.Errorf(
			"drive the scenario %s: this program cannot drive the kind of agent %q, only %s",
			sc.Name, sc.Drive.Kind, cmp.Or(known, "none"))
	}
	ps := sc.Perturb
	sc.Perturb = nil
	golden, err := maker(sc, env)
	if err != nil || len(ps) == 0 {
		return golden, err
	}
	perturbed, err := golden.Perturbed(ps)
	if err != nil {
		return nil, err
	}
	return inFile{perturbed, golden.Head()}, nil
}

// inFile is the driver of a scenario file that has perturbations: it has the file's name,
// and what the file expects holds of it.
type inFile struct {
	Driver
	golden record.Scenario
}

// Head implements Driver.
func (f inFile) Head() record.Scenario {
	head := f.Driver.Head()
	head.Name, head.Expect = f.golden.Name, f.golden.Expect
	return head
}

// Trial implements Driver.
func (f inFile) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	trial, timings := f.Driver.Trial(ctx, n)
	trial.Head.Scenario = f.golden.Name
	for i := range timings {
		timings[i].Scenario = f.golden.Name
	}
	return trial, timings
}

// headOf describes a scenario for the recording.
func headOf(sc scenarios.Scenario, realTime bool, env *Env) record.Scenario {
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
		Agent:    sc.Drive.Kind,
		Backend:  sc.Backend.Kind(),
		Model:    sc.Backend.Model,
		RealTime: realTime,
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

// Seed derives the seed of trial n, from 1, of a scenario, so that a trial does
// not depend on those before it.
func Seed(scenario uint64, n int) uint64 {
	return seed.Mix(scenario + uint64(n)*seed.Gamma)
}

// Failed ends a trial that could not be carried out.
func Failed(doing string, err error) record.End {
	return record.End{Status: "error", ExitCode: 1, HarnessError: fmt.Sprintf("%s: %v", doing, err)}
}
