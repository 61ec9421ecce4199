package wire

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec, with the timing of OpenAIChat.
func (AnthropicMessages) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	var frames []Frame
	if call.Stream {
		frames = encodeMessageEvents(c)
	} else {
		frames = jsonFrames("", message(c))
		frames[0].Delay = addUp(c.First, generation(c))
	}
	frames[0].Header["Request-Id"] = []string{"req_" + c.ID}
	return frames
}

// message returns the body of an answer without streaming.
func message(c Completion) jsonText {
	j := make(jsonText, 0, 560+outputLen(c)*9/8).messageHead(c)
	for i, part := range c.parts() {
		j = j.comma(i)
		switch part.kind {
		case thinkingPart:
			j = j.raw(`{"type":"thinking","thinking":`).quote(part.text).raw(`,"signature":`).quote(signature(part.text)).raw(`}`)
		case textPart, refusalPart:
			j = j.raw(`{"type":"text","text":`).quote(part.text).raw(`}`)
		case callPart:
			j = j.toolUse(part.call, toolInput(part.call.Arguments))
		}
	}
	u := c.reportedUsage()
	return j.raw(`],"stop_reason":`).quote(stopReason(c)).raw(`,"stop_sequence":null,"usage":`).messageUsage(u, u.Output).raw(`}`)
}

// messageHead appends an answer up to its list of blocks.
func (j jsonText) messageHead(c Completion) jsonText {
	return j.raw(`{"id":`).quote(c.ID).raw(`,"type":"message","role":"assistant","model":`).quote(c.Model).raw(`,"content":[`)
}

// toolUse appends a block that calls a tool; input is JSON.
func (j jsonText) toolUse(t *llm.ToolCall, input string) jsonText {
	return j.raw(`{"type":"tool_use","id":`).quote(t.ID).raw(`,"name":`).quote(t.Name).raw(`,"input":`).raw(input).raw(`}`)
}

// toolInput returns the arguments of a tool call as a JSON value: the output of the model or, if
// that is not JSON, a string of it. Output that is itself a JSON string is quoted once more to
// keep the two cases distinct.
func toolInput(arguments string) string {
	if arguments == "" {
		return "{}"
	}
	if v := jsontext.Value(arguments); v.IsValid() && v.Kind() != '"' {
		return arguments
	}
	return string(jsonText(nil).quote(arguments))
}

// messageUsage appends token counts. As in llm.Usage, the input excludes cached tokens.
func (j jsonText) messageUsage(u llm.Usage, output int) jsonText {
	j = j.raw(`{"input_tokens":`).int(u.Input).raw(`,"cache_creation_input_tokens":`).int(u.CacheWrite).
		raw(`,"cache_read_input_tokens":`).int(u.CachedInput).raw(`,"output_tokens":`).int(output)
	if output > 0 && u.Reasoning > 0 && output >= u.Reasoning {
		j = j.raw(`,"output_tokens_details":{"thinking_tokens":`).int(u.Reasoning).raw(`}`)
	}
	return j.raw(`}`)
}

// encodeMessageEvents returns the events of a streamed answer.
func encodeMessageEvents(c Completion) []Frame {
	parts := c.parts()
	s := newEvents(c, "", parts, 130, 3*len(parts)+5)
	u := c.reportedUsage()

	s.begin("message_start")
	s.buf = s.buf.raw(`,"message":`).messageHead(c).
		raw(`],"stop_reason":null,"stop_sequence":null,"usage":`).messageUsage(u, min(1, u.Output)).raw("}")
	s.end()
	for i := range parts {
		s.block(i, &parts[i])
		if i == 0 {
			s.event("ping", "")
		}
	}
	s.begin("message_delta")
	s.buf = s.buf.raw(`,"delta":{"stop_reason":`).quote(stopReason(c)).raw(`,"stop_sequence":null},"usage":`).messageUsage(u, u.Output)
	s.end()
	s.event("message_stop", "")
	return s.frames
}

// block appends the events of one block.
func (s *stream) block(i int, p *part) {
	index := `,"index":` + strconv.Itoa(i)
	s.begin("content_block_start")
	s.buf = s.buf.raw(index).raw(`,"content_block":`)
	delta := ""
	switch p.kind {
	case thinkingPart:
		s.buf = s.buf.raw(`{"type":"thinking","thinking":"","signature":""}`)
		delta = `{"type":"thinking_delta","thinking":`
	case textPart, refusalPart:
		s.buf = s.buf.raw(`{"type":"text","text":""}`)
		delta = `{"type":"text_delta","text":`
	case callPart:
		s.buf = s.buf.toolUse(p.call, "{}")
		delta = `{"type":"input_json_delta","partial_json":`
	}
	s.end()
	s.pieces("content_block_delta", index+`,"delta":`+delta, p.text, "}")
	if p.kind == thinkingPart {
		s.event("content_block_delta", index+`,"delta":{"type":"signature_delta","signature":"`+signature(p.text)+`"}`)
	}
	s.event("content_block_stop", index)
}
