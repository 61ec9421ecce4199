// Package llm has the types that all other packages share: messages, requests, replies, token
// usage, the Backend interface, typed errors, and budgets. It does no I/O.
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
	// Attachments describe the images, audio and files of a message that a scripted backend
	// received. The backends of this module only send text.
	Attachments []Attachment `json:"attachments,omitempty"`
	// Name distinguishes participants that share a role; usually empty.
	Name string `json:"name,omitempty"`
	// ToolCalls are the calls that an assistant message requests.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is the id of the call that a tool message answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
	// ToolError is true for a tool message that is marked as a failure of the tool in a request that a scripted backend
	// received. The backends of this module do not send it.
	ToolError bool `json:"tool_error,omitempty"`
}

// Attachment describes an image, a sound or a file in a message. Its content is identified by
// a digest.
type Attachment struct {
	Kind      string `json:"kind"`                 // image, audio or file
	MediaType string `json:"media_type,omitempty"` // such as image/png; empty where the request does not name it
	Name      string `json:"name,omitempty"`       // of a file
	// Bytes and SHA256 (in hexadecimal) describe the decoded content; they are 0 and empty if
	// the request only refers to it.
	Bytes  int    `json:"bytes,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Source is the URL or the provider's file id that the request refers to.
	Source string `json:"source,omitempty"`
}

// String returns the description on one line without unknown parts, such as "image image/png
// 68 bytes sha256:9f86d0…".
func (a Attachment) String() string {
	parts := []string{a.Kind, a.MediaType, a.Name, a.Source}
	if a.SHA256 != "" {
		parts = append(parts, strconv.Itoa(a.Bytes)+" bytes", "sha256:"+a.SHA256)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// ToolCall is a function call that a model requests.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON text that the model wrote, which may be invalid.
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
	// Purpose is the reason for the call ("loop", "judge", "mirror", ...). It is sent in the
	// API's metadata field under the key "purpose"; scripts and cost records distinguish
	// calls by it.
	Purpose string `json:"purpose,omitempty"`
	// Tags are further metadata (block, candidate, ...).
	Tags map[string]string `json:"tags,omitempty"`
	// Model is the model's name; empty means the backend's own default.
	Model    string    `json:"model,omitempty"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools,omitempty"`
	// JSONMode requests an answer that is one JSON object.
	JSONMode bool `json:"json_mode,omitempty"`
	// Stream requests a streamed answer. The Reply is the same.
	Stream bool `json:"stream,omitempty"`
	// MaxTokens caps the output; 0 means the provider's own limit.
	MaxTokens int `json:"max_tokens,omitempty"`
	// Temperature is in [0, 2]; nil means the provider's default.
	Temperature *float64 `json:"temperature,omitempty"`
	// Seed requests repeatable sampling if the provider offers it.
	Seed *int `json:"seed,omitempty"`
	// Session is the session of a command-line agent that the call continues, from Reply.Session;
	// nil begins a new one. Messages then need only what the session does not contain. A session
	// that cannot be continued fails the call with NoSession. Other backends ignore it.
	Session *Session `json:"session,omitempty"`
	// MaxTurns limits the turns of a command-line agent in this call: calls of its model if the program
	// has such a limit (claude), otherwise tool calls. DenialLimit limits the calls of one tool that
	// its permissions deny, FailureLimit the tool calls in a row that fail, and MaxUSD the cost that
	// claude reports. At a limit the reply has what arrived before, with FinishTurns, FinishDenials,
	// FinishFailures or FinishCost. 0 means no limit. Other backends ignore them.
	MaxTurns     int     `json:"max_turns,omitempty"`
	DenialLimit  int     `json:"denial_limit,omitempty"`
	FailureLimit int     `json:"failure_limit,omitempty"`
	MaxUSD       float64 `json:"max_usd,omitempty"`
	// OnText, if set, receives each piece of text on arrival, in the goroutine that called
	// Complete. Backends that do not stream call it once.
	OnText func(delta string) `json:"-"`
	// OnActivity, if set, is called for each event of a command-line agent, in the goroutine
	// that called Complete: with the name of the tool for the beginning of a tool call, and
	// with an empty name for other events. Other backends never call it.
	OnActivity func(tool string) `json:"-"`
	// OnSession, if set, is called when a command-line agent reports the id of its session, before
	// its work and in the goroutine that called Complete: a call that fails later has a session, too.
	OnSession func(id string) `json:"-"`
}

// Session is a conversation that a command-line agent stores and can continue.
type Session struct {
	ID string `json:"id"`
	// Total is the usage of all calls in the session, for an agent that reports totals; otherwise nil.
	Total *Usage `json:"total,omitempty"`
}

// FinishReason is the reason why a model stopped.
type FinishReason string

// The finish reasons of the OpenAI chat API.
const (
	FinishStop          FinishReason = "stop"
	FinishLength        FinishReason = "length"
	FinishToolCalls     FinishReason = "tool_calls"
	FinishContentFilter FinishReason = "content_filter"
)

// The finish reasons of a command-line agent that was stopped at a limit of the Request.
const (
	FinishTurns    FinishReason = "turn_limit"
	FinishDenials  FinishReason = "denial_limit"
	FinishFailures FinishReason = "failure_limit"
	FinishCost     FinishReason = "cost_limit"
)

// UsageSource is the source of token counts.
type UsageSource string

// Token counts are reported by the backend or counted by package token. UsageTextOnly counts
// are a lower bound, because the request has attachments, which are not counted.
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
	// Reasoning is the hidden part of Output.
	Reasoning int         `json:"reasoning,omitempty"`
	Source    UsageSource `json:"source,omitempty"`
}

// Minus returns the usage of a call by the totals after and before it; before may be nil. Counts are
// at least 0.
func (u Usage) Minus(before *Usage) Usage {
	if before == nil {
		return u
	}
	u.Input = max(u.Input-before.Input, 0)
	u.CachedInput = max(u.CachedInput-before.CachedInput, 0)
	u.CacheWrite = max(u.CacheWrite-before.CacheWrite, 0)
	u.Output = max(u.Output-before.Output, 0)
	u.Reasoning = max(u.Reasoning-before.Reasoning, 0)
	return u
}

// Total returns the number of all tokens of the call, including cached ones.
func (u Usage) Total() int { return u.Input + u.CachedInput + u.CacheWrite + u.Output }

// Reply is the answer of a model.
type Reply struct {
	Text      string       `json:"text"`
	ToolCalls []ToolCall   `json:"tool_calls,omitempty"`
	Finish    FinishReason `json:"finish,omitempty"`
	// Model is the model that answered, as the backend names it.
	Model string `json:"model,omitempty"`
	// Usage is nil if the backend did not report it.
	Usage *Usage `json:"usage,omitempty"`
	// ReportedUSD is the cost that the backend reported, or nil.
	ReportedUSD *float64 `json:"reported_usd,omitempty"`
	// Retries are the failed attempts before this answer.
	Retries []Retry `json:"retries,omitempty"`
	// Denials are the first MaxDenials tool calls that a command-line agent was not permitted
	// to make. Their work may be missing, whatever Text claims.
	Denials []Denial `json:"denials,omitempty"`
	// Session is the session that answered; nil if the backend cannot continue sessions.
	Session *Session `json:"session,omitempty"`
}

// MaxDenials is the largest number of denied tool calls in a Reply.
const MaxDenials = 20

// Denial is a tool call that the permissions of a command-line agent refused.
type Denial struct {
	// Tool is the agent's own name of the tool, such as "Edit".
	Tool string `json:"tool"`
	// Detail is the target of the call or the reason for the denial, such as a path, a command
	// or a message of the program; empty if it is not known.
	Detail string `json:"detail,omitempty"`
}

// String returns the tool, with the detail in parentheses if there is one.
func (d Denial) String() string {
	if d.Detail == "" {
		return d.Tool
	}
	return d.Tool + " (" + d.Detail + ")"
}

// Message returns the reply as an assistant message.
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

// BackendFunc is a function that implements Backend.
type BackendFunc func(context.Context, Request) (Reply, error)

// Complete calls f.
func (f BackendFunc) Complete(ctx context.Context, req Request) (Reply, error) { return f(ctx, req) }

// DescribeDenials returns the number of denied tool calls and the first of them, such as
// "1 tool call: Edit (greet.sh)".
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
