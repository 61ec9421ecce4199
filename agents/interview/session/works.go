package session

import (
	"slices"
	"strconv"

	"golang.org/x/text/unicode/norm"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The limits for the works that a candidate names.
const (
	maxWorks      = 5
	maxTitle      = 120     // runes
	maxItemWords  = 12      // of a title among others
	askedWorks    = 3       // number of works that the question asks for
	maxAnswerRead = 8 << 10 // bytes of an answer
)

// ParseWorks returns the works that an answer names, in order and without duplicates: at most
// five, of at most 120 runes each. Works are the items of a list, or else separated by lines,
// semicolons or commas, in this order of precedence. "et" and "and" separate works only if there
// are fewer than three otherwise: "Tom et Jerry" in a list is one work. A quoted text is a title.
// Introductions ("j'adore") and remarks in parentheses or after a dash or a colon are removed. An
// answer such as "rien" names no works.
func ParseWorks(text string) []string {
	var works []string
	long := ""
	for _, item := range splitWorks(text) {
		name := knownTitles().trim(titleOf(item))
		switch {
		case name == "" || slices.ContainsFunc(works, func(w string) bool { return textfold.Join(w) == textfold.Join(name) }):
		case textfold.Count(name) > maxItemWords:
			if long == "" {
				long = name // a sentence, used if there is no title
			}
		default:
			works = append(works, name)
		}
		if len(works) == maxWorks {
			return works
		}
	}
	if len(works) == 0 && long != "" {
		return []string{long}
	}
	return works
}

// parseCore returns the work that matters most to the candidate: one of works, by its title,
// its place ("the second one") or another spelling of its title, or else the start of the
// answer.
func parseCore(text string, works []string) string {
	ws := words(text)
	if i, ok := byTitle(ws, works); ok {
		return works[i]
	}
	if i, ok := byPlace(ws, len(works)); ok {
		return works[i]
	}
	named := titleOf(text[:min(len(text), maxAnswerRead)])
	if i, ok := NewTitles(works).Match(named); ok {
		return works[i]
	}
	if named != "" {
		return named
	}
	return sanitize.Line(norm.NFC.String(text[:min(len(text), maxAnswerRead)]), maxTitle)
}

// byTitle returns the work that an answer prefers, or else the first one that it names without
// rejecting it.
func byTitle(ws []word, works []string) (int, bool) {
	var o options
	for _, work := range works {
		name := words(work)
		if n := articles.at(name); n < len(name) {
			name = name[n:]
		}
		var title []string
		for _, w := range name {
			title = append(title, w.folded)
		}
		names := phrases{new(textfold.PhraseSet[struct{}])}
		names.AddWords(title, struct{}{})
		o.names = append(o.names, names)
	}
	first := noWord
	for _, m := range o.mentions(ws) {
		switch {
		case m.negated:
		case m.preferred:
			return m.option, true
		case first == noWord:
			first = m.option
		}
	}
	return first, first != noWord
}

// byPlace returns the work that an answer names by its place in the list.
func byPlace(ws []word, works int) (int, bool) {
	if len(ws) == 1 {
		if n, err := strconv.Atoi(ws[0].folded); err == nil && n > 0 && n <= works {
			return n - 1, true
		}
	}
	for i := range ws {
		place, n := placeAt(ws[i:], works)
		if n > 0 && place >= 0 && place < works && (endsClause(ws, i+n-1) || afterPlace.at(ws[i+n:]) > 0) {
			return place, true
		}
	}
	return 0, false
}

// placeAt returns the place, from 0, that the first n words of ws name.
func placeAt(ws []word, works int) (place, n int) {
	if n := lastPlace.at(ws); n > 0 {
		return works - 1, n
	}
	for place, ps := range places {
		if n := ps.at(ws); n > 0 {
			return place, n
		}
	}
	return 0, 0
}
