package session

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The limits that bound the cost of an answer with hundreds of works, or of a long text.
const (
	maxTitles     = 12
	maxTitleWords = 12
	maxTitleRead  = 1 << 10  // bytes of a title
	maxSearched   = 32 << 10 // bytes of a text
)

// Titles finds works in a text even if it spells their titles differently: with a typing
// error, as initials, without an article or a subtitle, with the number of a season, or as one
// word. For well-known works it knows the titles in French and English and common short forms. The zero value finds none.
type Titles struct {
	names []string
	exact []exactForm
	near  []similarForm
	vague [maxTitles]bool
	known [maxTitles]bool
	works [maxTitles][]int // of the catalog
}

// TitleSpan is the range of bytes in a text that names a work, by its index.
type TitleSpan struct{ Start, End, Work int }

// NewTitles returns an index of the first twelve titles.
func NewTitles(names []string) *Titles {
	x := &Titles{names: names[:min(len(names), maxTitles)]}
	for work, name := range x.names {
		name = name[:min(len(name), maxTitleRead)]
		x.addExact(work, name)
		x.addNear(work, name)
		x.addKnown(work, name)
	}
	return x
}

// Missing returns the titles of the works whose indexes are not in named, as they were given to
// NewTitles. It omits titles that cannot be found in a text, and titles of several works, such as
// "the films of Tarantino".
func (x *Titles) Missing(named map[int]bool) []string {
	var all []string
	for i, name := range x.names {
		if !named[i] && x.known[i] && !x.vague[i] {
			all = append(all, name)
		}
	}
	return all
}

// exactForm is a title that is found word by word.
type exactForm struct {
	work  int
	words []string
	asks  bool // ends in a question mark
	// mixed is true for initials such as "GoT", which need several capitals in the text.
	mixed bool
}

// addExact adds a title and, if it has a subtitle ("Main: Sub"), both parts.
func (x *Titles) addExact(work int, name string) {
	forms := []string{name}
	if main, sub, ok := strings.Cut(name, ":"); ok {
		forms = append(forms, main, sub)
	}
	for _, form := range forms {
		if w := titleWords(form); len(w) > 0 && len(w) <= maxTitleWords {
			text := strings.TrimSpace(form)
			mixed := !strings.Contains(text, " ") && isMixed(form)
			x.exact = append(x.exact, exactForm{work, w, strings.HasSuffix(text, "?"), mixed})
			x.known[work] = true
		}
	}
}

// addKnown adds the titles of the catalog's works that a name may mean, and the name of their series.
func (x *Titles) addKnown(work int, name string) {
	c := knownTitles()
	x.works[work] = c.of(name)
	words := titleWords(name)
	for n := 1; n < min(len(words), maxTitleWords); n++ {
		if series := strings.Join(words[:n], " "); c.series(series) != "" {
			x.addExact(work, series)
		}
	}
	_, volumes := withoutVolumes(words)
	for _, known := range x.works[work] {
		for _, title := range c.titles[known] {
			if volumes == nil {
				x.addExact(work, title)
			} else {
				x.near = append(x.near, similarForm{work: work, key: keyOf(titleWords(title)), volumes: volumes})
			}
		}
	}
}

// titleArticles are articles that a text may omit or change at the start of a title.
var titleArticles = titleList("titleArticles")

// titleWords returns the words of a title without the article at its start and without the
// remark in parentheses at its end.
func titleWords(name string) []string { return withoutArticle(wholeTitle(name)) }

// withoutArticle returns the words of a title without the article at their start.
func withoutArticle(words []string) []string {
	if len(words) > 1 && titleArticles()[words[0]] {
		return words[1:]
	}
	return words
}

// Find returns the ranges of a text that name works, in order and without overlaps. It accepts
// other spellings only of works that the text does not name exactly. It takes linear time, and omits the text after 32 KiB.
func (x *Titles) Find(text string) []TitleSpan {
	if x == nil || len(x.exact) == 0 {
		return nil
	}
	text = text[:min(len(text), maxSearched)]
	tokens := titleTokens(text)
	found := x.findExact(text, tokens)
	var named [maxTitles]bool
	for _, s := range found {
		named[s.Work] = true
	}
	for _, s := range x.findNear(tokens, named) {
		overlaps := func(other TitleSpan) bool { return s.Start < other.End && other.Start < s.End }
		if !slices.ContainsFunc(found, overlaps) {
			found = append(found, s)
		}
	}
	return x.quoted(text, found)
}

// maxQuoted is the number of words of the longest quotation that is compared as a title.
const maxQuoted = 12

// quoted compares the quotations of a text that look like titles as a whole: what is only a part of one is omitted, as "Dark" in
// « Dark Matter ».
func (x *Titles) quoted(text string, found []TitleSpan) []TitleSpan {
	for _, q := range quotes().FindAllStringIndex(text, -1) {
		title := strings.Trim(text[q[0]:q[1]], "«»“”\" \u00a0\u202f")
		if !isTitle(title) && knownTitles().exactly(title) == nil {
			continue
		}
		found = slices.DeleteFunc(found, func(s TitleSpan) bool {
			return s.Start < q[1] && q[0] < s.End && !x.isTitleOf(title, s.Work)
		})
		if slices.ContainsFunc(found, func(s TitleSpan) bool { return s.Start < q[1] && q[0] < s.End }) {
			continue
		}
		for work := range x.names {
			if start := q[0] + strings.Index(text[q[0]:q[1]], title); x.isTitleOf(title, work) {
				found = append(found, TitleSpan{start, start + len(title), work})
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b TitleSpan) int { return a.Start - b.Start })
	return found
}

// isTitle reports whether a quotation looks like a title, not like a sentence.
func isTitle(text string) bool {
	return beginsLikeTitle(text) && !strings.ContainsAny(text, ",;…") && textfold.Count(text) <= maxQuoted
}

// isTitleOf reports whether a whole title is that of a work, or that of a part of it: "Harry Potter and the Goblet of Fire"
// for "Harry Potter".
func (x *Titles) isTitleOf(title string, work int) bool {
	if differ(x.names[work], title) {
		return false
	}
	words := titleWords(title)
	name, of := keyOf(titleWords(x.names[work])), keyOf(words)
	for i, part := range append(subtitleMarks().Split(title, -1), title) {
		if slices.Equal(name, keyOf(titleWords(part))) && (i == 0 || len(name) >= shortWords || part == title) {
			return true
		}
	}
	if known := knownTitles().officially(title); len(known) > 0 && len(x.works[work]) > 0 {
		return sameKnown(known, x.works[work]) || knownTitles().inSeries(title, x.works[work]) ||
			knownTitles().beginsSeries(x.names[work], title)
	}
	if knownTitles().exactly(x.names[work]) != nil && len(of) == 1 {
		return false // another title of one word, such as "Ghosts" for "Ghost"
	}
	stem, _ := withoutVolumes(words)
	stem = withoutTail(stem)
	return slices.ContainsFunc(x.near, func(f similarForm) bool {
		return f.work == work && (similarKeys(f.key, keyOf(stem)) ||
			slices.Contains(f.initials, strings.Join(words, "")) || f.short != "" && slices.Contains(initialsOf(words), f.short))
	})
}

// sameVolumes reports whether lists of volumes have one in common, or one names none.
func sameVolumes(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(v string) bool { return slices.Contains(b, v) })
}

// Named returns the indexes of the works that a text names.
func (x *Titles) Named(text string) map[int]bool { return WorksOf(x.Find(text)) }

// WorksOf returns the indexes of the works that spans name.
func WorksOf(spans []TitleSpan) map[int]bool {
	named := map[int]bool{}
	for _, s := range spans {
		named[s.Work] = true
	}
	return named
}

// CutSpans removes the spans, which are in order, from a text.
func CutSpans(text string, spans []TitleSpan) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:max(at, s.Start)])
		at = max(at, s.End)
	}
	b.WriteString(text[at:])
	return b.String()
}

func (x *Titles) findExact(text string, tokens []titleToken) []TitleSpan {
	var found []TitleSpan
	for last := range tokens {
		for _, title := range x.exact {
			first := last + 1 - len(title.words)
			if first < 0 || title.mixed && tokens[first].capitals < 2 || !slices.EqualFunc(tokens[first:last+1], title.words, titleToken.is) {
				continue
			}
			s := TitleSpan{tokens[first].start, tokens[last].end, title.work}
			if rest := strings.TrimLeft(text[s.End:], " \u00a0\u202f"); title.asks && strings.HasPrefix(rest, "?") {
				s.End = len(text) - len(rest) + 1
			}
			for len(found) > 0 && found[len(found)-1].Start >= s.Start {
				found = found[:len(found)-1] // a title within this one
			}
			found = append(found, s)
		}
	}
	return found
}

// isMixed reports whether a word has several capital letters and at least one small letter.
func isMixed(word string) bool {
	return capitalsIn(word) > 1 && strings.ContainsFunc(word, unicode.IsLower)
}

func capitalsIn(word string) int {
	n := 0
	for _, r := range word {
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n
}
