package user

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The part of the conversation that a model sees: the last exchanges, and the beginning of each text in bytes.
const (
	mostExchanges = DefaultMaxTurns
	mostSeen      = 4_000
)

// Exchange is a message of the user and the agent's answer.
type Exchange struct {
	User  string `json:"user"`
	Agent string `json:"agent"`
}

//go:embed wording.md
var instructions string

// Prompt returns the system message and the user message to a model that puts a message into the user's words. They have
// no facts beside those of the message and of the conversation, so the model cannot reveal any other.
func (m *Machine) Prompt(next *Message, before []Exchange) (system, talk string, err error) {
	task := struct {
		Persona  string   `json:"persona,omitempty"`
		Language string   `json:"language"`
		Style    string   `json:"style"`
		Goals    []string `json:"goals"`
		Message  string   `json:"message"`
		Verbatim []string `json:"verbatim"`
	}{
		Persona: m.user.Persona, Language: cmp.Or(m.user.Language, "en"), Style: "full sentences", Message: next.Text, Verbatim: []string{},
	}
	if m.user.Style.Terse {
		task.Style = "terse, without full sentences"
	}
	for _, g := range m.user.Goals {
		task.Goals = append(task.Goals, g.ID)
	}
	for _, name := range next.Facts {
		task.Verbatim = append(task.Verbatim, m.user.Facts[name].Value)
	}
	seen := slices.Clone(before[max(0, len(before)-mostExchanges):])
	for i := range seen {
		seen[i] = Exchange{sanitize.Shorten(seen[i].User, mostSeen), sanitize.Shorten(seen[i].Agent, mostSeen)}
	}
	about, err := json.Marshal(task)
	if err != nil {
		return "", "", fmt.Errorf("write the message for the model: %w", err)
	}
	said, err := json.Marshal(seen)
	if err != nil {
		return "", "", fmt.Errorf("write the conversation for the model: %w", err)
	}
	return instructions + string(about), string(said), nil
}

// Lacks returns the names of the facts of a message that a text does not have.
func (m *Machine) Lacks(next *Message, text string) []string {
	return slices.DeleteFunc(slices.Clone(next.Facts), func(name string) bool { return containsWhole(text, m.user.Facts[name].Value) })
}
