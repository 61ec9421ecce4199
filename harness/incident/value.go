package incident

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

const (
	// maxLine limits a line of a file in bytes.
	maxLine = 64 << 20
	// maxMalformed limits the malformed lines of a file that are reported one by one.
	maxMalformed = 10
	// maxExact limits whole numbers that are written as fractions.
	maxExact = 1 << 53
)

// document is a JSON value of a file: the whole file, an element of its list, or a line. The value of a
// line that is not JSON is nil.
type document struct {
	*value
	file string
	line int // 0 if the file is one value
}

// documents returns the JSON values of a file, which is one value, a list, or has a value on each line.
// Malformed lines are findings, and documents without a value. A file without any value, and one value
// that is malformed, are errors.
func documents(f file) ([]document, []Finding, error) {
	data := bytes.TrimRight(bytes.TrimPrefix(f.data, []byte("\xef\xbb\xbf")), " \t\r\n")
	if len(data) == 0 {
		return nil, nil, errors.New("the file is empty")
	}
	invalid := json.Unmarshal(data, new(json.RawMessage))
	if invalid == nil {
		whole := &value{raw: data}
		var docs []document
		for _, item := range whole.list() {
			docs = append(docs, document{item, f.name, 0})
		}
		if docs == nil {
			docs = []document{{whole, f.name, 0}}
		}
		return docs, nil, nil
	}
	docs, findings := lines(f.name, data)
	line, why := syntaxError(data, invalid)
	switch {
	case isLines(docs, line):
		return docs, findings, nil
	case data[0] != '{' && data[0] != '[':
		return nil, nil, fmt.Errorf("the file is in none of the formats %s, which are JSON (%s)", strings.Join(names(), ", "), why)
	}
	return nil, nil, errors.New("the file is not valid JSON: " + why)
}

// lines reads a value from each line.
func lines(name string, data []byte) ([]document, []Finding) {
	var docs []document
	var found []Finding
	more := 0
	in := jsonl.NewReader(bytes.NewReader(data), maxLine)
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		line = bytes.TrimSpace(line)
		why := "the line is not JSON and is left out"
		switch {
		case err != nil:
			why = err.Error()
		case len(line) == 0:
			continue
		case json.Valid(line):
			docs = append(docs, document{&value{raw: bytes.Clone(line)}, name, in.Line()})
			continue
		}
		docs = append(docs, document{nil, name, in.Line()})
		if len(found) < maxMalformed {
			found = append(found, Finding{name, in.Line(), why})
		} else {
			more++
		}
	}
	if more > 0 {
		found = append(found, Finding{name, 0, fmt.Sprintf("%d further lines are not JSON", more)})
	}
	return docs, found
}

// isLines reports whether a file with a syntax error in a line has values on its lines. A value that
// spans lines and is malformed has none, or some by chance, which are not of a known format.
func isLines(docs []document, line int) bool {
	if len(docs) > 0 && docs[0].value == nil && line > docs[0].line { // the first value spans lines
		return slices.ContainsFunc(docs, func(d document) bool { return detectOne(d.value) != "" })
	}
	return slices.ContainsFunc(docs, func(d document) bool { return d.value != nil })
}

// syntaxError returns the line of a syntax error, and describes it.
func syntaxError(data []byte, err error) (line int, why string) {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset >= int64(len(data)) && strings.Contains(err.Error(), "unexpected end") {
		line = 1 + bytes.Count(data, []byte("\n"))
		return line, fmt.Sprintf("it ends in line %d, within a value", line)
	}
	line = 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
	return line, fmt.Sprintf("line %d: %v", line, err)
}

// value is a JSON value of unknown form. Its methods return zero values where the form differs; nil
// is a missing value.
type value struct {
	raw    json.RawMessage
	fields map[string]*value // of an object, once it was decoded
}

// at returns the value at a path of members.
func (v *value) at(path ...string) *value {
	for _, key := range path {
		v = v.object()[key]
	}
	return v
}

// first returns the first of the members that exists and is not null.
func (v *value) first(keys ...string) *value {
	for _, key := range keys {
		if m := v.at(key); m != nil {
			return m
		}
	}
	return nil
}

// object returns the members of an object that are not null.
func (v *value) object() map[string]*value {
	if !v.is('{') {
		return nil
	}
	if v.fields == nil {
		d := decoder(v.raw)
		fields := map[string]*value{}
		for d.PeekKind() != '}' {
			key, err := d.ReadToken()
			if err != nil {
				return nil
			}
			name := key.String()
			member, ok := v.next(d)
			if !ok {
				return nil
			}
			if string(member.raw) == "null" {
				delete(fields, name)
			} else {
				fields[name] = member
			}
		}
		v.fields = fields
	}
	return v.fields
}

// list returns the items of a list.
func (v *value) list() []*value {
	if !v.is('[') {
		return nil
	}
	d := decoder(v.raw)
	values := []*value{}
	for d.PeekKind() != ']' {
		item, ok := v.next(d)
		if !ok {
			return nil
		}
		values = append(values, item)
	}
	return values
}

// decoder returns a decoder of an object or a list, which has read its first token. Like encoding/json it takes
// duplicate names, of which the last counts, and invalid UTF-8.
func decoder(raw []byte) *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = d.ReadToken() // an error occurs again
	return d
}

// next returns the next value of d. It shares the text of v: copies at each level would multiply a large file.
func (v *value) next(d *jsontext.Decoder) (*value, bool) {
	raw, err := d.ReadValue()
	if err != nil {
		return nil, false
	}
	end := d.InputOffset()
	return &value{raw: v.raw[end-int64(len(raw)) : end : end]}, true
}

// is reports whether the JSON text of the value begins with a character.
func (v *value) is(c byte) bool {
	return v != nil && bytes.HasPrefix(bytes.TrimLeft(v.raw, " \t\r\n"), []byte{c})
}

// text returns a string.
func (v *value) text() string {
	var s string
	if v.is('"') {
		_ = json.Unmarshal(v.raw, &s) // the zero value, where the form differs
	}
	return s
}

// words returns a string, or the JSON text of another value.
func (v *value) words() string {
	if v == nil {
		return ""
	}
	if v.is('"') {
		return v.text()
	}
	var b bytes.Buffer
	if json.Compact(&b, v.raw) != nil {
		return ""
	}
	return b.String()
}

// int returns a whole number, which may be a string as in OTLP.
func (v *value) int() int {
	n, _ := v.number() // the zero value, where the form differs
	return n
}

// number returns a whole number, which may be a string as in OTLP. ok is false for another value.
func (v *value) number() (n int, ok bool) {
	text := strings.Trim(v.words(), `"`)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return int(n), true
	}
	f, err := strconv.ParseFloat(text, 64) // as some exporters write counts
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return 0, false
	}
	return int(f), true
}

// time returns a time in RFC 3339.
func (v *value) time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, v.text()) // the zero value, where the form differs
	return t
}

// nested returns the value that a string contains as JSON text; other values are returned as they are.
// ok is false for a string that is not JSON.
func (v *value) nested() (inner *value, ok bool) {
	if !v.is('"') {
		return v, v != nil
	}
	text := []byte(v.text())
	if !json.Valid(text) {
		return nil, false
	}
	return &value{raw: text}, true
}
