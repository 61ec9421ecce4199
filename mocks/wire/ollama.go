package wire

import (
	"cmp"
	"net/http"
	"strconv"
)

// Ollama implements the native protocol of Ollama, see https://docs.ollama.com/api. It ignores
// fields without a neutral form. It differs from the provider in two ways: it sends scripted
// thinking whatever "think" is, and it answers for every model.
type Ollama struct {
	// Generate selects /api/generate, which has a prompt instead of messages.
	Generate bool
}

var _ Reader = Ollama{}

const (
	ndjsonType = "application/x-ndjson"
	// ollamaJSON is the content type of answers without streaming.
	ollamaJSON = "application/json; charset=utf-8"
)

// Protocol implements Codec.
func (Ollama) Protocol() string { return "ollama" }

// Dialect implements Codec. Unexpected is not 404 because agents read that as a model that they
// have to pull. An answer has no parts without a message; without a content filter, filtered
// answers are empty.
func (o Ollama) Dialect() Dialect {
	return Dialect{
		AnswerID: "ollama-", CallID: "call_", Unexpected: http.StatusBadRequest, Native: true,
		framing:      &lineFraming,
		ends:         ollamaEnds,
		reportsUsage: true,
		textMarks:    []string{`"thinking":"`, `"content":"`, `"response":"`, `":"`},
		stockError:   o.stockError,
		errorEvent: func(_ Call, _ Completion, e *APIError, _ int) []byte {
			return append(ollamaError(e), '\n')
		},
	}
}

// stockError returns the provider's error for a status.
func (Ollama) stockError(status int) *APIError {
	message := map[int]string{
		http.StatusUnauthorized:       "unauthorized",
		http.StatusNotFound:           "model not found, try pulling it first",
		http.StatusTooManyRequests:    "too many concurrent requests",
		http.StatusServiceUnavailable: "server busy, please try again.  maximum pending requests exceeded",
	}[status]
	return &APIError{Status: status, Message: cmp.Or(message, http.StatusText(status), "status "+strconv.Itoa(status))}
}

// EncodeError implements Codec. An error of Ollama has only a message.
func (Ollama) EncodeError(e *APIError) []Frame {
	body := ollamaError(e)
	h := head(ollamaJSON, "", len(body))
	setRetryAfter(h, e)
	return []Frame{{Status: e.Status, Header: h, Data: body}}
}

func ollamaError(e *APIError) jsonText {
	return jsonText(`{"error":`).quote(e.Message).raw(`}`)
}
