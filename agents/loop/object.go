package loop

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// readObject reads "status" and "summary" of the last JSON object of the answer, inside or outside of
// a code block. Status is "done" (or "complete", "completed"), "continue", "blocked" or "escalate";
// otherwise the answer is unfinished, with a note. A summary that is not text is ignored.
func readObject(text string) claim {
	data := []byte(text)
	start, end := lastObject(data)
	if start == end {
		return claim{note: note{"the answer holds no JSON object", "la réponse ne contient pas d'objet JSON"}}
	}
	var object struct {
		Status  any `json:"status"`
		Summary any `json:"summary"`
	}
	if err := json.Unmarshal(data[start:end], &object, tolerant); err != nil {
		return claim{note: notef("the last JSON object cannot be read: %v", "le dernier objet JSON est illisible : %v", err)}
	}
	summary, _ := object.Summary.(string)
	switch object.Status {
	case "done", "complete", "completed":
		return claim{state: finished, summary: summary}
	case "blocked", "escalate":
		return claim{state: blocked, summary: summary}
	case "continue":
		return claim{summary: summary}
	case nil:
		return claim{summary: summary, note: note{"the last JSON object has no status", "le dernier objet JSON n'a pas de statut"}}
	}
	return claim{summary: summary, note: notef(
		`status %.60q is not known, so the answer is not done; use "done", "continue" or "blocked"`,
		`le statut %.60q est inconnu, la réponse n'est donc pas terminée ; utilise "done", "continue" ou "blocked"`, fmt.Sprint(object.Status))}
}

// tolerant accepts input that JSON parsers treat differently: the last of duplicate names wins, and
// bytes that are not UTF-8 are replaced.
var tolerant = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// objectProse returns the text without the object that readObject reads and the code fence around it.
func objectProse(text string) string {
	start, end := lastObject([]byte(text))
	before, after := text[:start], text[end:]
	opening := before[strings.LastIndexByte(strings.TrimRight(before, " \t\r\n"), '\n')+1:]
	closing, rest, _ := strings.Cut(strings.TrimLeft(after, " \t\r\n"), "\n")
	open, length, _ := fenceOf(opening)
	shut, least, info := fenceOf(closing)
	if start < end && length >= 3 && open == shut && least >= length && info == "" {
		before, after = strings.TrimSuffix(before, opening), rest
	}
	return before + after
}

// lastObject returns the range of the last complete JSON object that is not part of another, or an
// empty range. After a syntax error the search continues there, not at the beginning of the object,
// so that it takes linear time. Objects inside an object that is never closed are ignored: a nested
// status in an answer that was cut off must not count.
func lastObject(data []byte) (start, end int) {
	var dec jsontext.Decoder
	for at := 0; ; {
		brace := bytes.IndexByte(data[at:], '{')
		if brace < 0 {
			return start, end
		}
		at += brace
		if !plausible(data[at:]) {
			at++
			continue
		}
		dec.Reset(bytes.NewBuffer(data[at:]), tolerant)
		value, err := dec.ReadValue()
		if err == nil {
			start, end = at, at+len(value)
			at = end
			continue
		}
		wrong, ok := errors.AsType[*jsontext.SyntacticError](err)
		if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
			return start, end
		}
		at += min(max(1, int(wrong.ByteOffset)), len(data)-at)
	}
}

// plausible reports whether the brace at the start of data may begin a JSON object. It rejects most
// braces of code and prose before they are parsed.
func plausible(data []byte) bool {
	rest := bytes.TrimLeft(data[1:min(len(data), 64)], " \t\r\n")
	return len(rest) == 0 || rest[0] == '"' || rest[0] == '}'
}
