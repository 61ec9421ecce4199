package step

import (
	"fmt"
	"strings"
)

const bom = "\uFEFF"

// Parse reads an answer.
//
// Documents are told from the prose around them so: a document begins at a line
// at the left margin that begins with one of the keys step, thought, action,
// action_input, observation, reflection, decision or verification and a colon, or at
// the lines `key:` right above such a line. It goes on with further keys, with
// lines that are indented, blank lines and comments, and ends at `---`, at `...`, at
// a fence, at any other line at the margin, and, outside fences, at an unknown key
// behind a blank line. Everything else is prose, and ignored. A fence (``` or ~~~)
// holds documents if it is tagged yaml or yml, or if the first thing in it is a
// `key:`; its own indentation is the margin then. Other fences are prose as a whole,
// whatever they contain.
//
// Behind a verification, what remains is the final output, whatever it contains:
// without the separator before it, the blank lines around it, and its fence if it is
// one fence as a whole. If the verification stands in a fence that is still open, then the
// output ends with the last line that closes this fence.
//
// Values of text keys are YAML's scalars: plain, quoted, or block texts, of one line or
// several; anchors, tags and lists are refused. An action's input is not parsed:
// its text is handed on, dedented, without the header of a block text.
//
// The error is an *Error, and the first one only; the documents before it are
// returned.
func Parse(answer string) ([]Document, error) {
	p := parser{text: strings.TrimPrefix(answer, bom)}
	if err := p.parse(); err != nil {
		return p.found, err
	}
	return p.found, nil
}

// parser goes through an answer line by line; every line is looked at a bounded
// number of times.
type parser struct {
	text string
	at   int  // where the next line begins
	l    line // the current line
	eof  bool // there is no current line
	// afterBlank says that the line before the current one is blank.
	afterBlank bool
	fence      fence // that holds documents, and is open
	found      []Document
	lastEnd    int // where the last value that was taken as it stands ends
	read       int // bytes of lines looked at
}

// start is where a document may have begun: at keys that do not begin one by
// themselves.
type start struct {
	at      int
	n       int
	known   bool // the first key is one of ours
	pending bool
}

func (p *parser) parse() *Error {
	if len(p.text) > MaxBytes {
		return &Error{
			Pos: Pos{Line: 1, Column: 1}, Rule: "too-large",
			Message: fmt.Sprintf("the answer has %d bytes; at most %d are read: write less in one answer", len(p.text), MaxBytes),
		}
	}
	var from start
	p.next()
	for !p.eof {
		switch c := p.class(); c {
		case keyLine:
			if err := p.keyLine(&from); err != nil {
				return err
			}
		case opening, closing, indented, separator, ending, prose, item, tabbed:
			if c != indented || !from.pending {
				from = start{}
				p.outside(c)
			} else {
				p.next()
			}
		default:
			p.next()
		}
	}
	if len(p.found) == 0 {
		return noStep(p.text)
	}
	return nil
}

// outside goes on behind a line that belongs to no document.
func (p *parser) outside(c class) {
	switch {
	case c == closing:
		p.fence = fence{}
	case p.fence.mark == 0 && (c == opening || c == indented):
		if f, ok := fenceOf(p.l.text); ok {
			p.open(f)
			return
		}
	}
	p.next()
}

// open enters a fence that holds documents, or skips it.
func (p *parser) open(f fence) {
	f.margin = p.l.lead
	p.fence = f
	p.next()
	tagged := strings.EqualFold(f.info, "yaml") || strings.EqualFold(f.info, "yml")
	for !tagged && !p.eof {
		switch p.class() {
		case blank, comment, separator:
			p.next()
			continue
		case keyLine:
			return
		}
		break
	}
	if tagged {
		return
	}
	for !p.eof && !f.closes(p.l.text) {
		p.next()
	}
	p.fence = fence{}
	if !p.eof {
		p.next()
	}
}

// keyLine reads the document that a line begins, or remembers where it may have begun.
func (p *parser) keyLine(from *start) *Error {
	name, _, _ := cutKey(p.l.text)
	k, known := lookup(name)
	if from.pending && (!from.known || !known) && p.afterBlank && p.fence.mark == 0 {
		*from = start{}
	}
	if !known || !keys[k].begins {
		if !from.pending {
			*from = start{at: p.l.start, n: p.l.n, known: known, pending: true}
		}
		p.next()
		return nil
	}
	if from.pending {
		p.back(from.at, from.n)
	}
	*from = start{}
	if len(p.found) == MaxDocuments {
		return p.wrong(0, "too-many-documents", "the answer has more than %d documents; write one step at a time", MaxDocuments)
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

// wrong makes the error for a byte of the current line's text.
func (p *parser) wrong(off int, rule, format string, args ...any) *Error {
	return &Error{Pos: p.pos(off), Rule: rule, Message: fmt.Sprintf(format, args...)}
}
