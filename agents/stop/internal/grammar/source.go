package grammar

import (
	"fmt"
	"strings"
)

// Source is the lexicon of a language.
type Source struct {
	// Name is the name of the language, for the names of sets and for errors.
	Name string
	// Text are the sets and patterns: "[class]" opens a class, "<set>: words"
	// declares a set, "#" begins a comment, another line is a pattern.
	Text string
	// Sets are sets that are made elsewhere, verb forms for instance.
	Sets map[string][]string
}

// term is a part of a pattern.
type term struct {
	kind  kind
	word  string   // of a word, or the name of a set
	terms [][]term // the alternatives of a choice
	// min is 0 if the term may be absent, max 2 if it may stand twice.
	min, max int
}

type kind uint8

const (
	wordTerm kind = iota
	setTerm
	anyTerm    // one word of any kind
	gapTerm    // up to three words of any kind
	commaTerm  // a comma or another gap may stand here
	choiceTerm // one of some sequences
	startTerm
	lastTerm
)

// parser reads the pattern of one line.
type parser struct {
	line  string
	token string // the current one, "" at the end
}

// parsePattern reads a pattern.
func parsePattern(line string) ([]term, error) {
	p := parser{line: line}
	p.next()
	terms, err := p.sequence()
	if err == nil && p.token != "" {
		err = fmt.Errorf("unexpected %q", p.token)
	}
	if err == nil && len(terms) == 0 {
		err = fmt.Errorf("the pattern is empty")
	}
	return terms, err
}

// marks are the characters that are tokens by themselves.
const marks = "()[]|*^$,"

// next reads the next token: a mark, or what stands between spaces and marks.
func (p *parser) next() {
	p.line = strings.TrimLeft(p.line, " \t")
	end := 0
	for end < len(p.line) && p.line[end] != ' ' && p.line[end] != '\t' && strings.IndexByte(marks, p.line[end]) < 0 {
		end++
	}
	if end == 0 && p.line != "" {
		end = 1
	}
	p.token, p.line = p.line[:end], p.line[end:]
}

func (p *parser) sequence() ([]term, error) {
	var terms []term
	for {
		t, ok, err := p.term()
		if err != nil || !ok {
			return terms, err
		}
		if p.token == "*" {
			p.next()
			t.min, t.max = 0, 2
		}
		terms = append(terms, t)
	}
}

func (p *parser) term() (t term, ok bool, err error) {
	token := p.token
	t = term{min: 1, max: 1}
	switch {
	case token == "", token == ")", token == "]", token == "|":
		return t, false, nil
	case token == "*":
		return t, false, fmt.Errorf("nothing stands before *")
	case token == "(":
		t.kind = choiceTerm
		t.terms, err = p.choice(")")
		return t, true, err
	case token == "[":
		t.kind, t.min = choiceTerm, 0
		t.terms, err = p.choice("]")
		return t, true, err
	case token == "^":
		t.kind = startTerm
	case token == "$":
		t.kind = lastTerm
	case token == "..":
		t.kind = gapTerm
	case token == ".":
		t.kind = anyTerm
	case token == ",":
		t.kind = commaTerm
	case strings.HasPrefix(token, "<"):
		t.kind, t.word = setTerm, strings.Trim(token, "<>")
	default:
		t.word = token
	}
	p.next()
	return t, true, nil
}

func (p *parser) choice(closing string) ([][]term, error) {
	p.next()
	var all [][]term
	for {
		terms, err := p.sequence()
		if err != nil {
			return nil, err
		}
		if len(terms) == 0 {
			return nil, fmt.Errorf("an alternative is empty")
		}
		all = append(all, terms)
		token := p.token
		p.next()
		switch token {
		case "|":
		case closing:
			return all, nil
		default:
			return nil, fmt.Errorf("%q is missing", closing)
		}
	}
}
