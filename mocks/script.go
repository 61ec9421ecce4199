// Package mocks is a scripted LLM backend: a script has the answers, a
// strict engine matches requests to its lines, and one server speaks the
// providers' wire protocols, in process or over a socket, with every fault that
// a provider can show.
package mocks

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Script has the answers of a scripted backend: either Replies, a strict
// sequence, or Rules, of which the first match wins.
type Script struct {
	// Model names the model that answers; it decides price and tokenizer.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// Replies are answered in order, each Times times.
	Replies []Line `yaml:"replies,omitempty" json:"replies,omitempty"`
	// Rules are tried in order for each request.
	Rules []Line `yaml:"rules,omitempty" json:"rules,omitempty"`
	// State is the initial state of the rules; empty by default.
	State string `yaml:"state,omitempty" json:"state,omitempty"`
	// Lenient answers an unexpected call with a stock text in place of an error,
	// and forgives unused lines. Both are still recorded.
	Lenient bool `yaml:"lenient,omitempty" json:"lenient,omitempty"`
}

// Line is one line of a script: what it answers to, and the answer.
type Line struct {
	// When narrows the requests that this line answers. On a line of Replies it
	// is an assertion: a request that does not fit is an unexpected call.
	When *When `yaml:"when,omitempty" json:"when,omitempty"`
	// In is the state in which a rule applies; empty means in every state.
	In string `yaml:"in,omitempty" json:"in,omitempty"`
	// Then is the state after this rule's answer was delivered.
	Then string `yaml:"then,omitempty" json:"then,omitempty"`
	// Times is how often the line answers. Replies: default 1. Rules: default
	// without limit. A line that is nothing but a fault fires that often.
	Times int `yaml:"times,omitempty" json:"times,omitempty" jsonschema:"minimum=1"`
	// Optional rules need not be used. A line of Replies is never optional.
	Optional bool `yaml:"optional,omitempty" json:"optional,omitempty"`

	Answer `yaml:",inline"`
	// OneOf are the answers of a simulated model, of which each attempt at the line
	// draws one; see Choice. Latency and Usage of the line are the defaults of its
	// choices; the line then has no other part of an answer.
	OneOf []Choice `yaml:"one_of,omitempty" json:"one_of,omitempty"`
}

// Choice is an answer that is drawn with a probability.
//
// The draw depends on the seed, the trial, the line and the attempt at the line alone: it
// is the same in every execution, whatever other calls come before. A fault in a choice
// fires whenever the choice is drawn; no report demands that it is. Alone it uses the line;
// beside an answer it leaves the line to the retry, which draws again.
type Choice struct {
	// Chance is the probability, in [0, 1]. Those of a line sum to 1; one choice may
	// leave it out and gets what remains.
	Chance *float64 `yaml:"chance,omitempty" json:"chance,omitempty" jsonschema:"minimum=0,maximum=1"`
	Answer `yaml:",inline"`
}

// Answer is an answer of the model: a text, tool calls, a refusal, a fault.
type Answer struct {
	// Text is the answer's text. At most one of Text, File, Template, Frames
	// is given.
	Text Text `yaml:"text,omitempty" json:"text,omitempty"`
	// File is a file with the answer's text; the path is relative to the script's folder
	// and cannot leave it.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
	// Template is a Go text/template over the request: .Model, .System, .User
	// (last user text), .Turn, .Purpose, .Tags, .Messages, .Attempt.
	Template string `yaml:"template,omitempty" json:"template,omitempty"`
	// Frames is an answer that was captured and goes out again byte for byte; with it
	// nothing else is given of the answer.
	Frames *Frames `yaml:"frames,omitempty" json:"frames,omitempty"`
	// ToolCalls are the function calls that the answer asks for.
	ToolCalls []ScriptedToolCall `yaml:"tool_calls,omitempty" json:"tool_calls,omitempty"`
	// Thinking is the reasoning that the answer shows, in protocols that
	// have a place for it: OpenAI Responses and Anthropic Messages.
	Thinking string `yaml:"thinking,omitempty" json:"thinking,omitempty"`
	// Refusal is the text of an explicit refusal.
	Refusal string `yaml:"refusal,omitempty" json:"refusal,omitempty"`
	// Finish is the finish reason; by default stop, or tool_calls.
	Finish string `yaml:"finish,omitempty" json:"finish,omitempty" jsonschema:"enum=stop,enum=length,enum=tool_calls,enum=content_filter"`
	// Usage replaces the tokens that would be counted.
	Usage *ScriptedUsage `yaml:"usage,omitempty" json:"usage,omitempty"`
	// Latency is how long the answer takes.
	Latency *Latency `yaml:"latency,omitempty" json:"latency,omitempty"`
	// Fault goes wrong with the answer. On a line with an answer it fires at the first
	// attempts and leaves the line unconsumed, so that a retry gets the answer.
	// The faults that still bring the whole answer (slow-drip, duplicate-chunk,
	// wrong-usage, grandchild) consume the line, as no client would retry. On a
	// line without an answer the fault is the line, which is consumed once the
	// fault has taken effect.
	Fault *Fault `yaml:"fault,omitempty" json:"fault,omitempty"`
}

// Text is the text of an answer. The zero value means that no text is given; EmptyText is
// an answer that is empty.
type Text string

// EmptyText is the Text of an answer that is empty: "text: ”" in a file.
const EmptyText Text = "\x00"

// String returns the text as it is sent.
func (t Text) String() string {
	if t == EmptyText {
		return ""
	}
	return string(t)
}

// textOf returns a text that is given, even if it is empty.
func textOf(text string) Text { return cmp.Or(Text(text), EmptyText) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Text) UnmarshalText(text []byte) error {
	*t = textOf(string(text))
	return nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// ScriptedToolCall is a function call of a scripted answer.
type ScriptedToolCall struct {
	// ID defaults to one derived from the line and the trial's seed.
	ID   string `yaml:"id,omitempty" json:"id,omitempty"`
	Name string `yaml:"name" json:"name"`
	// Arguments become JSON.
	Arguments map[string]any `yaml:"arguments,omitempty" json:"arguments,omitempty"`
}

// ScriptedUsage gives token counts in place of counted ones.
type ScriptedUsage struct {
	Input       int `yaml:"input" json:"input" jsonschema:"minimum=0"`
	CachedInput int `yaml:"cached_input,omitempty" json:"cached_input,omitempty" jsonschema:"minimum=0"`
	CacheWrite  int `yaml:"cache_write,omitempty" json:"cache_write,omitempty" jsonschema:"minimum=0"`
	Output      int `yaml:"output" json:"output" jsonschema:"minimum=0"`
	Reasoning   int `yaml:"reasoning,omitempty" json:"reasoning,omitempty" jsonschema:"minimum=0"`
}

// When is a conjunction of conditions on a request; an empty one fits all.
type When struct {
	Purpose string `yaml:"purpose,omitempty" json:"purpose,omitempty"`
	// Metadata must be present in the request's metadata with these values.
	Metadata map[string]string `yaml:"metadata,omitempty" json:"metadata,omitempty"`
	Model    string            `yaml:"model,omitempty" json:"model,omitempty"`
	// System fits the text of system and developer messages.
	System *Match `yaml:"system,omitempty" json:"system,omitempty"`
	// User fits the text of the last user message.
	User *Match `yaml:"user,omitempty" json:"user,omitempty"`
	// Any fits the text of any message.
	Any *Match `yaml:"any,omitempty" json:"any,omitempty"`
	// ToolOffered names a tool that the request must offer.
	ToolOffered string `yaml:"tool_offered,omitempty" json:"tool_offered,omitempty"`
	// ToolResult fits the text of any tool message after the last user message.
	ToolResult *Match `yaml:"tool_result,omitempty" json:"tool_result,omitempty"`
	// Attachment fits the description of an image, a sound or a file in the last user
	// message or in a tool message after it, such as "image image/png 68 bytes sha256:…".
	Attachment *Match `yaml:"attachment,omitempty" json:"attachment,omitempty"`
	// Header must be present in the HTTP request with these values.
	Header map[string]string `yaml:"header,omitempty" json:"header,omitempty"`
	// Turn is the number of assistant messages already in the conversation.
	Turn *int `yaml:"turn,omitempty" json:"turn,omitempty" jsonschema:"minimum=0"`
}

// Match is a condition on a text. In a file it is either a string, which must be
// contained, or a mapping with exactly one of the three keys.
type Match struct {
	Contains string `yaml:"contains,omitempty" json:"contains,omitempty"`
	// Matches is a regular expression in RE2 syntax.
	Matches string `yaml:"matches,omitempty" json:"matches,omitempty"`
	Equals  string `yaml:"equals,omitempty" json:"equals,omitempty"`
}

// Duration is a time.Duration that files spell as "2s" or "1h30m".
type Duration = quantity.Duration

// Latency is the time that an answer takes. In a file it is either a duration (the
// whole answer) or a mapping.
type Latency struct {
	// First is the time to the first byte; for an answer that is not streamed,
	// the fixed part.
	First Duration `yaml:"first,omitempty" json:"first,omitempty"`
	// PerToken is added for each output token.
	PerToken Duration `yaml:"per_token,omitempty" json:"per_token,omitempty"`
	// Jitter is the relative half-width, in [0, 1], of a seeded uniform factor.
	Jitter float64 `yaml:"jitter,omitempty" json:"jitter,omitempty" jsonschema:"minimum=0,maximum=1"`
}

// Fault is one thing that goes wrong. In a file it is either the kind alone or a
// mapping.
type Fault struct {
	Kind string `yaml:"kind" json:"kind"`
	// Status is the HTTP status of kind "status" (default 500), or the exit
	// status of kind "exit" (default 1).
	Status int `yaml:"status,omitempty" json:"status,omitempty" jsonschema:"minimum=0,maximum=599"`
	// RetryAfter is sent in the header of that name with kind "status".
	RetryAfter Duration `yaml:"retry_after,omitempty" json:"retry_after,omitempty"`
	// Message replaces the stock error message.
	Message string `yaml:"message,omitempty" json:"message,omitempty"`
	// After is how many stream chunks (or output lines of an agent) are delivered
	// before the fault fires; default: half of them.
	After *int `yaml:"after,omitempty" json:"after,omitempty" jsonschema:"minimum=0"`
	// Delay is the pause between chunks of kind "slow-drip" (default 1s).
	Delay Duration `yaml:"delay,omitempty" json:"delay,omitempty"`
	// Times is the number of attempts at which the fault fires; default 1.
	Times int `yaml:"times,omitempty" json:"times,omitempty" jsonschema:"minimum=1"`
}
