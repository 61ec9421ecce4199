package validate_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	. "github.com/onsi/ginkgo/v2"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

// vocabulary lists words that enter no zone and resemble no heading.
var vocabulary = []string{"l'élan", "revient", "long-terme", "quand", "tu", "avances", "d’abord", "3,5", "fois", "Marie-Jeanne", "œuvre"}

func prose(t *rapid.T, label string, least, most int) string {
	all := rapid.SliceOfN(rapid.SampledFrom(vocabulary), least, most).Draw(t, label)
	return strings.Join(all, rapid.SampledFrom([]string{" ", ", ", " : ", " — ", "\n"}).Draw(t, label+" gap"))
}

var _ = Describe("Any mirror", Label("I-07"), func() {
	It("is judged the same with more blank lines, in either normal form, with or without selectors", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := mirror(prose(t, "reading", 0, 33), prose(t, "deduction", 0, 38))
			want := validate.Check(text, mirrorOf1).Findings
			blank := strings.Repeat("\n", rapid.IntRange(1, 4).Draw(t, "blank lines"))
			for _, same := range []string{
				strings.ReplaceAll(text, "\n", blank),
				"\n\n" + text + blank,
				norm.NFD.String(text),
				strings.ReplaceAll(text, "\uFE0F", ""),
				strings.ReplaceAll(text, "\n", "\r\n"),
			} {
				if got := validate.Check(same, mirrorOf1).Findings; !reflect.DeepEqual(got, want) {
					t.Fatalf("%q has %+v, and %q has %+v", same, got, text, want)
				}
			}
		})
	})

	It("has one word more for each word that is added", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := prose(t, "reading", 21, 29)
			count := func(s string) int { return validate.Check(mirror(s, "tu avances"), mirrorOf1).Findings[0].Count }
			word := rapid.SampledFrom(vocabulary).Draw(t, "word")
			if got, want := count(text+" "+word), count(text)+1; got != want {
				t.Fatalf("%q has %d words with %q, want %d", text, got, word, want)
			}
		})
	})

	It("has its sections in one order only", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			parts := strings.Split(good, "\n\n")
			order := rapid.Permutation([]int{0, 1, 2}).Draw(t, "order")
			text := strings.Join([]string{parts[order[0]], parts[order[1]], parts[order[2]]}, "\n\n")
			valid := validate.Check(text, mirrorOf1).Valid()
			if sorted := slices.IsSorted(order); valid != sorted {
				t.Fatalf("the order %v is valid: %v", order, valid)
			}
		})
	})
})

var _ = Describe("Any batch", func() {
	It("gives back its questions, whatever they are", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			var questions []string
			for i := range rapid.IntRange(2, 12).Draw(t, "questions") {
				q := rapid.StringMatching(`[A-Za-z ,?-]{0,40}`).Draw(t, "question")
				questions = append(questions, strings.TrimSpace(fmt.Sprintf("%d %s", i, q)))
			}
			if got := validate.Check(batch(questions...), batchOf3).Questions; !slices.Equal(got, questions) {
				t.Fatalf("got %q, want %q", got, questions)
			}
		})
	})

	It("has one question more for each mark that is added after a sentence", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			marks := rapid.IntRange(2, 9).Draw(t, "marks")
			text := batch(open, choice, strings.Repeat("Que fais-tu alors ? ", marks))
			found := validate.Check(text, batchOf3).Findings
			if len(found) != 1 || found[0].Rule != validate.Rule("question-several") || found[0].Count != marks {
				t.Fatalf("%d marks: %+v", marks, found)
			}
		})
	})
})

func FuzzCheck(f *testing.F) {
	for _, text := range []string{good, projectiveMirror, batch(open, choice), about2B, strings.Join(portrait, "\n"), verdict, "1️⃣ « ? \" A. B) **\n---QUESTION_SEPARATOR---"} {
		f.Add(text, "Breaking Bad", uint8(3))
	}
	purposes, steps := session.Purposes(), session.Steps()
	f.Fuzz(func(t *testing.T, text, work string, which uint8) {
		want := validate.Expected{
			Purpose: purposes[int(which)%len(purposes)], Step: steps[int(which)%len(steps)], Index: int(which) % 3,
			Language: session.French, Medium: session.Film, Works: []string{work, "Dark"},
		}
		r := validate.Check(text, want)
		for _, found := range r.Findings {
			if found.Rule == "" || found.Message == "" || !utf8.ValidString(found.Message) {
				t.Fatalf("%+v has no rule or no valid message", found)
			}
		}
		if r.Text != strings.TrimSpace(text) {
			t.Fatalf("the text became %q", r.Text)
		}
		if again := validate.Check(text, want); !reflect.DeepEqual(r, again) {
			t.Fatalf("%+v, and then %+v", r, again)
		}
	})
}
