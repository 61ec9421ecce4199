package wire

import (
	"bytes"
	"mime"
	"strings"
)

// framing is how a protocol divides a stream into events.
type framing struct {
	// object returns the JSON object in an event of Encode; false if the event has no object.
	object func(event []byte) ([]byte, bool)
	// withData returns the event with other data.
	withData func(event, data []byte) []byte
}

var (
	sseFraming  = framing{object: sseObject, withData: withData}
	lineFraming = framing{object: lineObject, withData: func(_, data []byte) []byte { return append(bytes.Clone(data), '\n') }}
)

// events returns the framing of the protocol's streams.
func (d *Dialect) events() *framing {
	if d.framing == nil {
		return &sseFraming
	}
	return d.framing
}

// lineObject returns the JSON object of a line.
func lineObject(line []byte) ([]byte, bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return line, len(line) > 0
}

// splitLine splits the first line off a stream of JSON objects, one per line. Data is nil for an
// empty line.
func splitLine(stream []byte) (data []byte, whole bool, rest []byte) {
	line, rest, whole := bytes.Cut(stream, []byte("\n"))
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return nil, whole, rest
	}
	return line, whole, rest
}

// Streamed reports whether an answer with this content type is a stream.
func Streamed(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType) // empty if it is not valid
	return kind == "text/event-stream" || kind == ndjsonType || kind == eventStreamType || strings.HasPrefix(kind, "audio/")
}
