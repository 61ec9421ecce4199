package reflect_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
)

// praise are sentences that say nothing of any observation.
var praise = []string{
	"All good.", "It works as expected!", "I am satisfied and continue.", "Great progress.", "Going on with the next step.",
	"Ça a bien marché.", "Tout va bien, je continue.", "C'est parfait.", "Le résultat est conforme.", "Je passe à la suite.",
}

var (
	nouns = rapid.SampledFrom([]string{"tests", "échecs", "files", "lignes vides", "orders", "clients", "broken links", "doublons"})
	other = rapid.SampledFrom([]string{
		"build finished in 12s", "warning: unused variable", "- src/main.go", "aucun résultat", "exit status 1", "", "L.7: TODO", "12,480 rows",
	})
	sentences = rapid.SliceOfN(rapid.OneOf(other, rapid.SampledFrom(praise), rapid.String()), 0, 4)
)

var _ = Describe("a verdict", Label("R-04"), func() {
	It("is critical for whoever quotes a number with what it counts", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			fact := fmt.Sprintf("%d %s", rapid.IntRange(2, 99_999).Draw(t, "n"), nouns.Draw(t, "noun"))
			lines := append(rapid.SliceOfN(other, 0, 5).Draw(t, "before"), fact)
			lines = append(lines, rapid.SliceOfN(other, 0, 5).Draw(t, "after")...)
			text := strings.Join([]string{rapid.SampledFrom(praise).Draw(t, "opening"), fact + "."}, " ")
			if v := reflect.Judge(strings.Join(lines, "\n"), text); !v.Critical {
				t.Fatalf("%q on %q: %+v", text, lines, v)
			}
		})
	})

	It("is not made complacent by praise, nor critical", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			observation := strings.Join(rapid.SliceOfN(other, 0, 5).Draw(t, "observation"), "\n")
			text := strings.Join(sentences.Draw(t, "text"), "\n")
			v := reflect.Judge(observation, text)
			more := reflect.Judge(observation, text+"\n"+rapid.SampledFrom(praise).Draw(t, "praise"))
			if v.Critical != more.Critical || v.Score != more.Score {
				t.Fatalf("%q on %q: %+v, with praise %+v", text, observation, v, more)
			}
		})
	})

	It("holds however the texts are spelled", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			fact := fmt.Sprintf("%d %s", rapid.IntRange(2, 999).Draw(t, "n"), nouns.Draw(t, "noun"))
			for _, text := range []string{strings.ToUpper(fact), "**" + fact + "**", "« " + fact + " »", "- " + fact, fact + ", " + praise[0]} {
				if v := reflect.Judge("Résultat : "+fact, text); !v.Critical {
					t.Fatalf("%q on %q: %+v", text, fact, v)
				}
			}
		})
	})

	It("keeps what it promises for any text", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			check(t.Fatalf, rapid.String().Draw(t, "observation"), rapid.String().Draw(t, "reflection"))
		})
	})

	It("takes articles, numerals and plural forms of either language", func() {
		for observation, texts := range map[string][]string{
			"3 tests failed":      {"The three failures are new.", "Les trois échecs sont nouveaux.", "Three of them fail."},
			"2 fichiers manquent": {"Deux fichiers manquants.", "Two files are missing."},
			"8 214 lignes":        {"8214 rows.", "8,214 lines.", "Avec 8 214 lignes, on peut compter."},
			"12.50 euros":         {"12,5 euros par mois.", "About 13 euros."},
		} {
			for _, text := range texts {
				v := reflect.Judge(observation, text)
				Expect(v.Critical).To(BeTrue(), "%s on %s: %+v", text, observation, v)
			}
		}
	})
})

// check holds a verdict to its documentation.
func check(fatalf func(string, ...any), observation, reflection string) {
	v := reflect.Judge(observation, reflection)
	switch {
	case !(v.Score > 0 && v.Score <= 1) && v.Score != 0:
		fatalf("a score of %g", v.Score)
	case v.Critical != (v.Score < 0.5):
		fatalf("critical is %t at a score of %g", v.Critical, v.Score)
	case v.Critical && len(v.Facts) == 0:
		fatalf("critical without a fact: %q on %q", reflection, observation)
	case len(v.Facts) > 10 || v.Reason == "" || strings.ContainsAny(v.Reason, "\n\x1b"):
		fatalf("%+v", v)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add(audit, "Trois vulnérabilités, dont eval() ligne 12.")
	f.Add("1 234,5 % of src/a.go:12:3 \xff", "1234.5 percent: a.go")
	f.Add("0 résultat", "Rien trouvé.")
	f.Add("2026-08-14 10.0.0.1:80", "14 août :::: //// 1,,,2")
	f.Add("Go on then.", "“«`\"Go on\u00a0then»\" \xe2\x80\" \"\" «go on then")
	f.Fuzz(func(t *testing.T, observation, reflection string) {
		check(t.Fatalf, observation, reflection)
	})
}
