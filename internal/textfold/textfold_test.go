package textfold_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

func TestWords(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/textfold")
}

var _ = Describe("words", func() {
	DescribeTable("are folded", func(text, want string) {
		Expect(strings.Join(textfold.Fold(text), " ")).To(Equal(want))
		Expect(textfold.Join(text)).To(Equal(want))
	},
		Entry("case and accents", "Été À L'ÉCOLE", "ete a l ecole"),
		Entry("curly apostrophes", "l’idée, aujourd’hui", "l idee aujourd hui"),
		Entry("ligatures", "Œuvre ﬁne Straße", "oeuvre fine strasse"),
		Entry("decomposed accents", norm.NFD.String("désaligné"), "desaligne"),
		Entry("zero width characters", "re\u200bli\u00adgi\u2060on\ufeff", "religion"),
		Entry("full width and mathematical letters", "ＡＢ 𝐫𝐞𝐥", "ab rel"),
		Entry("Cyrillic letters that look Latin", "r\u0435ligi\u043en", "religion"),
		Entry("hyphens", "extrême-droite", "extreme droite"),
		Entry("keycaps with and without selector, emoji", "1️⃣ un 2\u20E3 deux 🔥3", "un deux 3"),
		Entry("nothing", " — … ⚖️ ", ""),
		Entry("the ends of the alphabet and of the digits", "aAzZ 09 @[`{/:", "aazz 09"),
		Entry("letters beyond the common ones", "ɏ ɐ ế", "ɏ ɐ e"),
		Entry("bytes that are no text", "a\xff\xfeb", "a b"),
	)

	DescribeTable("are counted as people count them", func(text string, want int) {
		Expect(textfold.Count(text)).To(Equal(want))
	},
		Entry("elisions", "J'avance quand l'idée m’appartient", 4),
		Entry("hyphens", "Dis-moi, c'est du long-terme", 4),
		Entry("French punctuation", "Oui : non ; peut-être ! Vraiment ?", 4),
		Entry("dashes between words", "vite — puis – encore—toujours", 4),
		Entry("slashes", "et/ou", 2),
		Entry("numbers", "3,5 points à 10:30, 1.000 fois", 6),
		Entry("the ends of the digits", "9,9 0,0", 2),
		Entry("commas that separate no digits", "3,b a,4 a,b", 6),
		Entry("emoji and keycaps", "1️⃣ 🔥 mot ⚖️ 👩‍💻", 1),
		Entry("emphasis", "**deux** _mots_", 2),
		Entry("hidden characters do not split", "un\u200bseul", 1),
		Entry("a hyphen that stands apart", "a - b", 2),
		Entry("nothing", "…", 0),
	)

	It("adds one for each word that is added", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := rapid.String().Draw(t, "text")
			word := rapid.SampledFrom([]string{"mot", "l'idée", "porte-à-faux", "été", "3,5"}).Draw(t, "word")
			if got, want := textfold.Count(text+" "+word), textfold.Count(text)+1; got != want {
				t.Fatalf("%q has %d words with %q, want %d", text, got, word, want)
			}
		})
	})

	It("reads the same in either normal form and any case", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := rapid.StringOf(rapid.RuneFrom([]rune("abcéèàùçôœŒÉÎ'’- .1"))).Draw(t, "text")
			for _, same := range []string{norm.NFD.String(text), norm.NFC.String(text), strings.ToUpper(text)} {
				if textfold.Join(same) != textfold.Join(text) || textfold.Count(same) != textfold.Count(text) {
					t.Fatalf("%q and %q are read differently", text, same)
				}
			}
		})
	})
})

func FuzzReader(f *testing.F) {
	f.Add("1️⃣ Lecture : l'idée")
	f.Add("a\xffb\u200b\u20e3")
	f.Fuzz(func(t *testing.T, text string) {
		r := textfold.NewReader(text)
		end := 0
		for w, ok := r.Next(); ok; w, ok = r.Next() {
			if w.Start < end || w.End <= w.Start || text[end:w.Start] != w.Gap || !utf8.Valid(w.Text) || len(w.Text) == 0 {
				t.Fatalf("%q: word %+v after %d", text, w, end)
			}
			end = w.End
		}
	})
}
