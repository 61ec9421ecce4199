package evaluate

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	reactkind "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// The detectors of reflections.
const (
	reflectionRule = "reflection"
	overlapRule    = "overlap"
)

// openAI is the backend that is called over HTTP.
const openAI = "openai"

// Backends are the settings of detectors that ask a program, a host or a model.
type Backends struct {
	Timeout time.Duration
	// Live allows models and hosts other than this machine.
	Live   bool
	Model  string
	Getenv func(string) string
	// Prices returns the price table; it is called for models only.
	Prices func() (*price.Table, error)
	// MaxCost ends the run when the cost of a model reaches it; zero means no limit.
	MaxCost quantity.Money
}

// Detectors lists the names of detectors, or their prefixes.
func Detectors() []string {
	names := []string{
		"guard", "guard:balanced", "guard:strict", "guard:careful", "naive", reflectionRule, overlapRule, "command:", "http://", "https://",
	}
	for _, id := range judges() {
		names = append(names, "llm:"+id)
	}
	return names
}

// judges lists the backends that can be detectors.
func judges() []string {
	return append([]string{openAI}, slices.DeleteFunc(cli.IDs(), func(id string) bool { return id == "exec" })...)
}

// builder makes detectors from their names.
type builder struct {
	backends Backends
	stop     context.CancelCauseFunc
	closers  []func()
}

// both builds the detector of a request and the one that it is compared with.
func (b *builder) both(ctx context.Context, r Request) ([]detect.Detector, error) {
	var found []detect.Detector
	var errs []error
	for _, d := range []struct {
		name      string
		threshold float64
	}{{r.Detector, r.Threshold}, {r.Against, 0}} {
		if d.name == "" {
			continue
		}
		detector, err := b.build(ctx, d.name, d.threshold)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, detector)
	}
	if len(found) == 2 && found[0].Name() == found[1].Name() {
		errs = append(errs, fmt.Errorf("--against names the same detector as --detector: %s", found[0].Name()))
	}
	return found, errors.Join(errs...)
}

func (b *builder) build(ctx context.Context, name string, threshold float64) (detect.Detector, error) {
	if threshold < 0 || threshold > 1 {
		return nil, fmt.Errorf("--threshold %g: it must be above 0 and at most 1", threshold)
	}
	kind, rest, _ := strings.Cut(name, ":")
	var d detect.Detector
	var err error
	switch {
	case kind == "guard":
		return guard(rest, threshold)
	case name == "naive" || name == overlapRule:
		if threshold > 0 {
			return nil, fmt.Errorf("--threshold: the detector %s gives no scores", name)
		}
		if name == overlapRule {
			return reactkind.OverlapDetector(), nil
		}
		return detect.Naive(), nil
	case name == reflectionRule:
		d = reactkind.ReflectionDetector()
	case kind == "command":
		d, err = b.command(rest)
	case kind == "http" || kind == "https":
		d, err = b.endpoint(name)
	case kind == "llm":
		d, err = b.model(ctx, rest)
	default:
		return nil, suggest.NotAmong("detector", name, Detectors())
	}
	if err == nil && threshold > 0 {
		d = detect.AtThreshold(d, threshold)
	}
	return d, err
}

func guard(policy string, threshold float64) (detect.Detector, error) {
	if stop.Policy(policy).Validate() != nil {
		var names []string
		for _, p := range stop.Policies() {
			names = append(names, string(p))
		}
		return nil, suggest.NotAmong("policy", policy, names)
	}
	return stopkind.Detector(stop.Options{Policy: stop.Policy(policy), Threshold: threshold}), nil
}

func (b *builder) command(line string) (detect.Detector, error) {
	c, err := detect.NewCommand(detect.CommandConfig{Argv: strings.Fields(line), Timeout: b.backends.Timeout})
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, func() { _ = c.Close() })
	return c, nil
}

// endpoint returns the detector at a URL, which may follow "http:".
func (b *builder) endpoint(name string) (detect.Detector, error) {
	address := name
	if rest, ok := strings.CutPrefix(name, "http:http"); ok {
		address = "http" + rest
	}
	d, err := detect.HTTP(detect.HTTPConfig{URL: address, Timeout: b.backends.Timeout})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil { // cannot be: detect.HTTP has parsed it
		return nil, err
	}
	return d, b.allow(u.Hostname(), "the host "+u.Hostname())
}

// allow refuses other machines unless the user permits them.
func (b *builder) allow(host, what string) error {
	switch {
	case loopback.Is(host):
		return nil
	case openai.FromEnv(b.backends.Getenv).Offline:
		return fmt.Errorf("%s is not on this machine, and REHEARSE_OFFLINE forbids every other; unset it", what)
	case !b.backends.Live:
		return fmt.Errorf("%s is not on this machine; give --live to let it see the messages", what)
	}
	return nil
}

func (b *builder) model(ctx context.Context, id string) (detect.Detector, error) {
	if !slices.Contains(judges(), id) {
		return nil, suggest.NotAmong("backend", id, judges())
	}
	prices, err := b.backends.Prices()
	if err != nil {
		return nil, err
	}
	adapter, err := b.adapter(id)
	if err != nil {
		return nil, err
	}
	found, err := llm.FindAdapter(ctx, id, adapter)
	if err != nil {
		return nil, err
	}
	var backend llm.Backend = found
	if most := b.backends.MaxCost; !most.IsZero() {
		caps := llm.NewBudget(llm.Caps{Cost: most}, prices.Pricer(b.backends.Model), prices.EURPerUSD)
		backend = capped{backend, caps, b.stop}
	}
	return detect.LLM(detect.LLMConfig{
		Backend: backend, Name: id, Model: b.backends.Model, Timeout: b.backends.Timeout,
		CostEUR: costInEUR(prices, b.backends.Model),
	}), nil
}

// adapter returns a backend that may be used. An agent could do more than answer, so it
// runs in an empty folder.
func (b *builder) adapter(id string) (llm.Adapter, error) {
	if id == openAI {
		cfg := openai.FromEnv(b.backends.Getenv)
		cfg.Model = b.backends.Model
		host := ""
		if u, err := url.Parse(cfg.BaseURL); err == nil {
			host = u.Hostname()
		}
		if err := b.allow(host, "the backend openai"); err != nil {
			return nil, err
		}
		return openai.New(cfg)
	}
	if err := b.allow("", "the model behind "+id); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rehearse-detect-")
	if err != nil {
		return nil, fmt.Errorf("make an empty folder for %s: %w", id, err)
	}
	b.closers = append(b.closers, func() { _ = os.RemoveAll(dir) })
	return cli.New(id, cli.Config{Model: b.backends.Model, Dir: dir, Access: cli.ReadOnly})
}

// costInEUR prices a call: as the backend reports it, or else by the table.
func costInEUR(prices *price.Table, model string) func(string, llm.Usage, *float64) (float64, bool) {
	priced := prices.Pricer(model)
	return func(model string, u llm.Usage, reportedUSD *float64) (float64, bool) {
		if reportedUSD != nil {
			return quantity.Money{Amount: *reportedUSD, Currency: quantity.USD}.In(quantity.EUR, prices.EURPerUSD)
		}
		cost, ok := priced(model, u)
		if !ok {
			return 0, false
		}
		return cost.In(quantity.EUR, prices.EURPerUSD)
	}
}

// capped is a backend that ends the run when its budget is used up.
type capped struct {
	llm.Backend
	budget *llm.Budget
	stop   context.CancelCauseFunc
}

// Complete implements llm.Backend.
func (c capped) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if err := c.budget.Reserve(); err != nil {
		c.stop(err)
		return llm.Reply{}, err
	}
	reply, err := c.Backend.Complete(ctx, req)
	usage, model := reply.Usage, reply.Model
	if failed, ok := errors.AsType[*llm.Error](err); ok {
		usage = failed.Usage
	}
	if model == "" {
		model = req.Model
	}
	c.budget.Add(model, usage, reply.ReportedUSD)
	return reply, err
}
