package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is a word of an answer: letters and digits, folded to lower case without
// accents, so that spelling does not matter.
type word struct {
	folded     string
	start, end int // in the text as it came
	// gap means that punctuation stands before it: a new clause begins.
	gap bool
}

// words splits a text. An apostrophe or a hyphen between letters ends a word and
// no clause; only in "don't" and the like the apostrophe is part of the word.
func words(text string) []word {
	var all []word
	gap, start := false, -1
	closeAt := func(end int) {
		if start >= 0 {
			all = append(all, word{fold(text[start:end]), start, end, gap})
			start, gap = -1, false
		}
	}
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r):
			if start < 0 {
				start = i
			}
		case apostrophe(r) && start >= 0 && isNot(text[start:i], text[i+utf8.RuneLen(r):]):
		default:
			closeAt(i)
			gap = gap || !joins(text, i, r)
		}
	}
	closeAt(len(text))
	return all
}

// fold is how a word is compared.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case apostrophe(r):
			return '\''
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
	return ligatures.Replace(s)
}

// ligatures have no decomposition in Unicode.
var ligatures = strings.NewReplacer("œ", "oe", "æ", "ae", "ß", "ss")

func apostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' || r == '‘' }

// isNot reports whether an apostrophe stands in a word such as "don't".
func isNot(before, after string) bool {
	if !strings.HasSuffix(before, "n") && !strings.HasSuffix(before, "N") {
		return false
	}
	if after == "" || after[0]|0x20 != 't' {
		return false
	}
	next, _ := utf8.DecodeRuneInString(after[1:])
	return !unicode.IsLetter(next)
}

// joins reports whether the character at i separates words within one clause.
func joins(text string, i int, r rune) bool {
	switch {
	case r == '\n' || r == '\r':
		return false
	case unicode.IsSpace(r) || apostrophe(r):
		return true
	case r == '-' || r == '‐' || r == '‑': // a dash has a space beside it
		return i > 0 && text[i-1] != ' ' && !strings.HasPrefix(text[i+utf8.RuneLen(r):], " ")
	}
	return strings.ContainsRune("*_\"“”«»`\u200b\ufeff\u00ad\u2060", r) // marks and quotes
}

// phrase is a sequence of folded words. A star at the end of a word stands for
// any end of it.
type phrase []string

// phrases reads phrases, which commas separate.
func phrases(list string) []phrase {
	var all []phrase
	for p := range strings.SplitSeq(list, ",") {
		all = append(all, strings.Fields(p))
	}
	return all
}

// at reports whether the phrase stands at the head of ws, within one clause.
func (p phrase) at(ws []word) bool {
	if len(p) == 0 || len(p) > len(ws) {
		return false
	}
	for i, want := range p {
		if i > 0 && ws[i].gap {
			return false
		}
		stem, open := strings.CutSuffix(want, "*")
		if got := ws[i].folded; got != stem && !(open && strings.HasPrefix(got, stem)) {
			return false
		}
	}
	return true
}

// longest is the length in words of the longest phrase at the head of ws.
func longest(ps []phrase, ws []word) int {
	n := 0
	for _, p := range ps {
		if len(p) > n && p.at(ws) {
			n = len(p)
		}
	}
	return n
}
