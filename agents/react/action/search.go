package action

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// maxQuery is the largest size of a query, in bytes.
const maxQuery = 1000

type searchInput struct {
	Query string `yaml:"query"`
	Scope string `yaml:"scope,omitempty"`
}

// query is a sign with its description.
type query struct {
	sign
	about string
}

// search lists the lines of a scope that match a query.
func (w *work) search(in searchInput) (string, error) {
	switch {
	case strings.TrimSpace(in.Query) == "":
		return "", fail(RuleBadInput, "the query is empty")
	case len(in.Query) > maxQuery:
		return "", fail(RuleBadInput, "the query has %d bytes; at most %d are allowed", len(in.Query), maxQuery)
	}
	l, err := w.scope(in.Scope)
	if err != nil {
		return "", err
	}
	q, doubt := newQuery(in.Query)
	var b strings.Builder
	if doubt != "" {
		b.WriteString(doubt + "\n")
	}
	found, err := w.lines(l.texts, []sign{q.sign})
	if err != nil {
		return "", err
	}
	heading(&b, fmt.Sprintf("lines with %s in %s", q.about, format.Plural(len(l.texts), "file")), found)
	l.remarks(&b)
	return b.String(), nil
}

// newQuery parses a query: with a special character of RE2 it is a regular expression,
// otherwise words that must all be in a line. Case is ignored. An invalid expression is
// searched as literal text, and doubt explains that.
func newQuery(s string) (q query, doubt string) {
	if !strings.ContainsAny(s, `\.+*?()|[]{}^$`) {
		return words(s), ""
	}
	re, err := regexp.Compile("(?i)" + s)
	if err != nil {
		literal := strings.ToLower(s)
		q = query{sign{needles: needle(literal), match: func(line string) bool {
			return strings.Contains(strings.ToLower(line), literal)
		}}, fmt.Sprintf("the text %q", clip(s))}
		return q, fmt.Sprintf("%q is not a regular expression (%s); it is searched for literally", clip(s), syntaxOf(err))
	}
	return query{newSign("", re), fmt.Sprintf("the expression %q", clip(s))}, ""
}

// syntaxOf returns the error in a regular expression, without the part that this package
// added.
func syntaxOf(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String()
	}
	return err.Error()
}

// words returns a query for lines with every word of s, which has at least one.
func words(s string) query {
	all := strings.Fields(strings.ToLower(s))
	longest := slices.MaxFunc(all, func(a, b string) int { return len(a) - len(b) })
	return query{sign{needles: needle(longest), match: func(line string) bool {
		line = strings.ToLower(line)
		for _, word := range all {
			if !strings.Contains(line, word) {
				return false
			}
		}
		return true
	}}, fmt.Sprintf("the words %q", clip(s))}
}
