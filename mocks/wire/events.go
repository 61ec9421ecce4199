package wire

import (
	"net/http"
	"strconv"
	"time"
)

// events builds the frames of a stream of named server-sent events, each a JSON
// object that begins with its type. All events share one buffer.
type events struct {
	frames []Frame
	buf    []byte
	start  int // of the event that is open
	// numbered gives each event a sequence number, from 0.
	numbered bool
	number   int
	// perPiece is the time that an event with output takes; wait is what has to
	// pass before the next event, rest before the one after the first.
	perPiece, wait, rest time.Duration
}

// newEvents begins a stream with its head. delta is the size of an event with
// output beside its text, others how many events there are beside those.
func newEvents(c Completion, parts []part, delta, others int) *events {
	pieces := 0
	for i := range parts {
		pieces += countPieces(parts[i].text)
	}
	e := &events{wait: max(0, c.First)}
	e.frames = make([]Frame, 0, pieces+others+1)
	e.buf = make([]byte, 0, pieces*delta+others*delta*3/2+outputLen(c)*9/4+600)
	header := head(sseType, "", -1)
	header["Cache-Control"] = []string{"no-cache"}
	e.frames = append(e.frames, Frame{Status: http.StatusOK, Header: header})
	total := generation(c)
	e.perPiece = total / time.Duration(max(1, pieces))
	e.rest = total - e.perPiece*time.Duration(pieces)
	return e
}

// begin opens an event after its type.
func (e *events) begin(kind string) {
	e.start = len(e.buf)
	e.str("event: ")
	e.str(kind)
	e.str("\ndata: {\"type\":\"")
	e.str(kind)
	e.str(`"`)
	if e.numbered {
		e.str(`,"sequence_number":`)
		e.buf = strconv.AppendInt(e.buf, int64(e.number), 10)
		e.number++
	}
}

func (e *events) str(s string)   { e.buf = append(e.buf, s...) }
func (e *events) quote(s string) { e.buf = appendString(e.buf, s) }

// end closes the event and makes it a frame.
func (e *events) end() {
	e.str("}\n\n")
	data := e.buf[e.start:len(e.buf):len(e.buf)]
	e.frames = append(e.frames, Frame{Delay: e.wait, Data: data})
	e.wait, e.rest = e.rest, 0
}

// pieces appends an event of that kind for each piece of text, between open and
// shut.
func (e *events) pieces(kind, open, text, shut string) {
	for text != "" {
		n := nextPiece(text)
		e.begin(kind)
		e.str(open)
		e.quote(text[:n])
		e.str(shut)
		e.wait = addUp(e.wait, e.perPiece)
		e.end()
		text = text[n:]
	}
}

// skip lets the time of a text pass that is not sent in pieces.
func (e *events) skip(text string) {
	for range countPieces(text) {
		e.wait = addUp(e.wait, e.perPiece)
	}
}
