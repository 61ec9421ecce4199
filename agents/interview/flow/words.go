package flow

import (
	"slices"
	"strings"
	"unicode"

	wordlist "github.com/rehearse-dev/rehearse/internal/textfold"
)

// word is a word of an answer, folded to lower case without accents, so that
// spelling does not matter.
type word struct {
	folded     string
	start, end int // in the text as it came
	// gap means that punctuation stands before it: a new clause begins.
	gap bool
}

// words reads a text. An apostrophe or a hyphen between letters ends a word and
// no clause; only in "don't" and the like the apostrophe is part of the word.
func words(text string) []word {
	var all []word
	r := wordlist.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		folded := string(w.Text)
		last := len(all) - 1
		if folded == "t" && last >= 0 && slices.Contains(apostrophes, w.Gap) {
			all[last].folded, all[last].end = all[last].folded+"'t", w.End
			continue
		}
		all = append(all, word{folded, w.Start, w.End, parts(w.Gap)})
	}
	return all
}

var apostrophes = []string{"'", "’", "ʼ", "‘"}

// parts reports whether what stands between two words ends a clause.
func parts(gap string) bool {
	if gap == "-" || gap == "‐" || gap == "‑" {
		return false
	}
	return strings.ContainsFunc(gap, func(r rune) bool {
		return r == '\n' || r == '\r' || !unicode.IsSpace(r) && !strings.ContainsRune("'’ʼ‘*_\"“”«»`°", r)
	})
}

// phrase is a sequence of folded words. A star at the end of a word stands for
// any end of it.
type phrase []string

// at reports whether the phrase stands at the head of ws, within one clause.
func (p phrase) at(ws []word) bool {
	if len(p) > len(ws) {
		return false
	}
	for i, want := range p {
		if i > 0 && ws[i].gap || !matches(want, ws[i].folded) {
			return false
		}
	}
	return true
}

func matches(want, got string) bool {
	stem, open := strings.CutSuffix(want, "*")
	return got == stem || open && strings.HasPrefix(got, stem)
}

// phrases are alternatives, found by their first word.
type phrases struct {
	closed map[string][]phrase // by the first word
	open   []phrase            // those whose first word has a star
}

// with adds the phrases of a list, which commas part.
func (ps phrases) with(list string) phrases {
	for text := range strings.SplitSeq(list, ",") {
		if p := phrase(strings.Fields(text)); len(p) > 0 {
			ps = ps.and(p)
		}
	}
	return ps
}

func (ps phrases) and(p phrase) phrases {
	if strings.HasSuffix(p[0], "*") {
		ps.open = append(ps.open, p)
		return ps
	}
	if ps.closed == nil {
		ps.closed = map[string][]phrase{}
	}
	ps.closed[p[0]] = append(ps.closed[p[0]], p)
	return ps
}

// at is the length in words of the longest phrase at the head of ws; 0 if there
// is none.
func (ps phrases) at(ws []word) int {
	if len(ws) == 0 {
		return 0
	}
	n := 0
	for _, some := range [][]phrase{ps.closed[ws[0].folded], ps.open} {
		for _, p := range some {
			if len(p) > n && p.at(ws) {
				n = len(p)
			}
		}
	}
	return n
}
