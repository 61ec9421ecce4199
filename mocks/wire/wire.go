// Package wire encodes neutral completions as the frames of a provider's wire protocol, and
// decodes the provider's requests. Frames are values: faults edit them before they are sent, and
// golden files pin them.
package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// Frame is one timed piece of an HTTP response.
type Frame struct {
	// Delay before the frame is sent.
	Delay time.Duration
	// Status of the response, in the first frame only; 0 there sends no response head.
	Status int
	// Header is sent with Status.
	Header http.Header
	// Data has bytes of the body, which are flushed together.
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
	// Thinking is the visible reasoning of the model. The chat protocol has no field for it.
	Thinking string
	Text     string
	Refusal  string
	// ToolCalls have their arguments as JSON text, which may be invalid.
	ToolCalls []llm.ToolCall
	Finish    llm.FinishReason
	Usage     llm.Usage
	// First and PerToken are the delays before the first byte and for each output token,
	// including jitter.
	First, PerToken time.Duration

	// reported is the usage in the response; nil means Usage. Only a fault sets it, because
	// Usage also determines the time of the answer.
	reported *llm.Usage
	// bare is true if a fault removed all parts of the answer.
	bare bool
}

// FinishReason returns Finish, or its default.
func (c Completion) FinishReason() llm.FinishReason {
	switch {
	case c.Finish != "":
		return c.Finish
	case len(c.ToolCalls) > 0:
		return llm.FinishToolCalls
	}
	return llm.FinishStop
}

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
	// Header of the HTTP request; may be nil.
	Header http.Header

	// kinds has the tools that are not plain functions.
	kinds map[string]toolKind
	// encrypted asks for the encrypted form of thoughts.
	encrypted bool
	// store stores the answer, unless it is nil: after the answer previous, which may be empty,
	// and with input, which has about inputSize bytes.
	store     *ResponseStore
	previous  string
	input     []item
	inputSize int
}

// APIError is an error answer of a provider.
type APIError struct {
	Status     int
	Type       string // such as "invalid_request_error"
	Code       string // machine-readable; may be empty
	Param      string // field of the request, such as "messages[2].tool_call_id"
	Message    string
	RetryAfter time.Duration
	// Details is a JSON object about some errors of Anthropic's.
	Details string
	// Declined is true if the error declines an optional feature, without which clients
	// continue. The request was not a mistake.
	Declined bool
}

// Error implements error.
func (e *APIError) Error() string { return e.Message }

// Codec implements one wire protocol. Implementations are stateless.
type Codec interface {
	// Protocol returns the name in recordings, such as "openai-chat".
	Protocol() string
	// Decode parses and validates a request as the provider does.
	Decode(body []byte) (Call, *APIError)
	// Encode returns the frames of an answer, streamed if the call asks for it.
	Encode(call Call, answer Completion) []Frame
	// EncodeError returns the frames of an error in the provider's form.
	EncodeError(e *APIError) []Frame
	// Dialect describes the protocol to scripts and to faults.
	Dialect() Dialect
}

// codecs has the protocols and the ends of their paths.
var codecs = []struct {
	path  string
	codec Reader
}{
	{"/chat/completions", OpenAIChat{}},
	{"/responses", OpenAIResponses{}},
	{"/messages", AnthropicMessages{}},
}

// ForPath returns the protocol for the end of a path, such as POST /v1/messages; ok is false for
// any other request.
func ForPath(method, path string) (c Reader, ok bool) {
	for _, known := range codecs {
		if method == http.MethodPost && strings.HasSuffix(path, known.path) {
			return known.codec, true
		}
	}
	return nil, false
}

// ForProtocol returns the protocol with a name, such as "openai-chat".
func ForProtocol(name string) (c Reader, ok bool) {
	for _, known := range codecs {
		if known.codec.Protocol() == name {
			return known.codec, true
		}
	}
	return nil, false
}
