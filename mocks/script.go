// Package mocks is a scripted LLM backend: a script has the answers, and a strict engine matches
// requests to its lines. The engine serves the wire protocols of the providers in process or over a
// socket, with all faults of a provider.
package mocks

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Script has the answers of a scripted backend: either Replies, a strict sequence, or Rules, of
// which the first match answers.
type Script struct {
	// Model is the name of the model. It determines price and tokenizer.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// Replies are answered in order, each Times times.
	Replies []Line `yaml:"replies,omitempty" json:"replies,omitempty"`
	// Rules are tried in order for each request.
	Rules []Line `yaml:"rules,omitempty" json:"rules,omitempty"`
	// State is the initial state of the rules; empty by default.
	State string `yaml:"state,omitempty" json:"state,omitempty"`
	// Lenient answers an unexpected call with a stock text instead of an error, and accepts
	// unused lines. Both are still recorded.
	Lenient bool `yaml:"lenient,omitempty" json:"lenient,omitempty"`
	// Relax names rules of the provider that requests may break, such as unknown-parameter.
	Relax []string `yaml:"relax,omitempty" json:"relax,omitempty"`
	// Strict names optional rules that requests must follow: block-type, missing-key,
	// unknown-model.
	Strict []string `yaml:"strict,omitempty" json:"strict,omitempty"`
	// Moderations flag texts that clients send to OpenAI's moderations; the first match applies, and
	// other texts are not flagged.
	Moderations []Moderation `yaml:"moderations,omitempty" json:"moderations,omitempty"`
	// Storage has faults of requests about files and batches.
	Storage []StorageFault `yaml:"storage,omitempty" json:"storage,omitempty"`
}

// Line is one line of a script: conditions on requests, and the answer.
type Line struct {
	// When limits the line to matching requests. On a line of Replies it is an assertion: a
	// request that does not match is an unexpected call.
	When *When `yaml:"when,omitempty" json:"when,omitempty"`
	// In is the state in which a rule applies; empty means any state.
	In string `yaml:"in,omitempty" json:"in,omitempty"`
	// Then is the state after the answer of this rule was delivered.
	Then string `yaml:"then,omitempty" json:"then,omitempty"`
	// Times is how often the line answers, or the fault fires if the line is only a fault. The
	// default is 1 for replies and unlimited for rules.
	Times int `yaml:"times,omitempty" json:"times,omitempty" jsonschema:"minimum=1"`
	// Optional rules need not be used. Replies are never optional.
	Optional bool `yaml:"optional,omitempty" json:"optional,omitempty"`

	Answer `yaml:",inline"`
	// OneOf has the possible answers of a simulated model; each attempt at the line draws one,
	// see Choice. Latency and Usage of the line are defaults for its choices; the line cannot have
	// other parts of an answer.
	OneOf []Choice `yaml:"one_of,omitempty" json:"one_of,omitempty"`
}

// Choice is an answer with a probability.
//
// The draw depends only on the seed, the trial, the line and the attempt at the line. Other calls do
// not affect it. A fault in a choice fires whenever the choice is drawn; reports do not require
// that it fires. A fault without an answer uses the line; with an answer it leaves the line to the
// retry, which draws again.
type Choice struct {
	// Chance is the probability, in [0, 1]. The chances of a line must sum to 1; one choice may
	// omit its chance and gets the rest.
	Chance *float64 `yaml:"chance,omitempty" json:"chance,omitempty" jsonschema:"minimum=0,maximum=1"`
	Answer `yaml:",inline"`
}

// Answer is an answer of the model: a text, tool calls, a refusal, a fault.
type Answer struct {
	// Text of the answer. At most one of Text, File, Template and Frames can be given.
	Text Text `yaml:"text,omitempty" json:"text,omitempty"`
	// File with the text of the answer. The path is relative to the script's folder and cannot
	// leave it.
	File string `yaml:"file,omitempty" json:"file,omitempty"`
	// Template is a Go text/template over the request: .Model, .System, .User
	// (last user text), .Turn, .Purpose, .Tags, .Messages, .Attempt.
	Template string `yaml:"template,omitempty" json:"template,omitempty"`
	// Frames is a captured answer, sent again byte for byte. The answer cannot have other parts.
	Frames *Frames `yaml:"frames,omitempty" json:"frames,omitempty"`
	// ToolCalls has the function calls of the answer.
	ToolCalls []ScriptedToolCall `yaml:"tool_calls,omitempty" json:"tool_calls,omitempty"`
	// Thinking is the visible reasoning, in the protocols that have it: OpenAI Responses,
	// Anthropic Messages, and chat completions for models that are not OpenAI's.
	Thinking string `yaml:"thinking,omitempty" json:"thinking,omitempty"`
	// Refusal is the text of an explicit refusal.
	Refusal string `yaml:"refusal,omitempty" json:"refusal,omitempty"`
	// Finish is the finish reason; by default stop, or tool_calls.
	Finish string `yaml:"finish,omitempty" json:"finish,omitempty" jsonschema:"enum=stop,enum=length,enum=tool_calls,enum=content_filter"`
	// Media is the image or the speech of an answer to a call for one. Text is then the revised prompt of
	// an image.
	Media *Media `yaml:"media,omitempty" json:"media,omitempty"`
	// Usage replaces the counted tokens.
	Usage *ScriptedUsage `yaml:"usage,omitempty" json:"usage,omitempty"`
	// Latency of the answer.
	Latency *Latency `yaml:"latency,omitempty" json:"latency,omitempty"`
	// Fault of the answer. On a line with an answer it fires at the first attempts and leaves
	// the line to a retry, which gets the answer. Faults that deliver the whole answer
	// (slow-drip, duplicate-chunk, wrong-usage, grandchild) use the line, because clients do not
	// retry. A line without an answer is used when its fault has fired.
	Fault *Fault `yaml:"fault,omitempty" json:"fault,omitempty"`
}

// Text is the text of an answer. The zero value means that the answer has no text; see EmptyText.
type Text string

// EmptyText is an empty text, like "text: ”" in a file.
const EmptyText Text = "\x00"

// String returns the text to send.
func (t Text) String() string {
	if t == EmptyText {
		return ""
	}
	return string(t)
}

// textOf returns text as a Text, EmptyText if it is empty.
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
	ID string `yaml:"id,omitempty" json:"id,omitempty"`
	// Name is the name of the tool.
	Name string `yaml:"name" json:"name"`
	// Arguments become JSON.
	Arguments map[string]any `yaml:"arguments,omitempty" json:"arguments,omitempty"`
}

// ScriptedUsage replaces the counted tokens.
type ScriptedUsage struct {
	// Input counts the tokens of the request that were not cached.
	Input int `yaml:"input" json:"input" jsonschema:"minimum=0"`
	// CachedInput counts the tokens of the request that were read from the cache.
	CachedInput int `yaml:"cached_input,omitempty" json:"cached_input,omitempty" jsonschema:"minimum=0"`
	// CacheWrite counts the tokens of the request that were written to the cache.
	CacheWrite int `yaml:"cache_write,omitempty" json:"cache_write,omitempty" jsonschema:"minimum=0"`
	// Output counts the tokens of the answer, with those of Reasoning.
	Output int `yaml:"output" json:"output" jsonschema:"minimum=0"`
	// Reasoning counts the tokens of the answer that are hidden reasoning.
	Reasoning int `yaml:"reasoning,omitempty" json:"reasoning,omitempty" jsonschema:"minimum=0"`
}

// When has conditions on a request, all of which must match.
type When struct {
	// Purpose is the purpose that the agent gives its call.
	Purpose string `yaml:"purpose,omitempty" json:"purpose,omitempty"`
	// Metadata must be in the request's metadata with these values.
	Metadata map[string]string `yaml:"metadata,omitempty" json:"metadata,omitempty"`
	// Model is the name of the model in the request.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// System matches the text of system and developer messages.
	System *Match `yaml:"system,omitempty" json:"system,omitempty"`
	// User matches the text of the last user message.
	User *Match `yaml:"user,omitempty" json:"user,omitempty"`
	// Any matches the text of any message.
	Any *Match `yaml:"any,omitempty" json:"any,omitempty"`
	// ToolOffered is the name of a tool that the request must offer.
	ToolOffered string `yaml:"tool_offered,omitempty" json:"tool_offered,omitempty"`
	// ToolResult matches the text of any tool message after the last user message.
	ToolResult *Match `yaml:"tool_result,omitempty" json:"tool_result,omitempty"`
	// Attachment matches the description of an image, a sound or a file in the last user message
	// or in a tool message after it, such as "image image/png 68 bytes sha256:…".
	Attachment *Match `yaml:"attachment,omitempty" json:"attachment,omitempty"`
	// Header must be in the HTTP request with these values.
	Header map[string]string `yaml:"header,omitempty" json:"header,omitempty"`
	// Turn is the number of assistant messages in the conversation.
	Turn *int `yaml:"turn,omitempty" json:"turn,omitempty" jsonschema:"minimum=0"`
}

// Match is a condition on a text. In a file it is either a string, which the text must contain, or
// a mapping with exactly one of the three keys.
type Match struct {
	// Contains is a part of the text.
	Contains string `yaml:"contains,omitempty" json:"contains,omitempty"`
	// Matches is a regular expression in RE2 syntax.
	Matches string `yaml:"matches,omitempty" json:"matches,omitempty"`
	// Equals is the whole text.
	Equals string `yaml:"equals,omitempty" json:"equals,omitempty"`
}

// Duration is a time.Duration that files spell as "2s" or "1h30m".
type Duration = quantity.Duration

// Latency is the time that an answer takes. In a file it is either a duration, for the whole answer,
// or a mapping.
type Latency struct {
	// First is the time to the first byte; without streaming, the fixed part.
	First Duration `yaml:"first,omitempty" json:"first,omitempty"`
	// PerToken is the additional time for each output token.
	PerToken Duration `yaml:"per_token,omitempty" json:"per_token,omitempty"`
	// Jitter is the relative half-width, in [0, 1], of a seeded uniform factor.
	Jitter float64 `yaml:"jitter,omitempty" json:"jitter,omitempty" jsonschema:"minimum=0,maximum=1"`
}

// Fault is a scripted fault. In a file it is either the kind or a mapping.
type Fault struct {
	// Kind is the name of the fault.
	Kind string `yaml:"kind" json:"kind"`
	// Status is the HTTP status of kind "status" (default 500), or the exit
	// status of kind "exit" (default 1).
	Status int `yaml:"status,omitempty" json:"status,omitempty" jsonschema:"minimum=0,maximum=599"`
	// RetryAfter is the header of that name for kind "status".
	RetryAfter Duration `yaml:"retry_after,omitempty" json:"retry_after,omitempty"`
	// Message replaces the stock error message.
	Message string `yaml:"message,omitempty" json:"message,omitempty"`
	// After is the number of stream chunks, or of output lines of an agent, that are delivered
	// before the fault fires; by default half of them.
	After *int `yaml:"after,omitempty" json:"after,omitempty" jsonschema:"minimum=0"`
	// Delay is the pause between chunks of kind "slow-drip" (default 1s).
	Delay Duration `yaml:"delay,omitempty" json:"delay,omitempty"`
	// Times is the number of attempts at which the fault fires; default 1.
	Times int `yaml:"times,omitempty" json:"times,omitempty" jsonschema:"minimum=1"`
}
