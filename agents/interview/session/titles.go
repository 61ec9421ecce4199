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

// addKnown adds the titles of the catalog's works that a name may mean.
func (x *Titles) addKnown(work int, name string) {
	c := knownTitles()
	x.works[work] = c.of(name)
	_, volumes := withoutVolumes(titleWords(name))
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
var titleArticles = textfold.WordSet("le la les l un une des the a an")

// titleWords returns the words of a title without the article at its start and without the
// remark in parentheses at its end.
func titleWords(name string) []string {
	if before, _, ok := strings.Cut(name, "("); ok && textfold.Join(before) != "" {
		name = before
	}
	return withoutArticle(textfold.Fold(name))
}

// withoutArticle returns the words of a title without the article at their start.
func withoutArticle(words []string) []string {
	if len(words) > 1 && titleArticles[words[0]] {
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
	slices.SortFunc(found, func(a, b TitleSpan) int { return a.Start - b.Start })
	return x.withoutOthers(text, found)
}

// maxQuoted is the number of words of the longest quotation that is compared as a title.
const maxQuoted = 10

// withoutOthers omits what is only a part of another title in quotes: "Dark" in « Dark Matter ».
func (x *Titles) withoutOthers(text string, found []TitleSpan) []TitleSpan {
	if len(found) == 0 {
		return nil
	}
	for _, q := range quotes().FindAllStringIndex(text, -1) {
		title := strings.Trim(text[q[0]:q[1]], "«»“”\" \u00a0\u202f")
		if !isTitle(title) && knownTitles().exactly(title) == nil {
			continue
		}
		found = slices.DeleteFunc(found, func(s TitleSpan) bool {
			return s.Start < q[1] && q[0] < s.End && !x.isTitleOf(title, s.Work)
		})
	}
	return found
}

// isTitle reports whether a quotation looks like a title, not like a sentence.
func isTitle(text string) bool {
	return beginsLikeTitle(text) && !strings.ContainsAny(text, ",;…") && textfold.Count(text) <= maxQuoted
}

// isTitleOf reports whether a whole title is that of a work, or that of a part of it: "Harry Potter and the Goblet of Fire"
// for "Harry Potter".
func (x *Titles) isTitleOf(title string, work int) bool {
	if a, b := yearIn(title), yearIn(x.names[work]); a != "" && b != "" && a != b {
		return false // another film of this title
	}
	if a, b := countryIn(title), countryIn(x.names[work]); a != "" && b != "" && a != b {
		return false // another series of this title
	}
	for _, part := range subtitleMarks().Split(title, -1) {
		if key := titleWords(part); len(key) >= shortWords && slices.Equal(key, titleWords(x.names[work])) {
			return true
		}
	}
	words := titleWords(title)
	of, short := keyOf(words), keyOf(beforeSubtitle(words))
	whole := keyOf(titleWords(x.names[work]))
	series := keyOf(beforeSubtitle(titleWords(x.names[work])))
	if slices.Equal(of, whole) || len(short) > 0 && slices.Equal(short, whole) || len(series) > 0 && slices.Equal(of, series) {
		return true
	}
	if known := knownTitles().officially(title); len(known) > 0 && len(x.works[work]) > 0 {
		return sameKnown(known, x.works[work]) || knownTitles().inSeries(title, x.works[work])
	}
	stem, volumes := withoutVolumes(words)
	stem = withoutTail(stem)
	joined := strings.Join(words, "")
	return slices.ContainsFunc(x.near, func(f similarForm) bool {
		return f.work == work && (similarKeys(f.key, of) || similarKeys(f.key, keyOf(stem)) && sameVolumes(f.volumes, volumes) ||
			slices.Contains(f.initials, joined) || f.short != "" && slices.Contains(initialsOf(words), f.short))
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

// Cut removes the titles from a text.
func (x *Titles) Cut(text string) string { return CutSpans(text, x.Find(text)) }

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
