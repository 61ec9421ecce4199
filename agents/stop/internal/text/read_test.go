package text_test

import (
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// excerpts returns the text of the words in the original message.
func excerpts(message string) []string {
	var r text.Reader
	var all []string
	for _, w := range r.Read(message).Words {
		all = append(all, message[w.Start:w.End])
	}
	return all
}

var _ = Describe("a message", func() {
	It("becomes blocks, sentences and folded words", func() {
		var r text.Reader
		Expect(dump(r.Read("# Résumé\n\nTâche complétée. Prochaines étapes: 1. Test 2. Deploy\n"))).To(Equal(
			`heading level=1
  ^resume /
paragraph section=0
  ^tache completee .
  ^prochaines etapes :
  #1 ^test /
  #2 ^deploy /
`))
	})

	DescribeTable("has spans of the original text, however it is encoded", func(message string, want ...string) {
		Expect(excerpts(message)).To(Equal(want))
		var r text.Reader
		for _, w := range r.Read(message).Words {
			Expect(w.Fold).To(BeElementOf("l", "etape", "faite"))
		}
	},
		Entry("composed", "L'étape faite", "L", "étape", "faite"),
		Entry("decomposed", "L’e\u0301tape faite", "L", "e\u0301tape", "faite"),
		Entry("Latin-1", "L'\xe9tape faite", "L", "\xe9tape", "faite"),
		Entry("misread once", "Lâ€™Ã©tape faite", "L", "Ã©tape", "faite"),
		Entry("misread twice", "L'ÃƒÂ©tape faite", "L", "ÃƒÂ©tape", "faite"),
		Entry("character references", "L&#39;&eacute;tape&nbsp;faite", "L", "&eacute;tape", "faite"),
		Entry("colours of a terminal", "L'\x1b[1mé\x1b[0mtape\x1b[31;1m faite", "L", "é\x1b[0mtape", "faite"),
		Entry("soft hyphens", "L'é\u00adtape \ufefffaite", "L", "é\u00adtape", "faite"),
		Entry("line ends of Windows and a no-break space", "L'étape\u00a0\r\nfaite", "L", "étape", "faite"),
	)

	It("has rows with their columns, and the head of a table marked", func() {
		var r text.Reader
		doc := r.Read("| # | Step | State |\n|---|:---|---|\n| 2 | Deploy |  |\n| 3 | | open. Or not |\n")
		Expect(doc.Blocks).To(HaveLen(3))
		var columns []int
		for i, b := range doc.Blocks {
			Expect(b.Kind).To(Equal(text.Table))
			Expect(b.Header).To(Equal(i == 0))
			for _, s := range doc.Sentences[b.First:b.End] {
				columns = append(columns, s.Column)
			}
		}
		Expect(columns).To(Equal([]int{1, 2, 0, 1, 0, 2, 2}))
	})
})

var _ = Describe("a message longer than 256 KiB", func() {
	filler := strings.Repeat("filler\n", 1<<16)

	It("is read at its beginning and its end", func() {
		message := "First words.\n\n" + filler + "middle\n" + filler + "\nLast étape."
		var r text.Reader
		doc := r.Read(message)
		Expect(problem(doc)).To(BeEmpty())
		Expect(doc.Words[0].Fold).To(Equal("first"))
		last := doc.Words[len(doc.Words)-1]
		Expect(message[last.Start:last.End]).To(Equal("étape"))
		for _, w := range doc.Words {
			Expect(w.Fold).To(BeElementOf("first", "words", "filler", "last", "etape"))
		}
	})

	It("ends with text even if it begins with code that is not closed", func() {
		var r text.Reader
		doc := r.Read("```\n" + filler + "\nThe end.")
		Expect(doc.Words[len(doc.Words)-1].Fold).To(Equal("end"))
	})

	It("is cut between characters where it has no lines", func() {
		message := "b" + strings.Repeat("é", 1<<18) + "a"
		var r text.Reader
		doc := r.Read(message)
		Expect(problem(doc)).To(BeEmpty())
		Expect(doc.Blocks).To(HaveLen(2))
		for _, b := range doc.Blocks {
			Expect(utf8.ValidString(message[b.Start:b.Span.End])).To(BeTrue())
		}
		Expect(strings.Trim(doc.Words[0].Fold, "e")).To(Equal("b"))
	})
})
