package web

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

var _ = DescribeTable("the form of a text is read from its lines",
	func(text string, want [][]string) {
		Expect(blockLines(text, session.English)).To(Equal(want))
		Expect(blockLines(strings.ReplaceAll(text, "\n", "\r\n"), session.English)).To(Equal(want))
	},
	Entry("nothing", "", nil),
	Entry("paragraphs, with their lines", "One,\ntwo.\n\nThree.", [][]string{{"paragraph", "", "One,", "two."}, {"paragraph", "", "Three."}}),
	Entry("keycap headings, whose digit is text", "1️⃣ Implicit reading\nYou hold on.\n\n2\u20e3 Deduction\nStill.",
		[][]string{{"heading", "", "1. Implicit reading"}, {"paragraph", "", "You hold on."}, {"heading", "", "2. Deduction"}, {"paragraph", "", "Still."}}),
	Entry("headings with emoji, which are not read out", "🔥 What sets you in motion\nTrust.\n⚖️ Your values\nYour word.",
		[][]string{{"heading", "🔥", "What sets you in motion"}, {"paragraph", "", "Trust."}, {"heading", "⚖️", "Your values"}, {"paragraph", "", "Your word."}}),
	Entry("a long line with an emoji is none", "🔥 "+strings.Repeat("word ", 20)+"end", [][]string{{"paragraph", "", "🔥 " + strings.Repeat("word ", 20) + "end"}}),
	Entry("headings with hashes and stars", "## **Relation to duration**\nIt **holds**.", [][]string{{"heading", "", "Relation to duration"}, {"paragraph", "", "It holds."}}),
	Entry("a title above its part", "Relation to duration\nThis is your ground.", [][]string{{"heading", "", "Relation to duration"}, {"paragraph", "", "This is your ground."}}),
	Entry("a first line that is a sentence", "Thank you, Tom.\nHere we go.", [][]string{{"paragraph", "", "Thank you, Tom.", "Here we go."}}),
	Entry("a status", "🟢 ALIGNED\n\nGood.", [][]string{{"status", "", "🟢 ALIGNED"}, {"paragraph", "", "Good."}}),
	Entry("a list", "- one\n• two\n* three", [][]string{{"list", "", "one", "two", "three"}}),
	Entry("choices", "Which?\nA. one\nB) two", [][]string{{"paragraph", "", "Which?"}, {"choices", "", "A. one", "B) two"}}),
	Entry("a keycap that is not at the start", "🔥 Ten\u20e3 of them", [][]string{{"heading", "🔥", "Ten\u20e3 of them"}}),
	Entry("a keycap without a digit", "\u20e3 x", [][]string{{"paragraph", "", "\u20e3 x"}}),
)

var _ = DescribeTable("choices are on lines of their own, from A on",
	func(text string, want []string) { Expect(choiceLines(text)).To(Equal(want)) },
	Entry("a question with choices", "Which?\n  A. one **two**\n B) three", []string{"A|one two|A. one **two**", "B|three|B) three"}),
	Entry("a sentence that ends in a letter and a dot", "Parle-moi de ce qui te motive.", nil),
	Entry("one alone", "Which?\nA. one", nil),
	Entry("a gap", "Which?\nA. one\nC. two", nil),
	Entry("not from the start", "Which?\nB. one\nC. two", nil),
	Entry("within a line", "Which? A. one B. two", nil),
)

var _ = It("keeps French punctuation on the line of the word before it", func() {
	Expect(blockLines("Quoi ? Non : « si » !", session.French)[0][2]).To(Equal("Quoi\u00a0? Non\u00a0: «\u00a0si\u00a0»\u00a0!"))
	Expect(blockLines("What ? No", session.English)[0][2]).To(Equal("What ? No"))
})

// blockLines returns the blocks of a text: kind, mark and lines of each.
func blockLines(text string, l session.Language) [][]string {
	var out [][]string
	for _, b := range parseBlocks(text, l) {
		out = append(out, append([]string{string(b.Kind), b.Mark}, b.Lines...))
	}
	return out
}

// choiceLines returns the choices of a text: letter, text and line of each.
func choiceLines(text string) []string {
	var out []string
	for _, c := range choicesOf(text) {
		out = append(out, c.Letter+"|"+c.Text+"|"+c.Line)
	}
	return out
}

// FuzzBlocks checks that splitting a text into blocks loses no letter of it.
func FuzzBlocks(f *testing.F) {
	for _, seed := range []string{
		"1️⃣ A\nb\n\n2️⃣ C", "🟢 ALIGNÉ\n\n- a\n- b", "Q?\nA. a\nB. b", "# **x**\n**\u20e3", "\u20e3", "\ufe0f\u20e3 ", "🔥", "«  »", "\r\n\r",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		choiceLines(text)
		var shown strings.Builder
		for _, b := range blockLines(text, session.French) {
			if len(b) < 3 {
				t.Fatalf("a block without a line: %q", b)
			}
			shown.WriteString(strings.Join(b[1:], ""))
		}
		if !utf8.ValidString(text) {
			return // such a text is never stored
		}
		if got, want := letters(shown.String()), letters(text); got != want {
			t.Fatalf("of %q remains %q", want, got)
		}
	})
}

// letters returns the letters and digits of a text.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
