// Package step parses the answers of a ReAct agent: YAML documents of a few known kinds,
// separated by ---, in a fence or bare, with text around them. It parses strictly, reports
// the position of an error, and takes time linear in the length of the text.
package step

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Decision is the decision at the end of an iteration.
type Decision string

// The decisions. The first three are those of document 003, the others are in its table of end states.
const (
	Continue    Decision = "continue"
	Done        Decision = "done"
	Escalate    Decision = "escalate"
	DonePartial Decision = "done_partial"
	Delegate    Decision = "delegate"
	Blocked     Decision = "blocked"
)

// Kind is the kind of a document.
type Kind string

// The kinds of Document.
const (
	// Act is a thought with an action.
	Act Kind = "act"
	// Reflect is a reflection on an observation, with a decision.
	Reflect Kind = "reflect"
	// Verify is the chain of verification.
	Verify Kind = "verify"
	// Output is the final output: any document after a decision to end.
	Output Kind = "output"
)

// Document is one document of an answer. Only the fields of its kind are set.
type Document struct {
	Kind Kind
	Pos  // of its first line

	// Of Act.
	Step    int // the model's own count; 0 if not given
	Thought string
	Action  string
	// Input is the YAML of the action's input, unparsed and dedented.
	Input    string
	InputPos Pos

	// Of Reflect.
	// Observation is the model's account of the observation; the engine has its own.
	Observation string
	Reflection  string
	Decision    Decision
	Reason      string
	// Trigger is one of the escalation triggers, if the model names one.
	Trigger string
	// AgentID and Task are set with the decision delegate.
	AgentID, Task string
	// Missing is set with done_partial: the work that is not done.
	Missing string

	// Of Verify and Output: the unparsed document.
	Text string

	// generated reports that Text was made from JSON, so that positions in it are not those of
	// the answer.
	generated bool
}

// Locate converts a position in Text to a position in the answer.
func (d *Document) Locate(inner Pos) Pos {
	if d.generated {
		return d.Pos
	}
	return d.In(inner)
}

// Pos is a position in an answer, from 1; columns count characters. Line 0 is the whole answer.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	// Call is the tool call in whose arguments the position is; empty: the text.
	Call string `json:"call,omitempty"`
}

// Where returns the position in words, such as "line 2, column 5" or "call search, line 1, column 9";
// it is empty for the whole answer.
func (p Pos) Where() string {
	var parts []string
	if p.Call != "" {
		parts = append(parts, "call "+sanitize.Line(p.Call, 80))
	}
	if p.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d, column %d", p.Line, p.Column))
	}
	return strings.Join(parts, ", ")
}

// In converts a position relative to p, such as one in an action's input, to a position in
// the whole answer.
func (p Pos) In(inner Pos) Pos {
	if inner.Line <= 1 {
		return Pos{Line: p.Line, Column: p.Column + inner.Column - 1, Call: p.Call}
	}
	return Pos{Line: p.Line + inner.Line - 1, Column: p.Column + inner.Column - 1, Call: p.Call}
}

// Error is an error in an answer, with its position. The message is for the model: what
// was found, and what to write instead.
type Error struct {
	Pos
	// Rule is the broken rule. About steps: "no-step",
	// "thought-required", "action-required", "reflection-required",
	// "decision-required", "agent-required", "unknown-key", "duplicate-key",
	// "mixed-kinds", "unknown-decision", "unknown-trigger", "bad-value". About the
	// form: "not-a-key", "not-text", "indentation", "tab", "colon", "quote", "escape",
	// "block-header", "brackets", "json". About limits: "too-large", "too-deep",
	// "too-many-documents".
	Rule    string
	Message string
}

func (e *Error) Error() string {
	if at := e.Where(); at != "" {
		return at + ": " + e.Message
	}
	return e.Message
}

// The limits of an answer.
const (
	maxBytes     = 4 << 20 // size
	maxDocuments = 64      // documents in it
	maxDepth     = 64      // nesting of an action's input
)

// Decisions lists the decisions, in the order in which they are offered.
func Decisions() []Decision {
	return []Decision{Continue, Done, Escalate, DonePartial, Delegate, Blocked}
}

// triggers are the escalation triggers of document 003.
var triggers = []string{"ambiguity", "business-decision", "security-risk", "constraint-conflict", "missing-information"}
