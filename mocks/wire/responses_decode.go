package wire

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// responsesRequest has the supported fields of a Responses request. An optional field is a pointer
// only if its zero value has another meaning.
type responsesRequest struct {
	Model              string            `json:"model"`
	Input              textOrList[item]  `json:"input"`
	Instructions       content           `json:"instructions"`
	Tools              []responsesTool   `json:"tools"`
	ToolChoice         jsontext.Value    `json:"tool_choice"`
	Stream             bool              `json:"stream"`
	Temperature        *float64          `json:"temperature"`
	TopP               *float64          `json:"top_p"`
	MaxOutputTokens    *int              `json:"max_output_tokens"`
	PreviousResponseID string            `json:"previous_response_id"`
	Conversation       jsontext.Value    `json:"conversation"`
	Prompt             jsontext.Value    `json:"prompt"`
	Metadata           map[string]string `json:"metadata"`
	Include            []string          `json:"include"`
	Text               struct {
		Format *responsesFormat `json:"format"`
	} `json:"text"`
	Reasoning *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Truncation string `json:"truncation"`
	Store      *bool  `json:"store"` // true by default
	Background bool   `json:"background"`

	// earlier has the items up to the previous response, if resolved is true.
	earlier  []item
	resolved bool
}

type responsesFormat struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  jsontext.Value  `json:"parameters"`
	Tools       []responsesTool `json:"tools"` // of a namespace
}

// item is one item of an input, with the fields of all types.
type item struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   content         `json:"content"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments jsontext.Value  `json:"arguments"`
	Input     string          `json:"input"`
	Action    jsontext.Value  `json:"action"`
	Operation jsontext.Value  `json:"operation"`
	Output    output          `json:"output"`
	Tools     []responsesTool `json:"tools"`

	stored bool // from a ResponseStore, and therefore valid
}

// output is the result of a tool: a string, a list of parts, or an object of a tool that the
// provider defines.
type output struct {
	kind        jsontext.Kind
	text        string
	attachments []llm.Attachment
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (o *output) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*o = output{kind: d.PeekKind()}
	switch o.kind {
	case '"':
		return jsonv2.UnmarshalDecode(d, &o.text)
	case '[', '{':
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		o.text, o.attachments = outputText(value)
		return nil
	default:
		return d.SkipValue()
	}
}

// outputText returns the text and the attachments of parts. The output of a shell stays JSON.
func outputText(value jsontext.Value) (string, []llm.Attachment) {
	var parts []contentPart
	if err := jsonv2.Unmarshal(value, &parts); err != nil || len(parts) > 0 && parts[0].Type == "" {
		return string(value), nil
	}
	return plainParts(parts), attachments(parts)
}

// plainParts returns the texts of parts, with line breaks between them.
func plainParts(parts []contentPart) string { return joined(parts, "\n") }

// Decode implements Codec. Errors have the provider's status, type, code and param, and similar
// messages.
func (c OpenAIResponses) Decode(body []byte) (Call, *APIError) {
	var r responsesRequest
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return Call{}, decodeError(err)
	}
	if err := r.resolve(c.Store); err != nil {
		return Call{}, err
	}
	if err := r.check(); err != nil {
		return Call{}, err
	}
	call := r.call()
	if c.Store != nil && (r.Store == nil || *r.Store) {
		call.store, call.previous, call.input = c.Store, r.PreviousResponseID, r.newItems()
		call.inputSize = textSize(call.input)
	}
	return call, nil
}

// call returns the neutral form of a valid request.
func (r *responsesRequest) call() Call {
	c := Call{IncludeUsage: true, Request: llm.Request{
		Purpose:     r.Metadata["purpose"],
		Model:       r.Model,
		JSONMode:    r.Text.Format != nil && r.Text.Format.Type != "text",
		Stream:      r.Stream,
		Temperature: r.Temperature,
		Messages:    make([]llm.Message, 0, len(r.earlier)+len(r.Input.list)+2),
	}}
	if r.MaxOutputTokens != nil {
		c.MaxTokens = *r.MaxOutputTokens
	}
	c.encrypted = slices.Contains(r.Include, "reasoning.encrypted_content")
	delete(r.Metadata, "purpose")
	if len(r.Metadata) > 0 {
		c.Tags = r.Metadata
	}
	if text := contentText(&r.Instructions, ""); text != "" {
		c.Messages = append(c.Messages, llm.Message{Role: llm.System, Content: text})
	}
	c.offer("", r.Tools)
	c.AnyTool = c.AnyTool || given(r.Prompt) // it may have tools
	if r.Input.kind == '"' && len(r.earlier) == 0 {
		c.Messages = append(c.Messages, llm.Message{Role: llm.User, Content: r.Input.text})
	}
	turn := assistantTurn{call: &c}
	all := r.allItems()
	for i := range all {
		turn.add(&all[i])
	}
	turn.end()
	return c
}

// offer adds tools to the call. A script calls a tool of a namespace by its name, or by the name of
// the namespace, a dot and its name.
func (c *Call) offer(namespace string, tools []responsesTool) {
	for _, t := range tools {
		if t.Type == "namespace" {
			c.offer(t.Name, t.Tools)
			continue
		}
		kind, ok := toolKinds[t.Type]
		if t.Name == "" {
			t.Name = t.Type // a tool of the provider
			c.AnyTool = c.AnyTool || t.Type == "mcp" || t.Type == "tool_search"
		}
		c.Tools = append(c.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.Parameters)})
		if !ok || t.Type == "function" && namespace == "" {
			continue
		}
		if c.kinds == nil {
			c.kinds = map[string]toolKind{}
		}
		if namespace != "" {
			kind.namespace, kind.name = namespace, t.Name
			c.kinds[namespace+"."+t.Name] = kind
		}
		if _, taken := c.kinds[t.Name]; !taken {
			c.kinds[t.Name] = kind
		}
	}
}

// assistantTurn joins consecutive items of the assistant in one message.
type assistantTurn struct {
	call  *Call
	open  bool
	texts []string
	calls []llm.ToolCall
}

func (t *assistantTurn) add(i *item) {
	switch {
	case i.isReference():
	case i.Type == itemMessage || i.Type == "":
		text := contentText(&i.Content, "\n")
		if llm.Role(i.Role) == llm.Assistant {
			t.open, t.texts = true, append(t.texts, text)
			return
		}
		t.others(llm.Message{Role: llm.Role(i.Role), Content: text, Attachments: attachments(i.Content.list)})
	case strings.HasSuffix(i.Type, "_output"):
		t.others(llm.Message{Role: llm.ToolRole, Content: i.Output.text, ToolCallID: i.callID(), Attachments: i.Output.attachments})
	case isCall(i.Type):
		t.open = true
		t.calls = append(t.calls, llm.ToolCall{ID: i.callID(), Name: i.name(), Arguments: i.written()})
	case i.Type == "additional_tools":
		t.call.offer("", i.Tools)
	}
	// Thoughts and items without a neutral form are ignored.
}

// others adds a message of another role.
func (t *assistantTurn) others(m llm.Message) {
	t.end()
	t.call.Messages = append(t.call.Messages, m)
}

// end adds the message of the assistant, if there is one.
func (t *assistantTurn) end() {
	if t.open {
		text := joinTexts(t.texts, "\n")
		t.call.Messages = append(t.call.Messages, llm.Message{Role: llm.Assistant, Content: text, ToolCalls: t.calls})
	}
	t.open, t.texts, t.calls = false, nil, nil
}

// customArguments returns the text for a custom tool as arguments in JSON.
func customArguments(input string) string {
	return string(jsonText(`{"input":`).quote(input).raw("}"))
}

// isCall reports whether an item of that type calls a client's tool.
func isCall(kind string) bool {
	for _, k := range toolKinds {
		if k.item == kind {
			return true
		}
	}
	return false
}

// callID returns the id that links a call to its output. The provider's first tool used id.
func (i *item) callID() string { return cmp.Or(i.CallID, i.ID) }

// name returns the name of the called tool.
func (i *item) name() string { return cmp.Or(i.Name, strings.TrimSuffix(i.Type, "_call")) }

// written returns the model's output in a call, as arguments in JSON.
func (i *item) written() string {
	switch {
	case i.Type == itemFunctionCall:
		return writtenInput(i.Arguments)
	case i.Type == itemCustomCall:
		return customArguments(i.Input)
	case i.Action != nil:
		return string(i.Action)
	}
	return string(i.Operation)
}
