package text_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// pieces are what hostile messages are made of.
var pieces = []string{
	"word", "Étape", "e\u0301", "Ã©", "â€™", "√©", "\xe9", "\xff", "\x00", " ", "  ", "\t", "\n", "\n\n", "\r\n", "    ",
	"*", "**", "_", "`", "``", "```", "~~~", "~~", "\"", "“", "”", "«", "»", "‘", "’", "'", "-", "- ", "1. ", "a) ", "[ ] ",
	"[", "](", "]", ")", "(", "![", "<", ">", "<b>", "<!--", "-->", "<think>", "</think>", "# ", "===", "---", "|", "|---|",
	".", "!", "?", "…", "...", ":", ",", "/", "\\", "@", "http://", "_a_", "1.2", "e.g.", "✅ ", "👍🏽", "\u00a0", "\u200b", "1️⃣", "&nbsp;", "Ａ", "ﬁ",
}

func message() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 4, 16)), 0, 60).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

// problem returns what is wrong with how a message was read, "" if nothing is.
func problem(d *text.Doc) string {
	valid := utf8.ValidString(d.Raw)
	edge := func(i int) bool { return !valid || i == len(d.Raw) || utf8.RuneStart(d.Raw[i]) }
	sentence, word, block := 0, 0, 0
	for i, b := range d.Blocks {
		switch {
		case b.Start < block || b.Span.End < b.Start || b.Span.End > len(d.Raw):
			return "a block is out of order or of the message"
		case b.First != sentence || b.End < b.First:
			return "the sentences of blocks do not follow each other"
		case b.Section >= i || b.Lead >= i || b.Parent >= i:
			return "a block refers to a later one"
		case b.Section >= 0 && d.Blocks[b.Section].Kind != text.Heading:
			return "a section is no heading"
		case b.Parent >= 0 && d.Blocks[b.Parent].Kind != text.Item:
			return "a parent is no item"
		}
		block = b.Start
		at := b.Start
		for _, s := range d.Sentences[b.First:b.End] {
			switch {
			case s.Block != i:
				return "a sentence names another block"
			case s.Start < at || s.Span.End <= s.Start || s.Span.End > b.Span.End:
				return "a sentence is out of order or of its block"
			case s.First != word || s.End <= s.First:
				return "the words of sentences do not follow each other"
			}
			at = s.Start
			for _, w := range d.Words[s.First:s.End] {
				switch {
				case w.Start < at || w.End <= w.Start || w.End > s.Span.End:
					return "a word is out of order or of its sentence"
				case !edge(w.Start) || !edge(w.End):
					return "a word is cut within a character"
				case (w.Fold == "") != (w.Flags&text.Opaque != 0):
					return "a word is neither folded nor opaque"
				}
				at = w.End
			}
			word, at = s.End, s.Span.End
		}
		sentence = b.End
	}
	if sentence != len(d.Sentences) || word != len(d.Words) {
		return "words stand outside of blocks"
	}
	return ""
}

var _ = Describe("any message", func() {
	It("is read into spans that are nested, ordered and cut between characters", func() {
		var r text.Reader
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			if p := problem(r.Read(message().Draw(t, "message"))); p != "" {
				t.Fatal(p)
			}
		})
	})

	It("is read the same way after another one", func() {
		var used text.Reader
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := message().Draw(t, "message")
			used.Read(message().Draw(t, "earlier message"))
			var fresh text.Reader
			if a, b := dump(used.Read(s)), dump(fresh.Read(s)); a != b {
				t.Fatalf("%s\nand\n%s", a, b)
			}
		})
	})

	It("has folded words that folding leaves as they are", func() {
		var r text.Reader
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			for _, w := range r.Read(message().Draw(t, "message")).Words {
				if again := text.Fold(w.Fold); again != w.Fold {
					t.Fatalf("%q becomes %q", w.Fold, again)
				}
			}
		})
	})

	It("has characters that folding changes once", func() {
		for r := rune(1); r < 0x20000; r++ {
			if once := text.Fold(string(r)); text.Fold(once) != once {
				Fail(fmt.Sprintf("%q becomes %q, and that %q", r, once, text.Fold(once)))
			}
		}
	})

	It("has the numbers of a vocabulary", func() {
		var v text.Vocabulary
		for _, w := range []string{"word", "etape", "a", "fi", "e"} {
			v.Add(w)
		}
		numbering := text.NewReader(&v)
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			for _, w := range numbering.Read(message().Draw(t, "message")).Words {
				if w.ID != v.ID(w.Fold) {
					t.Fatalf("%q has the number %d", w.Fold, w.ID)
				}
			}
		})
	})

	DescribeTable("is read however hostile it is", func(part, tail string, count int) {
		var r text.Reader
		Expect(problem(r.Read(strings.Repeat(part, count) + tail))).To(BeEmpty())
	},
		Entry("backticks", "`", "", 1<<20),
		Entry("runs of backticks", "a ` b `` c ``` d ", "", 1<<16),
		Entry("asterisks", "*", "a", 1<<20),
		Entry("strong openings", "**a ", "", 1<<18),
		Entry("opening brackets", "[", "", 1<<20),
		Entry("links never closed", "](", "", 1<<19),
		Entry("images never closed", "![", "", 1<<19),
		Entry("straight quotation marks", "\"", "", 1<<20),
		Entry("opening quotations", " \"a", "", 1<<19),
		Entry("curly quotations", "“a", "", 1<<18),
		Entry("single quotations", " 'a", "", 1<<19),
		Entry("single curly quotations", "‘a’b", "", 1<<18),
		Entry("tags never closed", "<a ", "", 1<<19),
		Entry("comments never closed", "<!-- ", "\n", 1<<18),
		Entry("lines of comments never closed", "<!-- a\n", "", 1<<17),
		Entry("thoughts never closed", "<think>\n", "", 1<<17),
		Entry("headings", "# a\n", "", 1<<18),
		Entry("deep quotations", ">", " a", 1<<20),
		Entry("deep lists on a line", "- ", "a", 1<<19),
		Entry("deep numbered lists on a line", "1. ", "a", 1<<19),
		Entry("guillemets never closed", "«a", "", 1<<18),
		Entry("targets within targets", "](()(", "", 1<<18),
		Entry("images in images", "![a](", "", 1<<18),
		Entry("items", "- a\n", "", 1<<18),
		Entry("rows", "|a|b|\n", "", 1<<17),
		Entry("cells", "|a", "", 1<<19),
		Entry("one long word", "a", "", 5<<20),
		Entry("one long path", "a/", "", 1<<20),
		Entry("one long number", "1.", "", 1<<20),
		Entry("one long address", "http://a", "", 1<<18),
		Entry("a word in emphasis", "a*", "", 1<<19),
		Entry("accents", "e\u0301", "", 1<<19),
		Entry("accents alone", "\u0301", "", 1<<19),
		Entry("mojibake", "Ã", "", 1<<19),
		Entry("mojibake of mojibake", "ÃƒÂ", "", 1<<18),
		Entry("invalid bytes", "\xff", "", 1<<20),
		Entry("NULs", "\x00", "", 1<<20),
		Entry("full stops", ".", "", 1<<20),
		Entry("closing marks", ".)", "", 1<<19),
		Entry("hyphens in words", "a-", "", 1<<19),
		Entry("strike-outs", "~~a ", "", 1<<18),
		Entry("backslashes", "\\", "", 1<<20),
		Entry("ampersands", "&", "", 1<<20),
		Entry("fences", "```\n", "", 1<<18),
		Entry("blank lines", "\n", "", 1<<20),
		Entry("tabs", "\t", "a", 1<<20),
	)

	It("becomes lists nested as deep as they are written", func() {
		var b strings.Builder
		for depth := range 300 {
			b.WriteString(strings.Repeat("  ", depth) + "- a\n")
		}
		var r text.Reader
		doc := r.Read(b.String())
		Expect(problem(doc)).To(BeEmpty())
		Expect(doc.Blocks[299].Level).To(Equal(299))
	})
})

func FuzzRead(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + "a " + p)
	}
	f.Add(`" "`)
	f.Fuzz(func(t *testing.T, s string) {
		var r text.Reader
		if p := problem(r.Read(s)); p != "" {
			t.Fatal(p)
		}
	})
}
