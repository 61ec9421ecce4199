package wire

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// Gemini implements generateContent and streamGenerateContent of Google's Gemini API, see
// https://ai.google.dev/api/generate-content. It ignores fields and parts without a neutral form.
// It differs from the provider in two ways: it always sends scripted thinking, requested or not,
// and there is no field for a refusal, which is a text that ends with SAFETY.
type Gemini struct {
	// Model is the model in the path.
	Model string
	// Stream answers with server-sent events, which clients request with alt=sse.
	Stream bool
	// Array answers with a JSON array of chunks: a stream without alt=sse. It is sent at once.
	Array bool
}

var _ Codec = Gemini{}

// Protocol implements Codec.
func (Gemini) Protocol() string { return "gemini" }

// The methods of a model that the scripted server has.
const (
	GeminiCount      = "countTokens"
	GeminiEmbed      = "embedContent"
	GeminiEmbedBatch = "batchEmbedContents"
	geminiGenerate   = "generateContent"
	geminiStream     = "streamGenerateContent"
)

// GeminiMethod splits the end of a path, such as models/NAME:generateContent; the method is empty
// if the path does not have this form. Vertex AI has the models below publishers/google, see
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference.
func GeminiMethod(path string) (model, method string) {
	colon := strings.LastIndexByte(path, ':')
	if colon < 0 {
		return "", ""
	}
	head, model := path[:colon], ""
	if slash := strings.LastIndexByte(head, '/'); slash >= 0 {
		head, model = head[:slash], head[slash+1:]
	}
	if model == "" || !strings.HasSuffix(head, "/models") && !strings.HasSuffix(head, "/tunedModels") {
		return "", ""
	}
	if strings.Contains(head, "/publishers/") && !strings.HasSuffix(head, "/publishers/google/models") {
		return "", "" // of another provider
	}
	return model, path[colon+1:]
}

// matchGemini returns the codec for a path with an optional query.
func matchGemini(path string) (Reader, bool) {
	path, query, _ := strings.Cut(path, "?")
	model, method := GeminiMethod(path)
	switch method {
	case geminiGenerate:
		return Gemini{Model: model}, true
	case geminiStream:
		values, _ := url.ParseQuery(query)
		sse := values.Get("alt") == "sse" || values.Get("$alt") == "sse"
		return Gemini{Model: model, Stream: sse, Array: !sse}, true
	}
	return nil, false
}

// googleStatuses are the names of statuses in errors, see
// https://ai.google.dev/gemini-api/docs/troubleshooting.
var googleStatuses = map[int]string{
	http.StatusBadRequest:          "INVALID_ARGUMENT",
	http.StatusUnauthorized:        "UNAUTHENTICATED",
	http.StatusForbidden:           "PERMISSION_DENIED",
	http.StatusNotFound:            "NOT_FOUND",
	http.StatusConflict:            "ABORTED",
	http.StatusTooManyRequests:     "RESOURCE_EXHAUSTED",
	499:                            "CANCELLED",
	http.StatusInternalServerError: "INTERNAL",
	http.StatusNotImplemented:      "UNIMPLEMENTED",
	http.StatusServiceUnavailable:  "UNAVAILABLE",
	http.StatusGatewayTimeout:      "DEADLINE_EXCEEDED",
}

// googleStatus returns the name of a status.
func googleStatus(status int) string {
	switch name := googleStatuses[status]; {
	case name != "":
		return name
	case status >= 500:
		return googleStatuses[http.StatusServiceUnavailable]
	}
	return "FAILED_PRECONDITION"
}

// googleMessages are the provider's messages for some statuses.
var googleMessages = map[int]string{
	http.StatusBadRequest: "Request contains an invalid argument.",
	http.StatusUnauthorized: "Request had invalid authentication credentials. Expected OAuth 2 access token, " +
		"login cookie or other valid authentication credential.",
	http.StatusForbidden:       "The caller does not have permission",
	http.StatusNotFound:        "Requested entity was not found.",
	http.StatusTooManyRequests: "Resource has been exhausted (e.g. check quota).",
	http.StatusInternalServerError: "An internal error has occurred. Please retry or report in " +
		"https://developers.generativeai.google/guide/troubleshooting",
	http.StatusServiceUnavailable: "The model is overloaded. Please try again later.",
	http.StatusGatewayTimeout:     "The request timed out. Please try again.",
}

// stockError returns the provider's error for a status.
func (Gemini) stockError(status int) *APIError {
	e := &APIError{Status: status, Type: googleStatus(status), Message: googleMessages[status]}
	if e.Message == "" {
		e.Message = "The request failed with status " + strconv.Itoa(status) + "."
	}
	return e
}

// EncodeError implements Codec. Google sends the wait in the body, and no header about retries.
func (g Gemini) EncodeError(e *APIError) []Frame {
	body := googleError(e)
	if g.Array {
		body = append(append(jsonText("["), body...), ']')
	}
	return []Frame{{Status: e.Status, Header: head(jsonType, "", len(body)), Data: body}}
}

const googleType = `{"@type":"type.googleapis.com/google.rpc.`

// googleError returns an error with details of the types in
// https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto.
func googleError(e *APIError) jsonText {
	var details jsonText
	if e.Code == quotaCode {
		details = details.raw(googleType).raw(`QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]}`)
	}
	if e.Param != "" {
		details = details.comma(len(details)).raw(googleType).raw(`BadRequest","fieldViolations":[{"field":`).quote(e.Param).
			raw(`,"description":`).quote(e.Message).raw(`}]}`)
	}
	if e.RetryAfter > 0 {
		details = details.comma(len(details)).raw(googleType).raw(`RetryInfo","retryDelay":"`).
			raw(strconv.FormatFloat(e.RetryAfter.Seconds(), 'f', -1, 64)).raw(`s"}`)
	}
	j := make(jsonText, 0, 128+len(e.Message)+len(details)).raw(`{"error":{"code":`).int(e.Status).raw(`,"message":`).quote(e.Message).
		raw(`,"status":`).quote(googleStatus(e.Status))
	if details != nil {
		j = append(j.raw(`,"details":[`), details...).raw(`]`)
	}
	return j.raw(`}}`)
}

// EncodeModels answers GET /v1beta/models with the only model.
func (Gemini) EncodeModels(model string, _ time.Time) []Frame {
	return jsonFrames("", jsonText(`{"models":[`).geminiModel(model).raw(`]}`))
}

// EncodeModel answers GET /v1beta/models/<model>.
func (Gemini) EncodeModel(model string, _ time.Time) []Frame {
	return jsonFrames("", jsonText(nil).geminiModel(model))
}

func (j jsonText) geminiModel(model string) jsonText {
	return j.raw(`{"name":`).quote("models/" + model).raw(`,"version":"001","displayName":`).quote(model).
		raw(`,"inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":` +
			`["generateContent","countTokens","embedContent","batchEmbedContents"],"temperature":1,"topP":0.95,"topK":64,"maxTemperature":2}`)
}

// EncodeTokens answers countTokens.
func (Gemini) EncodeTokens(input int) []Frame {
	return jsonFrames("", jsonText(`{"totalTokens":`).int(input).
		raw(`,"promptTokensDetails":[{"modality":"TEXT","tokenCount":`).int(input).raw(`}]}`))
}

// The reasons for the end of an answer.
const (
	geminiStop      = "STOP"
	geminiMaxTokens = "MAX_TOKENS"
	geminiSafety    = "SAFETY"
	geminiMalformed = "MALFORMED_FUNCTION_CALL"
)

// geminiReason returns why an answer ended. malformed is true if it has a call that is not valid.
func geminiReason(c Completion, malformed bool) string {
	switch {
	case c.Refusal != "", c.Finish == llm.FinishContentFilter:
		return geminiSafety
	case c.Finish == llm.FinishLength:
		return geminiMaxTokens
	case malformed:
		return geminiMalformed
	}
	return geminiStop
}
