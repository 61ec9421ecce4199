package textfold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// found returns what a set finds at the head of a text, as "length value".
func found(s *textfold.PhraseSet[string], text string) string {
	var all []string
	for n, v := range s.Prefixes(slices.Values(strings.Fields(text))) {
		all = append(all, fmt.Sprintf("%d %s", n, v))
	}
	return strings.Join(all, ", ")
}

func TestPhrasesAreFoundAtTheHeadOfWords(t *testing.T) {
	for _, c := range []struct{ name, line, text, want string }{
		{"one word", "faith", "faith moves", "1 v"},
		{"not later", "faith", "my faith", ""},
		{"not a part of a word", "faith", "faithful", ""},
		{"several words", "ta foi", "ta foi", "2 v"},
		{"not a part of a phrase", "ta foi", "ta", ""},
		{"all of several", "a, a b, a b c", "a b d", "1 v, 2 v"},
		{"alternatives", "a{,s} b{x,y}", "as by", "2 v"},
		{"nested alternatives", "{a,b{c,d}}e", "bde", "1 v"},
		{"alternatives of several words", "{un deux,trois} quatre", "un deux quatre", "3 v"},
		{"a comma beside alternatives", "{a,b} c, d", "d", "1 v"},
		{"a beginning", "tutoy*", "tutoyer", "1 v"},
		{"a beginning alone", "tutoy*", "tutoy", "1 v"},
		{"any word", "letter *", "letter b", "2 v"},
		{"any word is one", "letter *", "letter", ""},
		{"any word within", "a * c", "a b c", "3 v"},
		{"a word and a beginning", "form, form*", "form", "1 v, 1 v"},
		{"nothing", "", "a", ""},
		{"empty parts", "a,,b,", "b", "1 v"},
	} {
		var s textfold.PhraseSet[string]
		if err := s.Add(c.line, "v"); err != nil {
			t.Fatal(err)
		}
		if got := found(&s, c.text); got != c.want {
			t.Errorf("%s: %q finds %q in %q, want %q", c.name, c.line, got, c.text, c.want)
		}
	}
}

func TestAPhraseHasEachOfItsValuesOnce(t *testing.T) {
	var s textfold.PhraseSet[string]
	for _, v := range []string{"x", "y", "x"} {
		if err := s.Add("a b", v); err != nil {
			t.Fatal(err)
		}
	}
	if got := found(&s, "a b"); got != "2 x, 2 y" || s.Longest() != 2 {
		t.Errorf("%q, longest %d", got, s.Longest())
	}
}

func TestLinesAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		"a{b,c": "without a closing one",
		"a}b":   "without an opening one",
		strings.Repeat("{a,b,c,d,e,f,g,h,i,j}", 4): "at most 5000",
	} {
		var s textfold.PhraseSet[string]
		if err := s.Add(line, "v"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}

func TestListsHaveNamesAndContinue(t *testing.T) {
	var all []string
	for name, line := range textfold.LexiconLines("# about\nx: a, b,\n  c\n\ny:\n  d\n  # e\n") {
		all = append(all, name+"="+line)
	}
	if got := strings.Join(all, "|"); got != "x=a, b,|x=c|y=d" {
		t.Error(got)
	}
}
