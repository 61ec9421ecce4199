package wire

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// newMalformedJSON cuts the JSON of a chunk in half within a correct event, or the JSON of the
// body within a correct response.
func newMalformedJSON(spec FaultSpec) Fault {
	return frameFault(func(codec Codec, call Call, frames []Frame) ([]Frame, bool) {
		if !call.Stream {
			if _, ok := deliveredBytes(frames[0].Data, spec.After); !ok || !isJSON(frames[0].Header) {
				return nil, false
			}
			setBody(&frames[0], firstHalf(frames[0].Data))
			return frames, true
		}
		n, ok := delivered(len(frames)-1, spec.After)
		if !ok {
			return nil, false
		}
		d := codec.Dialect()
		stream := d.events()
		object, ok := stream.object(frames[n+1].Data)
		if !ok {
			return nil, false
		}
		frames[n+1].Data = stream.withData(frames[n+1].Data, firstHalf(object))
		return frames, true
	})
}

// isJSON reports whether a response is JSON; it may be plain text.
func isJSON(h http.Header) bool { return strings.Contains(h.Get("Content-Type"), "json") }

// firstHalf returns the first half of a JSON object, which is never valid JSON. It does not
// split a rune, because that would be a second fault.
func firstHalf(object []byte) []byte {
	return sanitize.Prefix(object, len(object)/2)
}

// newWrongContentType answers like a failing proxy that sends status 200.
func newWrongContentType(FaultSpec) Fault {
	const page = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head>" +
		"<body><h1>Bad gateway</h1></body></html>\n"
	return plainFault(func(_ Codec, answer Completion) []Frame {
		return []Frame{{
			Delay: answer.First, Status: http.StatusOK, Header: head("text/html; charset=utf-8", answer.ID, len(page)), Data: []byte(page),
		}}
	})
}

// newEmptyChoices empties an answer's list of choices, or of parts.
func newEmptyChoices(FaultSpec) Fault {
	return func(codec Codec, call Call, answer Completion) ([]Frame, bool) {
		if d := codec.Dialect(); d.streams() && !d.choices {
			answer.bare = true
			return codec.Encode(call, answer), true
		}
		return frameFault(withoutChoices)(codec, call, answer)
	}
}

// withoutChoices empties the list of choices in each chunk, or in the body.
func withoutChoices(_ Codec, call Call, frames []Frame) ([]Frame, bool) {
	if !call.Stream {
		body, ok := emptyMember(frames[0].Data, "choices")
		if ok {
			setBody(&frames[0], body)
		}
		return frames, ok
	}
	fired := false
	for i, f := range frames {
		object, _ := sseObject(f.Data)
		if edited, ok := emptyMember(object, "choices"); ok {
			frames[i].Data = withData(f.Data, edited)
			fired = true
		}
	}
	return frames, fired
}

// emptyMember returns object with the value of the member name replaced by []; false if there
// is no such member.
func emptyMember(object []byte, name string) ([]byte, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	for {
		t, err := d.ReadToken()
		if err != nil || t.Kind() == '}' {
			return nil, false
		}
		found := t.String() == name
		start := d.InputOffset() // before the colon
		if d.SkipValue() != nil {
			return nil, false
		}
		if found {
			edited := append(bytes.Clone(object[:start]), ":[]"...)
			return append(edited, object[d.InputOffset():]...), true
		}
	}
}

// newNotUTF8 inserts two bytes that are not valid UTF-8 at the start of a string.
func newNotUTF8(FaultSpec) Fault {
	return frameFault(func(codec Codec, call Call, frames []Frame) ([]Frame, bool) {
		// The output of the model if there is any, otherwise the first string. Quotes within a
		// string are escaped, and the marks cannot occur there.
		d := codec.Dialect()
		stream := d.events()
		for _, mark := range d.textMarks {
			for i, f := range frames {
				object, ok := f.Data, true
				if call.Stream {
					object, ok = stream.object(f.Data)
				}
				before, after, found := bytes.Cut(object, []byte(mark))
				if !ok || !found {
					continue
				}
				object = bytes.Join([][]byte{before, []byte(mark), []byte("\xff\xfe"), after}, nil)
				if call.Stream {
					frames[i].Data = stream.withData(f.Data, object)
				} else {
					setBody(&frames[i], object)
				}
				return frames, true
			}
		}
		return nil, false
	})
}
