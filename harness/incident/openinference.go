package incident

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// spanKind is the attribute that each span of OpenInference has.
const spanKind = "openinference.span.kind"

// textTypes are the types of parts with a text; the longer ones are of OpenAI's Responses API.
var textTypes = []string{"text", "input_text", "output_text"}

// readOpenInference reads the attributes llm.input_messages.0.message.content, ... of OpenInference.
func readOpenInference(sp *span, t *Turn) {
	var messages []llm.Message
	for i := range maxIndexed {
		at := fmt.Sprintf("llm.input_messages.%d.message.", i)
		role := sp.attr(at + "role").text()
		if role == "" {
			break
		}
		c := flattened(sp, at)
		messages = append(messages, llm.Message{
			Role: roleOf(role), Content: c.text(), ToolCalls: c.calls, ToolCallID: sp.attr(at + "tool_call_id").text(),
			Attachments: c.attachments(),
		})
	}
	if messages != nil {
		t.Messages = messages
	}
	if c := flattened(sp, "llm.output_messages.0.message."); len(c.texts)+len(c.calls)+len(c.unread) > 0 {
		t.answer(c, "")
	}
}

// flattened returns the content of a message with one attribute for each part.
func flattened(sp *span, at string) content {
	var c content
	whole := sp.attr(at + "content").text()
	if whole != "" {
		c.texts = append(c.texts, whole)
	}
	for i := range maxIndexed {
		part := fmt.Sprintf("%scontents.%d.", at, i)
		kind, text := sp.attr(part+"message_content.type").text(), sp.attr(part+"message_content.text").text()
		if kind == "" {
			break
		}
		switch {
		case slices.Contains(textTypes, kind) && whole == "":
			c.texts = append(c.texts, text)
		case slices.Contains(textTypes, kind): // again
		case kind == "reasoning":
			c.thinking = append(c.thinking, text)
		case kind == "tool_use":
			c.calls = append(c.calls, flattenedCall(sp, part))
		default:
			c.unread = append(c.unread, kind)
		}
	}
	for i := range maxIndexed {
		call := flattenedCall(sp, fmt.Sprintf("%stool_calls.%d.", at, i))
		if call.Name == "" {
			break
		}
		if !slices.ContainsFunc(c.calls, func(known llm.ToolCall) bool { return known.ID == call.ID && call.ID != "" }) {
			c.calls = append(c.calls, call)
		}
	}
	return c
}

func flattenedCall(sp *span, at string) llm.ToolCall {
	at += "tool_call."
	return llm.ToolCall{
		ID: sp.attr(at + "id").text(), Name: sp.attr(at + "function.name").text(),
		Arguments: strings.TrimSpace(sp.attr(at + "function.arguments").words()),
	}
}
