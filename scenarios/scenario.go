// Package scenarios reads scenario files: what is driven, what the backend
// answers and what must hold. It also embeds the shipped ones.
package scenarios

import (
	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Scenario is one declared case.
type Scenario struct {
	// Name identifies the scenario, such as "loop/no-progress"; it is unique.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*$"`
	// About says in a sentence what is rehearsed.
	About string `yaml:"about,omitempty" json:"about,omitempty"`
	// Proves lists requirement ids.
	Proves []string `yaml:"proves,omitempty" json:"proves,omitempty"`
	// Tags select scenarios.
	Tags []string `yaml:"tags,omitempty" json:"tags,omitempty"`
	// Drive says what is driven; exactly one agent.
	Drive Drive `yaml:"drive" json:"drive"`
	// Backend is the scripted backend.
	Backend Backend `yaml:"backend" json:"backend"`
	// Expect is what must hold of each trial. A scenario with Perturb can do without.
	Expect expect.Expect `yaml:"expect,omitempty" json:"expect,omitzero"`
	// Scores are questions about the agent's last answer.
	Scores []Score `yaml:"scores,omitempty" json:"scores,omitempty"`
	// Invariants are expressions (CEL) that must hold of every run, however it is
	// perturbed. They read what expect.that does, and "golden": the facts of the run
	// without perturbations. They are added to those that come with the kind of agent.
	Invariants []string `yaml:"invariants,omitempty" json:"invariants,omitempty"`
	// Perturb are departures from the golden path. A run with any is judged by the
	// invariants, and by Expect where the file says something there.
	Perturb []perturb.Perturbation `yaml:"perturb,omitempty" json:"perturb,omitempty"`
	// Trials is how often the scenario is executed; default 1.
	Trials int `yaml:"trials,omitempty" json:"trials,omitempty" jsonschema:"minimum=1"`
	// Seed feeds all randomness of the scenario; default 1.
	Seed uint64 `yaml:"seed,omitempty" json:"seed,omitempty"`

	// File is where the scenario was read, as the user named it.
	File string `yaml:"-" json:"-"`
	// Where says in which line of File the name and the keys stand that demand
	// something, by their path, such as "expect.calls" or "backend.replies[0]"; empty
	// for a shipped scenario, which is no file on disk.
	Where map[string]int `yaml:"-" json:"-"`
	// Digest is "sha256:" and the hash of the file and of all files it names.
	Digest string `yaml:"-" json:"-"`
}

// JSONSchemaExtend demands expectations, or departures, which are judged anyway.
func (Scenario) JSONSchemaExtend(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"expect"}}, {Required: []string{"perturb"}}}
}

// Backend is a script and how it is reached.
type Backend struct {
	mocks.Script `yaml:",inline"`
	// ScriptFile holds the script in place of replies and rules: a captured one, or one
	// that scenarios share. The path is relative to the scenario's folder and cannot
	// leave it; the file's model holds unless one is given here.
	ScriptFile string `yaml:"script,omitempty" json:"script,omitempty"`
	// Cast is the persona whose replies answer what no rule of the file does: all
	// calls of an interview.
	Cast string `yaml:"cast,omitempty" json:"cast,omitempty"`
	// Unpriced says that the model has no price on purpose: its cost is unknown. A
	// model that is not in the price table is an error otherwise.
	Unpriced bool `yaml:"unpriced,omitempty" json:"unpriced,omitempty"`
	// As is what speaks: "openai" (default; the API in process), "socket" (the
	// same over loopback), or a scripted command-line agent that is a real child
	// process: "claude", "codex" or "exec" (plain text). "live" is a real model at URL: it
	// has no script, may cost money, and is left alone unless live backends are allowed.
	As string `yaml:"as,omitempty" json:"as,omitempty" jsonschema:"enum=openai,enum=socket,enum=claude,enum=codex,enum=exec,enum=live"`
	// URL is the root of a live backend's API, which is OpenAI's or one like it, such as
	// "https://api.openai.com/v1".
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// KeyEnv names the variable with the key of a live backend; empty if it needs none.
	KeyEnv string `yaml:"key_env,omitempty" json:"key_env,omitempty" jsonschema:"pattern=^[A-Za-z_][A-Za-z0-9_]*$"`
	// Retry is how often the client retries a transient failure; default 0, so
	// that a scenario says what it wants.
	Retry int `yaml:"retry,omitempty" json:"retry,omitempty" jsonschema:"minimum=0,maximum=10"`
	// TimeScale multiplies latencies where time is real; default 1.
	TimeScale float64 `yaml:"time_scale,omitempty" json:"time_scale,omitempty" jsonschema:"minimum=0"`
}
