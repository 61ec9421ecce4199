package text_test

import (
	"strings"
	"unicode"

	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// reading returns what a person takes in: the kinds of blocks and the words of the
// sentences, without how they are written.
func reading(s string) string {
	var r text.Reader
	d := r.Read(s)
	var b strings.Builder
	for _, block := range d.Blocks {
		b.WriteString(kinds[block.Kind] + "\n")
		for _, s := range d.Sentences[block.First:block.End] {
			for _, w := range d.Words[s.First:s.End] {
				if w.Flags&text.Opaque != 0 {
					b.WriteString(" []")
				} else {
					b.WriteString(" " + w.Fold)
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// prose makes messages of sentences, lists and headings in both languages.
func prose() *rapid.Generator[string] {
	sentences := rapid.SampledFrom([]string{
		"J'ai terminé l'étape prévue.", "Il reste à vérifier la suite, puis à déployer.", "Où en est-on ?",
		"I'll run the tests next.", "It isn't done yet, is it?", "Let me know: the rest is ready!",
		"Le cœur a été réécrit à côté.", "The “next steps” are quoted.", "Voici « la suite » citée.",
		"See `foo.go` and src/app/main.go for more.", "Ça va être prêt dès que c'est relu.", "Version 1.2.3 is out.",
	})
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "blocks") {
			text := strings.Join(rapid.SliceOfN(sentences, 1, 3).Draw(t, "sentences"), " ")
			b.WriteString(rapid.SampledFrom([]string{"", "", "# ", "- ", "1. ", "- [ ] "}).Draw(t, "marker") + text + "\n\n")
		}
		return b.String()
	})
}

// decomposed are the letters of the prose as letter and combining accent.
var decomposed = strings.NewReplacer("é", "e\u0301", "è", "e\u0300", "ê", "e\u0302", "à", "a\u0300", "ô", "o\u0302",
	"ç", "c\u0327", "É", "E\u0301", "ù", "u\u0300", "Ç", "C\u0327", "À", "A\u0300")

// misread takes the bytes of s for characters of an encoding of one byte each,
// whose upper half is the page.
func misread(s string, page []rune) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] < 0x80 {
			b.WriteByte(s[i])
		} else {
			b.WriteRune(page[s[i]-0x80])
		}
	}
	return b.String()
}

var windowsPage = func() []rune {
	page := []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")
	for r := rune(0xA0); r <= 0xFF; r++ {
		page = append(page, r)
	}
	return page
}()

var latinPage = func() (page []rune) {
	for r := rune(0x80); r <= 0xFF; r++ {
		page = append(page, r)
	}
	return page
}()

var macPage = []rune("ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ")

// unaccented drops the accents that decomposed sets apart.
func unaccented(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, strings.NewReplacer("œ", "oe").Replace(decomposed.Replace(s)))
}

// oneByte writes what Latin-1 has in Latin-1, one byte for each character.
func oneByte(s string) string {
	var b []byte
	for _, r := range strings.NewReplacer("“", "\"", "”", "\"", "œ", "oe").Replace(s) {
		b = append(b, byte(r))
	}
	return string(b)
}

// everyWord puts marks around each word of three letters or more of ASCII that
// is between spaces.
func everyWord(s, mark string) string {
	parts := strings.Split(s, " ")
	for i, p := range parts {
		plain := len(p) > 2 && strings.IndexFunc(p, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
		if plain && !strings.Contains(strings.Join(parts[max(0, i-1):i], " "), "“") {
			parts[i] = mark + p + mark
		}
	}
	return strings.Join(parts, " ")
}

var _ = Describe("how a message is spelt", func() {
	changes := map[string]func(string) string{
		"accents dropped":           unaccented,
		"letters decomposed":        func(s string) string { return decomposed.Replace(s) },
		"upper case":                strings.ToUpper,
		"curly apostrophes":         func(s string) string { return strings.ReplaceAll(s, "'", "’") },
		"straight quotation marks":  strings.NewReplacer("“", `"`, "”", `"`).Replace,
		"strong words":              func(s string) string { return everyWord(s, "**") },
		"emphasised words":          func(s string) string { return everyWord(s, "_") },
		"Windows-1252":              func(s string) string { return misread(s, windowsPage) },
		"Windows-1252 twice":        func(s string) string { return misread(misread(s, windowsPage), windowsPage) },
		"Latin-1 read from UTF-8":   func(s string) string { return misread(s, latinPage) },
		"Mac Roman":                 func(s string) string { return misread(s, macPage) },
		"Mac Roman and decomposed":  func(s string) string { return misread(decomposed.Replace(s), macPage) },
		"Latin-1 bytes":             oneByte,
		"two spaces for one":        func(s string) string { return strings.ReplaceAll(s, " ", "  ") },
		"no-break spaces":           func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") },
		"thin spaces":               func(s string) string { return strings.ReplaceAll(s, " ", "\u202f") },
		"emoji":                     func(s string) string { return strings.ReplaceAll(s, " the ", " the 🚀 ") },
		"line ends of Windows":      func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"a character of zero width": func(s string) string { return strings.ReplaceAll(s, "st", "s\u200bt") },
	}
	for name, change := range changes {
		It("does not change what is read: "+name, func() {
			rapid.Check(GinkgoT(), func(t *rapid.T) {
				s := prose().Draw(t, "message")
				if want, got := reading(s), reading(change(s)); want != got {
					t.Fatalf("%q is read as\n%s%q is read as\n%s", s, want, change(s), got)
				}
			})
		})
	}
})
