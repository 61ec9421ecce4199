// Package user simulates the user of a chat agent by a small state machine: it reveals facts when
// the agent asks for them, pursues goals, follows rules, and gives up. It is deterministic: the
// same replies and the same seed produce the same messages.
package user

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
)

// User is a simulated user of an agent.
type User struct {
	// Persona describes the user for readers of reports, such as "hurried customer".
	Persona string `yaml:"persona,omitempty" json:"persona,omitempty"`
	// Language is the language of the texts that the file does not give: "en" (default) or "fr".
	Language string `yaml:"language,omitempty" json:"language,omitempty" jsonschema:"enum=en,enum=fr"`
	// Opening is the user's first message, unless the script begins with another one.
	Opening string `yaml:"opening" json:"opening" jsonschema:"minLength=1"`
	// Goals are what the user wants. The user leaves when all of them are reached.
	Goals []Goal `yaml:"goals" json:"goals" jsonschema:"minItems=1"`
	// Facts are what the user knows, by name. Each is revealed when the agent asks for it.
	Facts map[string]Fact `yaml:"facts,omitempty" json:"facts,omitempty"`
	// State is the initial state of the rules.
	State string `yaml:"state,omitempty" json:"state,omitempty"`
	// Rules are answers to the agent. The first that matches is used, before facts are revealed.
	Rules []Rule `yaml:"rules,omitempty" json:"rules,omitempty"`
	// Otherwise are messages for answers that no rule matches and that ask for no fact, in order; the
	// last one repeats. The default is a general complaint.
	Otherwise []string `yaml:"otherwise,omitempty" json:"otherwise,omitempty"`
	// Refuses matches the agent's answers that count as refusals.
	Refuses *mocks.Match `yaml:"refuses,omitempty" json:"refuses,omitempty"`
	// Patience is the number of messages in a row without progress, counted after the opening, before the user gives
	// up; default 5.
	Patience int `yaml:"patience,omitempty" json:"patience,omitempty" jsonschema:"minimum=1"`
	// Closing is the last message of a user who gives up.
	Closing string `yaml:"closing,omitempty" json:"closing,omitempty"`
	// MaxTurns is the number of turns after which the conversation is cut off, which is a finding; default 30.
	MaxTurns int `yaml:"max_turns,omitempty" json:"max_turns,omitempty" jsonschema:"minimum=1,maximum=200"`
	// Style is how the user writes.
	Style Style `yaml:"style,omitempty" json:"style,omitzero"`
}

// Goal is something that the user wants, or tries and should not get.
type Goal struct {
	// ID identifies the goal in expressions and reports.
	ID string `yaml:"id" json:"id" jsonschema:"pattern=^[a-z0-9][a-z0-9_-]*$"`
	// Done is the condition that reaches the goal.
	Done Done `yaml:"done" json:"done"`
	// Avoid marks a goal that the agent must not let the user reach, such as a leaked secret.
	Avoid bool `yaml:"avoid,omitempty" json:"avoid,omitempty"`
}

// Done is when a goal is reached; all given conditions must be met.
type Done struct {
	// Reply matches an answer of the agent.
	Reply *mocks.Match `yaml:"reply,omitempty" json:"reply,omitempty"`
	// State is the state in which the user must be.
	State string `yaml:"state,omitempty" json:"state,omitempty"`
}

// Fact is something that the user knows. In a file it is either the value or a mapping.
type Fact struct {
	// Value is the fact, such as "A-1009".
	Value string `yaml:"value" json:"value" jsonschema:"minLength=1"`
	// Asks matches answers of the agent that ask for the fact. By default a question or a request
	// with the words of the fact's name together, in the singular or in the plural.
	Asks *mocks.Match `yaml:"asks,omitempty" json:"asks,omitempty"`
	// Contradicts matches answers of the agent that contradict the fact.
	Contradicts *mocks.Match `yaml:"contradicts,omitempty" json:"contradicts,omitempty"`
}

// Rule is an answer to the agent.
type Rule struct {
	// When are the conditions, all of which must be met.
	When When `yaml:"when,omitempty" json:"when,omitzero"`
	// Say is the user's message.
	Say string `yaml:"say" json:"say" jsonschema:"minLength=1"`
	// In is the state in which the rule applies.
	In string `yaml:"in,omitempty" json:"in,omitempty"`
	// Then is the state after the rule.
	Then string `yaml:"then,omitempty" json:"then,omitempty"`
	// Times is how often the rule can be used; without limit by default.
	Times int `yaml:"times,omitempty" json:"times,omitempty" jsonschema:"minimum=1"`
}

// When are the conditions of a rule.
type When struct {
	// Reply matches the agent's last answer.
	Reply *mocks.Match `yaml:"reply,omitempty" json:"reply,omitempty"`
	// Turn is the number of answers so far.
	Turn *int `yaml:"turn,omitempty" json:"turn,omitempty" jsonschema:"minimum=1"`
	// Refused is whether the last answer is a refusal.
	Refused *bool `yaml:"refused,omitempty" json:"refused,omitempty"`
}

// Style is how the user writes.
type Style struct {
	// Terse reveals facts without a sentence around them.
	Terse bool `yaml:"terse,omitempty" json:"terse,omitempty"`
	// Typos is the share of words with two swapped letters; facts are always spelled correctly.
	Typos float64 `yaml:"typos,omitempty" json:"typos,omitempty" jsonschema:"minimum=0,maximum=0.5"`
}

// The defaults and the upper limit of MaxTurns.
const (
	DefaultPatience = 5
	DefaultMaxTurns = 30
	mostTurns       = 200
)

// Texts returns the texts that the user may send, by their paths.
func (u *User) Texts() iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		ok := yield("opening", u.Opening) && yield("closing", u.Closing)
		for i, r := range u.Rules {
			ok = ok && yield("rules["+strconv.Itoa(i)+"].say", r.Say)
		}
		for i, text := range u.Otherwise {
			ok = ok && yield("otherwise["+strconv.Itoa(i)+"]", text)
		}
		for _, name := range u.factNames() {
			ok = ok && yield(yamlsrc.Join("facts", name), u.Facts[name].Value)
		}
	}
}

func (u *User) factNames() []string { return slices.Sorted(maps.Keys(u.Facts)) }
