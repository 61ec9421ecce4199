package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// interviewModel is the default model of interviews.
const interviewModel = "gpt-6.1-terra"

// modelFlags choose the model that writes the texts of interviews.
type modelFlags struct {
	script string
	live   bool
	model  string
	scale  float64
	prices string
}

func (m *modelFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&m.script, "script", "", "play a model by script: that of a persona ("+personas()+"), or a script's file")
	f.BoolVar(&m.live, "live", false, "call a real model, which may cost money: OPENAI_API_KEY, OPENAI_BASE_URL")
	f.StringVarP(&m.model, "model", "m", interviewModel, "model to call, and whose prices count")
	f.Float64Var(&m.scale, "time-scale", 1, "multiply the script's latencies by this; 0.001 all but removes them")
	pricesFlag(f, &m.prices)
	cmd.MarkFlagsMutuallyExclusive("script", "live")
	_ = cmd.RegisterFlagCompletionFunc("script", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return kind.Personas(), cobra.ShellCompDirectiveDefault
	})
}

func personas() string { return strings.Join(kind.Personas(), ", ") }

// interviewBackend returns the backend of the flags.
func (a *app) interviewBackend(m modelFlags, count func(model, text string) int) (llm.Backend, error) {
	switch {
	case m.scale <= 0:
		return nil, usage(fmt.Errorf("--time-scale must be more than 0, got %g", m.scale))
	case m.script != "":
		return a.scriptedInterviewer(m, count)
	case !m.live:
		return nil, usage(errors.New("choose who writes the questions: --script lea plays a model, --live calls a real one"))
	}
	cfg := openai.FromEnv(a.getenv)
	cfg.Model = m.model
	cfg.Retry = openai.RetryPolicy{Max: -1} // the interview counts each attempt
	backend, err := openai.New(cfg)
	if err != nil {
		return nil, usage(err)
	}
	return backend, nil
}

// scriptedInterviewer plays a model by the replies to a persona, or by a script.
func (a *app) scriptedInterviewer(m modelFlags, count func(model, text string) int) (llm.Backend, error) {
	script, err := a.interviewScript(m.script)
	if err != nil {
		return nil, usage(err)
	}
	return scripted{
		model: m.model, scale: m.scale, count: count,
		retry: openai.RetryPolicy{Max: -1}, // the interview counts each attempt
	}.backend(script)
}

// interviewScript returns the replies to a persona, or the script of a file or scenario.
func (a *app) interviewScript(name string) (mocks.Script, error) {
	switch {
	case slices.Contains(kind.Personas(), name):
		return kind.Interviewer(name)
	case !strings.ContainsAny(name, "./"):
		return mocks.Script{}, notAmong("persona", name, kind.Personas())
	}
	script, diagnostics := scenarios.LoadScript(name, scenarios.Options{Kinds: a.kinds.Formats()})
	return script, diagnostics.Err()
}

// newCounter returns a token counter with a cache.
func newCounter() func(model, text string) int { return token.NewCounter(token.Options{}).Count }
