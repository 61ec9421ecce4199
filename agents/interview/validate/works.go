package validate

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/words"
)

// maxTitles and maxTitleWords bound what is looked for, so that an answer which
// names hundreds of works costs no more than one which names three. What is
// longer is no title.
const (
	maxTitles     = 12
	maxTitleWords = 12
)

// title is a name of a work: the words that must stand next to each other.
type title struct {
	work  int // index
	words []string
	asks  bool // whether it ends in a question mark
}

type titles []title

// articles may be missing before a title, or be another one.
var articles = set("le la les l un une des the a an")

// newTitles returns the names of the works. One with a subtitle ("Main: Sub") has
// three: either part is enough.
func newTitles(works []string) titles {
	var all titles
	for i, name := range works[:min(len(works), maxTitles)] {
		forms := []string{name}
		if main, sub, ok := strings.Cut(name, ":"); ok {
			forms = append(forms, main, sub)
		}
		for _, form := range forms {
			if w := titleWords(form); len(w) > 0 && len(w) <= maxTitleWords {
				all = append(all, title{i, w, strings.HasSuffix(strings.TrimSpace(form), "?")})
			}
		}
	}
	return all
}

// titleWords returns the words of a title without an article before them and
// without a remark in parentheses after them.
func titleWords(name string) []string {
	if before, _, ok := strings.Cut(name, "("); ok && words.Join(before) != "" {
		name = before
	}
	w := words.Fold(name)
	if len(w) > 1 && articles[w[0]] {
		w = w[1:]
	}
	return w
}

// span is a place in a text.
type span struct {
	start, end int
	work       int
}

// spans returns where titles are named in a text, in order, without overlaps.
func (t titles) spans(text string) []span {
	if len(t) == 0 {
		return nil
	}
	longest := 0
	for _, title := range t {
		longest = max(longest, len(title.words))
	}
	var found []span
	var window []word // the last words, at most as many as the longest title has
	r := words.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		window = append(window, word{string(w.Text), w.Start, w.End})
		if len(window) > longest {
			window = slices.Delete(window, 0, 1)
		}
		for _, title := range t {
			from := len(window) - len(title.words)
			if from < 0 || !same(window[from:], title.words) {
				continue
			}
			s := span{window[from].start, w.End, title.work}
			if rest := strings.TrimLeft(text[w.End:], " \u00a0\u202f"); title.asks && strings.HasPrefix(rest, "?") {
				s.end = len(text) - len(rest) + 1
			}
			for len(found) > 0 && found[len(found)-1].start >= s.start {
				found = found[:len(found)-1] // a title within this one
			}
			found = append(found, s)
		}
	}
	return found
}

type word struct {
	text       string
	start, end int
}

func same(window []word, title []string) bool {
	for i, w := range window {
		if w.text != title[i] {
			return false
		}
	}
	return true
}

// named returns which works a text names, by index.
func (t titles) named(text string) map[int]bool {
	found := map[int]bool{}
	for _, s := range t.spans(text) {
		found[s.work] = true
	}
	return found
}

// cut returns a text without the titles: what a title says is not the model's.
func (t titles) cut(text string) string {
	spans := t.spans(text)
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:max(at, s.start)])
		at = max(at, s.end)
	}
	b.WriteString(text[at:])
	return b.String()
}
