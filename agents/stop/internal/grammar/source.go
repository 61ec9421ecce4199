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
	tokens []string
	at     int
}

// parsePattern reads a pattern.
func parsePattern(line string) ([]term, error) {
	p := parser{tokens: tokens(line)}
	terms, err := p.sequence()
	if err == nil && p.at < len(p.tokens) {
		err = fmt.Errorf("unexpected %q", p.tokens[p.at])
	}
	if err == nil && len(terms) == 0 {
		err = fmt.Errorf("the pattern is empty")
	}
	return terms, err
}

// tokens splits a line into words and the characters ( ) [ ] | * ^ $ and ",".
func tokens(line string) []string {
	var spaced strings.Builder
	for _, r := range line {
		if strings.ContainsRune("()[]|*^$,", r) {
			spaced.WriteString(" " + string(r) + " ")
		} else {
			spaced.WriteRune(r)
		}
	}
	return strings.Fields(spaced.String())
}

func (p *parser) peek() string {
	if p.at == len(p.tokens) {
		return ""
	}
	return p.tokens[p.at]
}

func (p *parser) sequence() ([]term, error) {
	var terms []term
	for {
		t, ok, err := p.term()
		if err != nil || !ok {
			return terms, err
		}
		if p.peek() == "*" {
			p.at++
			t.min, t.max = 0, 2
		}
		terms = append(terms, t)
	}
}

func (p *parser) term() (t term, ok bool, err error) {
	token := p.peek()
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
	p.at++
	return t, true, nil
}

func (p *parser) choice(closing string) ([][]term, error) {
	p.at++
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
		token := p.peek()
		p.at++
		switch token {
		case "|":
		case closing:
			return all, nil
		default:
			return nil, fmt.Errorf("%q is missing", closing)
		}
	}
}
