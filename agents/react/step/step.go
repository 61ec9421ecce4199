// Package step reads what a ReAct agent writes: YAML documents of a few known
// kinds, separated by ---, in a fence or bare, with text around them. It reads
// strictly, says where an error is, and takes time linear in the text.
package step

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

// Error is what is wrong with an answer, and where.
type Error struct {
	Pos
	// Rule is what was broken, such as "thought-required", "unknown-key", "no-step".
	Rule    string
	Message string
}
