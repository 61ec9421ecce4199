package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// chatRequest has the supported fields of a chat request. An optional field is a pointer only if
// its zero value has another meaning.
type chatRequest struct {
	Model      string        `json:"model"`
	Messages   []chatMessage `json:"messages"`
	Tools      []chatTool    `json:"tools"`
	ToolChoice toolChoice    `json:"tool_choice"`
	// Functions and FunctionCall are the older form of Tools and ToolChoice.
	Functions    []functionDefinition `json:"functions"`
	FunctionCall functionChoice       `json:"function_call"`

	Stream              bool              `json:"stream"`
	StreamOptions       *streamOptions    `json:"stream_options"`
	ResponseFormat      *responseFormat   `json:"response_format"`
	Temperature         *float64          `json:"temperature"`
	MaxTokens           *int              `json:"max_tokens"`
	MaxCompletionTokens *int              `json:"max_completion_tokens"`
	N                   *int              `json:"n"`
	Seed                *int              `json:"seed"`
	Metadata            map[string]string `json:"metadata"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    content        `json:"content"`
	Refusal    string         `json:"refusal"`
	Name       string         `json:"name"`
	ToolCalls  []chatToolCall `json:"tool_calls"`
	ToolCallID string         `json:"tool_call_id"`
	// FunctionCall is the older form of ToolCalls.
	FunctionCall *chatFunction `json:"function_call"`
	// Audio refers to an earlier audio answer.
	Audio *struct {
		ID string `json:"id"`
	} `json:"audio"`
}

type chatToolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
	Custom   struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// neutral returns the call with its arguments in JSON. Clients return an empty string for the
// arguments of a call without arguments.
func (t *chatToolCall) neutral() llm.ToolCall {
	c := llm.ToolCall{ID: t.ID, Name: t.Function.Name, Arguments: t.Function.Arguments}
	switch {
	case t.Type == toolCustom:
		c.Name, c.Arguments = t.Custom.Name, customArguments(t.Custom.Input)
	case c.Arguments == "":
		c.Arguments = "{}"
	}
	return c
}

type chatTool struct {
	Type     string             `json:"type"`
	Function functionDefinition `json:"function"`
	Custom   struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"custom"`
}

type functionDefinition struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Parameters  jsontext.Value `json:"parameters"`
}

// name returns the name of a tool of either type.
func (t *chatTool) name() string {
	if t.Type == toolCustom {
		return t.Custom.Name
	}
	return t.Function.Name
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema *struct {
		Name string `json:"name"`
	} `json:"json_schema"`
}

// content is the content of a message: a string, or a list of parts.
type content = textOrList[contentPart]

// contentText returns the text of a content, with separators between its parts.
func contentText(c *content, separator string) string {
	if c.kind != '[' {
		return c.text
	}
	return joined(c.list, separator)
}

type contentPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
	attached
}

// textOrList is a field that is a string or a list.
type textOrList[T any] struct {
	kind jsontext.Kind // of the JSON value; 0 if it is absent
	text string
	list []T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It skips values of other kinds; the checks
// of the request reject them as the provider does.
func (c *textOrList[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*c = textOrList[T]{kind: d.PeekKind()}
	switch c.kind {
	case '"':
		return jsonv2.UnmarshalDecode(d, &c.text)
	case '[':
		return jsonv2.UnmarshalDecode(d, &c.list)
	default:
		return d.SkipValue()
	}
}

// joined returns the texts of the parts, with separators.
func joined(parts []contentPart, separator string) string {
	texts := make([]string, len(parts))
	for i := range parts {
		texts[i] = cmp.Or(parts[i].Text, parts[i].Refusal)
	}
	return joinTexts(texts, separator)
}

// joinTexts joins the texts that are not empty.
func joinTexts(texts []string, separator string) string {
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), separator)
}

// unquoted returns the text of a valid JSON string.
func unquoted(v jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, v)
	return string(text)
}

// toolChoice is "none", "auto" or "required", or an object that names tools.
type toolChoice struct {
	mode    string // the string, or the type of the object
	object  bool
	tools   []chatTool // the named tools
	allowed string     // auto or required, for a choice among several tools
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *toolChoice) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*c = toolChoice{}
	if k := d.PeekKind(); k != '{' {
		return jsonv2.UnmarshalDecode(d, &c.mode)
	}
	var named struct {
		chatTool
		Allowed struct {
			Mode  string     `json:"mode"`
			Tools []chatTool `json:"tools"`
		} `json:"allowed_tools"`
	}
	err := jsonv2.UnmarshalDecode(d, &named)
	c.mode, c.object, c.tools = named.Type, true, []chatTool{named.chatTool}
	if c.mode == choiceAllowed {
		c.tools, c.allowed = named.Allowed.Tools, named.Allowed.Mode
	}
	return err
}

// Decode implements Codec. Errors have the provider's status, type, code and param, and similar
// messages; the call then has the model at most.
func (c OpenAIChat) Decode(body []byte) (Call, *APIError) {
	var r chatRequest
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return Call{}, decodeError(err)
	}
	r.Model = cmp.Or(c.Root.Deployment, r.Model)
	refused := Call{Request: llm.Request{Model: r.Model}}
	if err := r.checkFunctions(); err != nil {
		return refused, err
	}
	legacy := r.convertFunctions()
	if err := r.check(); err != nil {
		return refused, err
	}
	call := r.call()
	call.legacy = legacy
	if call.Stream && !call.IncludeUsage && c.service(call.Model).alwaysUsage() {
		call.IncludeUsage, call.unasked = true, true
	}
	return call, nil
}

// call returns the neutral form of a valid request.
func (r *chatRequest) call() Call {
	c := Call{Request: llm.Request{
		Purpose:     r.Metadata["purpose"],
		Model:       r.Model,
		Messages:    make([]llm.Message, len(r.Messages)),
		JSONMode:    r.ResponseFormat != nil && r.ResponseFormat.Type != "text",
		Stream:      r.Stream,
		Temperature: r.Temperature,
		Seed:        r.Seed,
	}}
	for i := range r.Messages {
		c.Messages[i] = r.Messages[i].neutral()
	}
	for _, t := range r.Tools {
		if t.Type == toolCustom {
			c.Tools = append(c.Tools, llm.Tool{Name: t.Custom.Name, Description: t.Custom.Description})
			if c.kinds == nil {
				c.kinds = map[string]toolKind{}
			}
			c.kinds[t.Custom.Name] = toolKinds[toolCustom]
			continue
		}
		f := t.Function
		c.Tools = append(c.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: json.RawMessage(f.Parameters)})
	}
	switch {
	case r.MaxCompletionTokens != nil:
		c.MaxTokens = *r.MaxCompletionTokens
	case r.MaxTokens != nil:
		c.MaxTokens = *r.MaxTokens
	}
	delete(r.Metadata, "purpose")
	if len(r.Metadata) > 0 {
		c.Tags = r.Metadata
	}
	c.IncludeUsage = r.StreamOptions != nil && r.StreamOptions.IncludeUsage
	if r.N != nil {
		c.N = *r.N
	}
	return c
}

func (m *chatMessage) neutral() llm.Message {
	n := llm.Message{
		Role: llm.Role(m.Role), Content: cmp.Or(contentText(&m.Content, ""), m.Refusal), Name: m.Name, ToolCallID: m.ToolCallID,
		Attachments: attachments(m.Content.list),
	}
	for _, t := range m.ToolCalls {
		n.ToolCalls = append(n.ToolCalls, t.neutral())
	}
	return n
}

// decodeError reports the field with a wrong type, or that the body is not JSON.
func decodeError(err error) *APIError {
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok || e.JSONPointer == "" {
		return bad("", "", "We could not parse the JSON body of your request: it must be one JSON object in UTF-8. (%.200s)", err)
	}
	param := FieldPath(e.JSONPointer)
	return bad(param, "invalid_type", "Invalid type for '%.200s': expected %s, but got %s instead.",
		param, goTypeName(e.GoType), kindName(e.JSONKind))
}

// FieldPath returns a JSON pointer in the form of OpenAI's errors: messages[0].content.
func FieldPath(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch _, err := strconv.ParseUint(token, 10, 31); {
		case err == nil:
			b.WriteString("[" + token + "]")
		case b.Len() == 0:
			b.WriteString(token)
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}

func goTypeName(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.Int:
		return "an integer"
	case reflect.Float64:
		return "a decimal"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	default:
		return "another type"
	}
}
