// Package step reads what a ReAct agent writes: YAML documents of a few known
// kinds, separated by ---, in a fence or bare, with text around them. It reads
// strictly, says where an error is, and takes time linear in the text.
package step

import "fmt"

// Decision says how an iteration ends.
type Decision string

// The decisions. Document 003 has the first three; its table of end states has
// the others, which are accepted as decisions too.
const (
	Continue    Decision = "continue"
	Done        Decision = "done"
	Escalate    Decision = "escalate"
	DonePartial Decision = "done_partial"
	Delegate    Decision = "delegate"
	Blocked     Decision = "blocked"
)

// Kind is what a document is.
type Kind string

// The kinds of Document.
const (
	// Act is a thought with an action.
	Act Kind = "act"
	// Reflect is a reflection on an observation, with a decision.
	Reflect Kind = "reflect"
	// Verify is the chain of verification.
	Verify Kind = "verify"
	// Output is the final output: any document that comes after a decision to end.
	Output Kind = "output"
)

// Document is one document of an answer. Only the fields of its kind are set.
type Document struct {
	Kind Kind
	Pos  // of its first line

	// Of Act.
	Step    int // as the model counts; 0 if it does not say
	Thought string
	Action  string
	// Input is the action's input as it stands: YAML, dedented.
	Input    string
	InputPos Pos

	// Of Reflect.
	// Observation is what the model says that it saw; the engine knows better.
	Observation string
	Reflection  string
	Decision    Decision
	Reason      string
	// Trigger names one of the escalation triggers, where the model says which.
	Trigger string
	// AgentID and Task are of the decision delegate.
	AgentID, Task string
	// Missing is of done_partial: what is not done.
	Missing string

	// Of Verify and Output: the document as it stands.
	Text string
}

// Pos is a place in an answer, from 1; columns count characters.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// In returns the place in the whole answer of a place that was counted from p on,
// as in the text of a document, or in an action's input.
func (p Pos) In(inner Pos) Pos {
	if inner.Line <= 1 {
		return Pos{Line: p.Line, Column: p.Column + inner.Column - 1}
	}
	return Pos{Line: p.Line + inner.Line - 1, Column: p.Column + inner.Column - 1}
}

// Error is what is wrong with an answer, and where. Its message is for the model:
// it says what was found and what to write instead.
type Error struct {
	Pos
	// Rule is what was broken. About steps: "no-step" (there is none),
	// "thought-required", "action-required", "reflection-required",
	// "decision-required", "agent-required", "unknown-key", "duplicate-key",
	// "mixed-kinds", "unknown-decision", "unknown-trigger", "bad-value". About the
	// form: "not-a-key", "not-text", "indentation", "tab", "colon", "quote", "escape",
	// "block-header", "brackets". About limits: "too-large", "too-deep",
	// "too-many-documents".
	Rule    string
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// The limits of an answer.
const (
	MaxBytes     = 4 << 20 // size
	MaxDocuments = 64      // documents in it
	MaxDepth     = 64      // nesting of an action's input
)

// Decisions lists the decisions, in the order in which they are offered.
func Decisions() []Decision {
	return []Decision{Continue, Done, Escalate, DonePartial, Delegate, Blocked}
}

// Ends reports whether the decision ends the run.
func (d Decision) Ends() bool { return d != Continue && d != "" }

// Triggers lists the names of the escalation triggers of document 003.
func Triggers() []string {
	return []string{"ambiguity", "business-decision", "security-risk", "constraint-conflict", "missing-information"}
}
