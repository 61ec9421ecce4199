package wire

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

// Dialect describes a protocol to scripts and to faults. The zero value is for a protocol without
// streams of events.
type Dialect struct {
	// AnswerID and CallID are the prefixes of the ids of answers and of tool calls; by
	// default those of OpenAIChat. Use the function CallID for the ids of calls.
	AnswerID, CallID string
	// Unexpected is the status of a call that is not in the script; by default 404. Clients
	// must not retry it.
	Unexpected int
	// Native is true if the paths of requests are not below /v1.
	Native bool
	// Media is true for images, speech and transcriptions. Their answers have the usage only for calls with
	// IncludeUsage, streamed or not.
	Media bool
	// NewFault builds the faults that only this protocol has; may be nil.
	NewFault func(FaultSpec) (Fault, error)
	// RateLimit adds the headers about rate limits to a response; nil if there are none.
	RateLimit func(http.Header, RateLimit)

	// framing divides streams into events; nil means server-sent events.
	framing *framing
	// ends reports whether an event is the end marker of a stream; nil without streams.
	ends func(event []byte) bool
	// choices is true if an answer is a list of choices, which can be empty. In other
	// protocols an answer is a list of parts.
	choices bool
	// reportsUsage is true if every stream has the usage, requested or not.
	reportsUsage bool
	// textMarks precede strings in frames, those before output of the model first.
	textMarks []string
	// stockError returns the provider's error for a status; nil means OpenAI's.
	stockError func(status int) *APIError
	// errorEvent returns the event of an error in a stream, after n others.
	errorEvent func(call Call, c Completion, e *APIError, n int) []byte
}

// CallID returns the id of a tool call in the form of the service that a model is requested from, made of a random number.
func CallID(c Codec, model string, random uint64) string {
	const mistralDigits = 9 // letters and digits, as in https://docs.mistral.ai/capabilities/function_calling
	if chat, ok := c.(OpenAIChat); ok && chat.service(model) == mistral {
		id := strings.Repeat("0", mistralDigits) + strconv.FormatUint(random, 36)
		return id[len(id)-mistralDigits:]
	}
	return cmp.Or(c.Dialect().CallID, "call_") + strconv.FormatUint(random, 36)
}

// streams reports whether the protocol has streams of events.
func (d *Dialect) streams() bool { return d.ends != nil }

// errorOf returns the provider's error for a status.
func (d *Dialect) errorOf(status int) *APIError {
	if d.stockError == nil {
		return statusError(status)
	}
	return d.stockError(status)
}

// Dialect implements Codec.
func (c OpenAIChat) Dialect() Dialect {
	d := openAIChatDialect
	switch {
	case c.Root.Path == rootOpenRouter:
		d.stockError, d.errorEvent = openRouterStockError, openRouterErrorEvent
	case c.mistral:
		d.stockError = mistralStockError
	}
	return d
}

var openAIChatDialect = Dialect{
	AnswerID: "chatcmpl-", CallID: "call_", RateLimit: openAIRateLimit,
	ends:      func(event []byte) bool { return string(event) == sseDone },
	choices:   true,
	textMarks: []string{`"content":"`, `"arguments":"`, `":"`},
	errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
		return sseEvent("", openAIError(e))
	},
}

// Dialect implements Codec. Unexpected is not 404 because coding agents read that as an unknown
// model, and retry.
func (c OpenAIResponses) Dialect() Dialect {
	d := Dialect{
		AnswerID: "resp_", CallID: "call_", Unexpected: http.StatusBadRequest, RateLimit: openAIRateLimit,
		ends: func(event []byte) bool {
			return bytes.HasPrefix(event, []byte("event: response.completed\n")) || bytes.HasPrefix(event, []byte("event: response.incomplete\n"))
		},
		reportsUsage: true,
		textMarks:    []string{`"delta":"`, `"text":"`, `"arguments":"`, `":"`},
		errorEvent:   failedResponse,
	}
	if c.Root.Path == rootOpenRouter {
		d.stockError = openRouterStockError
	}
	return d
}

// Dialect implements Codec. Unexpected is as for OpenAIResponses.
func (c AnthropicMessages) Dialect() Dialect {
	return Dialect{
		AnswerID: "msg_", CallID: "toolu_", Unexpected: http.StatusBadRequest, RateLimit: anthropicRateLimit,
		ends:         func(event []byte) bool { return bytes.HasPrefix(event, []byte("event: message_stop\n")) },
		reportsUsage: true,
		textMarks:    []string{`"text_delta","text":"`, `"partial_json":"`, `"text":"`, `":"`},
		stockError:   c.stockError,
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return sseEvent("error", anthropicError(e))
		},
	}
}

// Dialect implements Codec. The last chunk of a stream is its end marker.
func (g Gemini) Dialect() Dialect {
	return Dialect{
		AnswerID: "gen-", CallID: "call_", Unexpected: http.StatusBadRequest,
		ends:         func(event []byte) bool { return bytes.Contains(event, []byte(`"finishReason":"`)) },
		reportsUsage: true,
		textMarks:    []string{`"text":"`, `"args":{"`, `":"`},
		stockError:   g.stockError,
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return sseEvent("", googleError(e))
		},
	}
}
