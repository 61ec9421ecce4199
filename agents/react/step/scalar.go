package step

import (
	"encoding/json"
	"errors"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// scalar returns the text value of a key and its position. The value begins at a byte of
// the current line or on the lines below it; afterwards the current line is the first one
// after the value.
func (p *parser) scalar(name string, off int) (string, Pos, *Error) {
	s := scalar{parser: p, name: name, key: p.i}
	for p.i++; !p.eof(); p.i++ {
		if _, c := p.current(); c != indented && c != blank && c != comment {
			break
		}
	}
	if !s.find(off) {
		return "", Pos{}, nil
	}
	at := p.pos(s.first, s.off)
	if err := s.check(); err != nil {
		return "", at, err
	}
	text, err := s.load()
	return text, at, err
}

// scalar is the value of a text key.
type scalar struct {
	*parser
	name  string
	key   int    // the line of the key
	first int    // the line on which the value begins
	off   int    // the byte of that line's text
	text  string // the rest of that line
}

// find searches the beginning of the value: after the colon, or on the first indented line
// below.
func (s *scalar) find(off int) bool {
	for s.first = s.key; s.first < s.i; s.first++ {
		l := s.line(s.first)
		s.off, s.text = off, strings.TrimLeft(l.text[off:], " \t")
		if !isEmpty(l.text[off:]) && (off > 0 || !l.comment()) {
			s.off += len(l.text) - off - len(s.text)
			return true
		}
		off = 0
	}
	return false
}

// check refuses a value that is not a text, or begins like another YAML value.
func (s *scalar) check() *Error {
	const write = "write `%s: |` and the text below it, indented"
	switch c := s.text[0]; {
	case c == '[' || c == '{' || opensItem(s.text):
		return s.wrong(s.first, s.off, "not-text", "%s must be a text, and a list or mapping begins here; "+write, s.name, s.name)
	case c == '&' || c == '*' || c == '!':
		return s.wrong(s.first, s.off, "not-text", "a text that begins with %q means something else in YAML; "+write, c, s.name)
	case strings.IndexByte("%@`,]}", c) >= 0:
		return s.wrong(s.first, s.off, "not-text", "a text cannot begin with %q; quote it, or "+write, c, s.name)
	case s.isBlock():
		return s.checkHeader(s.first, s.off)
	case !s.isQuoted():
		if m := colonPattern().FindStringSubmatchIndex(s.text); m[2] >= 0 {
			return s.colon(s.pos(s.first, s.off+m[2]))
		}
	}
	return nil
}

// colonPattern matches a plain text up to its comment, or up to a colon that turns it into
// a key.
var colonPattern = lazyregexp.New(`^.*?(?:(:)(?:[ \t]|$)|[ \t]#|$)`)

func (s *scalar) colon(at Pos) *Error {
	return errorAt(at, "colon", "a colon with a space makes a key of the text before it; "+
		"quote the text, or write `%s: |` and the text below it, indented", s.name)
}

// opensItem reports whether YAML reads a text as a list item or a complex key.
func opensItem(text string) bool {
	return strings.IndexByte("-?:", text[0]) >= 0 && (len(text) == 1 || isSpace(text[1]))
}

func (s *scalar) isBlock() bool  { return s.text[0] == '|' || s.text[0] == '>' }
func (s *scalar) isQuoted() bool { return s.text[0] == '"' || s.text[0] == '\'' }

// headerPattern matches `|` or `>` with indicators.
var headerPattern = lazyregexp.New(`^[|>](?:[+-][1-9]?|[1-9][+-]?)?`)

// checkHeader refuses a text after the header of a block text.
func (p *parser) checkHeader(i, off int) *Error {
	text := p.line(i).text[off:]
	header := headerPattern().FindString(text)
	if rest := text[len(header):]; !isEmpty(rest) {
		return p.wrong(i, off+len(header), "block-header",
			"found %s behind %q; the text of a block begins on the next line, indented", excerpt(rest), header)
	}
	return nil
}

// load parses the lines from the key to the current one.
func (s *scalar) load() (string, *Error) {
	var b strings.Builder
	for i := s.key; i < s.i; i++ {
		l := s.line(i)
		if n := s.indent(l); i == s.key || n > 0 || !l.blank() {
			b.WriteString(strings.Repeat(" ", n) + l.text)
		}
		b.WriteByte('\n')
	}
	text := hide.Replace(strings.ToValidUTF8(b.String(), "\uFFFD"))
	if s.text[0] == '"' {
		text = joinSurrogates(text)
	}
	s.work += len(text)
	var n yaml.Node
	if err := yaml.Load([]byte(text), &n); err != nil {
		return "", s.explain(err)
	}
	switch v := n.Content[0].Content[1]; {
	case v.Kind != yaml.ScalarNode: // a mapping whose first key is quoted
		return "", s.behindQuote()
	case v.ShortTag() == "!!null":
		return "", nil
	default:
		return unhide.Replace(v.Value), nil
	}
}

// surrogatePair matches a character that is written as two escapes, as in JSON.
var surrogatePair = lazyregexp.New(`\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}`)

// joinSurrogates replaces such pairs of escapes, which YAML does not support, by the character.
func joinSurrogates(text string) string {
	return surrogatePair().ReplaceAllStringFunc(text, func(pair string) string {
		var c string
		_ = json.Unmarshal([]byte(`"`+pair+`"`), &c) // the pattern matches only what is valid
		return c
	})
}

// hide replaces characters that YAML rejects or treats as line breaks by characters for private use;
// unhide reverts that.
var hide, unhide = func() (there, back *strings.Replacer) {
	var from, to []string
	for i, c := range "\x00\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f" +
		"\r\u0085\u2028\u2029\uFEFF\uFFFE\uFFFF" {
		private := string(rune(0x10F000 + i))
		from, to = append(from, string(c), private), append(to, private, string(c))
	}
	return strings.NewReplacer(from...), strings.NewReplacer(to...)
}()

// explain converts an error of the YAML library into one for the model.
func (s *scalar) explain(err error) *Error {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok || e.Mark.Line == 0 {
		return s.wrong(s.first, s.off, "not-text", "the text cannot be read as YAML; write `%s: |` and the text below it, indented", s.name)
	}
	i := min(s.key+e.Mark.Line-1, s.i-1)
	l := s.line(i)
	at := Pos{Line: i + 1, Column: e.Mark.Column + l.lead - s.indent(l)}
	before, rest := splitAt(l.text, at.Column-1-l.lead)
	begins := strings.TrimSpace(before) == ""
	switch {
	case s.isQuoted() && (strings.Contains(e.Message, "escape") || strings.Contains(e.Message, "hexadecimal")):
		off := max(0, strings.LastIndexByte(before+rest[:min(1, len(rest))], '\\'))
		text := l.text[off:]
		return s.wrong(i, off, "escape", `%s is not an escape; write a backslash as \\, or use single quotes`, excerpt(text[:min(2, len(text))]))
	case i == s.first && quotePattern().MatchString(s.text):
		return s.behindQuote()
	case s.isQuoted() && strings.Contains(e.Message, "end of stream"):
		return s.wrong(s.first, s.off, "quote",
			"the quote %s that begins here is not closed; close it, and indent all lines of the text", s.text[:1])
	case begins && (strings.HasPrefix(rest, "\t") || strings.Contains(before, "\t")):
		return errorAt(at, "tab", "a tab stands in the indentation; indent with spaces")
	case begins && (s.isQuoted() || s.isBlock()):
		return errorAt(at, "indentation",
			"the line is indented, but the value of %q has ended before it; "+
				"write texts of several lines as `%s: |` with all lines indented alike", s.name, s.name)
	case begins:
		return errorAt(at, "indentation", "the text of %q was ended by a comment; write `%s: |` and the text below it, indented", s.name, s.name)
	case s.isQuoted():
		return s.behind(i, len(strings.TrimRight(before, " \t")))
	}
	return s.colon(at)
}

// quotePattern matches a quoted text that ends on the line on which it begins, and the
// character behind one in single quotes.
var quotePattern = lazyregexp.New(`^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'(?:[^']|$))`)

// behindQuote returns the error for a text after such a quoted text.
func (s *scalar) behindQuote() *Error {
	return s.behind(s.first, s.off+strings.LastIndexByte(quotePattern().FindString(s.text), s.text[0])+1)
}

func (s *scalar) behind(i, off int) *Error {
	return s.wrong(i, off, "quote",
		"found %s behind the closing quote; a quote within a quoted text is written \\\" or, in single quotes, ''", excerpt(s.line(i).text[off:]))
}

// splitAt splits a text after its first n characters.
func splitAt(text string, n int) (before, after string) {
	for off := range text {
		if n <= 0 {
			return text[:off], text[off:]
		}
		n--
	}
	return text, ""
}
