package web

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// failure is an answer that is no success: an HTTP status, and a code for the
// client's program.
type failure struct {
	Status     int
	Code       string
	Message    string
	RetryAfter time.Duration
	View       *interview.View
	// cause is for the log alone.
	cause error
}

func fail(status int, code, message string) *failure {
	return &failure{Status: status, Code: code, Message: message}
}

// statuses are the HTTP statuses of the service's codes.
var statuses = map[interview.Code]int{
	interview.CodeInvalid:      http.StatusBadRequest,
	interview.CodeEmptyAnswer:  http.StatusBadRequest,
	interview.CodeNoID:         http.StatusBadRequest,
	interview.CodeUnknownEvent: http.StatusBadRequest,
	interview.CodeTooLong:      http.StatusRequestEntityTooLarge,
	interview.CodeUnknown:      http.StatusNotFound,
	interview.CodeOutOfOrder:   http.StatusConflict,
	interview.CodeFinished:     http.StatusConflict,
	interview.CodeBusy:         http.StatusConflict,
	interview.CodeBackend:      http.StatusBadGateway,
	interview.CodeReply:        http.StatusBadGateway,
	interview.CodeStore:        http.StatusServiceUnavailable,
}

// serviceFailure is the answer to an error of the service. A backend that says
// when it will be back makes the service unavailable, not broken.
func serviceFailure(err error) *failure {
	e, ok := errors.AsType[*interview.Error](err)
	if !ok {
		return internalFailure(err)
	}
	status, ok := statuses[e.Code]
	if !ok {
		return internalFailure(err)
	}
	if e.Code == interview.CodeBackend && e.RetryAfter > 0 {
		status = http.StatusServiceUnavailable
	}
	return &failure{Status: status, Code: string(e.Code), Message: e.Message, RetryAfter: e.RetryAfter, View: e.View, cause: e.Err}
}

// storeFailure is the answer to an error of the store.
func storeFailure(err error) *failure {
	if errors.Is(err, session.ErrNotFound) {
		return fail(http.StatusNotFound, string(interview.CodeUnknown), "there is no such session")
	}
	return &failure{
		Status: http.StatusServiceUnavailable, Code: string(interview.CodeStore),
		Message: "the store of the interviews does not answer; try again", cause: err,
	}
}

func internalFailure(err error) *failure {
	return &failure{
		Status: http.StatusInternalServerError, Code: "internal",
		Message: "something went wrong on the server; what was stored is kept", cause: err,
	}
}

// wait is RetryAfter in whole seconds, as the HTTP header has it.
func (f *failure) wait() string {
	return strconv.Itoa(int(math.Ceil(f.RetryAfter.Seconds())))
}

// write answers in JSON.
func (f *failure) write(w http.ResponseWriter) {
	type problem struct {
		Code         string `json:"code"`
		Message      string `json:"message"`
		RetryAfterMS int64  `json:"retryAfterMs,omitempty"`
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", f.wait())
	}
	writeJSON(w, f.Status, struct {
		Error problem         `json:"error"`
		View  *interview.View `json:"view,omitempty"`
	}{problem{f.Code, f.Message, f.RetryAfter.Milliseconds()}, f.View})
}

// writeJSON answers with a value that marshals.
func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	writeBody(w, status, "application/json; charset=utf-8", append(body, '\n'))
}

// writeBody answers with what nobody but the client may keep.
func writeBody(w http.ResponseWriter, status int, media string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left is not told
}

// Codes lists the codes that this package answers with beside those of the
// service, sorted.
func Codes() []string {
	return []string{
		"body_too_large", "control_character", "cross_origin", "draining", "duplicate_field", "field_too_long",
		"internal", "invalid_body", "invalid_json", "media_type", "method_not_allowed", "missing_field",
		"not_found", "not_utf8", "unauthorized", "unknown_field", "wrong_type",
	}
}
