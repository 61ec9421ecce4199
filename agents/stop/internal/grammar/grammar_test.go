package grammar_test

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

func TestGrammar(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "grammar")
}

// classes are those of the lexicons below.
var classes = []string{"act", "wait"}

// found are the phrases of a message by a lexicon of one language, as
// "class: words".
func found(lexicon, message string) []string {
	g, err := grammar.Compile(classes, grammar.Source{Name: "en", Text: lexicon, Sets: map[string][]string{"do": {"run", "fix", "test"}}})
	Expect(err).NotTo(HaveOccurred())
	return scan(g, message, grammar.Any)
}

func scan(g *grammar.Grammar, message string, lang grammar.Lang) []string {
	doc := text.NewReader(g.Words).Read(message)
	var hits []grammar.Hit
	for s := range doc.Sentences {
		hits = g.Scan(doc, s, lang, hits)
	}
	out := []string{}
	for _, h := range hits {
		words := doc.Words[h.First:h.End]
		out = append(out, classes[h.Class]+": "+message[words[0].Start:words[len(words)-1].End])
	}
	return out
}

var _ = Describe("a pattern", func() {
	DescribeTable("matches", func(pattern, message string, want ...string) {
		if want == nil {
			want = []string{}
		}
		Expect(found("<adv>: now also\n[act]\n"+pattern, message)).To(Equal(want))
	},
		Entry("words", "let me", "Now LET me see", "act: LET me"),
		Entry("a choice", "(let me|i will) go", "I will go", "act: I will go"),
		Entry("a nested choice", "(let (me|us)|i will) go", "Let us go", "act: Let us go"),
		Entry("an option that is there", "let me [please] go", "let me please go", "act: let me please go"),
		Entry("an option that is not", "let me [please] go", "let me go", "act: let me go"),
		Entry("a set", "will <do>", "I will fix it", "act: will fix"),
		Entry("no word outside the set", "will <do>", "I will sing"),
		Entry("a set that may stand twice", "will <adv>* <do>", "I will now also fix", "act: will now also fix"),
		Entry("and not three times", "will <adv>* <do>", "I will now also now fix"),
		Entry("one word of any kind", "will . it", "I will break it", "act: will break it"),
		Entry("up to three words", "will .. it", "I will fix and test it", "act: will fix and test it"),
		Entry("and not four", "will .. it", "I will fix and then test it"),
		Entry("the start of a sentence", "^ run", "Run it. I run.", "act: Run"),
		Entry("behind a number", "^ run", "3. run it", "act: run"),
		Entry("behind a label", "^ run", "Next: run it", "act: run"),
		Entry("the end of a sentence", "run it $", "I run it often. I run it.", "act: run it"),
		Entry("no comma", "run it", "run, it"),
		Entry("a comma where it says so", "run , it", "run, it", "act: run, it"),
		Entry("a comma within a gap", "run .. it", "run, then, it", "act: run, then, it"),
		Entry("a line break", "run it", "run\nit", "act: run\nit"),
		Entry("the longest of a class", "run [it [now]]", "run it now", "act: run it now"),
		Entry("each start", "(run|run it|it now)", "run it now", "act: run it", "act: it now"),
		Entry("no code", "run it", "run `it`"),
	)

	It("belongs to the class above it", func() {
		Expect(found("[act]\nrun\n# a comment\n\n[wait]\nrun it\nhold", "run it, hold")).To(Equal([]string{"act: run", "wait: run it", "wait: hold"}))
	})

	It("belongs to its language", func() {
		g, err := grammar.Compile(classes, grammar.Source{Name: "en", Text: "[act]\non change"}, grammar.Source{Name: "fr", Text: "<v>: change\n[wait]\non <v>"})
		Expect(err).NotTo(HaveOccurred())
		Expect(scan(g, "on change", 0)).To(Equal([]string{"act: on change"}))
		Expect(scan(g, "on change", 1)).To(Equal([]string{"wait: on change"}))
		Expect(scan(g, "on change", grammar.Any)).To(Equal([]string{"act: on change", "wait: on change"}))
	})

	It("takes time linear in a hostile text", func() {
		g, err := grammar.Compile(classes, grammar.Source{Name: "en", Text: "<adv>: now\n[act]\n^ <adv>* <adv>* .. <adv>* run\nnow .. now .. now run"})
		Expect(err).NotTo(HaveOccurred())
		Expect(scan(g, strings.Repeat("now ", 50000), grammar.Any)).To(BeEmpty())
	})
})

var _ = Describe("a lexicon that is wrong", func() {
	DescribeTable("is refused with its line", func(lexicon, complaint string) {
		_, err := grammar.Compile(classes, grammar.Source{Name: "en", Text: lexicon})
		Expect(err).To(MatchError(And(ContainSubstring("lexicon en"), ContainSubstring(complaint))))
	},
		Entry("no class", "run", "line 1: a pattern stands before the first class"),
		Entry("an unknown class", "[sing]", "line 1: no class is called [sing]"),
		Entry("an unknown set", "[act]\n<sing>", "line 2: no set is called <sing>"),
		Entry("an open choice", "[act]\n(run|fix", `line 2: ")" is missing`),
		Entry("an open option", "[act]\nrun [it", `line 2: "]" is missing`),
		Entry("a surplus bracket", "[act]\nrun)", `line 2: ")" closes nothing`),
		Entry("an empty alternative", "[act]\n(run|)", "line 2: an alternative is empty"),
		Entry("a star of nothing", "[act]\n* run", "line 2: nothing stands before *"),
		Entry("an anchor within", "[act]\nrun ^ it", "line 2: ^ stands at the beginning"),
		Entry("a pattern that needs no word", "[act]\n[run] [it]", "line 2: the pattern matches no word at all"),
	)

	It("has no more languages and classes than there is room for", func() {
		_, err := grammar.Compile(make([]string, 65))
		Expect(err).To(MatchError(ContainSubstring("65 classes")))
		_, err = grammar.Compile(classes, grammar.Source{}, grammar.Source{}, grammar.Source{})
		Expect(err).To(MatchError(ContainSubstring("3 languages")))
	})
})
