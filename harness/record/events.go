package record

import (
	"time"

	"github.com/rehearse-dev/rehearse/event"
)

// Turn is the event of one turn of a conversation with an external agent. The event's N is
// the number of the turn, its detail the answer. Further attributes are observations of the
// driver, such as an HTTP status.
type Turn struct {
	User  string `json:"user"`
	Calls int    `json:"calls"`           // of the agent since the conversation began
	Error string `json:"error,omitempty"` // why there is no answer
	Kind  string `json:"kind,omitempty"`  // the kind of that error
	// Denied describes the tool calls that the agent's permissions refused.
	Denied string `json:"denied,omitempty"`
}

// Event implements event.Payload.
func (Turn) Event() (event.Kind, string) { return event.State, "turn" }

// Iteration is the part of the event of an iteration that is common to all agents.
type Iteration struct {
	// Denied describes the tool calls that the agent's permissions refused.
	Denied string `json:"denied,omitempty"`
}

// Event implements event.Payload. Iterations have any name.
func (Iteration) Event() (event.Kind, string) { return event.Iteration, "" }

// Extra returns the attributes of a turn other than user, calls and error.
func (Turn) Extra(e *event.Event) (rest map[string]any) {
	for name, value := range e.Attrs {
		if name == "user" || name == "calls" || name == "error" {
			continue
		}
		if rest == nil {
			rest = map[string]any{}
		}
		rest[name] = value
	}
	return rest
}

// ToolCall is the event of a call of a tool at a scripted MCP server, when it has ended. The event's N is the number
// of the call in order of arrival, its detail the text of the result.
type ToolCall struct {
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// Arguments are compact JSON.
	Arguments string `json:"arguments"`
	// Line is the line of the script that answered, such as "mcp[0].tools[1].replies[0]"; empty if none.
	Line string `json:"line,omitempty"`
	// Error is the reason why there is no result, or the text of a result that reports a failure.
	Error string `json:"error,omitempty"`
	// Fault is the kind of the injected fault.
	Fault string `json:"fault,omitempty"`
	// Latency is that of the script.
	Latency time.Duration `json:"latency_ns,omitempty"`
	// Calls counts the agent's calls to its model before this call.
	Calls int `json:"calls"`
}

// Event implements event.Payload.
func (ToolCall) Event() (event.Kind, string) { return event.Tool, "mcp" }

// File is the event of a file that an agent left; its detail is the beginning of the text.
type File struct {
	Path       string `json:"path"`
	Bytes      *int64 `json:"bytes,omitempty"` // nil if the file is unreadable
	Unreadable bool   `json:"unreadable,omitempty"`
}

// Event implements event.Payload.
func (File) Event() (event.Kind, string) { return event.State, "file" }

// Files is the event of further files, which are not recorded.
type Files struct {
	Files int `json:"files"` // all files of the agent
}

// Event implements event.Payload.
func (Files) Event() (event.Kind, string) { return event.State, "files" }

// Log is the event of the log of an external agent, such as its standard error; its detail
// is the end of the text.
type Log struct{}

// Event implements event.Payload.
func (Log) Event() (event.Kind, string) { return event.State, "log" }

// Score is the event of a score of the last answer; its detail is the reason.
type Score struct {
	Name string `json:"score"`
	Pass bool   `json:"pass"`
}

// Event implements event.Payload.
func (Score) Event() (event.Kind, string) { return event.Verdict, "score" }

// Violation is the event of a violated invariant that a driver reported; its detail describes
// it.
type Violation struct {
	Kept bool `json:"kept"` // false
}

// Event implements event.Payload.
func (Violation) Event() (event.Kind, string) { return event.Verdict, "promise" }

// Resumed is the event of the end of a run that was resumed after it had ended early; its
// detail is that of the end.
type Resumed struct {
	Status string `json:"status"`
}

// Event implements event.Payload.
func (Resumed) Event() (event.Kind, string) { return event.State, "resumed" }

// Perturbed is the event of a perturbation of a write or a turn that fired. The event's N
// is its place, its detail the perturbation's text form.
type Perturbed struct {
	// Restarted is true if the agent was restarted before the turn.
	Restarted bool `json:"restarted,omitempty"`
}

// Event implements event.Payload.
func (Perturbed) Event() (event.Kind, string) { return event.State, "perturbation" }
