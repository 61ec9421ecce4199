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

// quote appends a JSON string. Bytes that are not UTF-8 become U+FFFD, as in the
// providers' encoders; the ignored error reports only those.
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

// comma appends a comma before all elements of a list but the first.
func (j jsonText) comma(i int) jsonText {
	if i == 0 {
		return j
	}
	return append(j, ',')
}

// unix appends a time in seconds.
func (j jsonText) unix(t time.Time) jsonText { return j.int(int(unixSeconds(t))) }

// defaultCreated is the time of an answer that has none: the day on which the
// chat API was opened, so that it is not mistaken for the time of a clock.
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

// jsonFrames returns a successful response of one JSON body.
func jsonFrames(requestID string, body []byte) []Frame {
	return []Frame{{Status: http.StatusOK, Header: head(jsonType, requestID, len(body)), Data: body}}
}

// errorFrames returns an error response. A wait is rounded up to whole seconds.
// X-Should-Retry is read by the clients of both providers before the status.
func errorFrames(e *APIError, body []byte) []Frame {
	h := head(jsonType, "", len(body))
	h.Set("X-Should-Retry", strconv.FormatBool(retryable(e)))
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.FormatInt(roundUp(e.RetryAfter, time.Second), 10))
	}
	return []Frame{{Status: e.Status, Header: h, Data: body}}
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

// setBody replaces a response's whole body.
func setBody(f *Frame, body []byte) {
	f.Data = body
	f.Header.Set("Content-Length", strconv.Itoa(len(body)))
}
