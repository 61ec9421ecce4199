package session

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// titleFacts distinguish works with similar titles.
type titleFacts struct {
	year, country string
	parts         []string // the numbers of parts: "2" for "Part Two"
	subtitled     bool
	remarks       bool // it has words that describe the work, such as its director
}

var (
	seasonNouns = titleList("seasonNouns")
	partNouns   = titleList("partNouns")
)

func factsOf(name string) titleFacts {
	words := textfold.Fold(name)
	f := titleFacts{year: yearOf(name, words)}
	if last := len(words) - 1; last > 0 && countrySuffixes()[words[last]] {
		f.country = words[last][:2]
	}
	main, remark, _ := strings.Cut(name, "(")
	pieces := subtitleMarks().Split(strings.ReplaceAll(main, ",", " : "), -1)
	for i, piece := range pieces {
		list := withNumbers(textfold.Fold(piece))
		f.subtitled = f.subtitled || i > 0 && len(withoutParts(list)) > 0
		f.parts = append(f.parts, partsIn(list)...)
	}
	known := knownTitles()
	first, end := known.within(titleWords(main))
	f.remarks = end > first && end < len(titleWords(main)) && f.parts == nil ||
		remark != "" && !isYear(strings.TrimSuffix(remark, ")"))
	return f
}

// yearOf returns the year after a title, or "".
func yearOf(name string, words []string) string {
	for i := len(words) - 1; i > 0; i-- {
		if isYear(words[i]) {
			return words[i]
		}
	}
	if last := len(words) - 1; last > 0 && len(words[last]) == 2 && isNumber(words[last]) && words[last] >= "20" {
		known := knownTitles()
		if known.exactly(name) == nil && known.works[catalogKey(withoutArticle(words[:last]))] != nil {
			return "19" + words[last]
		}
	}
	return ""
}

// partsIn returns the numbers of parts in a piece of a title: those at its end, and those beside words such as "part".
func partsIn(words []string) []string {
	var parts []string
	for i, word := range words {
		number := partNumber(word)
		if number == "" || i > 0 && seasonNouns()[words[i-1]] {
			continue
		}
		beside := i > 0 && partNouns()[words[i-1]] || i+1 < len(words) && partNouns()[words[i+1]]
		if beside || i > 0 && len(withoutParts(words[i:])) == 0 && !seasonNouns()[words[max(0, i-2)]] {
			parts = append(parts, number)
		}
	}
	return parts
}

// withoutParts returns the words that number no parts.
func withoutParts(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return partNumber(w) != "" || partNouns()[w] || joiningWords()[w] || titleArticles()[w] || w == "de"
	})
}

// partNumber returns the number up to ten that a word spells, or "".
func partNumber(word string) string {
	if n, ok := numerals()[phonetic(word)]; ok {
		word = n
	}
	if word == "i" || word == "un" {
		return "1"
	}
	if isVolume(word) {
		return arabic(word)
	}
	return ""
}

// differ reports whether a name of a candidate and a title cannot be those of one work, whatever their spelling.
func differ(name, title string) bool {
	a, b := factsOf(name), factsOf(title)
	if a.year != "" && b.year != "" && a.year != b.year || a.country != "" && b.country != "" && a.country != b.country {
		return true
	}
	if b.year != "" && a.year == "" && a.remarks {
		return true
	}
	if len(a.parts) > 0 && len(b.parts) > 0 && !sameVolumes(a.parts, b.parts) {
		return true
	}
	known := knownTitles()
	of, official := known.exactly(withoutYear(name, a.year)), known.officially(withoutYear(title, b.year))
	if of != nil && official != nil {
		return !sameKnown(of, official) && !known.inSeries(title, of) && !known.beginsSeries(name, title)
	}
	return len(a.parts) == 1 && len(b.parts) == 0 && (b.subtitled || a.parts[0] != "1") &&
		!sameKnown(known.named(name), known.exactly(title))
}

func withoutYear(name, year string) string {
	before, _, found := strings.Cut(name, year)
	if before = strings.TrimRight(before, " (,"); year == "" || !found || before == "" {
		return name
	}
	return before
}

// maxEdition is the number of words after a title that distinguish works with this title: "psycho (hitchcock)".
const maxEdition = 5

// tellsApart reports whether a whole answer is a title of several works with a year, or with a remark that may distinguish
// them.
func (c *catalog) tellsApart(answer, name string) bool {
	answer = strings.TrimSpace(answer)
	if name == "" || len(name) >= len(answer) || len(answer) > len(name)+maxTitle || !strings.EqualFold(answer[:len(name)], name) {
		return false
	}
	rest := textfold.Fold(answer[len(name):])
	if len(rest) == 0 || len(rest) > maxEdition || slices.ContainsFunc(rest, func(w string) bool { return joiningWords()[w] }) {
		return false
	}
	year := slices.ContainsFunc(rest, func(w string) bool { return isYear(w) || countrySuffixes()[w] })
	if separatesTitles(inBrackets().ReplaceAllString(strings.TrimLeft(answer[len(name):], " ,"), "")) {
		return false
	}
	if len(rest) > 1 && titleArticles()[rest[0]] {
		rest = rest[1:]
	}
	return year || len(c.exactly(name)) > 1 && (editions()[rest[0]] || namesPerson(rest))
}

var (
	editions   = titleList("editions")
	inBrackets = lazyregexp.New(`\([^)]*\)`)
)
