package wire

import (
	"bytes"
)

// dialect is what faults have to know of a protocol beside how it encodes. A codec
// without one cannot show the faults that need it.
type dialect struct {
	// ends reports whether an event ends a stream as it should.
	ends func(event []byte) bool
	// choices is true where an answer is a list of choices, which can be empty; in
	// other protocols the answer itself is a list.
	choices bool
	// told is true where every stream tells the usage, asked or not.
	told bool
	// marks come before a text in frames, what the model wrote before the rest.
	marks []string
	// failure is what the provider says with a status.
	failure func(status int) *APIError
	// errorEvent is the event that an error is in a stream, after n others.
	errorEvent func(call Call, c Completion, e *APIError, n int) []byte
}

// dialectOf is the dialect of a codec; ok is false for one that has none.
func dialectOf(c Codec) (d dialect, ok bool) {
	switch c := c.(type) {
	case OpenAIChat:
		return dialect{
			ends:    func(event []byte) bool { return string(event) == sseDone },
			choices: true,
			marks:   []string{`"content":"`, `"arguments":"`, `":"`},
			failure: statusError,
			errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
				return sseEvent("", appendOpenAIError(nil, e))
			},
		}, true
	case OpenAIResponses:
		return dialect{
			ends: func(event []byte) bool {
				return bytes.HasPrefix(event, []byte("event: response.completed\n")) || bytes.HasPrefix(event, []byte("event: response.incomplete\n"))
			},
			told:       true,
			marks:      []string{`"delta":"`, `"text":"`, `"arguments":"`, `":"`},
			failure:    statusError,
			errorEvent: failedResponse,
		}, true
	case AnthropicMessages:
		return dialect{
			ends:    func(event []byte) bool { return bytes.HasPrefix(event, []byte("event: message_stop\n")) },
			told:    true,
			marks:   []string{`"text_delta","text":"`, `"partial_json":"`, `"text":"`, `":"`},
			failure: c.stockError,
			errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
				return sseEvent("error", appendAnthropicError(nil, e))
			},
		}, true
	}
	return dialect{marks: []string{`"content":"`, `"arguments":"`, `":"`}, failure: statusError}, false
}
