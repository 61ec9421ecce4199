package drift

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// shape is the structure of an answer without its content.
type shape struct {
	status int
	stream bool
	// media is the content type without its parameters.
	media string
	// kinds are the kinds of a stream's events, with consecutive repetitions merged; a document
	// has one.
	kinds []string
	// parts are the contents of the chunks of chat completions, which are all of one kind, in the order of their first occurrences.
	parts []string
	// members maps each place, the event's kind with the path in it, to the kinds of its values:
	// "content_block_delta: delta.text".
	members map[string]values
	answer  wire.Completion
	// unread explains why the answer cannot be parsed; nil if it can.
	unread error
}

// values is a set of kinds of JSON values.
type values uint8

const (
	null values = 1 << iota
	boolean
	number
	text
	list
	object
)

// String joins the names of the kinds.
func (v values) String() string {
	var names []string
	for i, name := range []string{"null", "boolean", "number", "text", "list", "object"} {
		if v&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// maxDepth and maxMembers limit the compared members.
const (
	maxDepth   = 20
	maxMembers = 5000
)

// shapeOf parses the shape of an answer.
func shapeOf(codec wire.Reader, status int, contentType string, body []byte) shape {
	s := shape{status: status, members: map[string]values{}}
	s.media, _, _ = mime.ParseMediaType(contentType) // empty if it is not valid
	s.stream = wire.Streamed(contentType)
	if status >= 400 {
		s.unread = wire.ReadError(status, nil, body)
	} else {
		s.answer, s.unread = codec.ReadAnswer(s.stream, body)
	}
	if !s.stream {
		s.document(body)
		return s
	}
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok || bytes.HasPrefix(line, []byte("{")) { // server-sent events, or JSON in lines
			s.document(bytes.TrimSpace(data))
		}
	}
	return s
}

// tolerant accepts duplicate members and invalid UTF-8.
var tolerant = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// document adds one JSON document, or one event's data.
func (s *shape) document(data []byte) {
	kind := kindOf(data, s.stream)
	if n := len(s.kinds); n == 0 || s.kinds[n-1] != kind {
		s.kinds = append(s.kinds, kind)
	}
	if kind == "chat.completion.chunk" {
		s.chunk(data)
	}
	if jsontext.Value(data).IsValid(tolerant...) {
		_ = s.value(jsontext.NewDecoder(bytes.NewReader(data), tolerant...), place{kind: kind}) // validated above
	}
}

// chunk adds the parts of a chunk.
func (s *shape) chunk(data []byte) {
	var chunk struct {
		Choices []struct {
			Delta struct {
				Content          string            `json:"content"`
				Refusal          string            `json:"refusal"`
				ReasoningContent string            `json:"reasoning_content"`
				Reasoning        string            `json:"reasoning"`
				ToolCalls        []json.RawMessage `json:"tool_calls"`
			} `json:"delta"`
			FinishReason string `json:"finish_reason"`
		} `json:"choices"`
		Usage *struct{} `json:"usage"`
	}
	_ = json.Unmarshal(data, &chunk) // members of other types are compared on their own
	add := func(part string, present bool) {
		if present && !slices.Contains(s.parts, part) {
			s.parts = append(s.parts, part)
		}
	}
	for _, c := range chunk.Choices {
		add("thinking", c.Delta.ReasoningContent+c.Delta.Reasoning != "")
		add("text", c.Delta.Content+c.Delta.Refusal != "")
		add("tool calls", len(c.Delta.ToolCalls) > 0)
		add("finish", c.FinishReason != "")
	}
	add("usage", chunk.Usage != nil)
}

// kindOf returns the kind of an event: its type, or its object.
func kindOf(data []byte, stream bool) string {
	if !stream {
		return "document"
	}
	var event struct {
		Type   string          `json:"type"`
		Object string          `json:"object"`
		Error  json.RawMessage `json:"error"`
	}
	switch err := json.Unmarshal(data, &event); {
	case err != nil && len(data) <= 20:
		return strconv.Quote(string(data)) // such as "[DONE]"
	case err != nil:
		return "not JSON"
	case event.Type != "":
		return event.Type
	case event.Object != "":
		return event.Object
	case event.Error != nil:
		return "error"
	}
	return "event"
}

// place is the position of a value in a document.
type place struct {
	kind, path string
	depth      int
}

func (p place) below(name string) place {
	if name != "[]" && p.path != "" {
		name = "." + name
	}
	return place{p.kind, p.path + name, p.depth + 1}
}

// value adds the next value of a document, and what is in it.
func (s *shape) value(d *jsontext.Decoder, at place) error {
	kind := d.PeekKind()
	if at.depth > 0 && len(s.members) < maxMembers {
		s.members[at.kind+": "+at.path] |= valuesOf(kind)
	}
	if at.depth == maxDepth || isContent(at.path) || kind != '{' && kind != '[' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		inner := at.below("[]")
		if kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return err
			}
			inner = at.below(name.String())
		}
		if err := s.value(d, inner); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// isContent reports whether the value there is written by the model, or repeats the request: its
// members are not part of the provider's format.
func isContent(path string) bool {
	for _, end := range []string{".input", ".metadata", ".parameters", ".input_schema", ".schema", ".logprobs"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

func valuesOf(kind jsontext.Kind) values {
	switch kind {
	case 'n':
		return null
	case 't', 'f':
		return boolean
	case '0':
		return number
	case '"':
		return text
	case '[':
		return list
	case '{':
		return object
	default:
		return 0
	}
}

// arguments returns the members of a tool call's arguments, or why they cannot be read.
func arguments(c llm.ToolCall) (map[string]values, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(c.Arguments), &members); err != nil {
		return nil, fmt.Errorf("its arguments are not a JSON object: %w", err)
	}
	kinds := map[string]values{}
	for name, value := range members {
		kinds[name] = valuesOf(jsontext.Value(value).Kind())
	}
	return kinds, nil
}
