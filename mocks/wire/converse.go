package wire

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// Converse implements Converse and ConverseStream of Amazon Bedrock, see
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. Signatures
// are not verified. It ignores fields and blocks without a neutral form. It differs from the
// provider as AnthropicMessages does, and applies the same rules to all models.
type Converse struct {
	// Model and Stream are from the path of the request.
	Model  string
	Stream bool
}

var _ Reader = Converse{}

// matchConverse returns the codec of /model/ID/converse and /model/ID/converse-stream. An ID may
// contain slashes; a query is ignored.
func matchConverse(path string) (Reader, bool) {
	path, _, _ = strings.Cut(path, "?")
	rest, ok := strings.CutPrefix(path, "/model/")
	rest, stream := strings.CutSuffix(rest, "-stream")
	model, converse := strings.CutSuffix(rest, "/converse")
	return Converse{Model: model, Stream: stream}, ok && converse && model != ""
}

// Protocol implements Codec.
func (Converse) Protocol() string { return "bedrock-converse" }

// Dialect implements Codec. The last two events of a stream are one frame, so that a stream without
// its end has no stop reason.
func (c Converse) Dialect() Dialect {
	return Dialect{
		AnswerID: "bedrock-", CallID: "tooluse_", Unexpected: http.StatusBadRequest, Native: true,
		framing:      &messageFraming,
		ends:         func(frame []byte) bool { return bytes.Contains(frame, []byte("messageStop")) },
		reportsUsage: true,
		textMarks:    []string{`"text":"`, `"input":"`, `":"`},
		stockError:   c.stockError,
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			name := exceptionName(e)
			return appendMessage(nil, eventHeaders("exception", strings.ToLower(name[:1])+name[1:]), converseError(e))
		},
	}
}

// exceptions are the provider's exceptions, each with its status. The first one of a status is its
// default.
var exceptions = []struct {
	name    string
	status  int
	message string
}{
	{"ValidationException", http.StatusBadRequest, ""},
	{"ServiceQuotaExceededException", http.StatusBadRequest, ""},
	{"SerializationException", http.StatusBadRequest, ""},
	{"UnrecognizedClientException", http.StatusUnauthorized, "The security token included in the request is invalid."},
	{"AccessDeniedException", http.StatusForbidden, "You don't have access to the model with the specified model ID."},
	{"ResourceNotFoundException", http.StatusNotFound, "Could not resolve the foundation model from the provided model identifier."},
	{"ModelTimeoutException", http.StatusRequestTimeout, "Model has timed out in processing the request. Try your request again."},
	{"ModelErrorException", http.StatusFailedDependency, "The model returned an error while processing the request."},
	{"ModelStreamErrorException", http.StatusFailedDependency, ""},
	{"ThrottlingException", http.StatusTooManyRequests, "Too many requests, please wait before trying again."},
	{"ModelNotReadyException", http.StatusTooManyRequests, ""},
	{
		"InternalServerException", http.StatusInternalServerError,
		"The system encountered an unexpected error during processing. Try your request again.",
	},
	{"ServiceUnavailableException", http.StatusServiceUnavailable, "Bedrock is unable to process your request."},
}

// exceptionName returns the type of an error, or the default for its status.
func exceptionName(e *APIError) string {
	name := ""
	for _, x := range exceptions {
		if x.name == e.Type {
			return x.name
		}
		if x.status == e.Status && name == "" {
			name = x.name
		}
	}
	switch {
	case name != "":
		return name
	case e.Status >= 500:
		return "InternalServerException"
	}
	return "ValidationException"
}

// stockError returns the provider's error for a status.
func (Converse) stockError(status int) *APIError {
	e := &APIError{Status: status}
	e.Type = exceptionName(e)
	e.Message = "The request was refused with status " + strconv.Itoa(status) + "."
	for _, x := range exceptions {
		if x.name == e.Type {
			e.Message = cmp.Or(x.message, e.Message)
		}
	}
	return e
}

// EncodeError implements Codec. A used-up quota gets a status that clients do not retry.
func (Converse) EncodeError(e *APIError) []Frame {
	if e.Code == quotaCode {
		e = &APIError{Status: http.StatusBadRequest, Type: "ServiceQuotaExceededException", Message: e.Message}
	}
	body := converseError(e)
	h := head(jsonType, "", len(body))
	h[amazonErrorType] = []string{exceptionName(e)}
	setRetryAfter(h, e)
	return []Frame{{Status: e.Status, Header: h, Data: body}}
}

func converseError(e *APIError) jsonText {
	return jsonText(`{"message":`).quote(e.Message).raw(`}`)
}

// amazonErrorType is the header with the type of an error, in the form of http.Header.
const amazonErrorType = "X-Amzn-Errortype"

// amazonError reads an error of Amazon's; nil if the header has no type.
func amazonError(header http.Header, message string) *APIError {
	name, _, _ := strings.Cut(header.Get(amazonErrorType), ":") // a URL may follow
	if name == "" {
		return nil
	}
	return &APIError{Type: name, Message: message}
}

// converseStop returns why an answer ended, in the provider's terms.
func converseStop(c Completion) string {
	if reason := stopReason(c); reason != "refusal" {
		return reason
	}
	return "content_filtered"
}

// converseUsage appends token counts. As in llm.Usage, the input excludes cached tokens.
func (j jsonText) converseUsage(u llm.Usage) jsonText {
	return j.raw(`{"inputTokens":`).int(u.Input).raw(`,"outputTokens":`).int(u.Output).
		raw(`,"totalTokens":`).int(addUp(u.Input, u.CachedInput, u.CacheWrite, u.Output)).
		raw(`,"cacheReadInputTokens":`).int(u.CachedInput).raw(`,"cacheWriteInputTokens":`).int(u.CacheWrite).raw(`}`)
}
