// Package llm is the vocabulary that every other package shares: messages,
// requests, replies, token usage, the Backend interface and typed errors.
// It imports nothing of this module and does no I/O.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Role is the author of a message. The values are those of the OpenAI chat API.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	Developer Role = "developer"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one entry of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
	// Attachments describe the images, audio and files beside the text of a message that
	// a scripted backend received. The project's own backends send text alone.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Name distinguishes participants that share a role; usually empty.
	Name string `json:"name,omitempty"`
	// ToolCalls are the calls that an assistant message asks for.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is, on a tool message, the id of the call that it answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
}

// Attachment describes an image, a sound or a file in a message. Its content is not
// kept: the digest identifies it.
type Attachment struct {
	Kind      string `json:"kind"`                 // image, audio or file
	MediaType string `json:"media_type,omitempty"` // such as image/png; empty where the request does not name it
	Name      string `json:"name,omitempty"`       // of a file
	// Bytes and SHA256 (in hexadecimal) are of the decoded content; 0 and empty where the
	// request only refers to it.
	Bytes  int    `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Source is the URL or the provider's file id that the request refers to.
	Source string `json:"source,omitempty"`
}

// String returns the description on one line, such as "image image/png 68 bytes
// sha256:9f86d0…"; parts that are not known are left out.
func (a Attachment) String() string {
	parts := []string{a.Kind, a.MediaType, a.Name, a.Source}
	if a.SHA256 != "" {
		parts = append(parts, strconv.Itoa(a.Bytes)+" bytes", "sha256:"+a.SHA256)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// ToolCall is one function call that a model asks for.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON text that the model wrote. It is a model's output:
	// it may not be valid JSON.
	Arguments string `json:"arguments"`
}

// Tool describes a function that a model may call.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is a JSON Schema.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// Request is one call to a model.
type Request struct {
	// Purpose is why the agent calls ("loop", "judge", "mirror", ...). It
	// travels in the API's metadata field under the key "purpose", so that
	// scripts and cost records can distinguish calls.
	Purpose string `json:"purpose,omitempty"`
	// Tags are further metadata (block, candidate, ...).
	Tags map[string]string `json:"tags,omitempty"`
	// Model is the model's name; empty means the backend's own default.
	Model    string    `json:"model,omitempty"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools,omitempty"`
	// JSONMode asks for an answer that is one JSON object.
	JSONMode bool `json:"json_mode,omitempty"`
	// Stream asks the backend to stream; the Reply is the same either way.
	Stream bool `json:"stream,omitempty"`
	// MaxTokens caps the output; 0 means the provider's own limit.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Temperature is in [0, 2]; nil means the provider's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// Seed asks for repeatable sampling where the provider offers it.
	Seed *int `json:"seed,omitempty"`
	// OnText, if set, receives each piece of text as it arrives, on the
	// goroutine that called Complete. Backends that do not stream call it once.
	OnText func(delta string) `json:"-"`
	// OnActivity, if set, is called for each sign of life of a backend that works by
	// itself, such as a command-line agent: tool is the name of the tool call that
	// begins, or empty for anything else, such as a tool's result or a thought. It is
	// called on the goroutine that called Complete. Other backends never call it.
	OnActivity func(tool string) `json:"-"`
}

// FinishReason is why a model stopped.
type FinishReason string

// The finish reasons of the OpenAI chat API.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishToolCalls     FinishReason = "tool_calls"
	FinishContentFilter FinishReason = "content_filter"
)

// UsageSource is where token counts come from.
type UsageSource string

// Usage is either what the backend reported or what we counted ourselves. UsageTextOnly
// counts the text of a request and not its attachments, whose tokens depend on the
// provider: the input is a lower bound.
const (
	UsageReported UsageSource = "reported"
	UsageCounted  UsageSource = "counted"
	UsageTextOnly UsageSource = "text-only"
)

// Usage is the number of tokens of one call.
type Usage struct {
	// Input excludes tokens that were read from the provider's cache.
	Input int `json:"input"`
	// CachedInput is input read from the cache (billed at a lower price).
	CachedInput int `json:"cached_input,omitempty"`
	// CacheWrite is input written to the cache, where the provider bills it.
	CacheWrite int `json:"cache_write,omitempty"`
	// Output includes Reasoning.
	Output int `json:"output"`
	// Reasoning is the part of Output that is not shown.
	Reasoning int         `json:"reasoning,omitempty"`
	Source    UsageSource `json:"source,omitempty"`
}

// Total is every token of the call, cached or not.
func (u Usage) Total() int { return u.Input + u.CachedInput + u.CacheWrite + u.Output }

// Reply is what a model answered.
type Reply struct {
	Text      string       `json:"text"`
	ToolCalls []ToolCall   `json:"tool_calls,omitempty"`
	Finish    FinishReason `json:"finish,omitempty"`
	// Model is the model that answered, as the backend names it.
	Model string `json:"model,omitempty"`
	// Usage is nil if the backend did not report it.
	Usage *Usage `json:"usage,omitempty"`
	// ReportedUSD is the cost that the backend itself reported, or nil.
	ReportedUSD *float64 `json:"reported_usd,omitempty"`
	// Retries are the failed attempts that came before this answer.
	Retries []Retry `json:"retries,omitempty"`
	// Denials are tool calls that the agent's own permissions refused. The work that
	// they were for may be missing, whatever Text claims; at most MaxDenials are kept.
	Denials []Denial `json:"denials,omitempty"`
}

// MaxDenials is the largest number of denied tool calls in a Reply.
const MaxDenials = 20

// Denial is a tool call that the permissions of a command-line agent refused.
type Denial struct {
	// Tool is the agent's own name of the tool, such as "Edit".
	Tool string `json:"tool"`
	// Detail is what it was to do or why it was refused: a path, a command, or the
	// program's words, bounded in length; empty if that is not known.
	Detail string `json:"detail,omitempty"`
}

// String returns the tool, with the detail in parentheses if there is one.
func (d Denial) String() string {
	if d.Detail == "" {
		return d.Tool
	}
	return d.Tool + " (" + d.Detail + ")"
}

// Message turns a reply into the assistant message that a conversation keeps.
func (r Reply) Message() Message {
	return Message{Role: Assistant, Content: r.Text, ToolCalls: r.ToolCalls}
}

// Backend answers requests. Implementations are safe for concurrent use.
//
// A returned error is, or wraps, an *Error, except for the context's own
// cancellation cause.
type Backend interface {
	Complete(ctx context.Context, req Request) (Reply, error)
}

// BackendFunc lets a function be a Backend.
type BackendFunc func(context.Context, Request) (Reply, error)

// Complete calls f.
func (f BackendFunc) Complete(ctx context.Context, req Request) (Reply, error) { return f(ctx, req) }

// DescribeDenials returns how many tool calls were denied, and which the first ones were,
// such as "1 tool call: Edit (greet.sh)".
func DescribeDenials(denials []Denial) string {
	const most = 3
	var names []string
	for _, d := range denials[:min(len(denials), most)] {
		names = append(names, d.String())
	}
	text := fmt.Sprintf("%d tool calls: ", len(denials))
	if len(denials) == 1 {
		text = "1 tool call: "
	}
	text += strings.Join(names, ", ")
	if n := len(denials) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
