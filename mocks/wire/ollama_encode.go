package wire

import (
	"bytes"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Encode implements Codec, with the timing of OpenAIChat, but the first line has output. In a stream
// a tool call is one line, and the last line has the reason and the usage.
func (o Ollama) Encode(call Call, c Completion) []Frame {
	c.Finish = c.FinishReason()
	w := ollamaWriter{Ollama: o, head: ollamaHead(c), parts: c.parts()}
	if call.Stream {
		return w.stream(c)
	}
	body := w.whole(c)
	return []Frame{{
		Delay: addUp(c.First, generation(c)), Status: http.StatusOK, Header: head(ollamaJSON, "", len(body)), Data: body,
	}}
}

// ollamaWriter encodes an answer.
type ollamaWriter struct {
	Ollama
	head  string // of each object
	parts []part
}

func ollamaHead(c Completion) string {
	created := time.Unix(unixSeconds(c.Created), 0).UTC().Format(time.RFC3339)
	return string(jsonText(`{"model":`).quote(c.Model).raw(`,"created_at":`).quote(created))
}

// ollamaEnds reports whether a line is the last one of a stream.
func ollamaEnds(line []byte) bool { return bytes.Contains(line, []byte(`,"done":true,"done_reason":`)) }

// whole returns the body of an answer without streaming.
func (w *ollamaWriter) whole(c Completion) jsonText {
	var text, thinking string
	var calls jsonText
	n := 0
	for _, p := range w.parts {
		switch p.kind {
		case thinkingPart:
			thinking = p.text
		case textPart, refusalPart:
			text += p.text
		case callPart:
			calls = calls.comma(n).ollamaCall(n, p.call)
			n++
		}
	}
	j := make(jsonText, 0, 400+outputLen(c)*9/8).raw(w.head)
	if len(w.parts) > 0 {
		j = w.content(j, text, thinking, calls)
	}
	return j.ollamaEnd(c)
}

// content appends the content of one object.
func (w *ollamaWriter) content(j jsonText, text, thinking string, calls []byte) jsonText {
	end := ""
	if w.Generate {
		j = j.raw(`,"response":`)
	} else {
		j, end = j.raw(`,"message":{"role":"assistant","content":`), "}"
	}
	j = j.quote(text)
	if thinking != "" {
		j = j.raw(`,"thinking":`).quote(thinking)
	}
	if len(calls) > 0 {
		j = append(j.raw(`,"tool_calls":[`), calls...).raw(`]`)
	}
	return j.raw(end)
}

func (j jsonText) ollamaCall(i int, t *llm.ToolCall) jsonText {
	return j.raw(`{"id":`).quote(t.ID).raw(`,"function":{"index":`).int(i).raw(`,"name":`).quote(t.Name).
		raw(`,"arguments":`).raw(compactInput(t.Arguments)).raw(`}}`)
}

// compactInput is toolInput on one line.
func compactInput(arguments string) string {
	input := jsontext.Value(toolInput(arguments))
	_ = input.Compact() // it is valid
	return string(input)
}

// ollamaEnd closes the last object. The provider's durations are never 0, and clients divide by
// them. Unlike in llm.Usage, the prompt includes cached tokens.
func (j jsonText) ollamaEnd(c Completion) jsonText {
	reason := "stop"
	if c.Finish == llm.FinishLength {
		reason = "length"
	}
	ns := func(d time.Duration) int { return int(max(1, d)) }
	u, eval := c.reportedUsage(), generation(c)
	return j.raw(`,"done":true,"done_reason":"`).raw(reason).
		raw(`","total_duration":`).int(ns(addUp(c.First, eval))).raw(`,"load_duration":1`).
		raw(`,"prompt_eval_count":`).int(addUp(u.Input, u.CachedInput, u.CacheWrite)).
		raw(`,"prompt_eval_duration":`).int(ns(c.First)).
		raw(`,"eval_count":`).int(u.Output).raw(`,"eval_duration":`).int(ns(eval)).raw(`}`)
}

// stream returns the lines of a streamed answer.
func (w *ollamaWriter) stream(c Completion) []Frame {
	s := newEvents(c, "", w.parts, 100+len(w.head), len(w.parts)+2)
	s.frames[0].Header = head(ndjsonType, "", -1)
	calls := 0
	for _, p := range w.parts {
		switch p.kind {
		case callPart:
			w.line(s, "", "", jsonText(nil).ollamaCall(calls, p.call))
			s.skip(countPieces(p.text))
			calls++
		case thinkingPart:
			for piece := range piecesOf(p.text) {
				w.line(s, "", piece, nil)
				s.skip(1)
			}
		case textPart, refusalPart:
			w.text(s, p.text)
		}
	}
	s.buf = s.buf.raw(w.head)
	if len(w.parts) > 0 {
		s.buf = w.content(s.buf, "", "", nil)
	}
	s.buf = s.buf.ollamaEnd(c).raw("\n")
	s.frame()
	return s.frames
}

// text appends a line for each piece of a text; one for an empty text.
func (w *ollamaWriter) text(s *stream, text string) {
	if text == "" {
		w.line(s, "", "", nil)
	}
	for piece := range piecesOf(text) {
		w.line(s, piece, "", nil)
		s.skip(1)
	}
}

// line appends a line before the last one.
func (w *ollamaWriter) line(s *stream, text, thinking string, calls jsonText) {
	s.buf = w.content(s.buf.raw(w.head), text, thinking, calls).raw(`,"done":false}` + "\n")
	s.frame()
}
