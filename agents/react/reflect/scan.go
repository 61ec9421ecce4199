package reflect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// kind is the kind of a token.
type kind uint8

const (
	word kind = iota
	// number has its value as text.
	number
	// name is an identifier, a path or a code.
	name
)

// token is a word, a number or a name.
type token struct {
	kind kind
	// text is folded: without case and accents, the words of a name joined by spaces.
	text string
	// stem is shared by all forms of a word, for some words in both languages.
	stem       string
	class      class
	start, end int // bytes of the text
	line       int // from 0
	phrase     int // number of the phrase; commas, full stops and lines end phrases
	item       bool
	// proper reports whether the word is capitalized within a sentence.
	proper bool
}

// scanner splits a text into tokens in one pass.
type scanner struct {
	text   string
	at     int
	line   int
	phrase int
	fresh  bool // a sentence begins here
	item   bool // the line began with a list mark and has no token yet
	begun  bool // the line has a token
	all    []token
}

// bytesPerToken is the usual size of a token.
const bytesPerToken = 5

func scan(text string) []token {
	s := &scanner{text: text, fresh: true, all: make([]token, 0, len(text)/bytesPerToken+1)}
	for s.at < len(text) {
		c, size := utf8.DecodeRuneInString(text[s.at:])
		if !separates(c) {
			s.chunk()
			continue
		}
		s.skip(c)
		s.at += size
	}
	return s.all
}

// skip handles a character between chunks.
func (s *scanner) skip(c rune) {
	switch c {
	case '\n':
		s.line++
		s.phrase++
		s.fresh, s.begun, s.item = true, false, false
	case ',', ';', '|':
		s.phrase++
	}
}

// separators are the ASCII characters that end a chunk.
var separators = func() (t [utf8.RuneSelf]bool) {
	for _, c := range " \t\n\v\f\r,;|()[]{}<>=\"`" {
		t[c] = true
	}
	return t
}()

// separates reports whether a character ends a chunk.
func separates(c rune) bool {
	if c < utf8.RuneSelf {
		return separators[c]
	}
	return unicode.IsSpace(c) || c == '«' || c == '»' || c == '“' || c == '”'
}

// trimmed are the characters that are removed from both ends of a chunk.
const trimmed = ".!?:;,'’‘*…•–—✓✗✔✘→~"

// chunk scans the text between two separators.
func (s *scanner) chunk() {
	start := s.at
	for s.at < len(s.text) {
		c, size := utf8.DecodeRuneInString(s.text[s.at:])
		if separates(c) && !s.withinNumber(c) {
			break
		}
		s.at += size
	}
	raw := s.text[start:s.at]
	if !s.begun && marksItem(raw, strings.HasPrefix(s.text[s.at:], ")")) {
		s.begun, s.item = true, true
		return
	}
	lead := len(raw) - len(strings.TrimLeft(raw, trimmed))
	core := strings.TrimRight(raw[lead:], trimmed)
	if core != "" {
		s.begun = true
		s.token(core, start+lead)
	}
	if last, _ := utf8.DecodeLastRuneInString(raw); strings.ContainsRune(".!?…", last) {
		s.phrase++
		s.fresh = true
	}
}

// withinNumber reports whether a comma or a narrow space is between digits.
func (s *scanner) withinNumber(c rune) bool {
	if c != ',' && c != '\u202f' && c != '\u00a0' || s.at == 0 {
		return false
	}
	rest := s.text[s.at+utf8.RuneLen(c):]
	return isDigit(s.text[s.at-1]) && rest != "" && isDigit(rest[0])
}

// marksItem reports whether a chunk at the beginning of a line is a bullet or the number of
// an item; closed reports whether a bracket closes after it.
func marksItem(raw string, closed bool) bool {
	switch raw {
	case "-", "*", "•", "–", "—", "+":
		return true
	}
	number := strings.TrimRight(raw, ".")
	return (closed || number != raw) && digits(number) && len(number) <= 3
}

// token adds the tokens of a trimmed chunk.
func (s *scanner) token(core string, at int) {
	fresh := s.fresh
	s.fresh = false
	if value, unit, ok := parseNumber(core); ok {
		if s.thousands(core, at) {
			return
		}
		s.number(core, at, value, unit)
		return
	}
	if a, b, ok := strings.Cut(core, "/"); ok && digits(a) && digits(b) {
		s.number(a, at, a, "")
		s.number(b, at+len(a)+1, b, "")
		return
	}
	if core == "%" {
		s.unit(core, at, at+1)
		return
	}
	named := s.calls(at+len(core)) || isName(core)
	if named {
		s.name(core, at)
	}
	bare := !named && !strings.ContainsFunc(core, unicode.IsLetter) // "2026-08-14"
	r := textfold.NewReader(core)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		text := string(w.Text)
		if text == "cent" && s.after("pour") {
			text = "percent"
		}
		value, ok := numeral(text)
		if bare && digits(text) {
			value, ok = canonical(text), true
		}
		if ok {
			s.add(token{kind: number, text: value, start: at + w.Start, end: at + w.End})
			continue
		}
		stem, class := weigh(text)
		first, _ := utf8.DecodeRuneInString(core[w.Start:])
		s.add(token{
			kind: word, text: text, stem: stem, class: class, start: at + w.Start, end: at + w.End,
			proper: !fresh && unicode.IsUpper(first),
		})
		fresh = false
	}
}

// after reports whether the last token is that word.
func (s *scanner) after(text string) bool {
	return len(s.all) > 0 && s.all[len(s.all)-1].text == text
}

// thousands appends three digits to the number before them: "8 214".
func (s *scanner) thousands(core string, at int) bool {
	if len(core) != 3 || !digits(core) || len(s.all) == 0 {
		return false
	}
	last := &s.all[len(s.all)-1]
	before := s.text[last.start:last.end]
	if last.kind != number || last.text == "0" || s.text[last.end:at] != " " || !grouped(before) {
		return false
	}
	last.text += core
	last.end = at + len(core)
	return true
}

// number adds a number, and its unit as a word.
func (s *scanner) number(core string, at int, value, unit string) {
	s.add(token{kind: number, text: value, start: at, end: at + len(core)})
	if unit != "" {
		s.unit(unit, at, at+len(core))
	}
}

// unit adds a unit as a word, which may have no letters: "%".
func (s *scanner) unit(text string, start, end int) {
	stem, class := weigh(text)
	s.add(token{kind: word, text: text, stem: stem, class: class, start: start, end: end})
}

// name adds an identifier or a path, the last element of a path, and the line number after
// it.
func (s *scanner) name(core string, at int) {
	end := at + len(core)
	parts := strings.Split(core, ":")
	if digits(parts[0]) || len(parts) > 8 {
		s.add(token{kind: name, text: textfold.Join(core), start: at, end: end})
		return
	}
	for _, part := range parts {
		switch line, marked := lineMark(part); {
		case digits(part):
			s.lineNumber(part, at, end)
		case marked:
			s.lineNumber(line, at, end)
		case part != "":
			s.add(token{kind: name, text: textfold.Join(part), start: at, end: end})
		}
		if slash := strings.LastIndexAny(strings.TrimRight(part, "/\\"), "/\\"); slash > 0 {
			s.add(token{kind: name, text: textfold.Join(part[slash:]), start: at, end: end})
		}
	}
}

func (s *scanner) lineNumber(value string, at, end int) {
	s.unit("line", at, end)
	s.add(token{kind: number, text: canonical(value), start: at, end: end})
}

// add appends a token at the current line and phrase.
func (s *scanner) add(t token) {
	if t.text == "" {
		return
	}
	if t.kind == name {
		t.stem, t.class = weigh(t.text)
	}
	t.line, t.phrase, t.item = s.line, s.phrase, s.item
	s.item = false
	s.all = append(s.all, t)
}

// calls reports whether a call follows: "eval(" but not "file(s)".
func (s *scanner) calls(end int) bool {
	rest := s.text[end:]
	return strings.HasPrefix(rest, "(") && !strings.HasPrefix(rest, "(s)") && !strings.HasPrefix(rest, "(es)")
}

// isName reports whether a chunk looks like an identifier, a path or a code.
func isName(core string) bool {
	if abbreviations[strings.ToLower(core)] {
		return false
	}
	if strings.ContainsAny(core, `_\@`) || strings.HasPrefix(core, "--") || strings.Contains(core, "::") {
		return true
	}
	if a, b, ok := strings.Cut(core, "/"); ok {
		return !common(a) || !common(b)
	}
	return mixed(core)
}

// common reports whether a text has no content word.
func common(text string) bool {
	for _, w := range textfold.Fold(text) {
		if _, class := weigh(w); class == content {
			return false
		}
	}
	return true
}

// mixed reports whether a chunk has letters and digits, inner capitals, inner full stops, or
// only capitals.
func mixed(core string) bool {
	var letters, lower, upper, digit int
	var inner bool
	var before rune
	for _, c := range core {
		switch {
		case unicode.IsDigit(c):
			digit++
		case unicode.IsLower(c):
			letters, lower = letters+1, lower+1
		case unicode.IsUpper(c):
			letters, upper = letters+1, upper+1
			inner = inner || unicode.IsLower(before)
		case c == '.':
			inner = true
		}
		before = c
	}
	switch {
	case letters > 0 && digit > 0, inner && letters > 0, inner && digit > 0:
		return true
	case upper < 2 || lower > 0:
		return false
	}
	return !common(core)
}

// lineMark parses "L.12" and "L12".
func lineMark(part string) (string, bool) {
	rest := strings.TrimLeft(part, "lL")
	if len(rest) != len(part)-1 {
		return "", false
	}
	rest = strings.TrimPrefix(rest, ".")
	return rest, digits(rest)
}
