// Package drive runs the trials of a scenario: it connects an agent to its scripted backend,
// gives both one clock and one seed, runs the agent and returns the recorded trial. A Maker
// creates the driver of a kind of agent.
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

// Driver runs the trials of one scenario. It is safe for concurrent use: each trial has its
// own agent, script, clock and seed.
type Driver interface {
	// Head describes the scenario for the recording.
	Head() record.Scenario
	// Trial runs trial n, from 1. Failures of the harness itself are in End.HarnessError.
	// Timings are empty in virtual time.
	Trial(ctx context.Context, n int) (record.Trial, []record.Timing)
	// Perturbed returns a driver of the same scenario with these perturbations in place of
	// its own. It shares the compiled script, so thousands of them are cheap. Without
	// perturbations it is the driver of the golden path, always the same one. The error
	// names an impossible perturbation and the reason.
	Perturbed(ps []perturb.Perturbation) (Driver, error)
	// Points returns the points at which the golden path can be perturbed, beside its calls.
	Points() Points
}

// Points are the points at which the golden path of a scenario can be perturbed, beside its
// calls, which the recording of the golden path lists.
type Points struct {
	// Timeouts are the agent's time limits by name, such as "call_timeout". A call that takes
	// longer than one of them is canceled.
	Timeouts map[string]time.Duration
	// Faults are the kinds of fault that can be injected into calls.
	Faults []string
	// Attempts is the maximal number of attempts at a call, over all layers that retry.
	Attempts int
	// NoWrites and NoTurns are the reasons why there are no writes and turns to perturb;
	// empty if there are.
	NoWrites, NoTurns string
	// Turns are the possible perturbations of turns; empty: all actions of people.
	Turns []string
}

// Env is shared by all drivers of a run. Prices and Tokens are required. Close it after the
// run.
type Env struct {
	// Prices is the dated price table.
	Prices *price.Table
	// Tokens counts tokens where a script does not give usage.
	Tokens *token.Counter
	// Redactor removes secrets from recordings; nil removes the well-known forms.
	Redactor *redact.Redactor
	// Makers create the drivers of scenarios, by the name of the kind of agent.
	Makers map[string]Maker
	// Executable is the program to start as a scripted command-line agent or in another role
	// of a kind of agent; it calls their Main functions first. Empty means this program.
	Executable string

	// Required makes it an error, instead of skipping the scenario, if this machine lacks
	// something that the scenario needs, such as Docker or a coding agent's program.
	Required bool

	// Live allows scenarios with a live backend, unless REHEARSE_OFFLINE forbids them;
	// they are skipped otherwise.
	Live bool
	// Getenv looks up a variable; default os.Getenv.
	Getenv func(name string) string

	socket socket
}

// Program returns the path of the program to start in other roles; see Executable.
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

// Maker returns the driver of the golden path of a scenario, whose Drive.Options are those
// of the kind of agent. Most makers call NewAgent or NewConversation.
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
	return perturbedFile{perturbed, golden.Head()}, nil
}

// perturbedFile is the driver of a scenario file with perturbations. It keeps the name and
// the expectations of the file.
type perturbedFile struct {
	Driver
	golden record.Scenario
}

// Head implements Driver.
func (f perturbedFile) Head() record.Scenario {
	head := f.Driver.Head()
	head.Name, head.Expect = f.golden.Name, f.golden.Expect
	return head
}

// Trial implements Driver.
func (f perturbedFile) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	trial, timings := f.Driver.Trial(ctx, n)
	trial.Head.Scenario = f.golden.Name
	for i := range timings {
		timings[i].Scenario = f.golden.Name
	}
	return trial, timings
}

func describe(sc scenarios.Scenario, realTime bool, env *Env) record.Scenario {
	h := record.Scenario{
		Name:     sc.Name,
		File:     sc.File,
		Where:    sc.Where,
		Digest:   sc.Digest,
		Files:    sc.Files,
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
	// Expressions are compared with redacted texts, so they are redacted as well.
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
	if b := sc.UserBackend(); b != nil {
		h.User = &record.UserModel{Backend: b.Kind(), Model: b.Model}
		if quote, ok := env.Prices.Quote(b.Model); ok {
			h.User.Price = &quote
		}
	}
	return h
}

// Seed returns the seed of trial n, from 1, of a scenario with this seed. It does not depend
// on earlier trials.
func Seed(scenario uint64, n int) uint64 {
	return seed.Mix(scenario + uint64(n)*seed.Gamma)
}

// Failed returns the end of a trial that could not be run.
func Failed(doing string, err error) record.End {
	return record.End{Status: "error", ExitCode: 1, HarnessError: fmt.Sprintf("%s: %v", doing, err)}
}
