package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec, with the timing of OpenAIChat.
func (Converse) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	var frames []Frame
	if call.Stream {
		frames = converseEvents(c)
	} else {
		frames = jsonFrames("", converseBody(c))
		frames[0].Delay = addUp(c.First, generation(c))
	}
	frames[0].Header["X-Amzn-Requestid"] = []string{c.ID}
	return frames
}

// converseBody returns the body of an answer without streaming.
func converseBody(c Completion) jsonText {
	j := make(jsonText, 0, 400+outputLen(c)*9/8).raw(`{"output":{"message":{"role":"assistant","content":[`)
	for i, p := range c.parts() {
		j = j.comma(i)
		switch p.kind {
		case thinkingPart:
			j = j.raw(`{"reasoningContent":{"reasoningText":{"text":`).quote(p.text).
				raw(`,"signature":"`).raw(signature(p.text)).raw(`"}}}`)
		case textPart, refusalPart:
			j = j.raw(`{"text":`).quote(p.text).raw(`}`)
		case callPart:
			j = j.converseCall(p.call).raw(`,"input":`).raw(toolInput(p.text)).raw(`}}`)
		}
	}
	return j.raw(`]}},"stopReason":"`).raw(converseStop(c)).raw(`",`).converseMetadata(c).raw(`}`)
}

// converseCall opens a block that calls a tool.
func (j jsonText) converseCall(t *llm.ToolCall) jsonText {
	return j.raw(`{"toolUse":{"toolUseId":`).quote(t.ID).raw(`,"name":`).quote(t.Name)
}

func (j jsonText) converseMetadata(c Completion) jsonText {
	latency := addUp(c.First, generation(c)) / time.Millisecond
	return j.raw(`"usage":`).converseUsage(c.reportedUsage()).raw(`,"metrics":{"latencyMs":`).int(int(latency)).raw(`}`)
}

// converseEvents returns the events of a streamed answer.
func converseEvents(c Completion) []Frame {
	parts := c.parts()
	s := newEvents(c, "", parts, 220, 3*len(parts)+4)
	s.frames[0].Header = http.Header{"Content-Type": {eventStreamType}}
	s.amazonEvent("messageStart", jsonText(`{"role":"assistant"}`))
	s.frame()
	for i := range parts {
		s.converseBlock(i, &parts[i])
	}
	s.amazonEvent("messageStop", jsonText(`{"stopReason":"`).raw(converseStop(c)).raw(`"}`))
	s.amazonEvent("metadata", jsonText(`{`).converseMetadata(c).raw(`}`))
	s.frame()
	return s.frames
}

// amazonEvent appends an event as a message of an event stream.
func (s *stream) amazonEvent(name string, payload jsonText) {
	s.buf = appendMessage(s.buf, eventHeaders("event", name), payload)
}

// converseBlock appends the events of one block. Only tool calls have a start.
func (s *stream) converseBlock(i int, p *part) {
	index := `{"contentBlockIndex":` + strconv.Itoa(i)
	before, after := `{"text":`, `}`
	switch p.kind {
	case thinkingPart:
		before, after = `{"reasoningContent":{"text":`, `}}`
	case callPart:
		s.amazonEvent("contentBlockStart", jsonText(index).raw(`,"start":`).converseCall(p.call).raw(`}}}`))
		s.frame()
		before, after = `{"toolUse":{"input":`, `}}`
	case textPart, refusalPart:
	}
	delta := func(text string) {
		s.amazonEvent("contentBlockDelta", jsonText(index).raw(`,"delta":`).raw(text).raw(`}`))
		s.frame()
	}
	for piece := range piecesOf(p.text) {
		s.skip(1)
		delta(string(jsonText(before).quote(piece).raw(after)))
	}
	if p.kind == thinkingPart {
		delta(`{"reasoningContent":{"signature":"` + signature(p.text) + `"}}`)
	}
	s.amazonEvent("contentBlockStop", jsonText(index).raw(`}`))
	s.frame()
}
