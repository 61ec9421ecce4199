package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a JSON object. The positions are those of the name and the value.
type member struct {
	name    string
	value   []byte // the JSON of the value, as written
	key, at Pos
}

// readMembers parses the JSON object at the beginning of a text and returns its end. The positions
// are relative to the text.
func readMembers(text string) (members []member, end int, bad *Error) {
	// A value ends before its decoder has read on, so the rest of the text may be anything.
	d := jsontext.NewDecoder(strings.NewReader(text))
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, jsonError(text, err)
	}
	var p placer
	for d.PeekKind() != '}' {
		m, err := readMember(d, &p, text)
		if err != nil {
			return nil, 0, jsonError(text, err)
		}
		if n := depthOf(m.value); n > maxDepth {
			return nil, 0, errorAt(m.at, "too-deep", "the value of %q is nested more than %d levels deep", m.name, maxDepth)
		}
		members = append(members, m)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, 0, jsonError(text, err)
	}
	return members, int(d.InputOffset()), nil
}

func readMember(d *jsontext.Decoder, p *placer, text string) (m member, err error) {
	name, err := d.ReadValue()
	if err != nil {
		return m, err
	}
	if name.Kind() != '"' {
		return m, errNoName
	}
	m.key = p.pos(text, int(d.InputOffset())-len(name))
	if err := json.Unmarshal(name, &m.name); err != nil {
		return m, err
	}
	value, err := d.ReadValue()
	if err != nil {
		return m, err
	}
	m.value = bytes.Clone(value)
	m.at = p.pos(text, int(d.InputOffset())-len(value))
	return m, nil
}

var errNoName = errors.New("the name of a member must be a string")

// jsonError converts an error of the decoder.
func jsonError(text string, err error) *Error {
	off, rule, message := len(text), "json", "the JSON ends too early; close its quotes and brackets"
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	if ok {
		off = min(int(syntax.ByteOffset), len(text))
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		off = len(text)
	case errors.Is(err, jsontext.ErrDuplicateName):
		rule, message = "duplicate-key", "the name is given twice in one object"
	case ok:
		message = "the JSON is not valid: " + syntax.Err.Error() + "; escape quotes and line breaks in strings, and put a comma between members"
	default:
		message = "the JSON is not valid: " + err.Error()
	}
	var p placer
	return &Error{Pos: p.pos(text, off), Rule: rule, Message: message}
}

// placer converts increasing offsets to positions, in linear time.
type placer struct {
	off  int
	line int // lines before off
	from int // the beginning of the line of off
}

func (p *placer) pos(text string, off int) Pos {
	off = min(off, len(text))
	if off < p.off {
		*p = placer{}
	}
	for i := strings.IndexByte(text[p.off:off], '\n'); i >= 0; i = strings.IndexByte(text[p.off:off], '\n') {
		p.off += i + 1
		p.line, p.from = p.line+1, p.off
	}
	p.off = off
	return Pos{Line: p.line + 1, Column: utf8.RuneCountInString(text[p.from:off]) + 1}
}

// depthOf returns the nesting of a valid JSON value.
func depthOf(value []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// isNull reports whether the value is null, which counts as not given.
func (m member) isNull() bool { return string(m.value) == "null" }

// text returns the value if it is a string.
func (m member) text() (text string, ok bool) {
	return text, m.value[0] == '"' && json.Unmarshal(m.value, &text) == nil
}

// list returns the value, a string or a list of strings, as lines.
func (m member) list() (string, bool) {
	if text, ok := m.text(); ok {
		return text, true
	}
	var items []string
	if json.Unmarshal(m.value, &items) != nil {
		return "", false
	}
	return "- " + strings.Join(items, "\n- "), true
}

// asYAML returns JSON on one line that every parser of YAML accepts: without escapes of surrogates
// and characters that YAML forbids.
func asYAML(value []byte) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(value)
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return string(value)
	}
	return escapeForYAML.Replace(strings.TrimSuffix(out.String(), "\n"))
}

// escapeForYAML escapes the characters that JSON allows in a string and YAML does not.
var escapeForYAML = strings.NewReplacer("\x7f", `\x7f`, "\u0085", `\x85`, "\uFEFF", `\uFEFF`, "\uFFFE", `\uFFFE`, "\uFFFF", `\uFFFF`)

// indentedJSON returns a value for people: a string without its quotes, another value on several lines.
func indentedJSON(value []byte) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if json.Indent(&out, value, "", "  ") != nil {
		return string(value)
	}
	return out.String()
}

// without returns the JSON object of the members with other names.
func without(members []member, names ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for _, m := range members {
		if slices.Contains(names, m.name) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // a string
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return asYAML([]byte(b.String()))
}
