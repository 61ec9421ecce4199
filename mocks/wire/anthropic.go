package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// AnthropicMessages speaks the Messages protocol of Anthropic's API as
// https://docs.anthropic.com/en/api/messages describes it. Fields and blocks that
// have no neutral form are tolerated. Two differences are meant: thinking that a
// script gives is sent whether or not it was asked for, and a conversation may
// lack the thinking of its earlier turns, for scripts seldom give it.
type AnthropicMessages struct {
	// Beta is the request's anthropic-beta header: some of what the provider
	// refuses is allowed by the name of a beta.
	Beta string
}

var _ Codec = AnthropicMessages{}

// Protocol implements Codec.
func (AnthropicMessages) Protocol() string { return "anthropic-messages" }

// ForRequest implements Reader.
func (AnthropicMessages) ForRequest(header http.Header, _ *ResponseStore) Reader {
	return AnthropicMessages{Beta: strings.Join(header["Anthropic-Beta"], ",")}
}

// anthropicTypes are the error types of the statuses that have one of their own.
var anthropicTypes = map[int]string{
	http.StatusUnauthorized:          "authentication_error",
	http.StatusPaymentRequired:       "billing_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestTimeout:        "timeout_error",
	http.StatusConflict:              "conflict_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusGatewayTimeout:        "timeout_error",
	statusOverloaded:                 "overloaded_error",
}

// statusOverloaded is Anthropic's own status.
const statusOverloaded = 529

// anthropicType returns the type of an error with this status.
func anthropicType(status int) string {
	switch t := anthropicTypes[status]; {
	case t != "":
		return t
	case status >= 500:
		return "api_error"
	}
	return invalidRequest
}

// anthropicWords are the provider's own words for some statuses.
var anthropicWords = map[int]string{
	http.StatusUnauthorized:    "invalid x-api-key",
	http.StatusForbidden:       "Your API key does not have permission to use the specified resource.",
	http.StatusTooManyRequests: "This request would exceed your organization's rate limit. Please try again later.",
	statusOverloaded:           "Overloaded",
}

// stockError returns the provider's error with a status.
func (AnthropicMessages) stockError(status int) *APIError {
	e := &APIError{Status: status, Type: anthropicType(status), Message: anthropicWords[status]}
	switch {
	case e.Message != "":
	case status >= 500:
		e.Message = "Internal server error"
	default:
		e.Message = "The request was refused with status " + strconv.Itoa(status) + "."
	}
	return e
}

// EncodeError implements Codec. The type is one of Anthropic's: that of the
// status, if the error has another provider's. A used-up quota is a bad request
// there. A wait is sent as by OpenAIChat, without Retry-After-Ms.
func (AnthropicMessages) EncodeError(e *APIError) []Frame {
	if e.Code == quotaCode {
		e = &APIError{Status: http.StatusBadRequest, Type: invalidRequest, Code: e.Code, Message: e.Message}
	}
	return errorFrames(e, anthropicError(e))
}

func anthropicError(e *APIError) jsonText {
	kind := e.Type
	if !slices.Contains(anthropicErrorTypes, kind) {
		kind = anthropicType(e.Status)
	}
	j := make(jsonText, 0, 128+len(e.Message)).raw(`{"type":"error","error":{"type":`).quote(kind).raw(`,"message":`).quote(e.Message)
	if e.Details != "" {
		j = j.raw(`,"details":`).raw(e.Details)
	}
	return j.raw(`},"request_id":null}`)
}

// anthropicErrorTypes are the provider's types, without the one for all other
// statuses below 500.
var anthropicErrorTypes = []string{
	"api_error", "authentication_error", "billing_error", "conflict_error", "not_found_error",
	"overloaded_error", "permission_error", "rate_limit_error", "request_too_large", "timeout_error",
}

// EncodeModels answers GET /v1/models with the given model names.
func (AnthropicMessages) EncodeModels(models []string, created time.Time) []Frame {
	j := jsonText(`{"data":[`)
	for i, m := range models {
		j = j.comma(i).anthropicModel(m, created)
	}
	first, last := "", ""
	if n := len(models); n > 0 {
		first, last = models[0], models[n-1]
	}
	return jsonFrames("", j.raw(`],"has_more":false,"first_id":`).quoteOrNull(first).raw(`,"last_id":`).quoteOrNull(last).raw(`}`))
}

// EncodeModel answers GET /v1/models/<model>.
func (AnthropicMessages) EncodeModel(model string, created time.Time) []Frame {
	return jsonFrames("", jsonText(nil).anthropicModel(model, created))
}

func (j jsonText) anthropicModel(model string, created time.Time) jsonText {
	return j.raw(`{"type":"model","id":`).quote(model).raw(`,"display_name":`).quote(model).
		raw(`,"created_at":`).quote(time.Unix(unixSeconds(created), 0).UTC().Format(time.RFC3339)).raw(`}`)
}

// EncodeTokens answers POST /v1/messages/count_tokens.
func (AnthropicMessages) EncodeTokens(input int) []Frame {
	return jsonFrames("", jsonText(`{"input_tokens":`).int(input).raw(`}`))
}

// stopReason returns the provider's name of the reason why an answer ended. At Anthropic a
// refusal is such a reason, not a part of the answer.
func stopReason(c Completion) string {
	switch {
	case c.Refusal != "":
		return "refusal"
	case c.Finish == llm.FinishLength:
		return "max_tokens"
	case c.Finish == llm.FinishToolCalls:
		return "tool_use"
	case c.Finish == llm.FinishContentFilter:
		return "refusal"
	}
	return "end_turn"
}
