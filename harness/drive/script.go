package drive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Limits on scripted command-line agents. They are far smaller than those of
// real ones, for a fault must not hold up a run.
const (
	outputLimit = 4 << 20
	grace       = 500 * time.Millisecond
)

// script is a compiled backend section, shared by the trials of a scenario. A live
// backend has no program.
type script struct {
	backend scenarios.Backend
	program *mocks.Program
}

func compile(b scenarios.Backend) (*script, error) {
	if b.Live() {
		return &script{backend: b}, nil
	}
	program, err := mocks.Compile(b.Script)
	if err != nil {
		return nil, err
	}
	return &script{backend: b, program: program}, nil
}

// faults lists what the script plans to go wrong.
func (s *script) faults() []record.PlannedFault {
	if s.program == nil {
		return nil
	}
	var planned []record.PlannedFault
	for _, f := range s.program.PlannedFaults() {
		planned = append(planned, record.PlannedFault(f))
	}
	return planned
}

// trial is one trial's own engine, clock and record.
type trial struct {
	script    *script
	env       *Env
	engine    *mocks.Engine // nil where the backend is live
	clock     clock.Clock
	random    *rand.Rand
	collector *record.Collector
	closers   []func() error
	unfired   []string // what was planned to go wrong beside the script, and did not
}

func (s *script) begin(sc scenarios.Scenario, n int, env *Env, inject ...mocks.Injection) *trial {
	return s.beginObserved(sc, n, env, nil, inject...)
}

// beginObserved is begin with somebody who is told of the calls that reach the backend;
// nil is nobody.
func (s *script) beginObserved(sc scenarios.Scenario, n int, env *Env, observer func(*trial) mocks.Observer, inject ...mocks.Injection) *trial {
	seed := Seed(sc.Seed, n)
	t := &trial{script: s, env: env, clock: clock.NewVirtual(), random: rand.New(rand.NewPCG(seed, 0))}
	if realTime(sc) {
		t.clock = clock.Real()
	}
	t.collector = record.NewCollector(record.CollectorOptions{
		Head:     record.TrialHead{Scenario: sc.Name, N: n, Seed: seed},
		Clock:    t.clock,
		RealTime: realTime(sc),
		Redactor: env.Redactor,
		Backend:  s.backend.Kind(),
	})
	if s.program == nil {
		return t
	}
	opts := mocks.EngineOptions{
		Clock: t.clock,
		Scale: s.backend.TimeScale,
		Seed:  seed,
		Trial: n,
		Count: env.Tokens.Count,

		Inject: inject,
	}
	if observer != nil {
		opts.Observer = observer(t)
		if c, ok := opts.Observer.(interface{ count(model, text string) int }); ok {
			opts.Count = c.count
		}
	}
	t.engine = mocks.NewEngine(s.program, opts)
	return t
}

// backend connects a client to the engine, as the scenario says. Its calls are metered
// if those of the trial are.
func (t *trial) backend(ctx context.Context) (llm.Adapter, error) {
	client, err := t.connect(ctx)
	if err != nil {
		return nil, err
	}
	return withMeter(ctx, client), nil
}

func (t *trial) connect(ctx context.Context) (llm.Adapter, error) {
	switch kind := t.script.backend.Kind(); kind {
	case scenarios.InProcess:
		return t.api("http://127.0.0.1/v1", openai.Config{Transport: mocks.NewTransport(t.engine)})
	case scenarios.Socket:
		url, release, err := t.env.socket.attach(t.engine)
		if err != nil {
			return nil, err
		}
		t.closers = append(t.closers, release)
		return t.api(url, openai.Config{Transport: &t.env.socket.client})
	case scenarios.Live:
		return t.live()
	default:
		return t.agent(ctx, kind)
	}
}

// api is the project's real client, pointed at the engine.
func (t *trial) api(url string, cfg openai.Config) (llm.Adapter, error) {
	cfg.APIKey = "scripted" // works nowhere else
	cfg.Offline = true
	return t.client(url, cfg)
}

// client is the project's real client with what the scenario says of it.
func (t *trial) client(url string, cfg openai.Config) (llm.Adapter, error) {
	cfg.BaseURL = url
	cfg.Model = t.script.backend.Model
	cfg.Clock = t.clock
	cfg.Retry = openai.RetryPolicy{Max: t.script.backend.Retry, Rand: t.random.Float64}
	if cfg.Retry.Max == 0 {
		cfg.Retry.Max = -1 // none: a scenario says what it wants
	}
	return openai.New(cfg)
}

// agent is the project's real adapter, pointed at a child process that plays the
// scripted agent.
func (t *trial) agent(ctx context.Context, style string) (llm.Adapter, error) {
	server, err := agent.Serve(t.engine, agent.Config{Executable: t.env.Executable, Price: t.usd})
	if err != nil {
		return nil, err
	}
	t.closers = append(t.closers, server.Close)
	argv, env, err := server.Command(style)
	if err != nil {
		return nil, err
	}
	backend, err := cli.New(style, cli.Config{
		Command:   argv,
		Env:       env,
		Model:     t.script.backend.Model,
		MaxOutput: outputLimit,
		Grace:     grace,
	})
	if err != nil {
		return nil, err
	}
	if err := backend.Available(ctx); err != nil {
		return nil, fmt.Errorf("%w; let Env.Executable name a program that calls mocks/agent.Main first, or leave it empty", err)
	}
	return backend, nil
}

// usd is what the scripted agents report as their cost.
func (t *trial) usd(model string, u llm.Usage) (float64, bool) {
	quote, ok := t.env.Prices.Quote(model)
	if !ok {
		return 0, false
	}
	return quote.Cost(u).In(quantity.USD, quote.EURPerUSD)
}

// release stops what the trial started, which completes the engine's report. It
// may be called again.
func (t *trial) release() error {
	var errs []error
	for _, stop := range t.closers {
		errs = append(errs, stop())
	}
	t.closers = nil
	return errors.Join(errs...)
}

// finish releases everything and completes the record.
func (t *trial) finish(end record.End) record.Trial {
	if err := t.release(); err != nil && end.HarnessError == "" {
		end.HarnessError = "stop the scripted backend: " + err.Error()
	}
	var report mocks.Report
	if t.engine != nil {
		report = t.engine.Report()
	}
	exchanges := make([]record.Exchange, len(report.Exchanges))
	for i, x := range report.Exchanges {
		exchanges[i] = record.Exchange(x)
		if x.HungUp && t.clock == clock.Real() {
			// How much a client got before it left depends on the machine.
			exchanges[i].Frames, exchanges[i].Bytes = 0, 0
		}
	}
	return t.collector.Finish(end, record.Script{
		Unused:     report.Unused,
		Unexpected: report.Unexpected,
		Invalid:    report.Invalid,
		Unfired:    append(report.Unfired, t.unfired...),
	}, exchanges)
}
