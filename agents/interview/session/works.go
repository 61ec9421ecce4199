package session

import (
	"slices"
	"strings"

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
		if knownTitles().tellsApart(text, name) {
			return []string{sanitize.Line(norm.NFC.String(strings.TrimFunc(text, isTitleEdge)), maxTitle)}
		}
		switch {
		case name == "", !quotes().MatchString(item) && isSentence(name),
			slices.ContainsFunc(works, func(w string) bool { return textfold.Join(w) == textfold.Join(name) }):
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
