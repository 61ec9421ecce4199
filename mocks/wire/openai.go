package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
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

// EncodeError implements Codec. A wait is rounded up to whole seconds in
// Retry-After and to milliseconds in Retry-After-Ms. X-Should-Retry is what
// OpenAI's own clients obey before they look at the status.
func (OpenAIChat) EncodeError(e *APIError) []Frame {
	b := appendOpenAIError(make([]byte, 0, 128+len(e.Message)), e)
	h := head(jsonType, "", len(b))
	h.Set("X-Should-Retry", strconv.FormatBool(retryable(e)))
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(roundUp(e.RetryAfter, time.Second), 10))
		h.Set("Retry-After-Ms", strconv.FormatInt(roundUp(e.RetryAfter, time.Millisecond), 10))
	}
	return []Frame{{Status: e.Status, Header: h, Data: b}}
}

func appendOpenAIError(b []byte, e *APIError) []byte {
	b = append(b, `{"error":{"message":`...)
	b = appendString(b, e.Message)
	b = append(b, `,"type":`...)
	b = appendString(b, e.Type)
	b = append(b, `,"param":`...)
	b = appendStringOrNull(b, e.Param)
	b = append(b, `,"code":`...)
	b = appendStringOrNull(b, e.Code)
	return append(b, `}}`...)
}

// retryable follows the clients' own default, except that no wait helps against
// a used-up quota.
func retryable(e *APIError) bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict:
		return true
	case http.StatusTooManyRequests:
		return e.Code != quotaCode
	}
	return e.Status >= 500
}

func roundUp(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit != 0 {
		n++
	}
	return n
}

// EncodeModel answers GET /v1/models/<model>.
func (OpenAIChat) EncodeModel(model string, created time.Time) []Frame {
	return jsonFrames("", appendOpenAIModel(nil, model, created))
}

func appendOpenAIModel(b []byte, model string, created time.Time) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, model)
	b = append(b, `,"object":"model","created":`...)
	b = strconv.AppendInt(b, unixSeconds(created), 10)
	return append(b, `,"owned_by":"rehearse"}`...)
}

// EncodeModels answers GET /v1/models with the given model names.
func (OpenAIChat) EncodeModels(models []string, created time.Time) []Frame {
	b := []byte(`{"object":"list","data":[`)
	for i, m := range models {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendOpenAIModel(b, m, created)
	}
	return jsonFrames("", append(b, `]}`...))
}

const (
	jsonType = "application/json"
	sseType  = "text/event-stream; charset=utf-8"
	// sseDone is the event that ends a stream.
	sseDone = "data: [DONE]\n\n"
)

// head builds a response header. A requestID or length that is not known, ""
// or -1, is left out.
func head(contentType, requestID string, length int) http.Header {
	// One array for all values: a header is built for every call.
	values := [...]string{contentType, requestID, ""}
	h := make(http.Header, 4)
	h["Content-Type"] = values[0:1:1]
	if requestID != "" {
		h["X-Request-Id"] = values[1:2:2]
	}
	if length >= 0 {
		values[2] = strconv.Itoa(length)
		h["Content-Length"] = values[2:3:3]
	}
	return h
}

// jsonFrames is a successful response of one JSON body.
func jsonFrames(requestID string, body []byte) []Frame {
	return []Frame{{Status: http.StatusOK, Header: head(jsonType, requestID, len(body)), Data: body}}
}

// setBody replaces a response's whole body.
func setBody(f *Frame, body []byte) {
	f.Data = body
	f.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

// defaultCreated is the time of an answer that has none: the day on which the
// chat API was opened, so that it is not mistaken for the time of a clock.
var defaultCreated = time.Date(2023, time.March, 1, 0, 0, 0, 0, time.UTC)

func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		t = defaultCreated
	}
	return t.Unix()
}

// appendString appends text as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, as in any encoder of the provider's; the error only says that.
func appendString(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

func appendStringOrNull(b []byte, text string) []byte {
	if text == "" {
		return append(b, "null"...)
	}
	return appendString(b, text)
}
