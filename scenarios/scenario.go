// Package scenarios reads scenario files: the agent under test, the answers of its backend and the
// expectations. It embeds the shipped scenarios.
package scenarios

import (
	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Scenario is one declared case.
type Scenario struct {
	// Name identifies the scenario, such as "loop/no-progress"; it is unique.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$"`
	// About describes the scenario in a sentence.
	About string `yaml:"about,omitempty" json:"about,omitempty"`
	// Proves lists the ids of the requirements that the scenario proves: letters, digits, "-", "_", "." and "/". The
	// section requirements of the configuration file can restrict them.
	Proves []string `yaml:"proves,omitempty" json:"proves,omitempty"`
	// Tags are used to select scenarios.
	Tags []string `yaml:"tags,omitempty" json:"tags,omitempty"`
	// Drive configures the agent under test; exactly one.
	Drive Drive `yaml:"drive" json:"drive"`
	// Backend is the agent's backend.
	Backend Backend `yaml:"backend" json:"backend"`
	// MCP has the scripted MCP servers of the agent.
	MCP []mcp.Server `yaml:"mcp,omitempty" json:"mcp,omitempty"`
	// Expect contains the expectations of each trial. It is optional in a scenario with Perturb.
	Expect expect.Expect `yaml:"expect,omitempty" json:"expect,omitzero"`
	// Scores are questions about the agent's last answer.
	Scores []Score `yaml:"scores,omitempty" json:"scores,omitempty"`
	// Invariants are expressions (CEL) that must be true for every run, however it is perturbed.
	// They read the facts of expect.that and "golden", the facts of the run without perturbations.
	// They are added to the invariants of the kind of agent.
	Invariants []string `yaml:"invariants,omitempty" json:"invariants,omitempty"`
	// Perturb lists perturbations of the golden path. A perturbed run is judged by the invariants,
	// and by Expect if the file has any.
	Perturb []perturb.Perturbation `yaml:"perturb,omitempty" json:"perturb,omitempty"`
	// Trials is the number of trials; default 1.
	Trials int `yaml:"trials,omitempty" json:"trials,omitempty" jsonschema:"minimum=1"`
	// Seed seeds all randomness of the scenario; default 1.
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`

	// File is the path of the file, as given by the user.
	File string `yaml:"-" json:"-"`
	// Where maps the name and the expectations, by their path such as "expect.calls" or
	// "backend.replies[0]", to lines of File; empty for a shipped scenario, which is not on disk.
	Where map[string]int `yaml:"-" json:"-"`
	// Digest is "sha256:" and the hash of the file and of all files that it names.
	Digest string `yaml:"-" json:"-"`
	// Files has the SHA-256 hashes, in hex, of the file and of the files that it names, by their paths
	// from its folder. Those that are part of the program are left out.
	Files map[string]string `yaml:"-" json:"-"`
}

// JSONSchemaExtend requires expectations or perturbations, which are always judged.
func (Scenario) JSONSchemaExtend(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"expect"}}, {Required: []string{"perturb"}}}
}

// Backend configures the model that the agent calls: a script or a live API.
type Backend struct {
	mocks.Script `yaml:",inline"`
	// ScriptFile replaces replies and rules by a script file: a captured one, or one that
	// scenarios share. The path is relative to the scenario's folder and cannot leave it. The
	// file's model applies unless one is set here.
	ScriptFile string `yaml:"script,omitempty" json:"script,omitempty"`
	// Cast is the persona whose replies answer the calls that no rule matches: all calls of an
	// interview.
	Cast string `yaml:"cast,omitempty" json:"cast,omitempty"`
	// Unpriced states that the model has no price: its cost is unknown. Otherwise a model that is
	// not in the price table is an error.
	Unpriced bool `yaml:"unpriced,omitempty" json:"unpriced,omitempty"`
	// As selects the backend: "openai" (default; the API in process), "socket" (the same over
	// loopback), or a scripted command-line agent in a real child process: "claude", "codex" or
	// "exec" (plain text). "live" is a real model at URL: it has no script, may cost money, and is
	// called only if live backends are allowed.
	As string `yaml:"as,omitempty" json:"as,omitempty" jsonschema:"enum=openai,enum=socket,enum=claude,enum=codex,enum=exec,enum=live"`
	// URL is the root of a live backend's OpenAI-compatible API, such as
	// "https://api.openai.com/v1".
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// KeyEnv names the variable with the key of a live backend; empty if it needs none.
	KeyEnv string `yaml:"key_env,omitempty" json:"key_env,omitempty" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$"`
	// Retry is the number of times the client retries a transient failure; default 0.
	Retry int `yaml:"retry,omitempty" json:"retry,omitempty" jsonschema:"minimum=0,maximum=10"`
	// TimeScale multiplies latencies in real time; default 1.
	TimeScale float64 `yaml:"time_scale,omitempty" json:"time_scale,omitempty" jsonschema:"minimum=0"`
}
