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

// problem is an error response, with an HTTP status and a code.
type problem struct {
	Status     int
	Code       string
	Message    string
	RetryAfter time.Duration
	View       *interview.View
	// Cause is only logged.
	Cause error
}

// newProblem returns a problem without a cause.
func newProblem(status int, code, message string) *problem {
	return &problem{Status: status, Code: code, Message: message}
}

// codeStatuses are the HTTP statuses of the service's codes.
var codeStatuses = map[interview.Code]int{
	interview.CodeInvalid:      http.StatusBadRequest,
	interview.CodeEmptyAnswer:  http.StatusBadRequest,
	interview.CodeUnknownEvent: http.StatusBadRequest,
	interview.CodeUnknownJob:   http.StatusBadRequest,
	interview.CodeTooLong:      http.StatusRequestEntityTooLarge,
	interview.CodeUnknown:      http.StatusNotFound,
	interview.CodeOutOfOrder:   http.StatusConflict,
	interview.CodeFinished:     http.StatusConflict,
	interview.CodeBusy:         http.StatusConflict,
	interview.CodeBackend:      http.StatusBadGateway,
	interview.CodeReply:        http.StatusBadGateway,
	interview.CodeLimit:        http.StatusForbidden,
	interview.CodeBudget:       http.StatusTooManyRequests,
	interview.CodeUninvited:    http.StatusForbidden,
	interview.CodeInvitation:   http.StatusForbidden,
	interview.CodeOtherJob:     http.StatusForbidden,
	interview.CodeStore:        http.StatusServiceUnavailable,
}

// serviceProblem returns the problem for an error of the service. If the backend asks for a retry
// later, the status is 503 instead of 502.
func serviceProblem(err error) *problem {
	e, ok := errors.AsType[*interview.Error](err)
	switch {
	case !ok:
		return internalProblem(err)
	case errors.Is(err, session.ErrDeleted):
		return storeProblem(err)
	}
	status, ok := codeStatuses[e.Code]
	if !ok {
		return internalProblem(err)
	}
	if e.Code == interview.CodeBackend && e.RetryAfter > 0 {
		status = http.StatusServiceUnavailable
	}
	return &problem{Status: status, Code: string(e.Code), Message: e.Message, RetryAfter: e.RetryAfter, View: e.View, Cause: e.Err}
}

func storeProblem(err error) *problem {
	switch {
	case errors.Is(err, session.ErrDeleted):
		return newProblem(http.StatusGone, "deleted_session", "the session was deleted")
	case errors.Is(err, session.ErrNotFound):
		return newProblem(http.StatusNotFound, string(interview.CodeUnknown), "session not found")
	}
	return &problem{
		Status: http.StatusServiceUnavailable, Code: string(interview.CodeStore),
		Message: "the store of the interviews is not available; try again", Cause: err,
	}
}

func internalProblem(err error) *problem {
	return &problem{
		Status: http.StatusInternalServerError, Code: "internal",
		Message: "internal error of the server; stored data is not lost", Cause: err,
	}
}

// retryAfter returns RetryAfter in whole seconds, for the HTTP header.
func (p *problem) retryAfter() string {
	return strconv.Itoa(int(math.Ceil(p.RetryAfter.Seconds())))
}

// write answers in JSON.
func (p *problem) write(w http.ResponseWriter) {
	type wire struct {
		Code         string `json:"code"`
		Message      string `json:"message"`
		RetryAfterMS int64  `json:"retryAfterMs,omitempty"`
	}
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", p.retryAfter())
	}
	writeJSON(w, p.Status, struct {
		Error wire            `json:"error"`
		View  *interview.View `json:"view,omitempty"`
	}{wire{p.Code, p.Message, p.RetryAfter.Milliseconds()}, p.View})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":{"code":"internal","message":"the response could not be encoded"}}`)
	}
	writeBody(w, status, "application/json; charset=utf-8", append(body, '\n'))
}

// writeBody answers with a body that must not be cached.
func writeBody(w http.ResponseWriter, status int, media string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

// Codes lists the codes of the server in addition to those of the service, sorted.
func Codes() []string {
	return []string{
		"bad_code", "bad_link", "bad_share", "body_too_large", "control_character", "cross_origin", "deleted_session", "draining",
		"duplicate_field", "ended_share", "expired_address", "expired_link", "field_too_long", "internal", "invalid_body",
		"invalid_json", "locked_code", "media_type",
		"method_not_allowed", "missing_field", "not_found", "not_utf8", "too_many_starts", "too_many_tries", "unauthorized",
		"unknown_field", "wrong_type",
	}
}
