package keyword

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token.
type tokenKind int

const (
	endOfText tokenKind = iota
	wordToken
	operatorToken // and, or, not
	openToken
	closeToken
)

// token is a part of the text with its place.
type token struct {
	kind   tokenKind
	text   string // of an operator in lower case; of a word without quotes
	column int
}

// scan splits a text into tokens, with one of kind endOfText at the end.
func scan(text string) ([]token, error) {
	var tokens []token
	column := 1
	for text != "" {
		first, size := utf8.DecodeRuneInString(text)
		t := token{column: column}
		switch {
		case unicode.IsSpace(first):
			text, column = text[size:], column+1
			continue
		case first == '(':
			t.kind, t.text = openToken, "("
		case first == ')':
			t.kind, t.text = closeToken, ")"
		case first == '"' || first == '\'':
			end := strings.IndexRune(text[1:], first)
			if end < 0 {
				return nil, &SyntaxError{column, fmt.Sprintf("the quote %c is not closed", first)}
			}
			t.kind, t.text, size = wordToken, text[1:1+end], end+2
			if t.text == "" {
				return nil, &SyntaxError{column, "the word in quotes is empty"}
			}
		default:
			size = len(text)
			if end := strings.IndexFunc(text, endsWord); end >= 0 {
				size = end
			}
			t.kind, t.text = wordToken, text[:size]
			if lower := strings.ToLower(t.text); lower == "and" || lower == "or" || lower == "not" {
				t.kind, t.text = operatorToken, lower
			}
		}
		tokens = append(tokens, t)
		column += utf8.RuneCountInString(text[:size])
		text = text[size:]
	}
	return append(tokens, token{column: column}), nil
}

func endsWord(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`()"'`, r) }

// parser reads tokens; the last one is of kind endOfText and is not consumed.
type parser struct{ tokens []token }

func (p *parser) peek() token { return p.tokens[0] }

// take consumes the next token if it is this operator.
func (p *parser) take(operator string) bool {
	if next := p.peek(); next.kind != operatorToken || next.text != operator {
		return false
	}
	p.tokens = p.tokens[1:]
	return true
}

func (p *parser) expression(depth int) (node, error) { return p.list(or, "or", depth, p.conjunction) }

func (p *parser) conjunction(depth int) (node, error) { return p.list(and, "and", depth, p.term) }

// list parses operands with an operator between them; a single operand is returned as it is.
func (p *parser) list(kind operator, name string, depth int, operand func(int) (node, error)) (node, error) {
	n := node{kind: kind}
	for {
		next, err := operand(depth)
		if err != nil {
			return node{}, err
		}
		n.operands = append(n.operands, next)
		if !p.take(name) {
			break
		}
	}
	if len(n.operands) == 1 {
		return n.operands[0], nil
	}
	return n, nil
}

func (p *parser) term(depth int) (node, error) {
	next := p.peek()
	if depth > maxDepth {
		return node{}, &SyntaxError{next.column, fmt.Sprintf("the expression is nested more than %d levels deep", maxDepth)}
	}
	switch {
	case p.take("not"):
		operand, err := p.term(depth + 1)
		return node{kind: not, operands: []node{operand}}, err
	case next.kind == wordToken:
		p.tokens = p.tokens[1:]
		return node{kind: word, word: strings.ToLower(next.text)}, nil
	case next.kind == openToken:
		p.tokens = p.tokens[1:]
		inner, err := p.expression(depth + 1)
		if err != nil {
			return node{}, err
		}
		if p.peek().kind != closeToken {
			return node{}, p.unexpected()
		}
		p.tokens = p.tokens[1:]
		return inner, nil
	}
	return node{}, &SyntaxError{next.column, `expected a word, "not" or "(", got ` + next.describe()}
}

// unexpected returns the error that the next token cannot follow an operand.
func (p *parser) unexpected() error {
	next := p.peek()
	return &SyntaxError{next.column, `expected "and", "or" or ")", got ` + next.describe()}
}

func (t token) describe() string {
	if t.kind == endOfText {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}
