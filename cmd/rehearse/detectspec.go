package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// detectorFlags say which detector is meant.
type detectorFlags struct {
	spec      string
	threshold float64 // 0: the detector's own
}

// detectorSettings are those of all detectors.
type detectorSettings struct {
	timeout time.Duration
	live    bool
	model   string
	maxCost textFlag[*quantity.Money]
	prices  string
}

// detectorSpecs are what --detector may be, or begin with.
func detectorSpecs() []string {
	specs := []string{"guard", "guard:balanced", "guard:strict", "naive", reflectionRule, overlapRule, "command:", "http://", "https://"}
	for _, id := range judgeIDs() {
		specs = append(specs, "llm:"+id)
	}
	return specs
}

// judgeIDs lists the backends that can judge.
func judgeIDs() []string {
	ids := slices.DeleteFunc(cli.IDs(), func(id string) bool { return id == execOwn })
	return append([]string{openAI}, ids...)
}

// findDetectors finds the detectors that the flags name; stop ends the run.
// Closing ends what they have started.
func (a *app) findDetectors(ctx context.Context, flags detectFlags, stop context.CancelCauseFunc) (found []detect.Detector, closing func(), err error) {
	b := &detectorBuilder{app: a, settings: flags.shared, stop: stop}
	var errs []error
	for _, d := range []detectorFlags{flags.detector, flags.against} {
		if d.spec == "" {
			continue
		}
		detector, err := b.build(ctx, d)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		found = append(found, detector)
	}
	if len(found) == 2 && found[0].Name() == found[1].Name() {
		errs = append(errs, fmt.Errorf("--against names the same detector as --detector: %s", found[0].Name()))
	}
	if len(errs) > 0 {
		b.close()
		return nil, nil, errors.Join(errs...)
	}
	return found, b.close, nil
}

// detectorBuilder makes detectors from their flags.
type detectorBuilder struct {
	app      *app
	settings detectorSettings
	stop     context.CancelCauseFunc
	closers  []func()
}

func (b *detectorBuilder) close() {
	for _, end := range b.closers {
		end()
	}
}

func (b *detectorBuilder) build(ctx context.Context, flags detectorFlags) (detect.Detector, error) {
	if flags.threshold < 0 || flags.threshold > 1 {
		return nil, fmt.Errorf("--threshold %g: it must be above 0 and at most 1", flags.threshold)
	}
	kind, rest, _ := strings.Cut(flags.spec, ":")
	var d detect.Detector
	var err error
	switch {
	case kind == "guard":
		return guardDetector(rest, flags.threshold)
	case flags.spec == "naive" || flags.spec == overlapRule:
		if flags.threshold > 0 {
			return nil, fmt.Errorf("--threshold: the detector %s gives no scores", flags.spec)
		}
		if flags.spec == overlapRule {
			return detect.Overlap(), nil
		}
		return detect.Naive(), nil
	case flags.spec == reflectionRule:
		d = detect.Reflection()
	case kind == "command":
		d, err = b.command(rest)
	case kind == "http" || kind == "https":
		d, err = b.endpoint(flags.spec)
	case kind == "llm":
		d, err = b.judge(ctx, rest)
	default:
		return nil, notAmong("detector", flags.spec, detectorSpecs())
	}
	if err == nil && flags.threshold > 0 {
		d = detect.AtThreshold(d, flags.threshold)
	}
	return d, err
}

func guardDetector(policy string, threshold float64) (detect.Detector, error) {
	if policy == "" {
		policy = string(stop.Balanced)
	}
	if !slices.Contains(policies, policy) {
		return nil, notAmong("policy", policy, policies)
	}
	if threshold > 0 && policy != string(stop.Balanced) {
		return nil, errors.New("--threshold is of the policy balanced; strict has none")
	}
	return detect.Guard(stop.Policy(policy), threshold), nil
}

func (b *detectorBuilder) command(line string) (detect.Detector, error) {
	c, err := detect.NewCommand(detect.CommandConfig{Argv: strings.Fields(line), Timeout: b.settings.timeout})
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, func() { _ = c.Close() })
	return c, nil
}

// endpoint is a detector at a URL, which may stand behind "http:".
func (b *detectorBuilder) endpoint(spec string) (detect.Detector, error) {
	address := spec
	if rest, ok := strings.CutPrefix(spec, "http:http"); ok {
		address = "http" + rest
	}
	d, err := detect.HTTP(detect.HTTPConfig{URL: address, Timeout: b.settings.timeout})
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil { // cannot be: it was parsed just now
		return nil, err
	}
	return d, b.allowed(u.Hostname(), "the host "+u.Hostname())
}

// allowed refuses what is not on this machine unless the user wants it.
func (b *detectorBuilder) allowed(host, what string) error {
	switch {
	case loopback.Is(host):
		return nil
	case openai.FromEnv(b.app.getenv).Offline:
		return fmt.Errorf("%s is not on this machine, and REHEARSE_OFFLINE forbids every other; unset it", what)
	case !b.settings.live:
		return fmt.Errorf("%s is not on this machine; give --live to let it see the messages", what)
	}
	return nil
}

// judge is a model that is asked.
func (b *detectorBuilder) judge(ctx context.Context, id string) (detect.Detector, error) {
	if !slices.Contains(judgeIDs(), id) {
		return nil, notAmong("backend", id, judgeIDs())
	}
	prices, err := priceTable(b.settings.prices)
	if err != nil {
		return nil, err
	}
	adapter, err := b.adapter(id)
	if err != nil {
		return nil, err
	}
	found, err := llm.NewRegistry(adapter).Find(ctx, id)
	if err != nil {
		return nil, err
	}
	var backend llm.Backend = found
	if most := *b.settings.maxCost.into; !most.IsZero() {
		caps := budget.New(budget.Caps{Cost: most}, tablePricer(prices, b.settings.model), prices.EURPerUSD)
		backend = capped{backend, caps, b.stop}
	}
	return detect.LLM(detect.LLMConfig{
		Backend: backend, Name: id, Model: b.settings.model, Timeout: b.settings.timeout,
		CostEUR: costInEUR(prices, b.settings.model),
	}), nil
}

// adapter is a backend that may be used. An agent could do more than answer, so
// that it runs in an empty folder.
func (b *detectorBuilder) adapter(id string) (llm.Adapter, error) {
	if id == openAI {
		cfg := openai.FromEnv(b.app.getenv)
		cfg.Model = b.settings.model
		host := ""
		if u, err := url.Parse(cfg.BaseURL); err == nil {
			host = u.Hostname()
		}
		if err := b.allowed(host, "the backend openai"); err != nil {
			return nil, err
		}
		return openai.New(cfg)
	}
	if err := b.allowed("", "the model behind "+id); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "rehearse-detect-")
	if err != nil {
		return nil, fmt.Errorf("make an empty folder for %s: %w", id, err)
	}
	b.closers = append(b.closers, func() { _ = os.RemoveAll(dir) })
	return cli.New(id, cli.Config{Model: b.settings.model, Dir: dir, Access: cli.ReadOnly})
}

// costInEUR prices a call: as the backend reports it, or else by the table.
func costInEUR(prices *price.Table, asked string) func(string, llm.Usage, *float64) (float64, bool) {
	priced := tablePricer(prices, asked)
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
	budget *budget.Budget
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
