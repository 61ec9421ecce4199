package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Reader is a Codec that also reads answers: the client's side of the protocol. It ignores
// unknown fields, events and blocks, and the comments of a stream.
type Reader interface {
	Codec
	// ReadAnswer is the inverse of Encode for the body of a successful response. Delays are
	// unknown, and without usage in the response the usage has no source. The error wraps
	// ErrEmptyAnswer, ErrCutAnswer or an *APIError of the provider, or describes what is
	// malformed and where; the completion then has the content before it.
	ReadAnswer(streamed bool, body []byte) (Completion, error)
}

// ForRequest returns the codec for a request with this header, which may allow requests
// that the provider otherwise refuses. Protocols with stored answers use store; nil
// disables it.
func ForRequest(codec Reader, header http.Header, store *ResponseStore) Reader {
	switch c := codec.(type) {
	case AnthropicMessages:
		return AnthropicMessages{Beta: strings.Join(header["Anthropic-Beta"], ",")}
	case OpenAIResponses:
		return OpenAIResponses{Root: c.Root, Store: store}
	}
	return codec
}

var (
	// ErrEmptyAnswer is the error for an answer without content and without a finish reason.
	ErrEmptyAnswer = errors.New("the answer is empty")
	// ErrCutAnswer is the error for a stream without its end marker.
	ErrCutAnswer = errors.New("the stream ends before its end")
)

// lenient is the option for answers of other servers.
var lenient = jsontext.AllowDuplicateNames(true)

// readAnswer passes each event of a stream to read, or a whole body to add.
func readAnswer[A any](streamed bool, body []byte, read func(data []byte) (done bool, err error), add func(*A) error) error {
	if streamed {
		return readStream(body, read)
	}
	var a A
	if err := readBody(body, &a); err != nil {
		return err
	}
	return add(&a)
}

// readBody reads a body that is one JSON object.
func readBody(body []byte, v any) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return ErrEmptyAnswer
	}
	if err := jsonv2.Unmarshal(body, v, lenient); err != nil {
		return fmt.Errorf("read the answer's body: %w", err)
	}
	return nil
}

// readStream passes the data of each server-sent event to read until the answer is complete.
func readStream(body []byte, read func(data []byte) (done bool, err error)) error {
	return readEvents(body, nextEvent, read)
}

// splitEvent splits the first event off a stream. Data is nil for an event without data; whole is
// false if the event is cut off.
type splitEvent func(stream []byte) (data []byte, whole bool, rest []byte)

// readEvents is readStream for events that next splits off.
func readEvents(body []byte, next splitEvent, read func(data []byte) (done bool, err error)) error {
	n := 0
	for len(body) > 0 {
		var data []byte
		var whole bool
		data, whole, body = next(body)
		if data == nil {
			continue
		}
		n++
		switch done, err := read(data); {
		case err == nil && done:
			return nil
		case err == nil:
		case !whole:
			return fmt.Errorf("%w: event %d is cut off", ErrCutAnswer, n)
		default:
			return fmt.Errorf("read event %d of the answer: %w", n, err)
		}
	}
	if n == 0 {
		return ErrEmptyAnswer
	}
	return fmt.Errorf("%w, after %d events", ErrCutAnswer, n)
}

// nextEvent splits the first event off a stream of server-sent events, see
// https://html.spec.whatwg.org/multipage/server-sent-events.html. It omits the name, which all
// protocols repeat in the data. Data is nil for an event without data; whole is false if no empty
// line ends the event.
func nextEvent(stream []byte) (data []byte, whole bool, rest []byte) {
	rest = stream
	for len(rest) > 0 {
		var line []byte
		line, rest = nextLine(rest)
		if len(line) == 0 {
			return data, true, rest
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		value = bytes.TrimPrefix(value, []byte(" "))
		if data == nil {
			data = value[:len(value):len(value)]
			continue
		}
		data = append(append(data, '\n'), value...)
	}
	return data, false, nil
}

// nextLine splits off the first line of a text. Lines end in CR, LF or both.
func nextLine(text []byte) (line, rest []byte) {
	i := bytes.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return text, nil
	case bytes.HasPrefix(text[i:], []byte("\r\n")):
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}

// errorBody is an error of any provider.
type errorBody struct {
	Type    string         `json:"type"`
	Message string         `json:"message"`
	Param   string         `json:"param"`
	Code    jsontext.Value `json:"code"` // a string; a number from Google and some gateways
	// Status and Details are Google's, Metadata OpenRouter's.
	Status   string         `json:"status"`
	Details  jsontext.Value `json:"details"`
	Metadata jsontext.Value `json:"metadata"`
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. Some gateways send only the message.
func (e *errorBody) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '"' {
		return jsonv2.UnmarshalDecode(d, &e.Message)
	}
	type plain errorBody
	return jsonv2.UnmarshalDecode(d, (*plain)(e))
}

// apiError returns the error with the status for its type or code, as a stream has none.
func (e *errorBody) apiError() *APIError {
	a := &APIError{Type: e.Type, Message: e.Message, Param: e.Param, Code: strings.Trim(string(e.Code), `"`)}
	if a.Code == "null" {
		a.Code = ""
	}
	a.Status = statusOf(a.Type, a.Code)
	if status, err := strconv.Atoi(a.Code); err == nil && status >= http.StatusBadRequest && status <= 599 {
		a.Status = status // of Google and OpenRouter
	}
	if e.Status != "" {
		e.google(a)
	}
	e.openRouter(a)
	return a
}

// openRouter sets the code of OpenRouter's error, whose own code is the HTTP status.
func (e *errorBody) openRouter(a *APIError) {
	var metadata struct {
		Type string `json:"error_type"`
	}
	if jsonv2.Unmarshal(e.Metadata, &metadata, lenient) == nil && metadata.Type != "" {
		a.Code = metadata.Type
	}
}

// google sets the fields of Google's error: its details have the wait.
func (e *errorBody) google(a *APIError) {
	a.Type, a.Code = e.Status, ""
	var details []struct {
		Delay string `json:"retryDelay"`
	}
	if jsonv2.Unmarshal(e.Details, &details, lenient) != nil {
		return
	}
	for _, d := range details {
		if seconds, err := strconv.ParseFloat(strings.TrimSuffix(d.Delay, "s"), 64); err == nil {
			a.RetryAfter = wait(seconds, time.Second)
		}
	}
}

// statusOf returns the status for the type or code of an error.
func statusOf(names ...string) int {
	for _, name := range names {
		for status, kind := range anthropicTypes {
			if name == kind && status != http.StatusGatewayTimeout {
				return status
			}
		}
		switch name {
		case invalidRequest, "invalid_prompt":
			return http.StatusBadRequest
		case "rate_limit_exceeded", quotaCode:
			return http.StatusTooManyRequests
		}
	}
	return http.StatusInternalServerError
}

// maxErrorText limits the message from a body that is not a provider's error, in bytes.
const maxErrorText = 2 << 10

// ReadError is the inverse of EncodeError for all protocols. If the body is not a provider's
// error, its first 2 KB are the message. Gemini sends a list of one error in place of a stream.
func ReadError(status int, header http.Header, body []byte) *APIError {
	var parsed oneOrMore[struct {
		Error   *errorBody     `json:"error"`
		Message string         `json:"message"` // of Amazon's errors
		Object  jsontext.Value `json:"object"`
	}]
	e := &APIError{}
	if jsonv2.Unmarshal(body, &parsed, lenient) == nil && len(parsed) == 1 {
		if a := amazonError(header, parsed[0].Message); a != nil {
			e = a
		} else if parsed[0].Error != nil {
			e = parsed[0].Error.apiError()
		} else if string(parsed[0].Object) == `"error"` { // Mistral's errors are the whole body
			var flat errorBody
			if jsonv2.Unmarshal(body, &flat, lenient) == nil {
				e = flat.apiError()
			}
		}
	}
	e.Status = cmp.Or(status, e.Status, http.StatusInternalServerError)
	if after := retryAfter(header); after > 0 {
		e.RetryAfter = after
	}
	if e.Message == "" {
		text := strings.ToValidUTF8(string(body[:min(len(body), maxErrorText)]), "")
		e.Message = cmp.Or(strings.TrimSpace(text), http.StatusText(status), "status "+strconv.Itoa(status))
	}
	return e
}

// retryAfter returns the wait in the header of a response; 0 without one.
func retryAfter(header http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return wait(ms, time.Millisecond)
	}
	after := header.Get("Retry-After")
	if s, err := strconv.ParseFloat(after, 64); err == nil {
		return wait(s, time.Second)
	}
	until, err := http.ParseTime(after)
	now, noDate := http.ParseTime(header.Get("Date"))
	if err != nil || noDate != nil {
		return 0
	}
	return max(0, until.Sub(now))
}

// wait returns n units; 0 if n is negative or not a number, or the wait is longer than a year.
func wait(n float64, unit time.Duration) time.Duration {
	if !(n > 0 && n*unit.Seconds() < 365*24*3600) {
		return 0
	}
	return time.Duration(n * float64(unit))
}

// reported marks the usage as reported by the response.
func reported(u llm.Usage) llm.Usage {
	u.Input = max(0, u.Input)
	u.Source = llm.UsageReported
	return u
}

// gathered assembles an answer from pieces. It must not be copied.
type gathered struct {
	Completion
	text, refusal, thinking strings.Builder
	arguments               []*strings.Builder // of each call
}

func (g *gathered) call(t llm.ToolCall) {
	g.ToolCalls = append(g.ToolCalls, t)
	g.arguments = append(g.arguments, &strings.Builder{})
}

func (g *gathered) completion() Completion {
	c := g.Completion
	c.Text, c.Refusal, c.Thinking = g.text.String(), g.refusal.String(), g.thinking.String()
	for i := range c.ToolCalls {
		c.ToolCalls[i].Arguments += g.arguments[i].String()
	}
	return c
}
