package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// ollamaRequest has the supported fields of a request to either endpoint.
type ollamaRequest struct {
	Model     string          `json:"model"`
	Messages  []ollamaMessage `json:"messages"`
	Prompt    string          `json:"prompt"`
	System    string          `json:"system"`
	Template  string          `json:"template"`
	Images    ollamaImages    `json:"images"`
	Context   []int           `json:"context"`
	Raw       bool            `json:"raw"`
	Stream    *bool           `json:"stream"`
	Format    jsontext.Value  `json:"format"`
	Think     jsontext.Value  `json:"think"`
	KeepAlive jsontext.Value  `json:"keep_alive"`
	Logprobs  int             `json:"top_logprobs"`
	Tools     []struct {
		Function struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Parameters  jsontext.Value `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
	Options map[string]jsontext.Value `json:"options"`
}

// ollamaMessage is a message of a request or of an answer.
type ollamaMessage struct {
	Role       string       `json:"role"`
	Content    string       `json:"content"`
	Thinking   string       `json:"thinking"`
	Images     ollamaImages `json:"images"`
	ToolCalls  []ollamaCall `json:"tool_calls"`
	ToolName   string       `json:"tool_name"`
	ToolCallID string       `json:"tool_call_id"`
}

type ollamaCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

// ollamaImages are images in base64, of which only the digests are stored. Data URLs are invalid.
type ollamaImages []llm.Attachment

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *ollamaImages) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	var texts []string
	if err := jsonv2.UnmarshalDecode(d, &texts); err != nil {
		return err
	}
	for _, text := range texts {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return err
		}
		var p payload
		p.digestOf(bytes.NewReader(data))
		*m = append(*m, p.attachment("image", "", ""))
	}
	return nil
}

// Decode implements Codec. Errors have the provider's status and similar messages.
func (o Ollama) Decode(body []byte) (Call, *APIError) {
	var r ollamaRequest
	if err := decodeOllama(body, &r); err != nil {
		return Call{}, err
	}
	status := http.StatusBadRequest
	if o.Generate {
		status = http.StatusNotFound
	}
	model := func() *APIError { return checkOllamaModel(r.Model, status) }
	if err := firstError(model, r.checkFields, r.checkCalls, r.checkOptions, r.checkFormat); err != nil {
		return Call{}, err
	}
	return o.call(&r), nil
}

// decodeOllama parses a request to any endpoint.
func decodeOllama(body []byte, request any) *APIError {
	if len(bytes.TrimSpace(body)) == 0 {
		return ollamaBad("missing request body")
	}
	err := jsonv2.Unmarshal(body, request, lenient)
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[base64.CorruptInputError](err); ok {
		return ollamaBad("%v", errors.Unwrap(err))
	}
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok || e.JSONPointer == "" {
		return ollamaBad("the request's body is not one JSON object: %.200s", err)
	}
	return ollamaBad("json: cannot unmarshal %s into the field %.200s: expected %s",
		kindName(e.JSONKind), strings.Join(slices.Collect(e.JSONPointer.Tokens()), "."), goTypeName(e.GoType))
}

// ollamaBad returns an error for an invalid request.
func ollamaBad(format string, args ...any) *APIError {
	return &APIError{Status: http.StatusBadRequest, Type: invalidRequest, Message: fmt.Sprintf(format, args...)}
}

// checkOllamaModel requires a model. Some endpoints miss it with the status 404, others with 400.
func checkOllamaModel(model string, status int) *APIError {
	e := ollamaBad("model is required")
	switch {
	case model != "":
		return nil
	case status == http.StatusNotFound:
		e.Status, e.Message = status, "model '' not found"
	}
	return e
}

func (r *ollamaRequest) checkFields() *APIError {
	if r.Logprobs < 0 || r.Logprobs > 20 {
		return ollamaBad("top_logprobs must be between 0 and 20")
	}
	if r.Raw && (r.Template != "" || r.System != "" || len(r.Context) > 0) {
		return ollamaBad("raw mode does not support template, system, or context")
	}
	think := string(r.Think)
	switch {
	case slices.Contains([]string{"", "null", "true", "false", `"high"`, `"medium"`, `"low"`}, think):
		return nil
	case r.Think.Kind() == '"':
		return ollamaBad(`invalid think value: %.64s (must be "high", "medium", "low", true, or false)`, think)
	}
	return ollamaBad(`think must be a boolean or string ("high", "medium", "low", true, or false)`)
}

// checkCalls rejects arguments of tool calls in a string, the form of OpenAI's protocols.
func (r *ollamaRequest) checkCalls() *APIError {
	for i := range r.Messages {
		for j, c := range r.Messages[i].ToolCalls {
			if k := c.Function.Arguments.Kind(); c.Function.Arguments != nil && k != '{' && k != 'n' {
				return ollamaBad("json: cannot unmarshal %s into the field messages.%d.tool_calls.%d.function.arguments: expected an object",
					kindName(k), i, j)
			}
		}
	}
	return nil
}

// ollamaOptions are the types of options, see https://docs.ollama.com/modelfile. Unknown options
// are ignored.
var ollamaOptions = map[string]string{
	"num_keep": "integer", "seed": "integer", "num_predict": "integer", "top_k": "integer", "repeat_last_n": "integer",
	"num_ctx": "integer", "num_batch": "integer", "num_gpu": "integer", "main_gpu": "integer", "num_thread": "integer",
	"top_p": "float32", "min_p": "float32", "typical_p": "float32", "temperature": "float32", "repeat_penalty": "float32",
	"presence_penalty": "float32", "frequency_penalty": "float32", "use_mmap": "boolean", "stop": "array",
}

func (r *ollamaRequest) checkOptions() *APIError {
	for _, name := range slices.Sorted(maps.Keys(r.Options)) {
		want, value := ollamaOptions[name], r.Options[name]
		got := map[jsontext.Kind]string{'0': "float32", 't': "boolean", 'f': "boolean", '[': "array"}[value.Kind()]
		if want == "integer" && got == "float32" {
			continue // fractions are cut off
		}
		if want != "" && want != got && value.Kind() != 'n' {
			return ollamaFailed("option %q must be of type %s", name, want)
		}
	}
	return nil
}

func (r *ollamaRequest) checkFormat() *APIError {
	if k := r.Format.Kind(); !given(r.Format) || k == '{' || string(r.Format) == `"json"` || string(r.Format) == `""` {
		return nil
	}
	return ollamaFailed("invalid format: %.200q; expected \"json\" or a valid JSON Schema object", string(r.Format))
}

// ollamaFailed returns the error for a mistake that Ollama reports with the status 500.
func ollamaFailed(format string, args ...any) *APIError {
	e := ollamaBad(format, args...)
	e.Status = http.StatusInternalServerError
	return e
}

// call returns the neutral form of a valid request.
func (o Ollama) call(r *ollamaRequest) Call {
	c := Call{IncludeUsage: true, Request: llm.Request{
		Model:    r.Model,
		JSONMode: given(r.Format) && string(r.Format) != `""`,
		Stream:   r.Stream == nil || *r.Stream,
	}}
	if o.Generate {
		if r.System != "" {
			c.Messages = append(c.Messages, llm.Message{Role: llm.System, Content: r.System})
		}
		c.Messages = append(c.Messages, llm.Message{Role: llm.User, Content: r.Prompt, Attachments: r.Images})
	}
	for i := range r.Messages {
		c.Messages = append(c.Messages, r.Messages[i].neutral())
	}
	for _, t := range r.Tools {
		f := t.Function
		c.Tools = append(c.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: json.RawMessage(f.Parameters)})
	}
	if t, ok := r.number("temperature"); ok {
		c.Temperature = &t
	}
	if n, ok := r.number("num_predict"); ok && n > 0 { // otherwise without a limit
		c.MaxTokens = int(n)
	}
	if n, ok := r.number("seed"); ok {
		seed := int(n)
		c.Seed = &seed
	}
	return c
}

func (r *ollamaRequest) number(option string) (float64, bool) {
	n, err := strconv.ParseFloat(string(r.Options[option]), 64)
	return n, err == nil && math.Abs(n) < 1<<53
}

func (m *ollamaMessage) neutral() llm.Message {
	n := llm.Message{
		Role: llm.Role(strings.ToLower(m.Role)), Content: m.Content, Name: m.ToolName, ToolCallID: m.ToolCallID, Attachments: m.Images,
	}
	for i := range m.ToolCalls {
		n.ToolCalls = append(n.ToolCalls, m.ToolCalls[i].neutral())
	}
	return n
}

// neutral returns the call; arguments that are a string were not valid JSON.
func (t *ollamaCall) neutral() llm.ToolCall {
	return llm.ToolCall{ID: t.ID, Name: t.Function.Name, Arguments: writtenInput(t.Function.Arguments)}
}

// Preload answers a request without messages or a prompt, which only loads or unloads a model; ok
// is false for other requests.
func (o Ollama) Preload(body []byte, now time.Time) (frames []Frame, ok bool) {
	var r ollamaRequest
	if jsonv2.Unmarshal(body, &r, lenient) != nil || r.Model == "" || len(r.Messages) > 0 || r.Prompt != "" {
		return nil, false
	}
	reason := "load"
	if idle, err := time.ParseDuration(strings.Trim(string(r.KeepAlive), `"`)); err == nil && idle == 0 {
		reason = "unload"
	}
	w := ollamaWriter{Ollama: o, head: ollamaHead(Completion{Model: r.Model, Created: now})}
	return ollamaFrames(w.content(jsonText(w.head), "", "", nil).raw(`,"done":true,"done_reason":"` + reason + `"}`)), true
}
