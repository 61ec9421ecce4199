package wire

import (
	"slices"
	"strconv"
	"strings"
)

// sseDone is the event that ends a stream of chunks.
const sseDone = "data: [DONE]\n\n"

// azureFirstChunk is the first chunk of Azure's streams, which has no choices, see
// https://learn.microsoft.com/azure/ai-services/openai/concepts/content-streaming.
const azureFirstChunk = `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,` +
	`"content_filter_results":{"hate":{"filtered":false,"severity":"safe"},"self_harm":{"filtered":false,"severity":"safe"},` +
	`"sexual":{"filtered":false,"severity":"safe"},"violence":{"filtered":false,"severity":"safe"}}}]}` + "\n\n"

// chunks is a stream of chat-completion chunks.
type chunks struct {
	*stream
	service service
	prefix  jsonText // of each chunk, before its choices
	index   int      // of the choice
	final   int      // index of the last choice
	// fields are further fields of each chunk, next those of the next one, and last those of the last one with a choice.
	fields, next, last jsonText
}

func (o OpenAIChat) encodeChunks(call *Call, c Completion) []Frame {
	service := o.service(call.Model)
	s := newChunks(service, call, c)
	if o.Root.Deployment != "" {
		s.buf = s.buf.raw(azureFirstChunk)
		s.frame()
	}
	for i, choice := range c.choices() {
		s.index = i
		s.choice(call, choice)
	}
	if call.IncludeUsage && service != mistral && (service != groq || !call.unasked) {
		s.buf = append(s.buf, s.prefix...).raw(`,"choices":[],"usage":`).chatUsage(c.reportedUsage()).raw("}\n\n")
		s.frame()
	}
	s.buf = s.buf.raw(sseDone)
	s.frame()
	return s.frames
}

// choice appends the chunks of one choice.
func (s *chunks) choice(call *Call, c Completion) {
	if c.Text == "" && len(c.ToolCalls) > 0 {
		s.chunk(`{"role":"assistant","content":null,"refusal":null}`, "")
	} else {
		s.chunk(`{"role":"assistant","content":"","refusal":null}`, "")
	}
	if field := s.service.thinkingField(); field != "" {
		s.pieces(`{"`+field+`":`, c.Thinking, `}`)
	}
	s.pieces(`{"content":`, c.Text, `}`)
	s.pieces(`{"refusal":`, c.Refusal, `}`)
	if call.legacy {
		s.functionCall(c)
	} else {
		s.toolCalls(call, c)
	}
	s.chunk(`{}`, call.chatFinish(c))
}

func (s *chunks) toolCalls(call *Call, c Completion) {
	for i, t := range c.ToolCalls {
		shape, open := shapeOf(call, t.Name), `{"tool_calls":[{"index":`+strconv.Itoa(i)
		written := ""
		if s.service == mistral { // its client wants the whole call in one chunk
			written = shape.written(t)
			s.skip(countPieces(written))
		}
		s.begin()
		s.buf = s.buf.raw(open).raw(`,"id":`).chatCall(shape, t, written).raw(`]}`)
		s.end("")
		if written != "" {
			continue
		}
		s.pieces(open+`,"`+shape.kind+`":{"`+shape.field+`":`, shape.written(t), `}}]}`)
	}
}

// functionCall appends the first tool call in the older form.
func (s *chunks) functionCall(c Completion) {
	if len(c.ToolCalls) == 0 {
		return
	}
	s.begin()
	s.buf = s.buf.raw(`{"function_call":{"name":`).quote(c.ToolCalls[0].Name).raw(`,"arguments":""}}`)
	s.end("")
	s.pieces(`{"function_call":{"arguments":`, c.ToolCalls[0].Arguments, `}}`)
}

func newChunks(service service, call *Call, c Completion) chunks {
	prefix := append(make(jsonText, 0, 220+len(c.ID)+len(c.Model)), "data: "...)
	s := chunks{
		service: service, final: len(c.More),
		prefix: prefix.chatHead(c, "chat.completion.chunk"),
	}
	if service != openRouter { // its client does not accept null in a chunk
		s.prefix = s.prefix.raw(`,"system_fingerprint":null`)
	}
	if call.IncludeUsage && !call.unasked && service != openRouter && service != mistral {
		s.fields = jsonText(`,"usage":null`)
	}
	s.next, s.last = s.fields, s.fields
	switch service {
	case mistral:
		s.last = jsonText(`,"usage":`).chatUsage(c.reportedUsage())
	case groq: // see https://github.com/groq/groq-typescript, ChatCompletionChunk.XGroq
		open := slices.Concat(s.fields, jsonText(`,"x_groq":{"id":`)).quote("req_" + strings.TrimPrefix(c.ID, openAIChatDialect.AnswerID))
		s.next = slices.Concat(open, jsonText("}"))
		s.last = slices.Concat(open, jsonText(`,"usage":`)).chatUsage(c.reportedUsage()).raw("}")
	default:
	}
	thinks := service.thinkingField() != ""
	pieces, calls, delta := 0, 0, 56 // bytes of a chunk beside its text
	for _, choice := range c.choices() {
		pieces += countPieces(choice.Text) + countPieces(choice.Refusal)
		if thinks {
			pieces += countPieces(choice.Thinking)
		}
		for _, t := range choice.ToolCalls {
			pieces += countPieces(shapeOf(call, t.Name).written(t))
			delta = 100
		}
		calls += len(choice.ToolCalls)
	}
	n := pieces + calls + 4
	s.stream = newStream(c, c.ID, pieces, n, n*(len(s.prefix)+len(s.fields)+delta+30)+outputLen(c)*9/8+400)
	return s
}

// begin opens a chunk up to its delta.
func (s *chunks) begin() {
	s.buf = append(s.buf, s.prefix...).raw(`,"choices":[{"index":`).int(s.index).raw(`,"delta":`)
}

// end closes a chunk after its delta.
func (s *chunks) end(finish string) {
	s.buf = s.buf.raw(`,"logprobs":null,"finish_reason":`).quoteOrNull(finish).raw(`}]`)
	fields := s.next
	s.next = s.fields
	if finish != "" && s.index == s.final {
		fields = s.last
	}
	s.buf = append(s.buf, fields...).raw("}\n\n")
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
