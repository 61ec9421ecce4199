package detect_test

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// variant is a message that was rewritten so that a person reads the same: the verdict of a
// detector must not change (metamorphic testing: Chen et al., ACM Computing Surveys 51(1),
// 2018). The structure stays as well: bullets, numbers, check boxes, headings, code and
// addresses are not changed, except where the whole text is decoded wrongly.
type variant struct {
	name string // of the rewriting, such as "upper-case"
	text string
}

// rewriting is one way to rewrite a message.
type rewriting struct {
	name    string
	rewrite func(string) string
}

var rewritings = []rewriting{
	{"no-accents", prose(withoutAccents)},
	{"nfd", norm.NFD.String},
	{"nfc", norm.NFC.String},
	{"upper-case", prose(strings.ToUpper)},
	{"curly-quotes", prose(curly)},
	{"straight-quotes", prose(straight.Replace)},
	{"no-break-spaces", prose(spaced("\u00a0"))},
	{"narrow-spaces", prose(spaced("\u202f"))},
	{"double-spaces", prose(spaced("  "))},
	{"emphasis", lines(emphasised)},
	{"latin-1", misread(charmap.ISO8859_1)},
	{"windows-1252", misread(charmap.Windows1252)},
	{"mac-roman", misread(charmap.Macintosh)},
	{"emoji", paragraphs("🚀 ", " 🙂")},
	{"crlf", crlf},
	{"trailing-spaces", lines(func(l line) string { return l.mark + l.body + " " })},
}

// variantsOf returns the variants of a message that differ from it.
func variantsOf(text string) []variant {
	var out []variant
	for _, r := range rewritings {
		if rewritten := r.rewrite(text); rewritten != text {
			out = append(out, variant{r.name, rewritten})
		}
	}
	return out
}

// misread takes the message's UTF-8 for another encoding, as careless programs
// do: é becomes Ã©. A byte that the encoding does not define becomes a control
// character, as browsers do it (https://encoding.spec.whatwg.org).
func misread(as *charmap.Charmap) func(string) string {
	return func(text string) string {
		var out strings.Builder
		for i := range len(text) {
			r := as.DecodeByte(text[i])
			if r == utf8.RuneError {
				r = rune(text[i])
			}
			out.WriteRune(r)
		}
		return out.String()
	}
}

func crlf(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}
