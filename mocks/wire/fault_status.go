package wire

import (
	"cmp"
	"net/http"
	"strconv"
)

// newStatus answers with an error status and the provider's error body.
func newStatus(spec FaultSpec) Fault {
	return plainFault(func(codec Codec, answer Completion) []Frame {
		d := codec.Dialect()
		e := d.errorOf(cmp.Or(spec.Status, http.StatusInternalServerError))
		e.Message = cmp.Or(spec.Message, e.Message)
		e.RetryAfter = spec.RetryAfter
		frames := codec.EncodeError(e)
		frames[0].Delay = addUp(answer.First)
		return frames
	})
}

// statusError returns the error of OpenAI's API with a status; 529 is Anthropic's.
func statusError(status int) *APIError {
	e := &APIError{Status: status}
	switch {
	case status == http.StatusUnauthorized:
		e.Type, e.Code, e.Message = invalidRequest, "invalid_api_key", "Incorrect API key provided."
	case status == http.StatusForbidden:
		e.Type, e.Message = invalidRequest, "You are not allowed to make this request."
	case status == http.StatusTooManyRequests:
		e.Type, e.Code = "requests", "rate_limit_exceeded"
		e.Message = "Rate limit reached for requests. Please try again later."
	case status == http.StatusServiceUnavailable:
		e.Type, e.Message = "server_error", "The engine is currently overloaded, please try again later."
	case status == statusOverloaded:
		e.Type, e.Message = "overloaded_error", "Overloaded"
	case status >= 500:
		e.Type = "server_error"
		e.Message = "The server had an error while processing your request. Sorry about that!"
	default:
		e.Type = invalidRequest
		e.Message = "The request was refused with status " + strconv.Itoa(status) + "."
	}
	return e
}
