// Package jsonpath extracts one value from untrusted JSON by a path as defined by RFC
// 9535.
package jsonpath

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/ohler55/ojg/jp"
	"github.com/ohler55/ojg/oj"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Path selects one value. The zero value selects nothing.
type Path struct {
	text string
	expr jp.Expr
	cost factors
}

const (
	// maxPath is the largest size of a path in bytes.
	maxPath = 1000
	// maxQuoted limits quotations in errors, in bytes.
	maxQuoted = 80
)

// Parse parses a path, such as $.reply or $.choices[0].message.content.
func Parse(text string) (path Path, err error) {
	defer recovered(&err)
	switch {
	case !strings.HasPrefix(text, "$"):
		return Path{}, fmt.Errorf("%q is not a JSON path; it begins with $, such as $.reply", sanitize.Shorten(text, maxQuoted))
	case len(text) > maxPath:
		return Path{}, fmt.Errorf("a JSON path of %d bytes; at most %d are allowed", len(text), maxPath)
	}
	expr, err := jp.ParseString(text)
	if err != nil {
		return Path{}, fmt.Errorf("%q is not a JSON path: %w", sanitize.Shorten(text, maxQuoted), err)
	}
	return Path{text: text, expr: expr, cost: factorsOf(text)}, nil
}

// String returns the path as it was written.
func (p Path) String() string { return p.text }

// IsZero reports whether p is the zero value.
func (p Path) IsZero() bool { return p.text == "" }

// Errors of Text.
var (
	// ErrAbsent means that the value is missing or null.
	ErrAbsent = errors.New("nothing is there")
	// ErrNotJSON means that the data is not exactly one JSON value.
	ErrNotJSON = errors.New("no JSON")
	// ErrMany means that a path selects several values, in an order that is not defined.
	ErrMany = errors.New("the path picks several values; write one that picks one")
	// ErrCost means that evaluating the path would take too long: the work grows with
	// the depth of the data to the power of the number of "..".
	ErrCost = errors.New("the path needs too much work on data of this size; use fewer \"..\"")
)

// Text returns the selected value as text: a string as it is, anything else as JSON. The
// error wraps ErrAbsent, ErrNotJSON, ErrMany or ErrCost.
func (p Path) Text(data []byte) (text string, err error) {
	defer recovered(&err)
	// Stricter than the library's own parser, and with a limit on nesting.
	if !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)) {
		return "", fmt.Errorf("%w: %q", ErrNotJSON, sanitize.Shorten(string(data), maxQuoted))
	}
	if err := p.cost.checkCost(data); err != nil {
		return "", err
	}
	doc, err := oj.Parse(data)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotJSON, err)
	}
	all := p.expr.Get(doc)
	switch {
	case len(all) == 0 || len(all) == 1 && all[0] == nil:
		return "", fmt.Errorf("%s: %w", p.text, ErrAbsent)
	case len(all) > 1:
		return "", fmt.Errorf("%s: %w (here %d)", p.text, ErrMany, len(all))
	}
	if text, ok := all[0].(string); ok {
		return text, nil
	}
	return oj.JSON(all[0], &oj.Options{Sort: true}), nil
}

// recovered turns a panic into an error; both path and document are untrusted.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the JSON path cannot be used: %v", p)
	}
}
