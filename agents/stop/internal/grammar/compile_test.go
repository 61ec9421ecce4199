package grammar_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

var _ = DescribeTable("Compile returns an error with the line of an invalid lexicon",
	func(lexicon, want string) {
		_, err := grammar.Compile(classes, grammar.Source{Name: "en", Text: lexicon})
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
	Entry("no class", "# none\n\nnext", "lexicon en, line 3: a pattern stands before the first class"),
	Entry("an unknown class", "[c]\nx", "line 1: no class is called [c]"),
	Entry("an unknown set", "[a]\nx\nto <do>", "line 3: no set is called <do>"),
	Entry("an unclosed choice", "[a]\n(x|y", `line 2: ")" is missing`),
	Entry("an unclosed option", "[a]\nx [y|z", `"]" is missing`),
	Entry("a wrong closing", "[a]\nx (y]", `")" is missing`),
	Entry("a closing too many", "[a]\nx) y", `")" closes nothing`),
	Entry("a bar outside", "[a]\nx | y", `"|" closes nothing`),
	Entry("an empty choice", "[a]\n() x", "an alternative is empty"),
	Entry("an empty alternative", "[a]\n(x|) y", "an alternative is empty"),
	Entry("a star in front", "[a]\n* x", "nothing stands before *"),
	Entry("nothing required", "[a]\n[x] y*", "matches no word at all"),
	Entry("nothing at all", "[a]\n^ $", "matches no word at all"),
	Entry("any word first", "[a]\n. x", "begins with any word"),
	Entry("a gap first", "[a]\n[y] .. x", "begins with any word"),
	Entry("a start inside", "[a]\nx ^ y", "^ stands at the beginning"),
	Entry("an end inside", "[a]\nx $ y", `"y" stands behind $`),
	Entry("an end within a choice", "[a]\n(x $|y)", "$ stands at the end"),
	Entry("a word that is not folded", "[a]\nà faire", `"à" is not folded, so that no text contains it: write "a"`),
	Entry("two words in one", "[a]\ni'll go", `write "i ll"`),
	Entry("a capital", "[a]\nNext", `write "next"`),
	Entry("a set with a word that is not folded", "<s>: ok Été\n", "line 1"),
	Entry("too deep", "[a]\n"+strings.Repeat("(", 9)+"x"+strings.Repeat(")", 9), "deep"),
)

var _ = Describe("compiling", func() {
	It("names the additional set that has an invalid word", func() {
		_, err := grammar.Compile(classes, grammar.Source{Name: "fr", Sets: map[string][]string{"inf": {"déployer"}}})
		Expect(err).To(MatchError(ContainSubstring("lexicon fr, set <inf>")))
	})

	It("is bounded", func() {
		_, err := grammar.Compile(make([]string, 65))
		Expect(err).To(HaveOccurred())
		var many strings.Builder
		for i := range 65 {
			fmt.Fprintf(&many, "<s%d>: x\n", i)
		}
		_, err = grammar.Compile(classes, grammar.Source{Name: "x", Text: many.String()})
		Expect(err).To(MatchError(ContainSubstring("line 65: there are more than 64 sets")))
	})
})

func FuzzCompile(f *testing.F) {
	f.Add("<do>: run test\n[a]\nlet me [now|just]* <do> .. it , $", "let me run it")
	f.Add("[b]\n^ ((x|y z)* w)", "y z w")
	f.Fuzz(func(t *testing.T, lexicon, message string) {
		if len(lexicon) > 1000 {
			return
		}
		g, err := grammar.Compile(classes, grammar.Source{Name: "x", Text: lexicon})
		if err != nil {
			return
		}
		r := text.NewReader(g.Words)
		doc := r.Read(message)
		for s := range doc.Sentences {
			sentence := &doc.Sentences[s]
			for _, h := range g.Scan(doc, s, 0, nil) {
				if int(h.First) < sentence.First || int(h.End) > sentence.End || h.End <= h.First {
					t.Fatalf("a phrase of the words %d to %d leaves its sentence", h.First, h.End)
				}
			}
		}
	})
}
