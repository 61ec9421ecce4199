package lexicon

import (
	"fmt"
	"strings"
	"unicode"
)

// expression is a parsed phrase.
type expression struct {
	kind  expressionKind
	word  string
	parts []expression
}

type expressionKind uint8

const (
	wordExpression expressionKind = iota
	anyExpression
	commaExpression
	sequence
	alternatives
	optional
)

// maxNesting is how deep parentheses may stand in each other.
const maxNesting = 8

// parser reads a phrase from left to right.
type parser struct {
	rest  string
	depth int
}

func parse(phrase string) (expression, error) {
	p := parser{rest: phrase}
	e, err := p.sequence()
	if err == nil && p.rest != "" {
		err = fmt.Errorf("%q closes nothing", p.rest[:1])
	}
	return e, err
}

// sequence reads what stands up to the end, a closing parenthesis, or within
// parentheses a bar.
func (p *parser) sequence() (expression, error) {
	e := expression{kind: sequence}
	for {
		p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace)
		if p.rest == "" || p.rest[0] == ')' || p.rest[0] == '|' && p.depth > 0 {
			break
		}
		part, err := p.choice()
		if err != nil {
			return e, err
		}
		e.parts = append(e.parts, part)
	}
	if len(e.parts) == 0 {
		return e, fmt.Errorf("a part holds no word")
	}
	return e, nil
}

// choice reads "run|test|check"; within parentheses the bar separates more than
// words, and the group reads it.
func (p *parser) choice() (expression, error) {
	first, err := p.term()
	if err != nil || p.depth > 0 || !strings.HasPrefix(p.rest, "|") {
		return first, err
	}
	e := expression{kind: alternatives, parts: []expression{first}}
	for strings.HasPrefix(p.rest, "|") {
		p.rest = p.rest[1:]
		next, err := p.term()
		if err != nil {
			return e, err
		}
		e.parts = append(e.parts, next)
	}
	return e, nil
}

// term reads a word with its suffixes, a group, "_" or ",", and "?" behind it.
func (p *parser) term() (expression, error) {
	var e expression
	var err error
	switch {
	case p.rest == "":
		return e, fmt.Errorf("a word is missing at the end")
	case p.rest[0] == '(':
		e, err = p.group()
		if err == nil && p.rest != "" && wordStart(p.rest) {
			err = fmt.Errorf("put a space behind %q", ")")
		}
	case p.rest[0] == '_':
		e = expression{kind: anyExpression}
		p.rest = p.rest[1:]
	case p.rest[0] == ',':
		e = expression{kind: commaExpression}
		p.rest = p.rest[1:]
	default:
		e, err = p.word()
	}
	if err == nil && strings.HasPrefix(p.rest, "?") {
		p.rest = p.rest[1:]
		e = expression{kind: optional, parts: []expression{e}}
	}
	return e, err
}

// group reads "(a b|c)".
func (p *parser) group() (expression, error) {
	e := expression{kind: alternatives}
	if p.depth++; p.depth > maxNesting {
		return e, fmt.Errorf("parentheses stand in each other more than %d deep", maxNesting)
	}
	for {
		p.rest = p.rest[1:] // the parenthesis or bar
		part, err := p.sequence()
		if err != nil {
			return e, err
		}
		e.parts = append(e.parts, part)
		if p.rest == "" {
			return e, fmt.Errorf("a parenthesis is not closed")
		}
		if p.rest[0] == ')' {
			p.rest = p.rest[1:]
			p.depth--
			return e, nil
		}
	}
}

// word reads a word and the endings that may follow it, "step(s)" or
// "test(s|ing)".
func (p *parser) word() (expression, error) {
	n := 0
	for n < len(p.rest) && wordStart(p.rest[n:]) {
		n++
	}
	if n == 0 {
		return expression{}, fmt.Errorf("%q can be no part of a phrase", p.rest[:1])
	}
	word := expression{kind: wordExpression, word: p.rest[:n]}
	p.rest = p.rest[n:]
	if !strings.HasPrefix(p.rest, "(") {
		return word, nil
	}
	inside, after, ok := strings.Cut(p.rest[1:], ")")
	if !ok {
		return word, fmt.Errorf("a parenthesis is not closed")
	}
	p.rest = after
	e := expression{kind: alternatives, parts: []expression{word}}
	for ending := range strings.SplitSeq(inside, "|") {
		if ending == "" || strings.ContainsFunc(ending, func(r rune) bool { return !unicode.IsLetter(r) }) {
			return word, fmt.Errorf("the ending %q of %q is not made of letters", ending, word.word)
		}
		e.parts = append(e.parts, expression{kind: wordExpression, word: word.word + ending})
	}
	return e, nil
}

// wordStart says whether s begins with what may be a part of a word; accents and
// curly apostrophes are, for all beyond ASCII is.
func wordStart(s string) bool {
	c := s[0]
	return c >= 0x80 || c == '\'' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
