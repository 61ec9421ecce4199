// Package wire turns neutral completions into the frames of a provider's wire
// protocol and a provider's request into the neutral form. Frames are values:
// faults edit them before anything is sent, and golden files pin them.
package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// Frame is one timed piece of an HTTP response.
type Frame struct {
	// Delay passes before the frame is sent.
	Delay time.Duration
	// Status is set on the first frame only; 0 there means that no response
	// head is ever sent.
	Status int
	// Header is sent with Status.
	Header http.Header
	// Data is body bytes; they are flushed together.
	Data []byte
	// End describes what happens to the connection after Data.
	End End
}

// End describes what happens to the connection after a frame.
type End uint8

// The ends of a frame.
const (
	Continue End = iota // another frame follows, or the response is complete
	Close               // the connection is closed early, in order (FIN)
	Reset               // the connection is reset (RST)
	Hang                // nothing more is sent and the connection stays open
)

// Completion is one neutral answer.
type Completion struct {
	ID      string
	Model   string
	Created time.Time
	// Thinking is the visible reasoning of the model. The chat protocol has no place for it.
	Thinking string
	Text     string
	Refusal  string
	// ToolCalls carry their arguments as JSON text, valid or not.
	ToolCalls []llm.ToolCall
	Finish    llm.FinishReason
	Usage     llm.Usage
	// First and PerToken are the delays before the first byte and per output
	// token, jitter already applied.
	First, PerToken time.Duration

	// reported is the usage in the response; nil means Usage. Only a fault sets it: it must
	// not change how long the answer takes.
	reported *llm.Usage
	// bare is true where a fault took every part of the answer.
	bare bool
}

// FinishReason returns why the answer ended: Finish, or its default.
func (c Completion) FinishReason() llm.FinishReason {
	switch {
	case c.Finish != "":
		return c.Finish
	case len(c.ToolCalls) > 0:
		return llm.FinishToolCalls
	}
	return llm.FinishStop
}

// reportedUsage returns the usage in the response.
func (c Completion) reportedUsage() llm.Usage {
	if c.reported != nil {
		return *c.reported
	}
	return c.Usage
}

// Call is a provider's request in neutral form.
type Call struct {
	llm.Request
	// IncludeUsage asks for a usage chunk at the end of a stream.
	IncludeUsage bool
	// Header is the HTTP request's header; may be nil.
	Header http.Header

	// kinds are the tools that are called in another way than a function.
	kinds map[string]toolKind
	// encrypted asks for the encrypted form of thoughts.
	encrypted bool
	// store is where the answer is to be stored, after the answer previous ("" for none)
	// and with input, which is about inputSize bytes; nil if it is not.
	store     *ResponseStore
	previous  string
	input     []item
	inputSize int
}

// APIError is a provider's error answer.
type APIError struct {
	Status     int
	Type       string // the provider's error type, e.g. "invalid_request_error"
	Code       string // machine-readable code; may be empty
	Param      string // the request's field, e.g. "messages[2].tool_call_id"
	Message    string
	RetryAfter time.Duration
	// Details is a JSON object with more about the error, where Anthropic gives one.
	Details string
	// Declined is true where a client that is refused a feature goes on without it by
	// itself, so that the request is not a mistake of the client's.
	Declined bool
}

// Error makes an APIError an error.
func (e *APIError) Error() string { return e.Message }

// Codec speaks one wire protocol. Implementations are stateless.
type Codec interface {
	// Protocol names it in recordings, such as "openai-chat".
	Protocol() string
	// Decode parses and validates a request as the provider would.
	Decode(body []byte) (Call, *APIError)
	// Encode expands an answer to frames, streamed if the call asked for it.
	Encode(call Call, answer Completion) []Frame
	// EncodeError renders an error in the provider's shape.
	EncodeError(e *APIError) []Frame
	// Dialect describes the protocol to scripts and to faults.
	Dialect() Dialect
}

// codecs are the protocols with the ends of their paths.
var codecs = []struct {
	path  string
	codec Reader
}{
	{"/chat/completions", OpenAIChat{}},
	{"/responses", OpenAIResponses{}},
	{"/messages", AnthropicMessages{}},
}

// ForPath returns the protocol of a request by the end of its path, such as POST
// /v1/messages. ok is false for any other request.
func ForPath(method, path string) (c Reader, ok bool) {
	for _, known := range codecs {
		if method == http.MethodPost && strings.HasSuffix(path, known.path) {
			return known.codec, true
		}
	}
	return nil, false
}

// ForProtocol returns the protocol of that name, such as "openai-chat".
func ForProtocol(name string) (c Reader, ok bool) {
	for _, known := range codecs {
		if known.codec.Protocol() == name {
			return known.codec, true
		}
	}
	return nil, false
}
