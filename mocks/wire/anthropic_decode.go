package wire

import (
	"encoding/json"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// messagesRequest has the supported fields of a Messages request. An optional field is a pointer
// only if its zero value has another meaning.
type messagesRequest struct {
	Model         string             `json:"model"`
	Messages      []anthropicMessage `json:"messages"`
	System        textOrList[block]  `json:"system"`
	MaxTokens     *int               `json:"max_tokens"`
	Stream        bool               `json:"stream"`
	Tools         []anthropicTool    `json:"tools"`
	ToolChoice    *anthropicChoice   `json:"tool_choice"`
	Temperature   *float64           `json:"temperature"`
	TopP          *float64           `json:"top_p"`
	TopK          *int               `json:"top_k"`
	StopSequences []string           `json:"stop_sequences"`
	Metadata      struct {
		UserID string `json:"user_id"`
	} `json:"metadata"`
	Thinking     *anthropicThinking `json:"thinking"`
	Thread       jsontext.Value     `json:"thread"`        // of a beta
	OutputFormat *anthropicFormat   `json:"output_format"` // of a beta
	OutputConfig struct {
		Format *anthropicFormat `json:"format"`
	} `json:"output_config"`
}

type anthropicFormat struct {
	Type string `json:"type"`
}

type anthropicThinking struct {
	Type         string `json:"type"`
	BudgetTokens *int   `json:"budget_tokens"`
}

type anthropicMessage struct {
	Role    string            `json:"role"`
	Content textOrList[block] `json:"content"`
}

type anthropicTool struct {
	Type         string         `json:"type"`
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	InputSchema  jsontext.Value `json:"input_schema"`
	CacheControl jsontext.Value `json:"cache_control"`
}

type anthropicChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// block is one block of a content, with the fields of all types.
type block struct {
	Type      string            `json:"type"`
	Text      string            `json:"text"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Input     jsontext.Value    `json:"input"`
	ToolUseID string            `json:"tool_use_id"`
	Content   textOrList[block] `json:"content"`
	IsError   bool              `json:"is_error"`
	Thinking  string            `json:"thinking"`
	Signature *string           `json:"signature"`
	Data      string            `json:"data"`
	Source    blockSource       `json:"source"`
	Title     string            `json:"title"`
}

// plain returns the text of a content, with a line break between the texts of its blocks.
func plain(c *textOrList[block]) string {
	if c.kind != '[' {
		return c.text
	}
	texts := make([]string, len(c.list))
	for i := range c.list {
		texts[i] = c.list[i].Text
	}
	return joinTexts(texts, "\n")
}

// Decode implements Codec. Errors have the provider's status and type, and similar messages.
func (c AnthropicMessages) Decode(body []byte) (Call, *APIError) {
	return c.decode(body, true)
}

// DecodeCount parses a request to /v1/messages/count_tokens, to which the limits of answers do
// not apply.
func (c AnthropicMessages) DecodeCount(body []byte) (Call, *APIError) {
	return c.decode(body, false)
}

func (c AnthropicMessages) decode(body []byte, answer bool) (Call, *APIError) {
	var r messagesRequest
	if err := jsonv2.Unmarshal(body, &r); err != nil {
		return Call{}, anthropicDecodeError(err)
	}
	if given(r.Thread) {
		return Call{}, withoutThreads()
	}
	if err := r.check(c.Beta, answer); err != nil {
		return Call{}, err
	}
	return r.call(), nil
}

// withoutThreads declines a message thread, a conversation that the provider stores. The
// provider returns the same error if it cannot thread a request; its clients then send the whole
// conversation.
func withoutThreads() *APIError {
	e := refused("thread", "message threads are not supported by this scripted server; send the whole conversation")
	e.Declined = true
	e.Details = `{"error_code":"thread_unsupported_request","unsupported":["thread"]}`
	return e
}

// call returns the neutral form of a valid request.
func (r *messagesRequest) call() Call {
	c := Call{IncludeUsage: true, Request: llm.Request{
		Model:       r.Model,
		JSONMode:    r.OutputFormat != nil || r.OutputConfig.Format != nil,
		Stream:      r.Stream,
		Temperature: r.Temperature,
		Messages:    make([]llm.Message, 0, len(r.Messages)+1),
	}}
	if r.MaxTokens != nil {
		c.MaxTokens = *r.MaxTokens
	}
	if r.Metadata.UserID != "" {
		c.Tags = map[string]string{"user_id": r.Metadata.UserID}
	}
	if text := plain(&r.System); text != "" {
		c.Messages = append(c.Messages, llm.Message{Role: llm.System, Content: text})
	}
	for i := range r.Messages {
		c.Messages = r.Messages[i].neutral(c.Messages)
	}
	for _, t := range r.Tools {
		c.AnyTool = c.AnyTool || t.Name == "" // all tools of an MCP server
		c.Tools = append(c.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: json.RawMessage(t.InputSchema)})
	}
	return c
}

// neutral appends a message in neutral form. Each tool result becomes a separate message after
// the text of the same message: agents add reminders to results, and conditions on the last
// messages are about the results.
func (m *anthropicMessage) neutral(to []llm.Message) []llm.Message {
	n := llm.Message{Role: llm.Role(m.Role), Content: plain(&m.Content), Attachments: blockAttachments(m.Content.list)}
	var results []llm.Message
	for i := range m.Content.list {
		switch b := &m.Content.list[i]; b.Type {
		case blockToolUse:
			n.ToolCalls = append(n.ToolCalls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		case blockToolResult:
			results = append(results, llm.Message{
				Role: llm.ToolRole, Content: plain(&b.Content), ToolCallID: b.ToolUseID, ToolError: b.IsError,
				Attachments: blockAttachments(b.Content.list),
			})
		}
	}
	return withResults(to, n, results)
}

// withResults appends a message and the results of tools in it.
func withResults(to []llm.Message, n llm.Message, results []llm.Message) []llm.Message {
	if results == nil || n.Content != "" {
		to = append(to, n)
	} else if n.Attachments != nil { // they belong to the results
		last := &results[len(results)-1]
		last.Attachments = append(last.Attachments, n.Attachments...)
	}
	return append(to, results...)
}
