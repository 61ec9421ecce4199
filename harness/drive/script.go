package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/agent"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Limits on scripted command-line agents. They are far lower than those of real ones, so
// that a fault does not delay a run.
const (
	outputLimit = 4 << 20
	grace       = 500 * time.Millisecond
)

// script is a compiled backend section, shared by the trials of a scenario. A live
// backend has no program.
type script struct {
	backend scenarios.Backend
	program *mocks.Program
	// Agents in this process send the same requests in most trials.
	encoded openai.Requests
	decoded mocks.Decoded
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

// faults returns the planned faults of the script.
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

// Trial is one running trial, with its own backend, clock and record.
type Trial struct {
	// Backend is the agent's model, whose calls are recorded, and metered if the run has a
	// Meter. BackendID is its name.
	Backend   llm.Backend
	BackendID string
	// Conversational is true for a backend that takes a whole conversation, such as an API; a
	// command-line agent takes one prompt.
	Conversational bool
	// Clock is virtual unless bytes cross a process or a socket.
	Clock clock.Clock
	// Sink records events.
	Sink event.Sink
	// Perturb are the perturbations of the trial.
	Perturb []perturb.Perturbation
	// Price prices the usage of a call; EURPerUSD is 0 if the rate is unknown.
	Price     llm.Pricer
	EURPerUSD float64
	// Env is shared by the trials of a run.
	Env *Env

	script     *script
	engine     *mocks.Engine // nil if the backend is live
	mcp        []mcp.Server
	servers    *mcp.Engine       // nil without MCP servers
	userEngine *mocks.Engine     // of the scripted model of a simulated user; nil if unused rules of it are no finding
	userAt     string            // precedes the names of its lines
	base       string            // base URL of the backend at the socket, without "/v1"; empty in process
	emit       func(event.Event) // records an event of the servers
	random     *rand.Rand
	source     *rand.PCG // of random
	tape       *Tape     // that the trial is recorded on; nil for most trials
	forkedAt   any       // state of the agent at which the trial started; nil if at its beginning
	collector  *record.Collector
	cleanups   []func() error
	unfired    []string // perturbations beside the script that did not fire
}

// begin begins trial n. observer, if given, returns the observer of the calls that reach the
// scripted backend.
func (d *driver) begin(n int, observer func(*Trial) mocks.Observer) *Trial {
	seed := Seed(d.scenario.Seed, n)
	source := rand.NewPCG(seed, 0)
	t := &Trial{
		Clock: clock.NewVirtual(), Perturb: d.perturb, Price: d.price, EURPerUSD: d.rate, Env: d.env,
		script: d.script, random: rand.New(source), source: source,
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
	t.mcp = d.scenario.MCP
	t.startServers(d.servers, d.injectTools)
	if d.script.program == nil {
		return t
	}
	opts := mocks.EngineOptions{
		Clock: t.Clock,
		Scale: d.script.backend.TimeScale,
		Seed:  seed,
		Trial: n,
		Count: d.env.Tokens.Count,
		OtherPrice: func(called, answers string) bool {
			if price.SameModel(called, answers) { // as in most calls
				return false
			}
			_, ok := d.env.Prices.Quote(called)
			return ok
		},
		Inject: d.inject,
	}
	if d.script.backend.Kind() == scenarios.InProcess {
		opts.Decoded = &d.script.decoded
	}
	if observer != nil {
		opts.Observer = observer(t)
		if c, ok := opts.Observer.(interface{ count(model, text string) int }); ok {
			opts.Count = c.count
		}
	}
	if d.head.RealTime {
		d.env.Tokens.Load(d.script.backend.Model) // before the latency of a call is measured
	}
	t.engine = mocks.NewEngine(d.script.program, opts)
	return t
}

// Cleanup registers a function to call when the trial ends, after those registered before.
func (t *Trial) Cleanup(do func() error) { t.cleanups = append(t.cleanups, do) }

// CleanupFirst registers a function to call before all others when the trial ends.
func (t *Trial) CleanupFirst(do func() error) { t.cleanups = append([]func() error{do}, t.cleanups...) }

// Unfired reports perturbations, other than those of calls, that did not fire.
func (t *Trial) Unfired(texts ...string) { t.unfired = append(t.unfired, texts...) }

// connectBackend sets Backend to a client of the scenario's backend.
func (t *Trial) connectBackend(ctx context.Context) error {
	client, err := t.connect(ctx)
	if err != nil {
		return err
	}
	client = t.metered(ctx, client)
	t.Backend, t.BackendID = t.collector.Wrap(client), client.ID()
	t.Conversational = !t.script.backend.Process()
	return nil
}

func (t *Trial) connect(ctx context.Context) (llm.Adapter, error) {
	switch kind := t.script.backend.Kind(); kind {
	case scenarios.InProcess:
		return t.scriptedClient("http://127.0.0.1/v1", openai.Config{Transport: mocks.NewTransport(t.engine), Requests: &t.script.encoded})
	case scenarios.Socket:
		url, release, err := t.Env.socket.attach(t.engine, t.servers)
		if err != nil {
			return nil, err
		}
		t.Cleanup(release)
		t.base = strings.TrimSuffix(url, "/v1")
		return t.scriptedClient(url, openai.Config{Transport: &t.Env.socket.client})
	case scenarios.Live:
		return t.liveClient(ctx)
	default:
		return t.commandLineAgent(ctx, kind)
	}
}

// scriptedClient returns the project's real client of the engine.
func (t *Trial) scriptedClient(url string, cfg openai.Config) (llm.Adapter, error) {
	cfg.APIKey = "scripted" // not a real key
	cfg.Offline = true
	return t.newClient(url, cfg)
}

// newClient returns the project's real client, configured by the scenario.
func (t *Trial) newClient(url string, cfg openai.Config) (llm.Adapter, error) {
	cfg.BaseURL = url
	cfg.Model = t.script.backend.Model
	cfg.Clock = t.Clock
	cfg.Retry = openai.RetryPolicy{Max: t.script.backend.Retry, Rand: t.random.Float64}
	if cfg.Retry.Max == 0 {
		cfg.Retry.Max = -1 // no retries unless the scenario asks for them
	}
	return openai.New(cfg)
}

// commandLineAgent returns the project's real adapter of a child process that plays the
// scripted agent.
func (t *Trial) commandLineAgent(ctx context.Context, style string) (llm.Adapter, error) {
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

// usd returns the cost that the scripted agents report.
func (t *Trial) usd(model string, u llm.Usage) (float64, bool) {
	quote, ok := t.Env.Prices.Quote(model)
	if !ok {
		return 0, false
	}
	return quote.Cost(u).In(quantity.USD, quote.EURPerUSD)
}

// Release stops everything that the trial started, which completes the engine's report. It
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
			// How much a client received before it disconnected depends on the machine.
			exchanges[i].Frames, exchanges[i].Bytes = 0, 0
		}
	}
	script := record.Script{
		Unused:     report.Unused,
		Unexpected: report.Unexpected,
		Strays:     report.Strays,
		Invalid:    report.Invalid,
		Unfired:    append(report.Unfired, t.unfired...),
		Warnings:   report.Warnings,
		Stored:     report.Stored,

		UnofferedTools: report.UnofferedTools,
	}
	if len(t.Perturb) > 0 {
		script.Perturbed = map[string]int{}
	}
	maps.Copy(script.Perturbed, report.Injected)
	for _, r := range report.Storage {
		script.Storage = append(script.Storage, record.StorageRequest(r))
	}
	t.addReport(&script)
	return t.collector.Finish(end, script, exchanges)
}
