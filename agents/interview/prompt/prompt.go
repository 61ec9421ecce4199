// Package prompt turns the state of an interview into the request that a model
// is sent: instructions compressed to what the block and the purpose need, and
// the part of the history that fits.
package prompt

import (
	"github.com/rehearse-dev/rehearse/agents/interview/flow"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// Set is the prompts of one language.
type Set struct {
	Language session.Language
	// Version and Hash identify the texts: the version is for people, the hash is
	// that of all files of the set.
	Version, Hash string
}

// Load returns the shipped set of a language.
func Load(l session.Language) (*Set, error) { return &Set{Language: l}, nil }

// Fixed is a text that no model writes, in the candidate's register.
func (s *Set) Fixed(f flow.Fixed, _ session.Register) string { return string(f) }

// Limits bound the history that goes along with a request.
type Limits struct {
	// Messages is how many recent messages go along; default 40.
	Messages int `yaml:"messages,omitempty" json:"messages,omitempty" jsonschema:"minimum=1"`
	// Tokens bounds the history's size; default 12,000.
	Tokens int `yaml:"tokens,omitempty" json:"tokens,omitempty" jsonschema:"minimum=1"`
}

// Built is a request with what was left out of it.
type Built struct {
	Request llm.Request
	// Sent and Trimmed are how many messages of the history went along and not.
	Sent, Trimmed int
}

// Build returns the request for what the session owes. The session, the history
// and the answers are not changed. The request's Model is left empty.
func (s *Set) Build(now session.Session, history []session.Message, answers []session.Answer, limits Limits) Built {
	return Built{Request: llm.Request{
		Purpose:  string(now.Owed.Purpose),
		Messages: []llm.Message{{Role: llm.System, Content: now.Owed.Complaint}},
	}}
}
