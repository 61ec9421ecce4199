package wire

import (
	"net/http"
	"time"
)

// stream builds the frames of a streamed answer: a head, then a frame for each
// event. All events share one buffer.
type stream struct {
	frames []Frame
	buf    jsonText
	start  int // of the open event
	// numbered gives each event a sequence number, from 0.
	numbered bool
	number   int
	// perPiece is the time of an event with output. wait is the delay of the next event, rest
	// an additional delay of the second one.
	perPiece, wait, rest time.Duration
}

// newStream begins a stream with its head. events and size are the expected numbers of events and
// bytes, for the buffers.
func newStream(c Completion, requestID string, pieces, events, size int) *stream {
	header := head(sseType, requestID, -1)
	header["Cache-Control"] = []string{"no-cache"}
	total := generation(c)
	s := &stream{
		frames: make([]Frame, 1, events+1), buf: make(jsonText, 0, size),
		wait: max(0, c.First), perPiece: total / time.Duration(max(1, pieces)),
	}
	s.frames[0] = Frame{Status: http.StatusOK, Header: header}
	s.rest = total - s.perPiece*time.Duration(pieces)
	return s
}

// newEvents begins a stream of named events. delta is the size of an event with output without
// its text, others the number of other events.
func newEvents(c Completion, requestID string, parts []part, delta, others int) *stream {
	n := 0
	for i := range parts {
		n += countPieces(parts[i].text)
	}
	return newStream(c, requestID, n, n+others, n*delta+others*delta*3/2+outputLen(c)*9/4+600)
}

// begin opens a named event, a JSON object with its type.
func (s *stream) begin(kind string) {
	s.buf = s.buf.raw("event: ").raw(kind).raw("\ndata: {\"type\":\"").raw(kind).raw(`"`)
	if s.numbered {
		s.buf = s.buf.raw(`,"sequence_number":`).int(s.number)
		s.number++
	}
}

// end closes the named event.
func (s *stream) end() {
	s.buf = s.buf.raw("}\n\n")
	s.frame()
}

// frame adds a frame with the text since the last one.
func (s *stream) frame() {
	end := len(s.buf)
	s.frames = append(s.frames, Frame{Delay: s.wait, Data: s.buf[s.start:end:end]})
	s.start = end
	s.wait, s.rest = s.rest, 0
}

// event appends a named event with further fields.
func (s *stream) event(kind, members string) {
	s.begin(kind)
	s.buf = s.buf.raw(members)
	s.end()
}

// pieces appends a named event for each piece of text: before, the quoted piece, after.
func (s *stream) pieces(kind, before, text, after string) {
	for piece := range piecesOf(text) {
		s.skip(1)
		s.begin(kind)
		s.buf = s.buf.raw(before).quote(piece).raw(after)
		s.end()
	}
}

// skip adds the time of n pieces to the wait before the next event.
func (s *stream) skip(n int) {
	for range n {
		s.wait = addUp(s.wait, s.perPiece)
	}
}
