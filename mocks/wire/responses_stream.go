package wire

import (
	"cmp"
	"strconv"
)

// stream returns the events of a streamed answer.
func (r *response) stream() []Frame {
	s := newEvents(r.answer, r.answer.ID, r.parts, 190+len(r.answer.ID), 8*len(r.parts)+3)
	s.numbered = true
	s.response("response.created", r, false)
	s.response("response.in_progress", r, false)
	for i := range r.parts {
		r.streamPart(s, i)
	}
	status, _ := responseStatus(r.answer)
	s.response("response."+status, r, true)
	return s.frames
}

// response appends an event that carries the answer.
func (s *stream) response(kind string, r *response, done bool) {
	s.begin(kind)
	s.buf = r.append(s.buf.raw(`,"response":`), done)
	s.end()
}

// streamPart appends the events of one item.
func (r *response) streamPart(s *stream, i int) {
	p, kind := &r.parts[i], r.kind(i)
	index := `,"output_index":` + strconv.Itoa(i)
	within := string(jsonText(index).raw(`,"item_id":`).quote(r.itemID(i)).raw(","))
	item := func(event string, whole bool) {
		s.begin("response.output_item." + event)
		s.buf = r.appendItem(s.buf.raw(index).raw(`,"item":`), i, whole)
		s.end()
	}
	item("added", false)
	switch {
	case p.kind == thinkingPart:
		s.thought(within+`"summary_index":0`, p.text)
	case p.kind != callPart:
		s.message(within+`"content_index":0`, p)
	case !kind.object:
		s.call(within, kind, p)
	default: // the item has no pieces
		s.skip(countPieces(p.text))
	}
	item("done", true)
}

// thought appends the events of a thought.
func (s *stream) thought(within, text string) {
	const kind = "response.reasoning_summary_"
	s.event(kind+"part.added", within+`,"part":`+string(jsonText(nil).summary("")))
	s.pieces(kind+"text.delta", within+`,"delta":`, text, "")
	s.event(kind+"text.done", within+`,"text":`+string(jsonText(nil).quote(text)))
	s.event(kind+"part.done", within+`,"part":`+string(jsonText(nil).summary(text)))
}

// message appends the events of a text or a refusal.
func (s *stream) message(within string, p *part) {
	part := func(event, text string) {
		s.begin("response.content_part." + event)
		s.buf = s.buf.raw(within).raw(`,"part":`).content(p, text)
		s.end()
	}
	kind, member, logprobs := "response.output_text", `,"text":`, `,"logprobs":[]`
	if p.kind == refusalPart {
		kind, member, logprobs = "response.refusal", `,"refusal":`, ""
	}
	part("added", "")
	s.pieces(kind+".delta", within+logprobs+`,"delta":`, p.text, "")
	s.begin(kind + ".done")
	s.buf = s.buf.raw(within).raw(logprobs).raw(member).quote(p.text)
	s.end()
	part("done", p.text)
}

// call appends the events of the model's output in a tool call.
func (s *stream) call(within string, kind toolKind, p *part) {
	event := "response." + kind.item + "_" + kind.field
	s.pieces(event+".delta", within+`"delta":`, p.text, "")
	s.begin(event + ".done")
	s.buf = s.buf.raw(within)
	if kind.item == itemFunctionCall {
		s.buf = s.buf.raw(`"name":`).quote(cmp.Or(kind.name, p.call.Name)).raw(",")
	}
	s.buf = s.buf.raw(`"`).raw(kind.field).raw(`":`).quote(p.text)
	s.end()
}

// failedResponse returns the event of an error in a stream, after n others.
func failedResponse(call Call, c Completion, e *APIError, n int) []byte {
	s := &stream{numbered: true, number: n}
	s.response("response.failed", &response{call: &call, answer: c, failed: e}, false)
	return s.frames[0].Data
}
