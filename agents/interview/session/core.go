package session

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// parseCore returns the work that matters most to the candidate: one of works, by its title or a part of it,
// another spelling, or its place ("the second one"), or else the start of the answer.
func parseCore(text string, works []string) string {
	text = text[:min(len(text), maxAnswerRead)]
	named := titleOf(text)
	if i := slices.IndexFunc(works, func(work string) bool { return textfold.Join(work) == textfold.Join(text) }); i >= 0 {
		return works[i]
	}
	if i, ok := coreOptions(works).choose(text); ok {
		return works[i]
	}
	if named != "" {
		return named
	}
	return sanitize.Line(norm.NFC.String(text), maxTitle)
}

// coreOptions returns the works as options.
func coreOptions(works []string) options {
	titles := NewTitles(works)
	keys := make([][]string, len(works))
	for i, work := range works {
		keys[i] = textfold.Fold(work)
	}
	return options{count: len(works), nameAt: func(r *reading, i int) (option, n int) { return r.workAt(i, titles, keys) }}
}

// workAt returns the work that the words at i name: by its whole title, or, where the words are all that a clause
// has to say, by another spelling or a part of the title.
func (r *reading) workAt(i int, titles *Titles, keys [][]string) (work, n int) {
	for k, key := range keys {
		for _, title := range [][]string{key, withoutArticle(key)} {
			if len(title) > n && r.startsWith(i, title) && (len(title) > 1 || r.isTitle(i)) {
				work, n = k, len(title)
			}
		}
	}
	if n > 0 && i+n < len(r.words) && !r.words[i+n].gap && isNumber(r.words[i+n].folded) {
		return 0, 0 // another volume
	}
	if n > 0 || r.open != i {
		return work, n
	}
	end := min(r.clauseEnd(i), i+maxTitleWords)
	function := isFunction(r.words[i:end])
	for ; end > i; end-- {
		if !r.mayEnd(end) || function && end-i < len(r.words) {
			continue
		}
		said := r.words[i:end]
		if k, ok := titles.Match(r.text[said[0].start:said[len(said)-1].end]); ok {
			return k, end - i
		}
		if k, ok := partOf(said, keys); ok {
			return k, end - i
		}
	}
	return 0, 0
}

// isFunction reports whether words begin with some that introduce or modify others, and are not a part of a title.
func isFunction(said []word) bool {
	for _, l := range []list{openers, turns, alsos, preferences, remarks, leads, idioms, negations, comparisons, joins} {
		if l.at(said) > 0 {
			return true
		}
	}
	return false
}

// startsWith reports whether the words at i are those of a title.
func (r *reading) startsWith(i int, title []string) bool {
	return len(title) > 0 && len(r.words) >= i+len(title) &&
		slices.EqualFunc(r.words[i:i+len(title)], title, func(w word, t string) bool { return w.folded == t })
}

// isTitle reports whether a word that is a title means the title here: it is not an everyday word, or it stands alone,
// or it is capitalized within a sentence.
func (r *reading) isTitle(i int) bool {
	w := r.words[i]
	if r.open == i && r.mayEnd(i+1) {
		return openers.at([]word{w}) == 0 || len(r.words) == 1
	}
	return !everyday.has(w.folded) || i > 0 && !w.gap && beginsLikeTitle(r.text[w.start:])
}

// mayEnd reports whether a title may end before word i.
func (r *reading) mayEnd(i int) bool {
	if i >= len(r.words) || r.words[i].gap {
		return true
	}
	rest := r.words[i:]
	for _, l := range []list{remarks, reasons, turns, openers, negations, thans, preferences, joins, idioms, comparisons, alsos} {
		if l.at(rest) > 0 && (l != comparisons || r.weighs || rest[0].folded == "que") {
			return true
		}
	}
	return false
}

// partOf returns the only work whose title has all words that somebody said: "Saul" for "Better Call Saul".
func partOf(said []word, keys [][]string) (work int, ok bool) {
	matches := 0
	for k, key := range keys {
		if partOfTitle(said, key) {
			work = k
			matches++
		}
	}
	return work, matches == 1
}

func partOfTitle(said []word, key []string) bool {
	exact, content := false, false
	for _, w := range said {
		if !smallWords()[w.folded] {
			content = content || len(w.folded) >= 4 && !everyday.has(w.folded)
		}
	}
	for _, w := range said {
		if slices.Contains(key, w.folded) {
			exact = exact || !smallWords()[w.folded]
			continue
		}
		prefix := len(w.folded) >= 3 && len(said) > 1 && slices.ContainsFunc(key, func(t string) bool { return strings.HasPrefix(t, w.folded) })
		near := len(w.folded) >= 5 && slices.ContainsFunc(key, func(t string) bool { return similarKeys([]string{w.folded}, []string{t}) })
		if near {
			exact = true
		} else if !prefix && (!smallWords()[w.folded] || len(said) == 1) {
			return false
		}
	}
	return exact && content
}

// byPlace returns the same options, named by their place in the list.
func (o options) byPlace() options {
	o.nameAt = func(r *reading, i int) (option, n int) { return placeAt(r.words, i, o.count) }
	o.pronouns, o.letters = nil, false
	return o
}

// placeAt returns the place, from 0, that the first n words at i name.
func placeAt(ws []word, i, count int) (place, n int) {
	if number, err := strconv.Atoi(ws[i].folded); err == nil && len(ws) == 1 && number > 0 && number <= count {
		return number - 1, 1
	}
	rest := ws[i:]
	place = -1
	if n = middlePlace.at(rest); n > 0 && count%2 == 1 {
		return count / 2, n
	}
	if n = lastButOne.at(rest); n > 0 {
		return max(count-2, 0), n
	}
	if n = lastPlace.at(rest); n > 0 {
		place = count - 1
	}
	for k, l := range places {
		if m := l.at(rest); m > n {
			place, n = k, m
		}
	}
	if n == 0 || place < 0 || place >= count || !endsClause(ws, i+n-1) && afterPlace.at(ws[i+n:]) == 0 {
		return 0, 0
	}
	return place, n
}
