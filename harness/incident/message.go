package incident

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// content is what a message contains, in any of the forms that providers and conventions use.
type content struct {
	texts    []string
	thinking []string
	refusal  string
	calls    []llm.ToolCall
	results  []llm.Message // of tools
	unread   []string      // types of the other parts, such as images
}

func (c *content) text() string { return strings.Join(c.texts, "\n") }

// messagesOf reads a list of messages, or one. Forms: OpenAI's and Anthropic's APIs, the Vercel AI SDK,
// and the parts of OpenTelemetry's semantic conventions.
func messagesOf(v *value) []llm.Message {
	if v.is('"') {
		return []llm.Message{{Role: llm.User, Content: v.text()}}
	}
	if v.at("messages") != nil {
		v = v.at("messages")
	}
	items := v.list()
	if v.is('{') {
		items = []*value{v}
	}
	var all []llm.Message
	for _, item := range items {
		all = append(all, messageOf(item)...)
	}
	return all
}

// messageOf reads one message. Results of tools become messages of their own.
func messageOf(v *value) []llm.Message {
	c := contentOf(v)
	role := roleOf(v.at("role").text())
	if role == llm.ToolRole && len(c.results) == 0 {
		return []llm.Message{{Role: role, Content: c.text(), ToolCallID: v.first("tool_call_id", "id", "toolCallId").text()}}
	}
	all := c.results
	if len(all) > 0 && c.text() == "" && len(c.calls) == 0 {
		return all
	}
	return append(all, llm.Message{Role: role, Content: c.text(), ToolCalls: c.calls, Attachments: c.attachments()})
}

// attachments returns the parts of a prompt's message that import does not read, by their types.
func (c *content) attachments() []llm.Attachment {
	var all []llm.Attachment
	for _, kind := range c.unread {
		all = append(all, llm.Attachment{Kind: kind})
	}
	return all
}

func roleOf(role string) llm.Role {
	switch role {
	case "model", "ai":
		return llm.Assistant
	case "human", "":
		return llm.User
	case "function":
		return llm.ToolRole
	}
	return llm.Role(role)
}

// contentOf reads the content of a message, or of a choice that has a message.
func contentOf(v *value) content {
	if m := v.at("message"); m.is('{') {
		v = m
	}
	var c content
	body := v.first("parts", "content", "message")
	switch {
	case body.is('{'):
		c.add(body)
	case body.is('['):
		for _, part := range body.list() {
			c.add(part)
		}
	case body.text() != "":
		c.texts = append(c.texts, body.text())
	}
	for _, call := range v.first("tool_calls", "toolCalls").list() {
		c.calls = append(c.calls, callOf(call))
	}
	if thought := v.first("reasoning_content", "reasoning").text(); thought != "" {
		c.thinking = append(c.thinking, thought)
	}
	if c.refusal == "" {
		c.refusal = v.at("refusal").text()
	}
	return c
}

// add reads one part.
func (c *content) add(part *value) {
	if part.is('"') {
		c.texts = append(c.texts, part.text())
		return
	}
	switch kind := strings.ReplaceAll(part.at("type").text(), "-", "_"); kind {
	case "text", "input_text", "output_text", "":
		if t := part.first("text", "content"); t != nil {
			c.texts = append(c.texts, t.text())
		}
	case "reasoning", "thinking", "redacted_thinking":
		if t := part.first("thinking", "text", "content").text(); t != "" {
			c.thinking = append(c.thinking, t)
		}
	case "refusal":
		c.refusal = part.first("refusal", "text").text()
	case "tool_call", "tool_use", "function_call", "custom_tool_call":
		c.calls = append(c.calls, callOf(part))
	case "tool_call_response", "tool_result", "function_call_output":
		c.results = append(c.results, llm.Message{
			Role: llm.ToolRole, ToolCallID: part.first("tool_use_id", "toolCallId", "call_id", "id").text(),
			Content: resultOf(part.first("response", "result", "content", "output")),
		})
	default:
		if !slices.Contains(c.unread, kind) {
			c.unread = append(c.unread, kind)
		}
	}
}

// callOf reads a tool call.
func callOf(v *value) llm.ToolCall {
	f := v
	if v.at("function") != nil {
		f = v.at("function")
	}
	return llm.ToolCall{
		ID: v.first("toolCallId", "call_id", "tool_call_id", "id").text(), Name: f.first("name", "toolName").text(),
		Arguments: f.first("arguments", "input", "args").words(),
	}
}

// resultOf reads the result of a tool: a text, parts, or a value that an agent sends as JSON.
func resultOf(v *value) string {
	if v.is('{') && v.at("type") != nil && v.at("value") != nil { // of the Vercel AI SDK
		return v.at("value").words()
	}
	if !v.is('[') {
		return v.words()
	}
	var c content
	for _, part := range v.list() {
		if part.at("type") == nil {
			return v.words() // a list that is not one of parts
		}
		c.add(part)
	}
	return c.text()
}

// finishOf returns the finish reason in the words of OpenAI's API; "" if it is another one.
func finishOf(reason string) llm.FinishReason {
	switch strings.ReplaceAll(strings.ToLower(reason), "-", "_") {
	case "stop", "end_turn", "stop_sequence":
		return llm.FinishStop
	case "length", "max_tokens", "max_output_tokens":
		return llm.FinishLength
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return llm.FinishToolCalls
	case "content_filter", "refusal", "safety":
		return llm.FinishContentFilter
	}
	return ""
}

// answer puts the content of an answer into a turn. An answer without any content is missing.
func (t *Turn) answer(c content, finish string) {
	t.Reply.Text, t.Reply.ToolCalls = c.text(), c.calls
	t.Thinking = strings.Join(c.thinking, "\n")
	t.Reply.Finish = finishOf(finish)
	t.Unread = c.unread
	t.Missing = len(c.texts) == 0 && len(c.calls) == 0
	if t.Missing && c.refusal != "" {
		t.Reply.Text, t.Reply.Finish, t.Missing = c.refusal, llm.FinishContentFilter, false
	}
}
