package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec. The times are those of OpenAIChat.
func (AnthropicMessages) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	if call.Stream {
		return encodeMessagesStream(c)
	}
	frames := jsonFrames("", appendMessage(nil, c))
	frames[0].Header["Request-Id"] = requestID(c.ID)
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// requestID is the value of the header that names a request.
func requestID(answer string) []string { return []string{"req_" + answer} }

// appendMessage appends the body of an answer that is not streamed.
func appendMessage(b []byte, c Completion) []byte {
	if b == nil {
		b = make([]byte, 0, 560+outputLen(c)*9/8)
	}
	b = appendMessagePrefix(b, c)
	for i, part := range c.parts() {
		b = append(b, listSeparator(i, "")...)
		switch part.kind {
		case thinkingPart:
			b = append(b, `{"type":"thinking","thinking":`...)
			b = appendString(b, part.text)
			b = append(b, `,"signature":`...)
			b = appendString(b, signature(part.text))
			b = append(b, '}')
		case textPart, refusalPart:
			b = append(b, `{"type":"text","text":`...)
			b = appendString(b, part.text)
			b = append(b, '}')
		case callPart:
			b = appendToolUse(b, part.call, toolInput(part.call.Arguments))
		}
	}
	b = append(b, `],"stop_reason":`...)
	b = appendString(b, stopReason(c))
	b = append(b, `,"stop_sequence":null,"usage":`...)
	return append(appendMessagesUsage(b, c.reportedUsage(), c.reportedUsage().Output), '}')
}

// appendMessagePrefix appends an answer up to its list of blocks.
func appendMessagePrefix(b []byte, c Completion) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, c.ID)
	b = append(b, `,"type":"message","role":"assistant","model":`...)
	b = appendString(b, c.Model)
	return append(b, `,"content":[`...)
}

// appendToolUse appends a block that calls a tool; input is JSON.
func appendToolUse(b []byte, t *llm.ToolCall, input []byte) []byte {
	b = append(b, `{"type":"tool_use","id":`...)
	b = appendString(b, t.ID)
	b = append(b, `,"name":`...)
	b = appendString(b, t.Name)
	b = append(b, `,"input":`...)
	return append(append(b, input...), '}')
}

// toolInput is a tool call's arguments as a member of a body that has to be JSON:
// what the model wrote, or where that is no JSON, the text of it. A text that is
// itself JSON is quoted once more, so that both can be distinguished.
func toolInput(arguments string) []byte {
	if arguments == "" {
		return []byte("{}")
	}
	if v := jsontext.Value(arguments); v.IsValid() && v.Kind() != '"' {
		return v
	}
	return appendString(nil, arguments)
}

// appendMessagesUsage appends token counts as Anthropic gives them: cached tokens
// are no part of the input's, as in llm.Usage.
func appendMessagesUsage(b []byte, u llm.Usage, output int) []byte {
	b = append(b, `{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Input), 10)
	b = append(b, `,"cache_creation_input_tokens":`...)
	b = strconv.AppendInt(b, int64(u.CacheWrite), 10)
	b = append(b, `,"cache_read_input_tokens":`...)
	b = strconv.AppendInt(b, int64(u.CachedInput), 10)
	b = append(b, `,"output_tokens":`...)
	b = strconv.AppendInt(b, int64(output), 10)
	if output > 0 && u.Reasoning > 0 && output >= u.Reasoning {
		b = append(b, `,"output_tokens_details":{"thinking_tokens":`...)
		b = strconv.AppendInt(b, int64(u.Reasoning), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}

// encodeMessagesStream builds the events of a streamed answer.
func encodeMessagesStream(c Completion) []Frame {
	parts := c.parts()
	e := newEvents(c, parts, 130, 3*len(parts)+5)
	e.frames[0].Header["Request-Id"] = requestID(c.ID)

	e.begin("message_start")
	e.str(`,"message":`)
	e.buf = appendMessagePrefix(e.buf, c)
	e.str(`],"stop_reason":null,"stop_sequence":null,"usage":`)
	e.buf = appendMessagesUsage(e.buf, c.reportedUsage(), min(1, c.reportedUsage().Output))
	e.str("}")
	e.end()
	for i := range parts {
		e.block(i, &parts[i])
		if i == 0 {
			e.begin("ping")
			e.end()
		}
	}
	e.begin("message_delta")
	e.str(`,"delta":{"stop_reason":`)
	e.quote(stopReason(c))
	e.str(`,"stop_sequence":null},"usage":`)
	e.buf = appendMessagesUsage(e.buf, c.reportedUsage(), c.reportedUsage().Output)
	e.end()
	e.begin("message_stop")
	e.end()
	return e.frames
}

// block appends the events of one block.
func (e *events) block(i int, p *part) {
	index := `,"index":` + strconv.Itoa(i)
	e.begin("content_block_start")
	e.str(index)
	e.str(`,"content_block":`)
	delta := ""
	switch p.kind {
	case thinkingPart:
		e.str(`{"type":"thinking","thinking":"","signature":""}`)
		delta = `{"type":"thinking_delta","thinking":`
	case textPart, refusalPart:
		e.str(`{"type":"text","text":""}`)
		delta = `{"type":"text_delta","text":`
	case callPart:
		e.buf = appendToolUse(e.buf, p.call, []byte("{}"))
		delta = `{"type":"input_json_delta","partial_json":`
	}
	e.end()
	e.pieces("content_block_delta", index+`,"delta":`+delta, p.text, "}")
	if p.kind == thinkingPart {
		e.begin("content_block_delta")
		e.str(index)
		e.str(`,"delta":{"type":"signature_delta","signature":`)
		e.quote(signature(p.text))
		e.str("}")
		e.end()
	}
	e.begin("content_block_stop")
	e.str(index)
	e.end()
}
