package action

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/rehearse-dev/rehearse/clock"
)

// maxQuery is how long a query may be, in bytes.
const maxQuery = 1000

type searchInput struct {
	Query string `yaml:"query"`
	Scope string `yaml:"scope,omitempty"`
}

// query is a test of lines.
type query struct {
	about string // what is looked for, in words
	match func(line string) bool
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
	found, err := w.lines(l.texts, q.find)
	if err != nil {
		return "", err
	}
	heading(&b, fmt.Sprintf("lines with %s in %s", q.about, count(len(l.texts), "file")), found)
	l.remarks(&b)
	return b.String(), nil
}

// newQuery reads a query: with a character that has a meaning in RE2 it is a
// regular expression, otherwise words that a line must hold, all of them. Case
// does not count. One that is no regular expression is looked for as it stands,
// and doubt says so.
func newQuery(s string) (q query, doubt string) {
	if !strings.ContainsAny(s, `\.+*?()|[]{}^$`) {
		return words(s), ""
	}
	re, err := regexp.Compile("(?i)" + s)
	if err != nil {
		literal := strings.ToLower(s)
		q = query{fmt.Sprintf("the text %q", clip(s)), func(line string) bool { return strings.Contains(strings.ToLower(line), literal) }}
		return q, fmt.Sprintf("%q is no regular expression (%s); it is looked for as it stands", clip(s), syntaxOf(err))
	}
	return query{fmt.Sprintf("the expression %q", clip(s)), re.MatchString}, ""
}

// syntaxOf is what is wrong with a regular expression, without our part of it.
func syntaxOf(err error) string {
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return e.Code.String()
	}
	return err.Error()
}

// words looks for lines that hold every word of s, which has at least one.
func words(s string) query {
	all := strings.Fields(strings.ToLower(s))
	return query{fmt.Sprintf("the words %q", clip(s)), func(line string) bool {
		line = strings.ToLower(line)
		for _, word := range all {
			if !strings.Contains(line, word) {
				return false
			}
		}
		return true
	}}
}

// find is what is found in a line: the line, or nothing.
func (q query) find(line string) []string {
	if !q.match(line) {
		return nil
	}
	return []string{line}
}

// lines gathers what is found in each line of texts, with its place. It ends with
// the context, as an expression may be slow.
func (w *work) lines(texts []text, find func(line string) []string) ([]string, error) {
	var all []string
	for _, t := range texts {
		for i, line := range t.lines() {
			if i%256 == 0 {
				if err := clock.Err(w.ctx); err != nil {
					return nil, err
				}
			}
			for _, s := range find(line) {
				all = append(all, at(t.name, i+1, s))
			}
		}
	}
	return all, nil
}
