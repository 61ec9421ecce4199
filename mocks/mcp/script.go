// Package mcp scripts the MCP servers of an agent. A script has the tools of a server and their results; a strict
// engine matches calls to its lines, over streamable HTTP, over a stream in place of standard input and output,
// and in process.
package mcp

import "github.com/rehearse-dev/rehearse/mocks"

// The values of Server.Transport.
const (
	HTTP  = "http"
	Stdio = "stdio"
)

// Server is the script of one MCP server.
type Server struct {
	// Name identifies the server among those of a scenario.
	Name string `yaml:"name" json:"name" jsonschema:"pattern=^[a-z][a-z0-9_-]*$"`
	// Transport is how the agent reaches the server: "http" (default; streamable HTTP on the loopback
	// interface) or "stdio" (a program that the agent starts).
	Transport string `yaml:"transport,omitempty" json:"transport,omitempty" jsonschema:"enum=http,enum=stdio"`
	// Tools are the tools that the server offers.
	Tools []Tool `yaml:"tools,omitempty" json:"tools,omitempty"`
	// Resources are the texts that the server offers.
	Resources []Resource `yaml:"resources,omitempty" json:"resources,omitempty"`
	// Prompts are the prompts that the server offers.
	Prompts []Prompt `yaml:"prompts,omitempty" json:"prompts,omitempty"`
}

// Tool is a tool with its results: either Replies, a strict sequence, or Rules, of which the first match
// answers.
type Tool struct {
	// Name is the name of the tool.
	Name string `yaml:"name" json:"name"`
	// Description describes the tool to the model.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Input is the JSON Schema of the arguments; default: any object. Calls with other arguments get an error
	// result, and are findings.
	Input map[string]any `yaml:"input,omitempty" json:"input,omitempty"`
	// Later hides the tool until a line with the fault list_changed was used.
	Later bool `yaml:"later,omitempty" json:"later,omitempty"`
	// Replies answer the calls of the tool in order, each Times times.
	Replies []Line `yaml:"replies,omitempty" json:"replies,omitempty"`
	// Rules are tried in order for each call.
	Rules []Line `yaml:"rules,omitempty" json:"rules,omitempty"`
}

// Line is one line of a tool: conditions on calls, and the result.
type Line struct {
	// When limits the line to matching calls. On a line of Replies it is an assertion: a call that does not
	// match is unexpected.
	When *When `yaml:"when,omitempty" json:"when,omitempty"`
	// Times is how often the line answers; by default 1 for replies and unlimited for rules.
	Times int `yaml:"times,omitempty" json:"times,omitempty" jsonschema:"minimum=1"`
	// Optional rules need not be used.
	Optional bool `yaml:"optional,omitempty" json:"optional,omitempty"`
	// Text is the text of the result. A line has at most one of text, json and error.
	Text mocks.Text `yaml:"text,omitempty" json:"text,omitempty"`
	// JSON is a structured result; its text is the JSON.
	JSON any `yaml:"json,omitempty" json:"json,omitempty"`
	// Error is the text of a result that reports a failure of the tool (isError).
	Error string `yaml:"error,omitempty" json:"error,omitempty"`
	// Latency is the time until the result.
	Latency mocks.Duration `yaml:"latency,omitempty" json:"latency,omitempty"`
	// Fault is injected into the call. On a line with a result it fires once, at the first call, and the next
	// call gets the result; list_changed delivers the result. A line without a result is used when its fault
	// has fired.
	Fault string `yaml:"fault,omitempty" json:"fault,omitempty" jsonschema:"enum=hang,enum=malformed,enum=protocol_error,enum=exit,enum=list_changed"` //nolint:lll // a tag
}

// When has conditions on a call, all of which must match.
type When struct {
	// Arguments has conditions on arguments by name. A value that is not a text is compared as compact JSON.
	Arguments map[string]*mocks.Match `yaml:"arguments,omitempty" json:"arguments,omitempty"`
}

// The kinds of fault.
const (
	hang          = "hang"           // no result
	malformed     = "malformed"      // a message that is not valid JSON
	protocolError = "protocol_error" // a JSON-RPC error
	exit          = "exit"           // the server ends, and can be started again
	ListChanged   = "list_changed"   // with the result, the tools with later: true appear, and the server announces that
)

// Faults returns the kinds of fault in the order of the documentation.
func Faults() []string { return []string{hang, malformed, protocolError, exit, ListChanged} }

// Resource is a text that clients can read.
type Resource struct {
	// URI is the address of the resource, such as "ticket://1".
	URI string `yaml:"uri" json:"uri"`
	// Name is its name; default: the address.
	Name string `yaml:"name,omitempty" json:"name,omitempty"`
	// Text is its content.
	Text string `yaml:"text" json:"text"`
}

// Prompt is a prompt that clients can request.
type Prompt struct {
	// Name is the name of the prompt.
	Name string `yaml:"name" json:"name"`
	// Description describes the prompt.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Text is the text of its only message, of the user.
	Text string `yaml:"text" json:"text"`
}

// answers reports whether the line has a result.
func (l *Line) answers() bool { return l.Text != "" || l.JSON != nil || l.Error != "" }
