package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// agentFlags are the flags of commands that run agents other than the loop. Their defaults are
// those of the configuration file.
type agentFlags struct {
	backendFlags
	budgetFlags
	config string
	script string
}

func (g *agentFlags) register(cmd *cobra.Command) {
	g.backendFlags.register(cmd)
	f := cmd.Flags()
	g.budgetFlags.register(f)
	f.StringVar(&g.config, "config", "", "configuration file (default: "+config.Name+" if it is there)")
	f.StringVar(&g.script, "script", "", "play a model by a script, as rehearse mock would, in place of a backend")
	for _, flag := range []string{"backend", "command", "agent-arg", "access"} {
		cmd.MarkFlagsMutuallyExclusive("script", flag)
	}
	_ = cmd.RegisterFlagCompletionFunc("script", completeYAML)
	_ = cmd.RegisterFlagCompletionFunc("config", completeYAML)
}

// agentBackend returns the backend of the flags and the configuration, or a scripted one.
func (a *app) agentBackend(ctx context.Context, flags *agentFlags) (llm.Adapter, error) {
	if flags.script != "" {
		return a.scriptedAgent(flags)
	}
	configured, err := config.Read(flags.config)
	if err != nil {
		return nil, usage(err)
	}
	file := configured.Loop
	if flags.backend == "" || flags.backend == file.Backend { // a model is one of its backend
		flags.model = cmp.Or(flags.model, file.Model)
	}
	flags.backend = cmp.Or(flags.backend, file.Backend, loop.Defaults().Backend)
	backend, err := a.findBackend(ctx, flags.backendFlags)
	if err != nil {
		return nil, usage(fmt.Errorf("%w; or play a script in place of a model with --script", err))
	}
	return backend, nil
}

// scriptedAgent returns a backend that plays the script of a file, or of a scenario.
func (a *app) scriptedAgent(flags *agentFlags) (llm.Adapter, error) {
	script, diagnostics := scenarios.LoadScript(flags.script, scenarios.Options{Kinds: a.kinds.Formats()})
	if err := diagnostics.Err(); err != nil {
		return nil, usage(err)
	}
	if len(script.Replies)+len(script.Rules) == 0 {
		return nil, usage(errors.New("the script " + flags.script + " has no reply"))
	}
	flags.model = cmp.Or(flags.model, script.Model)
	return scripted{model: flags.model, scale: 1, count: newCounter()}.backend(script)
}
