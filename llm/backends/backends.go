// Package backends finds the real backend that a user names: a command-line agent or the API.
package backends

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// The ids of the backends with settings of their own.
const (
	OpenAI = "openai"
	Exec   = "exec" // the user's own program
)

// IDs lists all backends.
func IDs() []string { return append(cli.IDs(), OpenAI) }

// Config is how the backend works; settings that it does not have are ignored.
type Config struct {
	Model     string
	Command   []string // the program of Exec
	ExtraArgs []string // of a command-line agent
	Access    cli.Access
	Dir       string // where a command-line agent works; empty: here
	// Observer is true if the agent's own tools are not to change anything: it may only
	// read, unless Access or ExtraArgs say otherwise. Exec, which has no levels of access,
	// is started in the current folder.
	Observer bool
	Getenv   func(string) string
}

// Find finds an available adapter, or reports which ones are.
func Find(ctx context.Context, id string, cfg Config) (llm.Adapter, error) {
	api := openai.FromEnv(cfg.Getenv)
	var adapters []llm.Adapter
	for _, known := range cli.IDs() {
		adapter, err := cli.New(known, cfg.agent(known, known == id))
		if err != nil {
			return nil, err
		}
		if api.Offline && known != Exec {
			adapter = offline{adapter}
		}
		adapters = append(adapters, adapter)
	}
	api.Model = cfg.Model
	adapter, err := openai.New(api)
	switch {
	case err == nil:
		adapters = append(adapters, adapter)
	case id == OpenAI:
		return nil, err
	}
	found, err := llm.NewRegistry(adapters...).Find(ctx, id)
	if err != nil && !slices.Contains(IDs(), id) {
		return nil, fmt.Errorf("%w%s", err, suggest.Hint(id, IDs()))
	}
	return found, err
}

// agent returns the settings of a command-line agent, of which one is chosen.
func (cfg Config) agent(id string, chosen bool) cli.Config {
	agent := cli.Config{Model: cfg.Model, Dir: cfg.Dir}
	if id == Exec {
		agent.Command = cfg.Command
		if cfg.Observer {
			agent.Dir = ""
		}
	}
	if chosen {
		agent.Access, agent.ExtraArgs = cfg.Access, cfg.ExtraArgs
		if cfg.Observer && cfg.Access == "" && len(cfg.ExtraArgs) == 0 && id != Exec {
			agent.Access = cli.ReadOnly
		}
	}
	return agent
}

// offline is an adapter that must not be used.
type offline struct{ llm.Adapter }

// Available implements llm.Adapter.
func (offline) Available(context.Context) error {
	return errors.New("REHEARSE_OFFLINE forbids it, as it calls a model elsewhere")
}
