package wire

import (
	"strconv"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec. An answer without streaming is one frame after First and PerToken for
// each output token. A stream has a head at once and its first chunk after First; the time of all
// output tokens is spread evenly over the chunks with output. Both take equally long.
func (OpenAIChat) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	if call.Stream {
		return encodeChunks(&call, c)
	}
	frames := jsonFrames(c.ID, chatCompletion(&call, c))
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// chatCompletion returns the body of an answer without streaming.
func chatCompletion(call *Call, c Completion) jsonText {
	j := make(jsonText, 0, 640+outputLen(c)*9/8).chatHead(c, "chat.completion")
	j = j.raw(`,"choices":[{"index":0,"message":{"role":"assistant","content":`)
	if c.Text == "" && (c.Refusal != "" || len(c.ToolCalls) > 0) {
		j = j.raw("null")
	} else {
		j = j.quote(c.Text)
	}
	j = j.raw(`,"refusal":`).quoteOrNull(c.Refusal)
	if len(c.ToolCalls) > 0 {
		j = j.raw(`,"tool_calls":[`)
		for i, t := range c.ToolCalls {
			shape := shapeOf(call, t.Name)
			j = j.comma(i).raw(`{"id":`).chatCall(shape, t, shape.written(t))
		}
		j = j.raw("]")
	}
	return j.raw(`},"logprobs":null,"finish_reason":`).quote(string(c.Finish)).
		raw(`}],"usage":`).chatUsage(c.reportedUsage()).raw("}")
}

// chatHead opens an object with the fields of every answer and chunk.
func (j jsonText) chatHead(c Completion, object string) jsonText {
	return j.raw(`{"id":`).quote(c.ID).raw(`,"object":"`).raw(object).raw(`","created":`).unix(c.Created).
		raw(`,"model":`).quote(c.Model).raw(`,"service_tier":"default","system_fingerprint":null`)
}

// callShape is the form of a tool call in chat completions.
type callShape struct {
	kind  string // of the tool; also the field of the call
	field string // of the model's output
}

func shapeOf(call *Call, tool string) callShape {
	if call.kindOf(tool).item == itemCustomCall {
		return callShape{toolCustom, "input"}
	}
	return callShape{toolFunction, "arguments"}
}

// written returns the model's output: arguments in JSON, or the text for a custom tool.
func (s callShape) written(t llm.ToolCall) string {
	if s.kind == toolCustom {
		return customInput(t.Arguments)
	}
	return t.Arguments
}

// chatCall appends a tool call from its id's value on.
func (j jsonText) chatCall(s callShape, t llm.ToolCall, written string) jsonText {
	return j.quote(t.ID).raw(`,"type":"`).raw(s.kind).raw(`","`).raw(s.kind).raw(`":{"name":`).quote(t.Name).
		raw(`,"`).raw(s.field).raw(`":`).quote(written).raw(`}}`)
}

// chatUsage appends token counts. Unlike in llm.Usage, the prompt includes cached tokens.
func (j jsonText) chatUsage(u llm.Usage) jsonText {
	prompt := addUp(u.Input, u.CachedInput, u.CacheWrite)
	return j.raw(`{"prompt_tokens":`).int(prompt).raw(`,"completion_tokens":`).int(u.Output).
		raw(`,"total_tokens":`).int(addUp(prompt, u.Output)).
		raw(`,"prompt_tokens_details":{"cached_tokens":`).int(u.CachedInput).
		raw(`},"completion_tokens_details":{"reasoning_tokens":`).int(u.Reasoning).raw(`}}`)
}

// outputLen returns the approximate size of the model's output in bytes.
func outputLen(c Completion) int {
	n := len(c.Text) + len(c.Refusal)
	for _, t := range c.ToolCalls {
		n += len(t.ID) + len(t.Name) + len(t.Arguments) + 100
	}
	return n
}

// sseDone is the event that ends a stream of chunks.
const sseDone = "data: [DONE]\n\n"

// chunks is a stream of chat-completion chunks.
type chunks struct {
	*stream
	prefix jsonText // of each chunk, before its delta
	suffix string   // of each chunk, after its finish reason
}

func encodeChunks(call *Call, c Completion) []Frame {
	s := newChunks(call, c)
	if c.Text == "" && len(c.ToolCalls) > 0 {
		s.chunk(`{"role":"assistant","content":null,"refusal":null}`, "")
	} else {
		s.chunk(`{"role":"assistant","content":"","refusal":null}`, "")
	}
	s.pieces(`{"content":`, c.Text, `}`)
	s.pieces(`{"refusal":`, c.Refusal, `}`)
	for i, t := range c.ToolCalls {
		shape, open := shapeOf(call, t.Name), `{"tool_calls":[{"index":`+strconv.Itoa(i)
		s.begin()
		s.buf = s.buf.raw(open).raw(`,"id":`).chatCall(shape, t, "").raw(`]}`)
		s.end("")
		s.pieces(open+`,"`+shape.kind+`":{"`+shape.field+`":`, shape.written(t), `}}]}`)
	}
	s.chunk(`{}`, string(c.Finish))
	if call.IncludeUsage {
		s.buf = s.buf.raw("data: ").chatHead(c, "chat.completion.chunk").
			raw(`,"choices":[],"usage":`).chatUsage(c.reportedUsage()).raw("}\n\n")
		s.frame()
	}
	s.buf = s.buf.raw(sseDone)
	s.frame()
	return s.frames
}

func newChunks(call *Call, c Completion) chunks {
	prefix := append(make(jsonText, 0, 220+len(c.ID)+len(c.Model)), "data: "...)
	s := chunks{
		prefix: prefix.chatHead(c, "chat.completion.chunk").raw(`,"choices":[{"index":0,"delta":`),
		suffix: "}]}\n\n",
	}
	if call.IncludeUsage {
		s.suffix = "}],\"usage\":null}\n\n"
	}
	pieces, delta := countPieces(c.Text)+countPieces(c.Refusal), 56 // bytes of a chunk beside its text
	for _, t := range c.ToolCalls {
		pieces += countPieces(shapeOf(call, t.Name).written(t))
		delta = 100
	}
	n := pieces + len(c.ToolCalls) + 4
	s.stream = newStream(c, c.ID, pieces, n, n*(len(s.prefix)+len(s.suffix)+delta)+outputLen(c)*9/8+400)
	return s
}

// begin opens a chunk up to its delta.
func (s *chunks) begin() { s.buf = append(s.buf, s.prefix...) }

// end closes a chunk after its delta.
func (s *chunks) end(finish string) {
	s.buf = s.buf.raw(`,"logprobs":null,"finish_reason":`).quoteOrNull(finish).raw(s.suffix)
	s.frame()
}

func (s *chunks) chunk(delta, finish string) {
	s.begin()
	s.buf = s.buf.raw(delta)
	s.end(finish)
}

// pieces appends a chunk for each piece of text: before, the quoted piece, after.
func (s *chunks) pieces(before, text, after string) {
	for piece := range piecesOf(text) {
		s.skip(1)
		s.begin()
		s.buf = s.buf.raw(before).quote(piece).raw(after)
		s.end("")
	}
}
