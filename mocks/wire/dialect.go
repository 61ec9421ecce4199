package wire

import (
	"bytes"
	"net/http"
)

// Dialect describes a protocol to scripts and to faults, beside how it encodes. The zero
// value is that of a protocol without streams of events.
type Dialect struct {
	// AnswerID and CallID begin the ids of answers and of tool calls; default: those of
	// OpenAIChat.
	AnswerID, CallID string
	// Unexpected is the status of a call that the script does not have: one at which
	// clients give up; default 404.
	Unexpected int
	// NewFault builds the faults that only this protocol can show; nil if there are none.
	NewFault func(FaultSpec) (Fault, error)

	// ends reports whether an event ends a stream as it should; nil if there are no
	// streams.
	ends func(event []byte) bool
	// choices is true where an answer is a list of choices, which can be empty; in
	// other protocols the answer itself is a list.
	choices bool
	// reportsUsage is true where every stream has the usage, asked for or not.
	reportsUsage bool
	// textMarks come before a text in frames: what the model wrote before the rest.
	textMarks []string
	// stockError is the provider's error with a status; nil means OpenAI's.
	stockError func(status int) *APIError
	// errorEvent is the event that an error is in a stream, after n others.
	errorEvent func(call Call, c Completion, e *APIError, n int) []byte
}

// streams reports whether the protocol has streams of events.
func (d *Dialect) streams() bool { return d.ends != nil }

// errorOf returns the provider's error with a status.
func (d *Dialect) errorOf(status int) *APIError {
	if d.stockError == nil {
		return statusError(status)
	}
	return d.stockError(status)
}

// Dialect implements Codec.
func (OpenAIChat) Dialect() Dialect {
	return Dialect{
		AnswerID: "chatcmpl-", CallID: "call_",
		ends:      func(event []byte) bool { return string(event) == sseDone },
		choices:   true,
		textMarks: []string{`"content":"`, `"arguments":"`, `":"`},
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return sseEvent("", openAIError(e))
		},
	}
}

// Dialect implements Codec. The coding agents take a 404 for a model that does not exist
// and ask again.
func (OpenAIResponses) Dialect() Dialect {
	return Dialect{
		AnswerID: "resp_", CallID: "call_", Unexpected: http.StatusBadRequest,
		ends: func(event []byte) bool {
			return bytes.HasPrefix(event, []byte("event: response.completed\n")) || bytes.HasPrefix(event, []byte("event: response.incomplete\n"))
		},
		reportsUsage: true,
		textMarks:    []string{`"delta":"`, `"text":"`, `"arguments":"`, `":"`},
		errorEvent:   failedResponse,
	}
}

// Dialect implements Codec. For Unexpected see OpenAIResponses.
func (c AnthropicMessages) Dialect() Dialect {
	return Dialect{
		AnswerID: "msg_", CallID: "toolu_", Unexpected: http.StatusBadRequest,
		ends:         func(event []byte) bool { return bytes.HasPrefix(event, []byte("event: message_stop\n")) },
		reportsUsage: true,
		textMarks:    []string{`"text_delta","text":"`, `"partial_json":"`, `"text":"`, `":"`},
		stockError:   c.stockError,
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return sseEvent("error", anthropicError(e))
		},
	}
}
