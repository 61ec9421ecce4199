package coding

import (
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Options are the keys under drive.coding.
type Options struct {
	// Agent is the name of the program: "claude", "codex", "copilot", "gemini", "opencode" or "qwen".
	Agent          string `yaml:"agent" json:"agent" jsonschema:"enum=claude,enum=codex,enum=copilot,enum=gemini,enum=opencode,enum=qwen"`
	scenarios.Talk `yaml:",inline"`
	// Guard installs the stop guard as the agent's hook, with this policy.
	Guard string `yaml:"guard,omitempty" json:"guard,omitempty" jsonschema:"enum=balanced,enum=strict,enum=careful"`
	// Retries is how often the agent may repeat a failed call or a broken stream; default:
	// its own, with waits that grow to minutes.
	Retries *int `yaml:"retries,omitempty" json:"retries,omitempty" jsonschema:"minimum=0,maximum=10"`
	// ToolTimeout limits a call of a tool of an MCP server; default: the program's own, a minute or more.
	ToolTimeout quantity.Duration `yaml:"tool_timeout,omitempty" json:"tool_timeout,omitempty"`
	// Through is "shell" if each turn is a command line of a shell that finds rehearse and the
	// agent's program, such as rehearse loop "Fix the test." -b claude. Its exit status is
	// turns[i].attrs.exit; that of the last turn decides how the trial ends. Default: each turn
	// is a prompt for the agent.
	Through string `yaml:"through,omitempty" json:"through,omitempty" jsonschema:"enum=shell"`
	// Required makes it an error, instead of a skip, if the program is not installed.
	Required bool `yaml:"required,omitempty" json:"required,omitempty"`
}

// Kind returns the kind "coding".
func Kind() kind.Kind {
	var programs Programs
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "coding", Title: "a coding agent", Statuses: scenarios.AppStatuses(), External: true, MCP: []string{mcp.HTTP, mcp.Stdio},
			Options: func() any { return new(Options) },
			Check:   func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
		},
		Invariants: kind.ExternalInvariants(),
		Extensions: kind.UserExtensions(),
		New: func(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
			o := sc.Drive.Options.(*Options)
			agent, err := New(Config{
				Agent: o.Agent, Model: sc.Backend.Model, Retries: o.Retries, ToolTimeout: o.ToolTimeout.Std(),
				Guard: stop.Policy(o.Guard), Executable: env.Executable, Through: o.Through, Required: o.Required,
			}, &programs)
			if err != nil {
				return nil, err
			}
			talk := o.Talk
			if o.Through != "" && talk.Timeout == 0 {
				talk.Timeout = shellTimeout
			}
			return drive.NewConversation(sc, env, drive.Conversation{Talk: talk, Agent: agent, OwnNetwork: o.Through != ""})
		},
	}
}

// check reports problems of the options: the guard and the number of retries are for programs of which both are
// known.
func (o *Options) check(c *scenarios.Checker) {
	const at = "drive.coding"
	o.Check(c, at)
	if o.ToolTimeout != 0 && !c.Has("mcp") {
		c.Add(at+".tool_timeout", "", "it limits calls of MCP servers, and the scenario has none; add mcp: or remove it")
	}
	if o.Agent == "claude" || o.Agent == "codex" || o.Agent == "" {
		return
	}
	if o.Guard != "" {
		c.Add(at+".guard", "", "the stop guard can be a hook of claude and codex only, and the agent is %s", o.Agent)
	}
	if o.Retries != nil {
		c.Add(at+".retries", "", "retries can be set for claude and codex only, and the agent is %s", o.Agent)
	}
}
