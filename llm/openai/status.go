package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Error codes that are more specific than the status.
var (
	filterCodes = []string{"content_filter", "content_policy_violation"}
	// quotaCodes are limits that a retry cannot lift.
	quotaCodes = []string{"insufficient_quota", "billing_hard_limit_reached"}
	// overloadCodes occur without a status, in the middle of a stream.
	overloadCodes = []string{"rate_limit_exceeded", "rate_limit_error"}
	invalidCodes  = []string{"invalid_request_error", "context_length_exceeded"}
)

// kindOf classifies an error answer by status, code and type. A status of 0 is
// an error event within a stream.
func kindOf(status int, code, errorType string) llm.ErrorKind {
	is := func(codes []string) bool { return slices.Contains(codes, code) || slices.Contains(codes, errorType) }
	switch {
	case code == "unexpected_call":
		return llm.UnexpectedCall
	case code == "script_exhausted":
		return llm.ScriptExhausted
	case is(filterCodes):
		return llm.Refused
	case status == 0 && (is(overloadCodes) || is(quotaCodes)):
		return llm.RateLimited
	case status == 0 && !is(invalidCodes):
		return llm.Unavailable
	}
	return llm.KindOfStatus(status)
}

// refused returns a typed error for an answer without a status of success.
func (x *exchange) refused(res *http.Response) *llm.Error {
	if res.StatusCode < 400 {
		return x.fail(llm.InvalidRequest, fmt.Sprintf("%s redirects to %q; redirects are not followed, set OPENAI_BASE_URL to the right address",
			x.backend.cfg.BaseURL, sanitize.Line(sanitize.MaskURL(res.Header.Get("Location")), 200)), nil)
	}
	// What can be read of a cut error answer is worth more than the cut.
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxError))
	var answer goopenai.ErrorResponse
	if err := json.Unmarshal(body, &answer); err != nil || answer.Error == nil {
		answer.Error = &goopenai.APIError{Message: http.StatusText(res.StatusCode)}
		if len(body) > 0 {
			answer.Error.Message += "; the answer begins " + x.quote(body)
		}
	}
	failed := x.apiError(res.StatusCode, answer.Error)
	failed.RetryAfter = retryAfter(res.Header, x.backend.cfg.Clock.Now())
	if res.Header.Get("X-Should-Retry") == "false" {
		x.final = true
	}
	return failed
}

// apiError returns a typed error for the API's error object; status is 0 within a stream.
func (x *exchange) apiError(status int, e *goopenai.APIError) *llm.Error {
	code := ""
	if e.Code != nil && e.Code != 0 { // go-openai reads null as 0
		code = fmt.Sprint(e.Code)
	}
	if n, err := strconv.Atoi(code); err == nil && status == 0 && n >= 400 && n < 600 {
		status = n // OpenRouter reports a status that came too late as the code
	}
	if slices.Contains(quotaCodes, code) || slices.Contains(quotaCodes, e.Type) {
		x.final = true
	}
	message := e.Message
	if e.Param != nil && *e.Param != "" {
		message += "; parameter " + *e.Param
	}
	if code != "" {
		message += "; code " + code
	}
	failed := x.fail(kindOf(status, code, e.Type), message, nil)
	if status != 0 {
		failed.Status = status
	}
	return failed
}
