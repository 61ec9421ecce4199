package wire

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// AnthropicMessages implements the Messages protocol of Anthropic's API, see
// https://docs.anthropic.com/en/api/messages. It ignores fields and blocks without a neutral
// form. It differs from the provider in two ways: it always sends scripted thinking, requested or
// not, and a conversation may omit the thinking of earlier turns, which scripts rarely have.
type AnthropicMessages struct {
	// Beta is the anthropic-beta header of the request. Betas allow requests that the
	// provider otherwise refuses.
	Beta string
}

var _ Codec = AnthropicMessages{}

// Protocol implements Codec.
func (AnthropicMessages) Protocol() string { return "anthropic-messages" }

// anthropicTypes maps statuses to their own error types.
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

func anthropicType(status int) string {
	switch t := anthropicTypes[status]; {
	case t != "":
		return t
	case status >= 500:
		return "api_error"
	}
	return invalidRequest
}

// anthropicMessages are the provider's messages for some statuses.
var anthropicMessages = map[int]string{
	http.StatusUnauthorized:    "invalid x-api-key",
	http.StatusForbidden:       "Your API key does not have permission to use the specified resource.",
	http.StatusTooManyRequests: "This request would exceed your organization's rate limit. Please try again later.",
	statusOverloaded:           "Overloaded",
}

// stockError returns the provider's error for a status.
func (AnthropicMessages) stockError(status int) *APIError {
	e := &APIError{Status: status, Type: anthropicType(status), Message: anthropicMessages[status]}
	switch {
	case e.Message != "":
	case status >= 500:
		e.Message = "Internal server error"
	default:
		e.Message = "The request was refused with status " + strconv.Itoa(status) + "."
	}
	return e
}

// EncodeError implements Codec. A type of another provider is replaced by Anthropic's type for
// the status, and a used-up quota is a bad request. Unlike OpenAI, Anthropic sends no
// Retry-After-Ms.
func (AnthropicMessages) EncodeError(e *APIError) []Frame {
	if e.Code == quotaCode {
		e = &APIError{Status: http.StatusBadRequest, Type: invalidRequest, Code: e.Code, Message: e.Message}
	}
	return errorFrames(e, anthropicError(e))
}

func anthropicError(e *APIError) jsonText {
	kind := e.Type
	if kind != "api_error" && !slices.Contains(slices.Collect(maps.Values(anthropicTypes)), kind) {
		kind = anthropicType(e.Status)
	}
	j := make(jsonText, 0, 128+len(e.Message)).raw(`{"type":"error","error":{"type":`).quote(kind).raw(`,"message":`).quote(e.Message)
	if e.Details != "" {
		j = j.raw(`,"details":`).raw(e.Details)
	}
	return j.raw(`},"request_id":null}`)
}

// EncodeModels answers GET /v1/models with the only model.
func (AnthropicMessages) EncodeModels(model string, created time.Time) []Frame {
	return jsonFrames("", jsonText(`{"data":[`).anthropicModel(model, created).
		raw(`],"has_more":false,"first_id":`).quoteOrNull(model).raw(`,"last_id":`).quoteOrNull(model).raw(`}`))
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

// stopReason returns why an answer ended, in the provider's terms. A refusal is a stop reason
// at Anthropic, and not a part of the answer.
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
