package session

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// titleToken is a word of a text.
type titleToken struct {
	folded     string
	heard      string // the phonetic form
	number     string // the number that it spells, or heard
	small      bool   // see smallWords
	start, end int
	gap        string // the text between it and the word before
	capital    bool   // begins with a capital letter or a digit
	capitals   int
}

func titleTokens(text string) []titleToken {
	all := make([]titleToken, 0, len(text)/5) // most words are longer
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		t := titleToken{folded: string(w.Text), start: w.Start, end: w.End, gap: w.Gap}
		t.heard = phonetic(t.folded)
		t.number, t.small = numbered(t.heard), smallWords()[t.folded]
		first, _ := utf8.DecodeRuneInString(text[w.Start:])
		t.capital = unicode.IsUpper(first) || unicode.IsDigit(first)
		t.capitals = capitalsIn(text[w.Start:w.End])
		all = append(all, t)
	}
	return all
}

func (t titleToken) is(word string) bool { return t.folded == word }

const (
	openingMarks = "«“\"*_‘'"
	closingMarks = "»”\"*_’'"
)

// opened reports whether a quotation mark or emphasis mark precedes the word.
func (t titleToken) opened() bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(t.gap, " \u00a0\u202f"))
	return last != utf8.RuneError && strings.ContainsRune(openingMarks, last)
}

// closesQuotation reports whether a gap begins with a quotation mark or emphasis mark.
func closesQuotation(gap string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(gap, " \u00a0\u202f"))
	return first != utf8.RuneError && strings.ContainsRune(closingMarks, first)
}

// endsTitle reports whether a title cannot continue across a gap.
func endsTitle(gap string, before titleToken) bool {
	return strings.ContainsAny(gap, "\n?!;…") || strings.Contains(gap, ".") && len(before.folded) > 3
}

// findNear returns the ranges that name works in another spelling, except works named exactly.
func (x *Titles) findNear(tokens []titleToken, named [maxTitles]bool) []TitleSpan {
	forms := slices.DeleteFunc(slices.Clone(x.near), func(f similarForm) bool { return named[f.work] })
	if len(forms) == 0 {
		return nil
	}
	var found []TitleSpan
	var key titleKey
	for i := 0; i < len(tokens); i++ {
		work, n := longestMatch(tokens[i:], forms, &key)
		if n == 0 {
			continue
		}
		found = append(found, TitleSpan{tokens[i].start, tokens[i+n-1].end, work})
		i += n - 1
	}
	return found
}

// longestMatch returns the work that the longest sequence at the start of tokens names, and
// the length of that sequence. It overwrites key.
func longestMatch(tokens []titleToken, forms []similarForm, key *titleKey) (work, n int) {
	if first := tokens[0]; !first.capital && !first.opened() {
		return 0, 0
	}
	key.reset()
	for i, t := range tokens[:min(len(tokens), maxTitleWords)] {
		if i > 0 && endsTitle(t.gap, tokens[i-1]) {
			break
		}
		key.add(t.heard, t.number, t.small)
		if t.small && i+1 < len(tokens) && i > 0 {
			continue // a title does not end here
		}
		at := windowOf(tokens, i+1)
		words := key.words()
		for _, f := range forms {
			if f.names(words, at) {
				work, n = f.work, i+1
			}
		}
	}
	return work, n
}

// window is a sequence of words with the word after it.
type window struct {
	tokens []titleToken
	next   *titleToken // the word after; nil at the end
}

func windowOf(tokens []titleToken, n int) window {
	p := window{tokens: tokens[:n]}
	if n < len(tokens) {
		p.next = &tokens[n]
	}
	return p
}

// names reports whether words with a key name the work.
func (f similarForm) names(key []string, at window) bool {
	if f.short != "" {
		return at.spells(f.short)
	}
	if len(at.tokens) == 1 && at.tokens[0].capitals > 1 && slices.Contains(f.initials, at.tokens[0].folded) {
		return true
	}
	return similarKeys(f.key, key) && at.inVolumes(f.volumes)
}

// inVolumes reports whether the number that follows, if any, is one of the volumes.
func (p window) inVolumes(volumes []string) bool {
	if p.next == nil || len(volumes) == 0 || strings.Trim(p.next.gap, " \u00a0\u202f") != "" ||
		!isVolume(p.next.folded) && !isNumber(p.next.folded) {
		return true
	}
	return slices.Contains(volumes, arabic(p.next.folded))
}

// spells reports whether several words have the initials and look like a title: each
// significant word is capitalized, or the words are quoted.
func (p window) spells(short string) bool {
	first, second := p.tokens[0], p.tokens[min(1, len(p.tokens)-1)]
	if len(p.tokens) < 2 || len(p.tokens)+1 < len(short) ||
		short[0] > '9' && short[0] != first.folded[0] && short[0] != second.folded[0] {
		return false
	}
	list := make([]string, len(p.tokens))
	quoted := p.tokens[0].opened() && p.next != nil && closesQuotation(p.next.gap)
	for i, t := range p.tokens {
		list[i] = t.folded
		if !t.capital && !smallWords()[t.folded] && !quoted {
			return false
		}
	}
	if titleArticles()[list[0]] {
		list = list[1:]
	}
	return slices.Contains(initialsOf(list), short) || slices.Contains(initialsOf(append([]string{p.tokens[0].folded}, list...)), short)
}

// Match returns the work whose title, in any accepted spelling, is the whole answer.
func (x *Titles) Match(answer string) (work int, ok bool) {
	key := keyOf(titleWords(answer))
	best := -1
	for _, f := range x.near {
		if f.short == "" && similarKeys(f.key, key) || slices.Contains(f.initials, strings.Join(key, "")) {
			if strings.Join(f.key, "") == strings.Join(key, "") {
				return f.work, true
			}
			if best < 0 {
				best = f.work
			}
		}
	}
	if best < 0 {
		best = x.meant(answer)
	}
	return best, best >= 0
}

// meant returns the first work that the catalog knows by a name, or -1.
func (x *Titles) meant(name string) int {
	known := knownTitles().ofAny(name, slices.Concat(x.works[:]...))
	return slices.IndexFunc(x.works[:], func(works []int) bool { return sameKnown(known, works) })
}

// similarKeys reports whether two keys may be spellings of one title. Keys of equal length are
// compared word by word, because a short word distinguishes titles such as "Mad Max" and "Mad Men".
func similarKeys(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 || !sameNumbers(a, b) {
		return false
	}
	if len(a) == len(b) {
		return similarWords(a, b)
	}
	if a[0] != "" && b[0] != "" && a[0][0] != b[0][0] {
		return false
	}
	ja, jb := strings.Join(a, ""), strings.Join(b, "")
	if ja == jb {
		return true
	}
	n := min(len(ja), len(jb))
	limit := min(n/6, 3)
	return ja[0] == jb[0] && suggest.Distance([]byte(ja), []byte(jb), limit) <= limit
}

// sameNumbers reports whether two keys have the same numbers in the same order.
func sameNumbers(a, b []string) bool {
	i, j := 0, 0
	for {
		for i < len(a) && !isNumber(a[i]) {
			i++
		}
		for j < len(b) && !isNumber(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		i, j = i+1, j+1
	}
}

func similarWords(a, b []string) bool {
	for i := range a {
		if a[i] == b[i] {
			continue
		}
		limit := allowedDistance(a[i], b[i], len(a) > 1)
		if limit == 0 || suggest.Distance([]byte(a[i]), []byte(b[i]), limit) > limit {
			return false
		}
	}
	return true
}

// allowedDistance returns the number of letters that may differ between two words. A word without other words in its title
// needs the same first letter.
func allowedDistance(a, b string, others bool) int {
	n, first := min(len(a), len(b)), a[0] == b[0]
	if n <= 7 && !first || n < 12 && !first && !others {
		return 0
	}
	return min((n-1)/4, 3)
}
