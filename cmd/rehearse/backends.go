package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// The ids of the backends with flags of their own.
const (
	openAI  = "openai"
	execOwn = "exec"
)

// backendIDs lists all backends; the first one is the default.
func backendIDs() []string { return append(cli.IDs(), openAI) }

// findBackend finds an available adapter, or says which ones are.
func (a *app) findBackend(ctx context.Context, s loop.Settings, flags loopFlags) (llm.Adapter, error) {
	if err := checkBackendFlags(s.Backend, flags); err != nil {
		return nil, err
	}
	cfg := openai.FromEnv(a.getenv)
	var adapters []llm.Adapter
	for _, id := range cli.IDs() {
		agent := cli.Config{Model: s.Model, ExtraArgs: flags.extra}
		if id == execOwn {
			agent.Command = strings.Fields(flags.command)
		}
		adapter, err := cli.New(id, agent)
		if err != nil {
			return nil, err
		}
		if cfg.Offline && id != execOwn {
			adapter = offline{adapter}
		}
		adapters = append(adapters, adapter)
	}
	cfg.Model = s.Model
	api, err := openai.New(cfg)
	switch {
	case err == nil:
		adapters = append(adapters, api)
	case s.Backend == openAI:
		return nil, err
	}
	found, err := llm.NewRegistry(adapters...).Find(ctx, s.Backend)
	if err != nil && !slices.Contains(backendIDs(), s.Backend) {
		return nil, fmt.Errorf("%w%s", err, didYouMean(s.Backend, backendIDs()))
	}
	return found, err
}

// checkBackendFlags refuses flags that the backend would ignore.
func checkBackendFlags(id string, flags loopFlags) error {
	switch {
	case id == execOwn && strings.TrimSpace(flags.command) == "":
		return errors.New("backend exec runs the program that --command names, which is missing")
	case id != execOwn && flags.command != "":
		return fmt.Errorf("--command is for backend exec, and the backend is %s", id)
	case id == openAI && len(flags.extra) > 0:
		return errors.New("--agent-arg is for command-line agents, and the backend is openai")
	}
	return nil
}

// offline is an adapter that must not be used.
type offline struct{ llm.Adapter }

// Available implements llm.Adapter.
func (offline) Available(context.Context) error {
	return errors.New("REHEARSE_OFFLINE forbids it, as it calls a model elsewhere")
}

// tablePricer prices usage by the table; asked is the model that the user chose,
// for backends that do not say which one answered.
func tablePricer(prices *price.Table, asked string) func(string, llm.Usage) (unit.Money, bool) {
	return func(model string, u llm.Usage) (unit.Money, bool) {
		if model == "" {
			model = asked
		}
		quote, ok := prices.Quote(model)
		if !ok {
			return unit.Money{}, false
		}
		return quote.Cost(u), true
	}
}
