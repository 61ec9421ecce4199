package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec. An answer that is not streamed is one frame after
// First and PerToken for each output token. A streamed one has a head at once,
// its first chunk after First, and the time of all output tokens spread evenly
// over the chunks that carry output, so that both take equally long.
func (OpenAIChat) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	if call.Stream {
		return encodeStream(call, c)
	}
	frames := jsonFrames(c.ID, appendCompletion(&call, c))
	frames[0].Delay = addUp(c.First, generation(c))
	return frames
}

// appendCompletion returns the body of an answer that is not streamed.
func appendCompletion(call *Call, c Completion) []byte {
	b := make([]byte, 0, 640+outputLen(c)*9/8)
	b = appendPrefix(b, c, "chat.completion")
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	if c.Text == "" && (c.Refusal != "" || len(c.ToolCalls) > 0) {
		b = append(b, "null"...)
	} else {
		b = appendString(b, c.Text)
	}
	b = append(b, `,"refusal":`...)
	b = appendStringOrNull(b, c.Refusal)
	for i, t := range c.ToolCalls {
		b = append(b, listSeparator(i, `,"tool_calls":[`)...)
		b = append(b, `{"id":`...)
		shape := shapeOf(call, t.Name)
		b = shape.appendCall(b, t, shape.written(t))
	}
	if len(c.ToolCalls) > 0 {
		b = append(b, ']')
	}
	b = append(b, `},"logprobs":null,"finish_reason":`...)
	b = appendString(b, string(c.Finish))
	b = append(b, `}],"usage":`...)
	b = appendUsage(b, c.reportedUsage())
	return append(b, '}')
}

// appendPrefix opens an object and appends what every answer and chunk share.
func appendPrefix(b []byte, c Completion, object string) []byte {
	b = append(b, `{"id":`...)
	b = appendString(b, c.ID)
	b = append(b, `,"object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, unixSeconds(c.Created), 10)
	b = append(b, `,"model":`...)
	b = appendString(b, c.Model)
	return append(b, `,"service_tier":"default","system_fingerprint":null`...)
}

// callShape is the form of a call of one kind of tool in chat completions.
type callShape struct {
	kind  string // of the tool; also the member with the call
	field string // the member with what the model wrote
}

// shapeOf returns the shape of a call of the tool of that name.
func shapeOf(call *Call, tool string) callShape {
	if call.kindOf(tool).item == itemCustomCall {
		return callShape{toolCustom, "input"}
	}
	return callShape{toolFunction, "arguments"}
}

// written returns what the model wrote: arguments in JSON, or the text that a custom
// tool takes.
func (s callShape) written(t llm.ToolCall) string {
	if s.kind == toolCustom {
		return customInput(t.Arguments)
	}
	return t.Arguments
}

// appendCall appends a tool call from its id's value on.
func (s callShape) appendCall(b []byte, t llm.ToolCall, written string) []byte {
	b = appendString(b, t.ID)
	b = append(b, `,"type":"`...)
	b = append(b, s.kind...)
	b = append(b, `","`...)
	b = append(b, s.kind...)
	b = append(b, `":{"name":`...)
	b = appendString(b, t.Name)
	b = append(b, `,"`...)
	b = append(b, s.field...)
	b = append(b, `":`...)
	b = appendString(b, written)
	return append(b, `}}`...)
}

// appendUsage appends token counts as OpenAI gives them: cached tokens are part
// of the prompt's there, unlike in llm.Usage.
func appendUsage(b []byte, u llm.Usage) []byte {
	prompt := addUp(u.Input, u.CachedInput, u.CacheWrite)
	b = append(b, `{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Output), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(addUp(prompt, u.Output)), 10)
	b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
	b = strconv.AppendInt(b, int64(u.CachedInput), 10)
	b = append(b, `},"completion_tokens_details":{"reasoning_tokens":`...)
	b = strconv.AppendInt(b, int64(u.Reasoning), 10)
	return append(b, `}}`...)
}

func listSeparator(i int, open string) string {
	if i == 0 {
		return open
	}
	return ","
}

// outputLen is the number of bytes that the model wrote.
func outputLen(c Completion) int {
	n := len(c.Text) + len(c.Refusal)
	for _, t := range c.ToolCalls {
		n += len(t.ID) + len(t.Name) + len(t.Arguments) + 100
	}
	return n
}

// stream builds the frames of a streamed answer. All chunks share one buffer.
type stream struct {
	frames []Frame
	buf    []byte
	// prefix and suffix are what each chunk has before its delta and after its
	// finish reason.
	prefix []byte
	suffix string
	// perPiece is the time that a chunk with output takes; wait is what has to
	// pass before the next chunk.
	perPiece, wait time.Duration
}

func encodeStream(call Call, c Completion) []Frame {
	pieces := countPieces(c.Text) + countPieces(c.Refusal)
	for _, t := range c.ToolCalls {
		pieces += countPieces(shapeOf(&call, t.Name).written(t))
	}
	s := newStream(call, c, pieces)
	s.pieces(`{"content":`, c.Text, `}`)
	s.pieces(`{"refusal":`, c.Refusal, `}`)
	for i, t := range c.ToolCalls {
		s.toolCall(i, t, shapeOf(&call, t.Name))
	}
	s.begin()
	s.buf = append(s.buf, `{}`...)
	s.end(string(c.Finish))
	if call.IncludeUsage {
		s.usage(c)
	}
	s.frame(append(s.buf[len(s.buf):], sseDone...))
	return s.frames
}

// newStream begins a stream with its head and the chunk that gives the role.
func newStream(call Call, c Completion, pieces int) *stream {
	s := &stream{suffix: "}]}\n\n", wait: max(0, c.First)}
	s.prefix = append(make([]byte, 0, 220+len(c.ID)+len(c.Model)), "data: "...)
	s.prefix = appendPrefix(s.prefix, c, "chat.completion.chunk")
	s.prefix = append(s.prefix, `,"choices":[{"index":0,"delta":`...)
	if call.IncludeUsage {
		s.suffix = "}],\"usage\":null}\n\n"
	}
	delta := 56 // of a chunk, beside its text; a guess too low costs one more buffer
	if len(c.ToolCalls) > 0 {
		delta = 100
	}
	chunks := pieces + len(c.ToolCalls) + 4
	s.frames = make([]Frame, 0, chunks+1)
	s.buf = make([]byte, 0, chunks*(len(s.prefix)+len(s.suffix)+delta)+outputLen(c)*9/8+400)

	header := head(sseType, c.ID, -1)
	header["Cache-Control"] = []string{"no-cache"}
	s.frames = append(s.frames, Frame{Status: http.StatusOK, Header: header})
	s.begin()
	switch {
	case c.Text == "" && len(c.ToolCalls) > 0:
		s.buf = append(s.buf, `{"role":"assistant","content":null,"refusal":null}`...)
	default:
		s.buf = append(s.buf, `{"role":"assistant","content":"","refusal":null}`...)
	}
	s.end("")

	// What no piece of output can carry comes before the next chunk.
	total := generation(c)
	s.perPiece = total / time.Duration(max(1, pieces))
	s.wait = total - s.perPiece*time.Duration(pieces)
	return s
}

// begin opens a chunk up to its delta.
func (s *stream) begin() {
	s.buf = append(s.buf[len(s.buf):], s.prefix...)
}

// end closes the chunk after its delta and makes it a frame.
func (s *stream) end(finish string) {
	s.buf = append(s.buf, `,"logprobs":null,"finish_reason":`...)
	s.buf = appendStringOrNull(s.buf, finish)
	s.frame(append(s.buf, s.suffix...))
}

func (s *stream) frame(data []byte) {
	s.buf = data
	s.frames = append(s.frames, Frame{Delay: s.wait, Data: data[:len(data):len(data)]})
	s.wait = 0
}

// pieces appends a chunk for each piece of text, between open and shut.
func (s *stream) pieces(open, text, shut string) {
	for text != "" {
		n := nextPiece(text)
		s.begin()
		s.buf = append(s.buf, open...)
		s.buf = appendString(s.buf, text[:n])
		s.buf = append(s.buf, shut...)
		s.wait += s.perPiece
		s.end("")
		text = text[n:]
	}
}

// toolCall appends a chunk with a call's id and name, then its arguments.
func (s *stream) toolCall(i int, t llm.ToolCall, shape callShape) {
	open := `{"tool_calls":[{"index":` + strconv.Itoa(i)
	s.begin()
	s.buf = append(s.buf, open...)
	s.buf = append(s.buf, `,"id":`...)
	s.buf = shape.appendCall(s.buf, t, "")
	s.buf = append(s.buf, `]}`...)
	s.end("")
	s.pieces(open+`,"`+shape.kind+`":{"`+shape.field+`":`, shape.written(t), `}}]}`)
}

// usage appends the chunk that has the usage and no choice.
func (s *stream) usage(c Completion) {
	b := s.buf[len(s.buf):]
	b = append(b, "data: "...)
	b = appendPrefix(b, c, "chat.completion.chunk")
	b = append(b, `,"choices":[],"usage":`...)
	b = appendUsage(b, c.reportedUsage())
	s.frame(append(b, "}\n\n"...))
}
