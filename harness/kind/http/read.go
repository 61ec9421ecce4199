package http

import (
	"bytes"
	"cmp"
	"errors"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
)

// response is the content of a response: the answer and the session's id.
type response struct{ text, id string }

// read extracts the content of a response. The error is an *app.Error.
func (d *Dialogue) read(contentType string, body []byte) (response, error) {
	if !utf8.Valid(body) || bytes.IndexByte(body, 0) >= 0 {
		return response{}, app.Errorf(app.Unusable, "the application's answer (%s) is binary, and no text in UTF-8", mediaType(contentType))
	}
	events := [][]byte{body}
	if kind := mediaType(contentType); kind == eventStream {
		var failure []byte
		if events, failure = sseData(body); failure != nil {
			return response{}, app.Errorf(app.Failed, "the application's stream has an error event: %s", excerpt(failure))
		}
	}
	if d.answer.IsZero() && d.session.IsZero() {
		return response{text: string(bytes.Join(events, nil))}, nil
	}
	var all response
	found := d.answer.IsZero()
	for _, data := range events {
		id, _, err := pick(d.session, data)
		if err != nil {
			return response{}, err
		}
		all.id = cmp.Or(id, all.id)
		text, ok := string(data), true
		if !d.answer.IsZero() {
			text, ok, err = pick(d.answer, data)
		}
		if err != nil {
			return response{}, err
		}
		found = found || ok
		all.text += text
	}
	if !found {
		return response{}, app.Errorf(app.Unusable, "the application's answer has nothing at %s (answer): %s", d.answer, excerpt(body))
	}
	return all, nil
}

// pick extracts one value from JSON, if it has the value.
func pick(path jsonpath.Path, data []byte) (text string, found bool, err error) {
	if path.IsZero() {
		return "", false, nil
	}
	text, err = path.Text(data)
	switch {
	case errors.Is(err, jsonpath.ErrAbsent):
		return "", false, nil
	case err != nil:
		return "", false, app.Errorf(app.Unusable, "the application's answer has another shape than the scenario says: %w", err)
	}
	return text, true, nil
}

const eventStream = "text/event-stream"

// mediaType returns a content type without its parameters.
func mediaType(contentType string) string {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "of no content type"
	}
	return kind
}

// sseData returns the data of the events of a stream, as defined by the HTML standard
// (section 9.2, server-sent events), without a final "[DONE]". An event without an empty
// line at its end is incomplete and left out. failure is the data of the first event of the type "error", by which
// applications report that they failed after the status of the response was sent.
func sseData(stream []byte) (events [][]byte, failure []byte) {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(stream), "\uFEFF"))
	var data []string
	kind := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch field, value, _ := strings.Cut(line, ":"); {
		case field == "data" && line != "":
			data = append(data, strings.TrimPrefix(value, " "))
		case field == "event" && line != "":
			kind = strings.TrimPrefix(value, " ")
		case line == "":
			event := strings.Join(data, "\n")
			if len(data) > 0 && event != "[DONE]" {
				events = append(events, []byte(event))
			}
			if len(data) > 0 && kind == "error" && failure == nil {
				failure = []byte(event)
			}
			data, kind = nil, ""
		}
	}
	return events, failure
}

// truncate returns the recorded beginning of a response.
func truncate(data []byte) string {
	const most = 64 << 10
	return strings.ToValidUTF8(string(data[:min(len(data), most)]), "\uFFFD")
}

// excerpt returns the beginning of a response for an error message, in one line.
func excerpt(data []byte) string {
	const most = 300
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(data[:min(len(data), most)]), "\uFFFD")), " ")
	switch {
	case text == "":
		return "(an empty body)"
	case len(data) > most:
		return text + "..."
	}
	return text
}
