package session

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// seed adds answers of all kinds.
func seed(f *testing.F) {
	for _, texts := range []phrasings{tones, mediums} {
		texts.each(func(text, _ string) { f.Add(text) })
	}
	for _, c := range namings {
		f.Add(c[0])
	}
	for _, text := range []string{
		strings.Repeat("pas ", 100), strings.Repeat("plus que ", 100), "A" + strings.Repeat("\u0301", 200), "«\"“(", "1. 2. 3.", "n't'n't",
	} {
		f.Add(text)
	}
}

// same reports whether a parser reads a text and what must not matter to it alike.
func same[V comparable](t *testing.T, text string, parse func(string) (V, bool)) {
	want, ok := parse(text)
	forms := []string{" " + text + "\n"}
	if utf8.ValidString(text) {
		forms = append(forms, norm.NFD.String(text))
	}
	for _, form := range forms {
		if got, again := parse(form); got != want || again != ok {
			t.Errorf("%q: %v %v, %q: %v %v", text, want, ok, form, got, again)
		}
	}
}

func FuzzParseRegister(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) { same(t, text, parseRegister) })
}

func FuzzParseMedium(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) { same(t, text, parseMedium) })
}

// short checks a title.
func short(t *testing.T, text, title string) {
	if strings.TrimSpace(title) == "" || !utf8.ValidString(title) || utf8.RuneCountInString(title) > 120 ||
		strings.ContainsAny(title, "\n\r\x00\x1b") {
		t.Errorf("%q: %q", text, title)
	}
}

func FuzzParseWorks(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		works := ParseWorks(text)
		if len(works) > 5 {
			t.Errorf("%q: %q", text, works)
		}
		for _, w := range works {
			short(t, text, w)
		}
	})
}

func FuzzParseCore(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		works := ParseWorks(text)
		short(t, text, parseCore(text, nil))
		short(t, text, parseCore(text, works))
		for _, w := range works {
			if got := parseCore("le dernier", []string{"x", w}); got != w {
				t.Errorf("%q: %q", w, got)
			}
		}
	})
}
