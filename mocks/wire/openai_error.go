package wire

import (
	"net/http"
	"strconv"
	"time"
)

// EncodeError implements Codec, in the form of the service. It also sends a wait in milliseconds, as Retry-After-Ms.
func (c OpenAIChat) EncodeError(e *APIError) []Frame {
	frames := errorFrames(e, c.error(e))
	if e.RetryAfter > 0 {
		frames[0].Header.Set("Retry-After-Ms", strconv.FormatInt(roundUp(e.RetryAfter, time.Millisecond), 10))
	}
	return frames
}

func (c OpenAIChat) error(e *APIError) jsonText {
	switch {
	case c.Root.Path == rootOpenRouter:
		return jsonText("{").openRouterError(e).raw("}")
	case c.mistral:
		return mistralError(e)
	}
	return openAIError(e)
}

func openAIError(e *APIError) jsonText {
	return make(jsonText, 0, 128+len(e.Message)).raw(`{"error":{"message":`).quote(e.Message).raw(`,"type":`).quote(e.Type).
		raw(`,"param":`).quoteOrNull(e.Param).raw(`,"code":`).quoteOrNull(e.Code).raw(`}}`)
}

// openRouterError appends the member with OpenRouter's error, whose code is the status, see
// https://openrouter.ai/docs/api/reference/errors-and-debugging. Its client for Node rejects a code that is not a number.
func (j jsonText) openRouterError(e *APIError) jsonText {
	j = j.raw(`"error":{"code":`).int(e.Status).raw(`,"message":`).quote(e.Message)
	if e.Code != "" {
		j = j.raw(`,"metadata":{"error_type":`).quote(e.Code).raw(`}`)
	}
	return j.raw("}")
}

// openRouterErrorEvent returns the chunk in which OpenRouter reports an error in the middle of a stream.
func openRouterErrorEvent(_ Call, c Completion, e *APIError, _ int) []byte {
	return jsonText("data: ").chatHead(c, "chat.completion.chunk").
		raw(`,"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"error"}],`).openRouterError(e).raw("}\n\n")
}

// mistralError returns Mistral's error, which is the whole body. @ai-sdk/mistral reads no message from another form.
func mistralError(e *APIError) jsonText {
	return make(jsonText, 0, 128+len(e.Message)).raw(`{"object":"error","message":`).quote(e.Message).raw(`,"type":`).quote(e.Type).
		raw(`,"param":`).quoteOrNull(e.Param).raw(`,"code":`).quoteOrNull(e.Code).raw(`,"raw_status_code":`).int(e.Status).raw("}")
}

// openRouterStockError returns the error for a status with one of OpenRouter's own types of errors, which the enumeration
// ApiErrorType of its client lists.
func openRouterStockError(status int) *APIError {
	e := statusError(status)
	if status == http.StatusUnauthorized {
		e.Code = "authentication"
	}
	return e
}

// mistralStockError returns the error for a status, of which only that for a rate limit has a known type and code.
func mistralStockError(status int) *APIError {
	e := statusError(status)
	if status == http.StatusTooManyRequests {
		e.Type, e.Code, e.Message = "rate_limited", "1300", "Rate limit exceeded"
	}
	return e
}

// ForModel returns the codec for a request to a model: Mistral's errors differ from those of other services at the same
// path.
func ForModel(codec Codec, model string) Codec {
	if chat, ok := codec.(OpenAIChat); ok && isMistral(model) && chat.service(model) == mistral {
		chat.mistral = true
		return chat
	}
	return codec
}
