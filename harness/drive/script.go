package drive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
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

// Trial is one trial under way, with its own backend, clock and record.
type Trial struct {
	// Backend is the agent's model: its calls are recorded, and metered if those of the
	// run are. BackendID says which it is.
	Backend   llm.Backend
	BackendID string
	// Conversational reports whether the backend keeps to a conversation that is sent
	// whole, as an API does; a command-line agent takes one prompt.
	Conversational bool
	// Clock is virtual unless bytes cross a process or a socket.
	Clock clock.Clock
	// Sink records events.
	Sink event.Sink
	// Perturb are the perturbations of the trial.
	Perturb []perturb.Perturbation
	// Price prices what a call used; EURPerUSD is 0 where the rate is unknown.
	Price     llm.Pricer
	EURPerUSD float64
	// Env is what the trials of a run share.
	Env *Env

	script    *script
	engine    *mocks.Engine // nil where the backend is live
	random    *rand.Rand
	collector *record.Collector
	cleanups  []func() error
	unfired   []string // what was planned to go wrong beside the script, and did not
}

// begin begins trial n. Observer, if given, makes the observer of the calls that reach the
// scripted backend.
func (d *driver) begin(n int, observer func(*Trial) mocks.Observer) *Trial {
	seed := Seed(d.scenario.Seed, n)
	t := &Trial{
		Clock: clock.NewVirtual(), Perturb: d.perturb, Price: d.price, EURPerUSD: d.rate, Env: d.env,
		script: d.script, random: rand.New(rand.NewPCG(seed, 0)),
	}
	if d.head.RealTime {
		t.Clock = clock.Real()
	}
	t.collector = record.NewCollector(record.CollectorOptions{
		Head:     record.TrialHead{Scenario: d.scenario.Name, N: n, Seed: seed},
		Clock:    t.Clock,
		RealTime: d.head.RealTime,
		Redactor: d.env.Redactor,
		Backend:  d.script.backend.Kind(),
	})
	t.Sink = t.collector
	if d.script.program == nil {
		return t
	}
	opts := mocks.EngineOptions{
		Clock: t.Clock,
		Scale: d.script.backend.TimeScale,
		Seed:  seed,
		Trial: n,
		Count: d.env.Tokens.Count,

		Inject: d.inject,
	}
	if observer != nil {
		opts.Observer = observer(t)
		if c, ok := opts.Observer.(interface{ count(model, text string) int }); ok {
			opts.Count = c.count
		}
	}
	t.engine = mocks.NewEngine(d.script.program, opts)
	return t
}

// Cleanup registers what is to be done when the trial ends, the first one first.
func (t *Trial) Cleanup(do func() error) { t.cleanups = append(t.cleanups, do) }

// CleanupFirst registers what is to be done before all else that was registered.
func (t *Trial) CleanupFirst(do func() error) { t.cleanups = append([]func() error{do}, t.cleanups...) }

// Unfired reports perturbations beside the calls that did not fire.
func (t *Trial) Unfired(texts ...string) { t.unfired = append(t.unfired, texts...) }

// connectBackend connects a client to the engine, as the scenario says.
func (t *Trial) connectBackend(ctx context.Context) error {
	client, err := t.connect(ctx)
	if err != nil {
		return err
	}
	client = withMeter(ctx, client)
	t.Backend, t.BackendID = t.collector.Wrap(client), client.ID()
	t.Conversational = !t.script.backend.Process()
	return nil
}

func (t *Trial) connect(ctx context.Context) (llm.Adapter, error) {
	switch kind := t.script.backend.Kind(); kind {
	case scenarios.InProcess:
		return t.api("http://127.0.0.1/v1", openai.Config{Transport: mocks.NewTransport(t.engine)})
	case scenarios.Socket:
		url, release, err := t.Env.socket.attach(t.engine)
		if err != nil {
			return nil, err
		}
		t.Cleanup(release)
		return t.api(url, openai.Config{Transport: &t.Env.socket.client})
	case scenarios.Live:
		return t.live()
	default:
		return t.agent(ctx, kind)
	}
}

// api is the project's real client, pointed at the engine.
func (t *Trial) api(url string, cfg openai.Config) (llm.Adapter, error) {
	cfg.APIKey = "scripted" // works nowhere else
	cfg.Offline = true
	return t.client(url, cfg)
}

// client is the project's real client with what the scenario says of it.
func (t *Trial) client(url string, cfg openai.Config) (llm.Adapter, error) {
	cfg.BaseURL = url
	cfg.Model = t.script.backend.Model
	cfg.Clock = t.Clock
	cfg.Retry = openai.RetryPolicy{Max: t.script.backend.Retry, Rand: t.random.Float64}
	if cfg.Retry.Max == 0 {
		cfg.Retry.Max = -1 // none: a scenario says what it wants
	}
	return openai.New(cfg)
}

// agent is the project's real adapter, pointed at a child process that plays the
// scripted agent.
func (t *Trial) agent(ctx context.Context, style string) (llm.Adapter, error) {
	server, err := agent.Serve(t.engine, agent.Config{Executable: t.Env.Executable, Price: t.usd})
	if err != nil {
		return nil, err
	}
	t.Cleanup(server.Close)
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
func (t *Trial) usd(model string, u llm.Usage) (float64, bool) {
	quote, ok := t.Env.Prices.Quote(model)
	if !ok {
		return 0, false
	}
	return quote.Cost(u).In(quantity.USD, quote.EURPerUSD)
}

// Release stops what the trial started, which completes the engine's report. It
// may be called again.
func (t *Trial) Release() error {
	var errs []error
	for _, stop := range t.cleanups {
		errs = append(errs, stop())
	}
	t.cleanups = nil
	return errors.Join(errs...)
}

// finish releases everything and completes the record.
func (t *Trial) finish(end record.End) record.Trial {
	if err := t.Release(); err != nil && end.HarnessError == "" {
		end.HarnessError = "stop the scripted backend: " + err.Error()
	}
	var report mocks.Report
	if t.engine != nil {
		report = t.engine.Report()
	}
	exchanges := make([]record.Exchange, len(report.Exchanges))
	for i, x := range report.Exchanges {
		exchanges[i] = record.Exchange(x)
		if x.HungUp && t.Clock == clock.Real() {
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
