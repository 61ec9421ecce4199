package detect_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

const message = "## Résumé\n" +
	"\n" +
	"J'ai fini l'étape; je vais déployer `été \"x\"` ici:\n" +
	"see https://example.com/Été (\"yes\") now\n" +
	"\n" +
	"- [ ] créer la clé\n" +
	"  1. add the test [page](docs/a-b.md)\n" +
	"\n" +
	"```go\n" +
	"x := \"déjà\" // l'été\n" +
	"```\n" +
	"| a b | c |\n" +
	"\n" +
	"Done."

// of returns the message's variant of that name.
func of(name, text string) string {
	GinkgoHelper()
	for _, v := range variantsOf(text) {
		if v.name == name {
			return v.text
		}
	}
	Fail("there is no variant " + name)
	return ""
}

// replace returns the message with the lines, counted from 0, that are given.
func replace(lines map[int]string) string {
	out := strings.Split(message, "\n")
	for n, line := range lines {
		out[n] = line
	}
	return strings.Join(out, "\n")
}

var _ = DescribeTable("a variant touches prose only",
	func(name string, lines map[int]string) {
		Expect(of(name, message)).To(Equal(replace(lines)))
	},
	Entry("no-accents", "no-accents", map[int]string{
		0: "## Resume", 2: "J'ai fini l'etape; je vais deployer `été \"x\"` ici:", 5: "- [ ] creer la cle",
	}),
	Entry("upper-case", "upper-case", map[int]string{
		0: "## RÉSUMÉ", 2: "J'AI FINI L'ÉTAPE; JE VAIS DÉPLOYER `été \"x\"` ICI:", 3: "SEE https://example.com/Été (\"YES\") NOW",
		5: "- [ ] CRÉER LA CLÉ", 6: "  1. ADD THE TEST [PAGE](docs/a-b.md)", 13: "DONE.",
	}),
	Entry("curly-quotes", "curly-quotes", map[int]string{
		2: "J’ai fini l’étape; je vais déployer `été \"x\"` ici:", 3: "see https://example.com/Été (“yes”) now",
	}),
	Entry("no-break-spaces", "no-break-spaces", map[int]string{
		2: "J'ai\u00a0fini\u00a0l'étape; je\u00a0vais\u00a0déployer `été \"x\"` ici:",
		5: "- [ ] créer\u00a0la\u00a0clé", 6: "  1. add\u00a0the\u00a0test [page](docs/a-b.md)",
	}),
	Entry("double-spaces", "double-spaces", map[int]string{
		2: "J'ai  fini  l'étape; je  vais  déployer `été \"x\"` ici:",
		5: "- [ ] créer  la  clé", 6: "  1. add  the  test [page](docs/a-b.md)",
	}),
	Entry("emphasis", "emphasis", map[int]string{
		2: "J'ai fini l'étape; je vais *déployer* `été \"x\"` ici:", 6: "  1. add the *test* [page](docs/a-b.md)",
	}),
	Entry("emoji", "emoji", map[int]string{
		2: "🚀 J'ai fini l'étape; je vais déployer `été \"x\"` ici:", 3: "see https://example.com/Été (\"yes\") now 🙂", 13: "🚀 Done. 🙂",
	}),
	Entry("trailing-spaces", "trailing-spaces", map[int]string{
		0: "## Résumé ", 2: "J'ai fini l'étape; je vais déployer `été \"x\"` ici: ", 3: "see https://example.com/Été (\"yes\") now ",
		5: "- [ ] créer la clé ", 6: "  1. add the test [page](docs/a-b.md) ", 11: "| a b | c | ", 13: "Done. ",
	}),
)

var _ = Describe("variants", func() {
	It("are all made of a rich text, each under its name", func() {
		var names []string
		for _, v := range variantsOf(norm.NFD.String("œ") + message + " “x”") {
			names = append(names, v.name)
		}
		Expect(names).To(ContainElements("straight-quotes", "crlf", "narrow-spaces"))
		rest := slices.DeleteFunc(slices.Clone(rewritings), func(r rewriting) bool { return slices.Contains(names, r.name) })
		Expect(rest).To(HaveLen(1))
		Expect(rest[0].name).To(Equal("nfc"), "the message is in that form already")
		Expect(of("nfc", norm.NFD.String(message))).To(Equal(message))
		Expect(of("nfd", message)).To(Equal(norm.NFD.String(message)))
		Expect(of("straight-quotes", "l’été “x”")).To(Equal(`l'été "x"`))
	})

	It("are none of a text that they would not change", func() {
		for _, text := range []string{"", "\n\n", "```\ncode of it\n", "    indented code"} {
			for _, v := range variantsOf(text) {
				Expect(v.name).To(Equal("crlf"), text)
			}
		}
	})

	DescribeTable("that were decoded wrongly can be decoded back",
		func(name string, as *charmap.Charmap) {
			damaged := of(name, message+" ✅ œ")
			Expect(damaged).NotTo(ContainSubstring("é"))
			back, err := as.NewEncoder().String(damaged)
			Expect(err).NotTo(HaveOccurred())
			Expect(back).To(Equal(message + " ✅ œ"))
		},
		Entry("latin-1", "latin-1", charmap.ISO8859_1), Entry("windows-1252", "windows-1252", charmap.Windows1252), Entry("mac-roman", "mac-roman", charmap.Macintosh),
	)

	It("show undefined bytes as browsers do", func() {
		Expect(of("windows-1252", "”")).To(Equal("â€\u009d"))
	})

	It("leave code of any length of fence alone", func() {
		const text = "````\na b\n```\nc d\n````\ne f\n~~~\ng h"
		Expect(of("upper-case", text)).To(Equal("````\na b\n```\nc d\n````\nE F\n~~~\ng h"))
	})

	It("emphasise by turns, and no line that has emphasis", func() {
		Expect(of("emphasis", "a b c d e f g\n*a* b c d e f g")).To(Equal("a b *c* d e **f** g\n*a* b c d e f g"))
	})
})

// latin1 are the letters of French and of its neighbours.
var latin1 = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 'A', Hi: 'Z', Stride: 1}, {Lo: 'a', Hi: 'z', Stride: 1}, {Lo: 'À', Hi: 'ÿ', Stride: 1}}}

var bullet = regexp.MustCompile(`^[ \t]*(?:(?:[-*+]|\d+\.|#+) )?(?:\[[ x]\] )?`)

// words are what a person reads, without case, accents and emphasis.
func words(text string) []string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(text)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r), unicode.IsDigit(r):
			b.WriteRune(r)
		default:
			b.WriteRune(' ')
		}
	}
	return strings.Fields(b.String())
}

var _ = It("keeps words and structure of any message", func() {
	piece := rapid.SampledFrom([]string{
		"\n", "\n\n", " ", "  ", "- ", "1. ", "- [ ] ", "# ", "```\n", "`a b`", "Je vais", "l'étape", "\"x y\"", "then", "*it*", "é", ":", ".",
		"https://a.b/c?d=e", "| a | b |", "\r\n", "_", "[a](b c)", "<br>", "œuvre", "    ", "~~~\n", "\xff", "✅",
	})
	// Other scripts have letters that change by upper case and back.
	other := rapid.StringOf(rapid.RuneFrom([]rune(" \t\n\r-*_`'\"#.:;1[]()<>|~/\u00a0\u0301✅"), latin1))
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "text"), "")
		if rapid.Bool().Draw(t, "other") {
			text = other.Draw(t, "any")
		}
		want := strings.Split(text, "\n")
		for _, v := range variantsOf(text) {
			if slices.Contains([]string{"latin-1", "windows-1252", "mac-roman"}, v.name) {
				continue // the words are there for who repairs them
			}
			got := strings.Split(v.text, "\n")
			if len(got) != len(want) {
				t.Fatalf("%s: %d lines become %d: %q", v.name, len(want), len(got), v.text)
			}
			for i := range got {
				if g, w := bullet.FindString(got[i]), bullet.FindString(want[i]); g != w && v.name != "emoji" {
					t.Fatalf("%s: %q begins with %q", v.name, got[i], g)
				}
				if g, w := words(got[i]), words(want[i]); utf8.ValidString(text) && !equalButLigatures(g, w) {
					t.Fatalf("%s: %q becomes %q", v.name, w, g)
				}
			}
		}
	})
})

func equalButLigatures(a, b []string) bool {
	fold := strings.NewReplacer("œ", "oe", "æ", "ae", "ſ", "s", "ı", "i", "ς", "σ")
	return slices.EqualFunc(a, b, func(x, y string) bool { return fold.Replace(x) == fold.Replace(y) })
}

func FuzzVariants(f *testing.F) {
	f.Add(message)
	f.Add("\xff\x00`\n```\n<")
	f.Fuzz(func(t *testing.T, text string) {
		for _, v := range variantsOf(text) {
			if v.text == text || strings.Count(v.text, "\n") != strings.Count(text, "\n") {
				t.Fatalf("%s of %q is %q", v.name, text, v.text)
			}
		}
	})
}
