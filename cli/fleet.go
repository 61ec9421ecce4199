package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/queue"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// queueVariable names the queue where --queue does not, except for run.
const queueVariable = "REHEARSE_QUEUE"

// coordinatorConnections is the number of connections to the database of a run.
const coordinatorConnections = 8

// fleetFlags are the flags of a run that is spread over workers.
type fleetFlags struct {
	address string
	resume  string
	lease   time.Duration
	jobTime time.Duration
	deaths  int
	// rate and maxOutput limit the calls of live models.
	rate      rateFlag
	maxOutput int
}

func (q *fleetFlags) register(f *pflag.FlagSet) {
	f.StringVar(&q.address, "queue", "", "spread the trials over the workers of this queue: `postgres://user@host/database`")
	f.StringVar(&q.resume, "resume", "", "with --queue: go on with an interrupted `run`; repeat its command line")
	f.DurationVar(&q.lease, "lease", 15*time.Second, "with --queue: the time after which a silent worker is considered dead")
	f.DurationVar(&q.jobTime, "job-time", time.Second, "with --queue: about how much work a job has")
	f.IntVar(&q.deaths, "max-deaths", 25, "with --queue: the number of workers that a trial may kill before it is an error")
	f.Var(&q.rate, "rate", "with --queue and --live: the most requests to a provider, over all workers, such as `10/s` or 500/m")
	f.IntVar(&q.maxOutput, "max-output", 0, fmt.Sprintf(
		"with --queue and --live: the longest answer of a call, in `tokens` (default: the provider's; with --max-cost, %d)", defaultMaxOutput))
}

// check returns an error for flags that do not fit together.
func (q *fleetFlags) check(f *pflag.FlagSet, flags *runFlags) error {
	if q.address == "" {
		for _, name := range []string{"queue", "resume", "lease", "job-time", "max-deaths", "rate", "max-output"} {
			if f.Changed(name) {
				return fmt.Errorf("--%s needs --queue with the address of a queue", name)
			}
		}
		return nil
	}
	conflict := map[string]bool{
		"--watch": flags.watch, "--shard": flags.order.shard.Of > 0, "--perturb": len(flags.perturb) > 0,
	}
	for name, given := range conflict {
		if given {
			return errors.New("--queue cannot be used with " + name)
		}
	}
	switch {
	case !flags.live && (f.Changed("rate") || f.Changed("max-output")):
		return errors.New("--rate and --max-output limit live models; allow those with --live")
	case f.Changed("max-output") && (q.maxOutput < 1 || q.maxOutput > 10_000_000):
		return fmt.Errorf("--max-output must be from 1 to 10000000, got %d", q.maxOutput)
	case q.lease < 100*time.Millisecond || q.lease > time.Hour:
		return fmt.Errorf("--lease must be from 100ms to 1h, got %s", q.lease)
	case q.jobTime < time.Millisecond || q.jobTime > time.Hour:
		return fmt.Errorf("--job-time must be from 1ms to 1h, got %s", q.jobTime)
	case q.deaths < 1 || q.deaths > 1000:
		return fmt.Errorf("--max-deaths must be from 1 to 1000, got %d", q.deaths)
	}
	return nil
}

// fleet is a run that is spread over workers. A nil one is not.
type fleet struct {
	store       *queue.Store
	coordinator *queue.Coordinator
}

// beginFleet begins a run in the queue of the flags, if there is one.
func (a *app) beginFleet(
	ctx context.Context, set []scenarios.Scenario, header record.Run, flags *runFlags, prices *price.Table,
) (*fleet, error) {
	q := &flags.fleet
	if q.address == "" {
		return nil, nil
	}
	live, err := a.liveLimits(set, flags, prices)
	if err != nil {
		return nil, usage(err)
	}
	plan := queue.Plan{Header: header, Scenarios: planOf(set), Require: flags.require, Live: flags.live}
	if flags.prices != "" {
		data, err := os.ReadFile(flags.prices)
		if err != nil {
			return nil, usage(fmt.Errorf("read the price file: %w", err))
		}
		plan.Prices = data
	}
	program, err := programDigest()
	if err != nil {
		return nil, usage(err)
	}
	store, err := queue.Open(ctx, q.address, coordinatorConnections)
	if err != nil {
		return nil, usage(err)
	}
	c, err := store.Coordinate(ctx, plan, queue.Options{
		Program: program, Lease: q.lease, JobTime: q.jobTime, Deaths: q.deaths, Resume: q.resume, Live: live,
		Clock: clock.Real(), Log: a.fleetLog(),
	})
	if err != nil {
		store.Close()
		return nil, usage(err)
	}
	return &fleet{store: store, coordinator: c}, nil
}

// fleetLog returns a function that prints a message of the queue.
func (a *app) fleetLog() func(string) {
	return func(message string) {
		fmt.Fprintln(a.stderr, "rehearse:", redactor().Text(strings.Join(sanitize.Lines(message, maxQueueMessage), "\n")))
	}
}

// maxQueueMessage limits a message of the queue, in characters.
const maxQueueMessage = 20_000

// options returns the options of a run on this machine, changed for the workers of the fleet.
func (f *fleet) options(opts harness.Options) harness.Options {
	if f != nil {
		opts.Remote = f.coordinator
		opts.Workers = 2 * runtime.GOMAXPROCS(0) // they wait, or decode a result
	}
	return opts
}

// end ends the run in the queue. A run that is not complete can be resumed.
func (f *fleet) end(ctx context.Context, a *app, complete bool) {
	if f == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	complete = complete && f.coordinator.Err() == nil
	err := f.coordinator.Close(ctx, complete)
	f.store.Close()
	if err != nil {
		fmt.Fprintln(a.stderr, "rehearse:", err)
	}
	if !complete {
		fmt.Fprintf(a.stderr, "resume with the same command line (budgets may be higher) and: --resume %s\n", f.coordinator.Key())
	}
}

// planOf returns the scenarios of a run as a worker finds them.
func planOf(set []scenarios.Scenario) []queue.Scenario {
	plan := make([]queue.Scenario, len(set))
	for i, sc := range set {
		pattern := sc.File
		if scenarios.Shipped(sc.File) {
			pattern = "shipped:" + sc.Name
		} else {
			pattern = asPaths([]string{pattern})[0]
		}
		plan[i] = queue.Scenario{Pattern: pattern, Name: sc.Name, Digest: sc.Digest, Trials: max(sc.Trials, 1), Needs: needsOf(&sc)}
	}
	return plan
}

// needPrefix begins the tags of scenarios that name what a worker must have.
const needPrefix = "needs-"

// needsOf returns the tags that a worker must have for a scenario.
func needsOf(sc *scenarios.Scenario) []string {
	var needs []string
	if sc.Drive.Kind == "container" {
		needs = append(needs, "docker")
	}
	for _, tag := range sc.Tags {
		if need, ok := strings.CutPrefix(tag, needPrefix); ok && need != "" {
			needs = append(needs, need)
		}
	}
	slices.Sort(needs)
	return slices.Compact(needs)
}

// programDigest returns the digest of this program.
func programDigest() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// prepareRun loads the scenarios of a run for a worker.
func (a *app) prepareRun(plan queue.Plan) (*harness.Trials, string, func(), error) {
	prices, err := price.Default()
	if len(plan.Prices) > 0 {
		prices, err = price.Load("the price file of the run", plan.Prices)
	}
	if err != nil {
		return nil, "", nil, err
	}
	patterns := make([]string, len(plan.Scenarios))
	for i, sc := range plan.Scenarios {
		patterns[i] = sc.Pattern
	}
	slices.Sort(patterns)
	found, diagnostics := scenarios.Load(slices.Compact(patterns), a.scenarioOptions(prices))
	if err := diagnostics.Err(); err != nil {
		return nil, "", nil, fmt.Errorf("its scenarios cannot be loaded here; start the worker in the same folder of the same commit: %w", err)
	}
	set := make([]scenarios.Scenario, len(plan.Scenarios))
	for i, planned := range plan.Scenarios {
		at := slices.IndexFunc(found, func(sc scenarios.Scenario) bool { return sc.Name == planned.Name })
		switch {
		case at < 0:
			return nil, "", nil, fmt.Errorf("the scenario %s is not here; start the worker in the same folder of the same commit", planned.Name)
		case found[at].Digest != planned.Digest:
			return nil, "", nil, fmt.Errorf("the scenario %s, or a file that it names, differs here; use the same commit", planned.Name)
		}
		set[i] = found[at]
		set[i].Trials = planned.Trials
	}
	if plan.Live {
		if err := a.checkLiveHere(set); err != nil {
			return nil, "", nil, err
		}
	}
	env := a.env(prices, plan.Live)
	env.Required = plan.Require
	trials, err := harness.Prepare(set, harness.Options{Env: env, Language: a.language})
	if err != nil {
		return nil, "", nil, err
	}
	return trials, harness.Header(set, tool(), prices, plan.Header.Labels).ID, func() { _ = env.Close() }, nil // a listener at most
}
