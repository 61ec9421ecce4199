package wire

import (
	"net/http"
	"strconv"
	"time"
)

// OpenAIChat speaks the chat-completions protocol of OpenAI's API as
// https://platform.openai.com/docs/api-reference/chat describes it. Fields that
// have no neutral form are tolerated, as far as the provider tolerates them.
// Two differences are meant: only one choice is given (n), and metadata needs no
// "store", because agents give a call's purpose there.
type OpenAIChat struct{}

var _ Codec = OpenAIChat{}

// Protocol implements Codec.
func (OpenAIChat) Protocol() string { return "openai-chat" }

// ForRequest implements Reader.
func (c OpenAIChat) ForRequest(http.Header, *ResponseStore) Reader { return c }

// invalidRequest is the type of every error that the request itself causes.
const invalidRequest = "invalid_request_error"

// quotaCode is the code of a quota that is used up.
const quotaCode = "insufficient_quota"

// EncodeError implements Codec. A wait is also sent in milliseconds, in Retry-After-Ms.
func (OpenAIChat) EncodeError(e *APIError) []Frame {
	frames := errorFrames(e, openAIError(e))
	if e.RetryAfter > 0 {
		frames[0].Header.Set("Retry-After-Ms", strconv.FormatInt(roundUp(e.RetryAfter, time.Millisecond), 10))
	}
	return frames
}

func openAIError(e *APIError) jsonText {
	return make(jsonText, 0, 128+len(e.Message)).raw(`{"error":{"message":`).quote(e.Message).raw(`,"type":`).quote(e.Type).
		raw(`,"param":`).quoteOrNull(e.Param).raw(`,"code":`).quoteOrNull(e.Code).raw(`}}`)
}

// EncodeModel answers GET /v1/models/<model>.
func (OpenAIChat) EncodeModel(model string, created time.Time) []Frame {
	return jsonFrames("", jsonText(nil).openAIModel(model, created))
}

func (j jsonText) openAIModel(model string, created time.Time) jsonText {
	return j.raw(`{"id":`).quote(model).raw(`,"object":"model","created":`).unix(created).raw(`,"owned_by":"rehearse"}`)
}

// EncodeModels answers GET /v1/models with the given model names.
func (OpenAIChat) EncodeModels(models []string, created time.Time) []Frame {
	j := jsonText(`{"object":"list","data":[`)
	for i, m := range models {
		j = j.comma(i).openAIModel(m, created)
	}
	return jsonFrames("", j.raw(`]}`))
}
