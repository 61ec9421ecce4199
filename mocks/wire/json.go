package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonText is JSON text under construction.
type jsonText []byte

func (j jsonText) raw(text string) jsonText { return append(j, text...) }

func (j jsonText) int(n int) jsonText { return strconv.AppendInt(j, int64(n), 10) }

// quote appends a JSON string. Bytes that are not valid UTF-8 become U+FFFD, as in the providers'
// encoders; the ignored error reports only these.
func (j jsonText) quote(text string) jsonText {
	j, _ = jsontext.AppendQuote(j, text)
	return j
}

// quoteOrNull appends a JSON string, or null if the text is empty.
func (j jsonText) quoteOrNull(text string) jsonText {
	if text == "" {
		return j.raw("null")
	}
	return j.quote(text)
}

// comma appends the comma before element i of a list.
func (j jsonText) comma(i int) jsonText {
	if i == 0 {
		return j
	}
	return append(j, ',')
}

// unix appends a time in seconds.
func (j jsonText) unix(t time.Time) jsonText { return j.int(int(unixSeconds(t))) }

// defaultCreated is the time of an answer without one. It is the day on which the chat API was
// released, which cannot be mistaken for the time of a clock.
var defaultCreated = time.Date(2023, time.March, 1, 0, 0, 0, 0, time.UTC)

func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		t = defaultCreated
	}
	return t.Unix()
}

const (
	jsonType = "application/json"
	sseType  = "text/event-stream; charset=utf-8"
)

// headers is the number of headers of most answers, with those about rate limits.
const headers = 9

// head builds a response header. It omits an empty requestID and a negative length.
func head(contentType, requestID string, length int) http.Header {
	h := make(http.Header, headers)
	values := [...]string{contentType, requestID, ""} // one allocation for all
	h["Content-Type"] = values[:1:1]
	if requestID != "" {
		h["X-Request-Id"] = values[1:2:2]
	}
	if length >= 0 {
		values[2] = strconv.Itoa(length)
		h["Content-Length"] = values[2:]
	}
	return h
}

// jsonFrames returns a successful response of one JSON body.
func jsonFrames(requestID string, body []byte) []Frame {
	return []Frame{{Status: http.StatusOK, Header: head(jsonType, requestID, len(body)), Data: body}}
}

// errorFrames returns an error response. It rounds a wait up to whole seconds. The clients of
// both providers read X-Should-Retry before the status.
func errorFrames(e *APIError, body []byte) []Frame {
	h := head(jsonType, "", len(body))
	h.Set("X-Should-Retry", strconv.FormatBool(retryable(e)))
	setRetryAfter(h, e)
	return []Frame{{Status: e.Status, Header: h, Data: body}}
}

func setRetryAfter(h http.Header, e *APIError) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(roundUp(e.RetryAfter, time.Second), 10))
	}
}

// retryable follows the clients' own default, except for a used-up quota, which no retry can
// change.
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

// setBody replaces the body of a response.
func setBody(f *Frame, body []byte) {
	f.Data = body
	f.Header.Set("Content-Length", strconv.Itoa(len(body)))
}
