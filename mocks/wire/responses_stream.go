package wire

import (
	"cmp"
	"strconv"
)

// stream builds the events of a streamed answer.
func (r *response) stream() []Frame {
	c := r.answer
	e := newEvents(c, r.parts, 190+len(c.ID), 8*len(r.parts)+3)
	e.frames[0].Header["X-Request-Id"] = []string{c.ID}
	e.numbered = true
	for _, kind := range []string{"response.created", "response.in_progress"} {
		e.response(kind, r, false)
	}
	for i := range r.parts {
		r.streamPart(e, i)
	}
	status, _ := responseStatus(c)
	e.response("response."+status, r, true)
	return e.frames
}

// response appends an event that carries the whole answer.
func (e *events) response(kind string, r *response, done bool) {
	e.begin(kind)
	e.str(`,"response":`)
	e.buf = r.append(e.buf, done)
	e.end()
}

// streamPart appends the events of one item.
func (r *response) streamPart(e *events, i int) {
	p, kind := &r.parts[i], r.kind(i)
	index := `,"output_index":` + strconv.Itoa(i)
	within := string(append(appendString([]byte(index+`,"item_id":`), r.itemID(i)), ','))

	e.begin("response.output_item.added")
	e.str(index + `,"item":`)
	e.buf = r.appendItem(e.buf, i, false)
	e.end()
	switch {
	case p.kind == thinkingPart:
		e.summary(within, p)
	case p.kind != callPart:
		e.content(within, p)
	case !kind.object:
		e.written(within, kind, p)
	default: // such an item comes as a whole
		e.skip(p.text)
	}
	e.begin("response.output_item.done")
	e.str(index + `,"item":`)
	e.buf = r.appendItem(e.buf, i, true)
	e.end()
}

// summary appends the events of a thought.
func (e *events) summary(within string, p *part) {
	within += `"summary_index":0`
	one := func(kind, member, text string) {
		e.begin(kind)
		e.str(within + member)
		if member == `,"part":` {
			e.buf = appendSummary(e.buf, text)
		} else {
			e.quote(text)
		}
		e.end()
	}
	one("response.reasoning_summary_part.added", `,"part":`, "")
	e.pieces("response.reasoning_summary_text.delta", within+`,"delta":`, p.text, "")
	one("response.reasoning_summary_text.done", `,"text":`, p.text)
	one("response.reasoning_summary_part.done", `,"part":`, p.text)
}

// content appends the events of a text or a refusal.
func (e *events) content(within string, p *part) {
	within += `"content_index":0`
	part := func(kind, text string) {
		e.begin(kind)
		e.str(within + `,"part":`)
		e.buf = appendContent(e.buf, p, text)
		e.end()
	}
	part("response.content_part.added", "")
	if p.kind == refusalPart {
		e.pieces("response.refusal.delta", within+`,"delta":`, p.text, "")
		e.begin("response.refusal.done")
		e.str(within + `,"refusal":`)
		e.quote(p.text)
	} else {
		e.pieces("response.output_text.delta", within+`,"logprobs":[],"delta":`, p.text, "")
		e.begin("response.output_text.done")
		e.str(within + `,"logprobs":[],"text":`)
		e.quote(p.text)
	}
	e.end()
	part("response.content_part.done", p.text)
}

// written appends the events of what a model writes for a tool.
func (e *events) written(within string, kind toolKind, p *part) {
	event := "response." + kind.item + "_" + kind.field
	e.pieces(event+".delta", within+`"delta":`, p.text, "")
	e.begin(event + ".done")
	e.str(within)
	if kind.item == itemFunctionCall {
		e.str(`"name":`)
		e.quote(cmp.Or(kind.name, p.call.Name))
		e.str(",")
	}
	e.str(`"` + kind.field + `":`)
	e.quote(p.text)
	e.end()
}

// failedResponse is the event that ends a stream in an error, after n others.
func failedResponse(call Call, c Completion, e *APIError, n int) []byte {
	r := &response{call: &call, answer: c, failed: e}
	s := &events{numbered: true, number: n, frames: make([]Frame, 0, 1)}
	s.response("response.failed", r, false)
	return s.frames[0].Data
}
