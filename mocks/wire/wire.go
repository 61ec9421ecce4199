// Package wire encodes neutral completions as the frames of a provider's wire protocol, and
// decodes the provider's requests. Frames are values: faults edit them before they are sent, and
// golden files pin them.
package wire

import (
	"net/http"
	"slices"
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
	// Thinking is the visible reasoning of the model. OpenAI's chat API has no field for it; other
	// services that imitate it do.
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
	// More has the further choices of an answer to a request for several (n). Only their content
	// counts: Usage is that of all choices.
	More []Completion
	// Media is the image or the speech of an answer to a call for one. Text is then the revised prompt
	// of an image.
	Media *Media

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

// choices returns all choices of the answer.
func (c Completion) choices() []Completion { return append([]Completion{c}, c.More...) }

func (c Completion) reportedUsage() llm.Usage {
	if c.reported != nil {
		return *c.reported
	}
	return c.Usage
}

// Call is a provider's request in neutral form.
type Call struct {
	llm.Request
	// IncludeUsage asks for the usage at the end of a stream.
	IncludeUsage bool
	// Header of the HTTP request; may be nil.
	Header http.Header
	// N is the number of requested choices; 0 means 1.
	N int
	// AnyTool is true if answers may call tools that the request does not name: those of a program, or of the provider's.
	AnyTool bool
	// Output is what the call asks for: a text, an image or speech.
	Output Output

	// media has the options of a call for media, or of a transcription.
	media mediaOptions
	// kinds has the tools that are not plain functions.
	kinds map[string]toolKind
	// unasked is true if the service has the usage in all streams, and the request does not ask for it.
	unasked bool
	// legacy is true for tools in the older form of chat completions, functions.
	legacy bool
	// encrypted asks for the encrypted form of thoughts.
	encrypted bool
	// store stores the answer, unless it is nil: after the answer previous, which may be empty,
	// and with input, which has about inputSize bytes.
	store     *ResponseStore
	previous  string
	input     []item
	inputSize int
}

// Offers reports whether an answer may call a tool.
func (c *Call) Offers(tool string) bool {
	_, ok := c.kinds[tool] // by its name in a namespace
	return ok || c.AnyTool || slices.ContainsFunc(c.Tools, func(t llm.Tool) bool { return t.Name == tool })
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
	// Rule is the name of the broken rule; see Rules.
	Rule string
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

// codecs has the protocols, each with the end of its paths or a function that returns the codec for
// a path with its query.
var codecs = []struct {
	path  string
	codec Reader
	match func(path string) (Reader, bool)
}{
	{path: "/chat/completions", codec: OpenAIChat{}},
	{path: "/responses", codec: OpenAIResponses{}},
	{path: "/messages", codec: AnthropicMessages{}},
	{codec: Gemini{}, match: matchGemini},
	{path: "/api/chat", codec: Ollama{}},
	{path: "/api/generate", codec: Ollama{Generate: true}},
	{codec: Converse{}, match: matchConverse},
	{path: "/images/generations", codec: Images{}},
	{path: "/images/edits", codec: Images{Edit: true}},
	{path: "/audio/speech", codec: Speech{}},
	{path: "/audio/transcriptions", codec: Transcriptions{}},
	{path: "/audio/translations", codec: Transcriptions{Translate: true}},
}

// ForPath returns the protocol for the end of a path, such as POST /v1/messages, which may have a
// query, or for a request about files and batches; ok is false for any other request.
func ForPath(method, path string) (c Reader, ok bool) {
	end, _, _ := strings.Cut(path, "?")
	if c, ok := matchStored(method, end); ok || method != http.MethodPost {
		return c, ok
	}
	for _, known := range codecs {
		switch {
		case known.match != nil:
			if c, ok := known.match(path); ok {
				return c, true
			}
		case strings.HasSuffix(end, known.path):
			return atRoot(known.codec, path), true
		}
	}
	return nil, false
}

// ForExchange returns the protocol of a recorded exchange: the codec for its path, or that of
// ForProtocol.
func ForExchange(protocol, path string) (c Reader, ok bool) {
	if c, ok := ForPath(http.MethodPost, path); ok && c.Protocol() == protocol {
		return c, true
	}
	return ForProtocol(protocol)
}

// atRoot returns the codec for the service whose root a path has.
func atRoot(c Reader, path string) Reader {
	root, _ := SplitRoot(path)
	switch c := c.(type) {
	case OpenAIChat:
		return OpenAIChat{Root: root}
	case OpenAIResponses:
		return OpenAIResponses{Root: root}
	case Images:
		c.Root = root
		return c
	case Speech:
		c.Root = root
		return c
	case Transcriptions:
		c.Root = root
		return c
	}
	return c
}

// ForProtocol returns the protocol with a name, such as "openai-chat".
func ForProtocol(name string) (c Reader, ok bool) {
	for _, known := range codecs {
		if known.codec.Protocol() == name {
			return known.codec, true
		}
	}
	for _, p := range storedProtocols {
		if p.name == name {
			return Stored{name}, true
		}
	}
	return nil, false
}
