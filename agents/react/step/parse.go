package step

import (
	"fmt"
	"strings"
)

const bom = "\uFEFF"

// Parse parses an answer.
//
// A document begins at a line at the left margin that begins with one of the keys step,
// thought, action, action_input, observation, reflection, decision or verification and a
// colon, or at the lines `key:` directly above such a line. It continues with further
// keys, indented lines, blank lines and comments. It ends at `---`, at `...`, at a fence,
// at any other line at the margin, and, outside fences, at an unknown key after a blank
// line. Everything else is prose, and ignored. A fence (``` or ~~~) contains documents if
// it is tagged yaml or yml, or if its first line is a `key:`; its own indentation is then
// the margin. Other fences are ignored as a whole.
//
// After a verification, the rest of the answer is the final output, whatever it contains:
// without the separator before it, the blank lines around it, and its fence if it is one
// fence as a whole. If the verification is in a fence that is still open, the output ends
// at the last line that closes this fence.
//
// Values of text keys are YAML scalars: plain, quoted, or block texts, on one line or
// several; anchors, tags and lists are refused. An action's input is not parsed: Parse
// returns its text, dedented, without the header of a block text.
//
// The error is an *Error, and only the first one; the documents before it are returned.
func Parse(answer string) ([]Document, error) {
	p := newParser(answer)
	if err := p.parse(); err != nil {
		return p.found, err
	}
	return p.found, nil
}

// parser parses an answer line by line.
type parser struct {
	text   string
	starts []int32 // the offsets of the lines
	i      int     // the current line
	fence  fence   // the open fence that contains documents
	found  []Document
	end    int // the offset after the last unparsed value
	// incomplete is the error of the first incomplete document in the plain form
	incomplete *Error
	work       int // bytes of the lines that were classified or passed to the YAML library
}

func newParser(answer string) *parser { return &parser{text: strings.TrimPrefix(answer, bom)} }

func (p *parser) eof() bool { return p.i >= len(p.starts) }

// current returns the current line with its class.
func (p *parser) current() (line, class) {
	l := p.line(p.i)
	p.work += l.lead + len(l.text) + 1
	return l, p.class(l)
}

func (p *parser) parse() *Error {
	if len(p.text) > maxBytes {
		return errorAt(Pos{Line: 1, Column: 1}, "too-large",
			"the answer has %d bytes; at most %d are read: write less in one answer", len(p.text), maxBytes)
	}
	p.split()
	begin := -1 // the line of a possible document: keys that do not begin one by themselves
	for !p.eof() {
		l, c := p.current()
		switch {
		case c == blank, c == comment && !p.beginsOther(l, c), c == indented && begin >= 0:
			p.i++
		case p.beginsOther(l, c):
			begin = -1
			if err := p.other(l); err != nil {
				return err
			}
		case c != keyLine:
			begin = -1
			p.outside(l, c)
		default:
			k := keyOf(l)
			if begin >= 0 && p.detached() && (k == nil || keyOf(p.line(begin)) == nil) {
				begin = -1
			}
			if begin < 0 {
				begin = p.i
			}
			if k == nil || !k.begins {
				p.i++
				continue
			}
			p.i, begin = begin, -1
			if err := p.add(); err != nil {
				return err
			}
		}
	}
	switch {
	case len(p.found) > 0:
		return nil
	case p.incomplete != nil:
		return p.incomplete
	}
	return noStep(p.text)
}

// beginsOther reports whether a line begins a document in JSON or in the plain form.
func (p *parser) beginsOther(l line, c class) bool {
	k, _, ok := p.label(l)
	return ok && k.begins || c == prose && beginsJSON(p.text[l.start+l.lead:])
}

// other parses such a document.
func (p *parser) other(l line) *Error {
	if l.text[0] == '{' {
		return p.json()
	}
	return p.plain()
}

// detached reports whether the current line follows a blank one outside of a fence.
func (p *parser) detached() bool {
	return p.fence.mark == 0 && p.i > 0 && p.line(p.i-1).blank()
}

// outside skips a line outside of documents, and a fence without documents.
func (p *parser) outside(l line, c class) {
	p.i++
	switch {
	case c == closing:
		p.fence = fence{}
	case p.fence.mark == 0 && (c == opening || c == indented):
		if f, ok := fenceOf(l.text); ok {
			f.margin = l.lead
			p.enter(f)
		}
	}
}

// enter opens a fence with documents, or skips one without.
func (p *parser) enter(f fence) {
	p.fence = f
	if strings.EqualFold(f.info, "yaml") || strings.EqualFold(f.info, "yml") {
		return
	}
	for ; !p.eof(); p.i++ {
		l, c := p.current()
		if c == keyLine || p.beginsOther(l, c) {
			return
		}
		if c != blank && c != comment && c != separator {
			break
		}
	}
	for !p.eof() && !f.closes(p.line(p.i).text) {
		p.i++
	}
	p.i++
	p.fence = fence{}
}

// add parses the document that begins at the current line.
func (p *parser) add() *Error {
	if len(p.found) == maxDocuments {
		return p.tooMany(p.pos(p.i, 0))
	}
	d, err := p.document()
	if err != nil {
		return err
	}
	p.found = append(p.found, d)
	if d.Kind == Verify {
		p.output()
	}
	return nil
}

func (p *parser) tooMany(at Pos) *Error {
	return errorAt(at, "too-many-documents", "the answer has more than %d documents; write one step at a time", maxDocuments)
}

// skipBlank moves to the next line that is not blank.
func (p *parser) skipBlank() {
	for !p.eof() && p.line(p.i).blank() {
		p.i++
	}
}

// wrong returns the error for a byte of a line's text.
func (p *parser) wrong(i, off int, rule, format string, args ...any) *Error {
	return errorAt(p.pos(i, off), rule, format, args...)
}

func errorAt(at Pos, rule, format string, args ...any) *Error {
	return &Error{Pos: at, Rule: rule, Message: fmt.Sprintf(format, args...)}
}
