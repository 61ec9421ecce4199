// Package keyword parses the expressions that select scenarios by parts of their names and tags.
//
// The grammar:
//
//	expression = conjunction { "or" conjunction }
//	conjunction = term { "and" term }
//	term = "not" term | "(" expression ")" | word
//
// A word is a sequence of characters without spaces, parentheses and quotes, or any text in
// single or double quotes. It is true for a scenario whose name, or one of whose tags, contains
// it; case is ignored. The operators are lower or upper case; in quotes they are words.
package keyword

import (
	"fmt"
	"slices"
	"strings"
)

// The limits of an expression; a longer one is a mistake, such as a file in the place of a word.
const (
	maxBytes = 10_000
	maxDepth = 100
)

// Expr is a parsed expression. The zero value matches everything.
type Expr struct {
	root  node
	words []string
}

// node is a part of an expression: a word, or an operator with its operands.
type node struct {
	kind     operator
	word     string // in lower case
	operands []node
}

// operator is the kind of a node.
type operator int

const (
	everything operator = iota
	word
	not
	and
	or
)

// SyntaxError is an invalid expression.
type SyntaxError struct {
	// Column counts characters from 1.
	Column  int
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Message) }

// Parse parses an expression. Its error is a *SyntaxError.
func Parse(text string) (Expr, error) {
	if len(text) > maxBytes {
		return Expr{}, &SyntaxError{1, fmt.Sprintf("the expression has %d bytes; at most %d are allowed", len(text), maxBytes)}
	}
	tokens, err := scan(text)
	if err != nil {
		return Expr{}, err
	}
	p := parser{tokens: tokens}
	root, err := p.expression(0)
	if err == nil && p.peek().kind != endOfText {
		err = p.unexpected()
	}
	if err != nil {
		return Expr{}, err
	}
	return Expr{root: root, words: root.collect(nil, false)}, nil
}

// Match reports whether the expression is true for a scenario.
func (e Expr) Match(name string, tags []string) bool {
	texts := make([]string, 0, len(tags)+1)
	for _, text := range append([]string{name}, tags...) {
		texts = append(texts, strings.ToLower(text))
	}
	return e.root.match(texts)
}

// Words returns the words that are not negated, in lower case, in order and without duplicates.
func (e Expr) Words() []string { return slices.Clone(e.words) }

func (n *node) match(texts []string) bool {
	switch n.kind {
	case word:
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, n.word) })
	case not:
		return !n.operands[0].match(texts)
	case and:
		return !slices.ContainsFunc(n.operands, func(operand node) bool { return !operand.match(texts) })
	case or:
		return slices.ContainsFunc(n.operands, func(operand node) bool { return operand.match(texts) })
	case everything:
	}
	return true
}

// collect appends the words of the node that are not negated and not among words yet.
func (n *node) collect(words []string, negated bool) []string {
	if n.kind == word && !negated && !slices.Contains(words, n.word) {
		words = append(words, n.word)
	}
	for i := range n.operands {
		words = n.operands[i].collect(words, negated != (n.kind == not))
	}
	return words
}
