// Package kind lets scenarios drive the hook of the stop guard inside a coding agent's
// program that it plays.
package kind

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.hook: they play a coding agent's program, the host, around the stop guard's
// hook, which is a real child process. The backend is the host's model: each
// answer is a stop that the hook is asked about, and what the hook says becomes
// the next prompt.
type Options struct {
	// Host selects the contract.
	Host string `yaml:"host" json:"host" jsonschema:"enum=claude,enum=codex,enum=gemini,enum=qwen,enum=copilot,enum=cursor,enum=openhands"`
	// Prompt is the task.
	Prompt string `yaml:"prompt" json:"prompt"`
	// Policy is that of the stop guard; default balanced.
	Policy stop.Policy `yaml:"policy,omitempty" json:"policy,omitempty" jsonschema:"enum=balanced,enum=strict,enum=careful"`
	// Cap is how many stops in a row the hook refuses; default 3.
	Cap int `yaml:"cap,omitempty" json:"cap,omitempty" jsonschema:"minimum=1,maximum=100"`
	// HostCap is how many refusals in a row the host obeys; default 8.
	HostCap int `yaml:"host_cap,omitempty" json:"host_cap,omitempty" jsonschema:"minimum=1"`
	// Shadow makes the hook count and never refuse.
	Shadow bool `yaml:"shadow,omitempty" json:"shadow,omitempty"`
	// Damage is what is wrong with what the host sends: nothing by default, or
	// "empty", "not-json", "no-message" (and no transcript either), "no-transcript"
	// (it names one that is not there) or "no-state" (the hook's folder cannot be
	// written). The hook must let the agent stop then.
	Damage string `yaml:"damage,omitempty" json:"damage,omitempty" jsonschema:"enum=empty,enum=not-json,enum=no-message,enum=no-transcript,enum=no-state"` //nolint:lll // a tag is one line
}

// The end statuses of a host with a hook.
const (
	statusStopped    = "stopped"    // the hook let the agent stop
	statusOverridden = "overridden" // the host's own cap ended what the hook refused
	statusError      = "error"      // a call to the backend failed, or the hook did
)

// The values of Options.Damage.
const (
	damageEmpty        = "empty"
	damageNotJSON      = "not-json"
	damageNoMessage    = "no-message"
	damageNoTranscript = "no-transcript"
	damageNoState      = "no-state"
)

// Kind returns the kind "hook".
func Kind() kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "hook", Title: "a host with a hook", Statuses: []string{statusStopped, statusOverridden, statusError},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
		},
		Extensions: []measure.Extension{Extension()},
		Invariants: invariants(),
		New:        newDriver,
		Main:       hook.Main,
	}
}

func (o *Options) check(c *scenarios.Checker) {
	if strings.TrimSpace(o.Prompt) == "" {
		c.Add("drive.hook", "", "the prompt is empty; say what the agent is to do")
	}
	if o.Host == "" {
		c.Add("drive.hook", "", "the host is missing; say whose hook it is, such as host: claude")
	}
}
