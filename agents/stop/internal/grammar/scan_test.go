package grammar_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

var classes = []string{"a", "b"}

func compiled(sources ...grammar.Source) *grammar.Grammar {
	GinkgoHelper()
	g, err := grammar.Compile(classes, sources...)
	Expect(err).NotTo(HaveOccurred())
	return g
}

// scanned returns the phrases in all sentences of a message.
func scanned(g *grammar.Grammar, lang grammar.Lang, doc *text.Doc) []grammar.Hit {
	var hits []grammar.Hit
	for s := range doc.Sentences {
		hits = g.Scan(doc, s, lang, hits)
	}
	return hits
}

// found are "class:phrase" of all phrases of a message.
func found(lexicon, message string) []string {
	GinkgoHelper()
	g := compiled(grammar.Source{Name: "x", Text: lexicon})
	doc := text.NewReader(g.Words).Read(message)
	out := []string{}
	for _, h := range scanned(g, 0, doc) {
		Expect(h.Class).To(Equal(g.Patterns[h.Pattern].Class))
		s := doc.Sentences[h.Sentence]
		Expect(s.First <= int(h.First) && h.First < h.End && int(h.End) <= s.End).To(BeTrue())
		out = append(out, classes[h.Class]+":"+message[doc.Words[h.First].Start:doc.Words[h.End-1].End])
	}
	return out
}

var _ = DescribeTable("a pattern",
	func(pattern, message string, want ...string) {
		all := []string{}
		for _, w := range want {
			all = append(all, "a:"+w)
		}
		Expect(found("<do>: run test check\n<adv>: now also\n[a]\n"+pattern, message)).To(Equal(all))
	},
	Entry("is words in order", "next steps", "The next steps are", "next steps"),
	Entry("is no part of words", "then", "authentication thenar"),
	Entry("has words of a set", "let me <do>", "Let me run it. Let me go", "Let me run"),
	Entry("may be a set", "<do>", "we test and check", "test", "check"),
	Entry("has alternatives", "(as soon as|once) done", "as soon as done and once done", "as soon as done", "once done"),
	Entry("has optional words", "i ll [now|just] go", "I'll go. I'll now go. I'll just go. I'll then go", "I'll go", "I'll now go", "I'll just go"),
	Entry("has up to two words of a set", "will <adv>* go", "will go, will now go, will also now go, will now also now go", "will go", "will now go", "will also now go"),
	Entry("repeats a choice", "will (x|y z)* go", "will go, will x y z go", "will go", "will x y z go"),
	Entry("repeats nothing within an alternative that has none", "begin (x*|y) go", "begin y x go. Begin y go. Begin x x go. Begin go", "Begin y go", "Begin x x go", "Begin go"),
	Entry("skips one word", "run . tests", "run the tests, run `x` tests, run tests", "run the tests", "run `x` tests"),
	Entry("skips up to three words", "run .. tests", "run tests, run all of the tests", "run tests", "run all of the tests"),
	Entry("skips no more than three", "run .. tests", "run all of the old tests"),
	Entry("takes an apostrophe", "j ai", "j’ai, J'AI", "j’ai", "J'AI"),
	Entry("is folded", "etapes a faire", "ÉTAPES À FAIRE", "ÉTAPES À FAIRE"),
	Entry("stops at a comma", "next steps", "next, steps"),
	Entry("goes over a comma where one may stand", "done , next", "done, next or done next", "done, next", "done next"),
	Entry("goes over a comma behind a gap", "done .. next", "done, next", "done, next"),
	Entry("goes over a comma where one alternative ends with it", "(x ,|y) z", "x, z. y, z. y z", "x, z", "y z"),
	Entry("goes over a comma in one alternative only", "x (, y|<do>)", "x, y. X run. X, run", "x, y", "X run"),
	Entry("goes over one line break", "next steps", "the next\nsteps", "next\nsteps"),
	Entry("goes over emphasis", "next steps", "**next** _steps_", "next** _steps"),
	Entry("stops at the end of a sentence", "next steps", "the next. Steps"),
	Entry("begins its sentence", "^ next", "Next is next. Next", "Next", "Next"),
	Entry("begins behind a number", "^ next", "2 next", "next"),
	Entry("begins behind a label", "^ next", "All right, next", "next"),
	Entry("begins behind a short label only", "^ next", "This is all good, next"),
	Entry("ends its sentence", "next $", "Next is next. Then next and", "next"),
	Entry("begins and ends it", "^ next $", "Next. Next one. The next", "Next"),
	Entry("is the longest", "run [it [now]]", "run it now", "run it now"),
	Entry("begins anew within another", "(run it|it now)", "run it now", "run it", "it now"),
	Entry("has no word in code", "run it", "run `it`"),
	Entry("has sixteen words at most", strings.Repeat("x ", 16), strings.Repeat("x ", 16), strings.TrimSpace(strings.Repeat("x ", 16))),
	Entry("has no more", strings.Repeat("x ", 17), strings.Repeat("x ", 17)),
)

var _ = Describe("a grammar", func() {
	It("reports each class, in order, with its longest phrase at each word", func() {
		Expect(found("[b]\nnext\n[a]\nnext\nnext step\n[b]\nstep", "the next step")).To(Equal([]string{"a:next step", "b:next", "b:step"}))
	})

	It("names of equally long phrases the one that was written first", func() {
		g := compiled(grammar.Source{Name: "x", Text: "<s>: y\n[a]\nx <s>\nx y"})
		doc := text.NewReader(g.Words).Read("x y")
		Expect(scanned(g, 0, doc)).To(Equal([]grammar.Hit{{Class: 0, Pattern: 0, First: 0, End: 2}}))
		Expect(g.Patterns[0]).To(Equal(grammar.Pattern{Class: 0, Lang: 0, Source: "x <s>"}))
	})

	It("keeps the languages apart, their sets too", func() {
		g := compiled(
			grammar.Source{Name: "en", Text: "<s>: one\n[a]\n<s> x", Sets: map[string][]string{"verbs": {"run", "one"}}},
			grammar.Source{Name: "fr", Text: "<s>: un\n[b]\n<s> x"},
		)
		doc := text.NewReader(g.Words).Read("one x un x")
		en := grammar.Hit{Class: 0, Pattern: 0, First: 0, End: 2}
		fr := grammar.Hit{Class: 1, Pattern: 1, First: 2, End: 4}
		Expect(scanned(g, 0, doc)).To(Equal([]grammar.Hit{en}))
		Expect(scanned(g, 1, doc)).To(Equal([]grammar.Hit{fr}))
		Expect(scanned(g, grammar.Any, doc)).To(Equal([]grammar.Hit{en, fr}))

		Expect(g.Set("en.s")).NotTo(Equal(g.Set("fr.s")))
		Expect(g.Set("en.none")).To(BeZero())
		Expect(g.Sets(g.Words.ID("one"))).To(Equal(g.Set("en.s") | g.Set("en.verbs")))
		Expect(g.Sets(g.Words.ID("un"))).To(Equal(g.Set("fr.s")))
		Expect(g.Sets(0)).To(BeZero())
	})

	It("finds nothing without patterns", func() {
		g := compiled()
		r := text.NewReader(g.Words)
		Expect(scanned(g, grammar.Any, r.Read("the next steps"))).To(BeEmpty())
	})

	It("takes time linear in a hostile text", func() {
		g := compiled(grammar.Source{Name: "x", Text: "<adv>: now\n[a]\n^ now <adv>* <adv>* .. <adv>* run\nnow .. now .. now run"})
		s := strings.Repeat("now ", 50000)
		r := text.NewReader(g.Words)
		Expect(scanned(g, grammar.Any, r.Read(s))).To(BeEmpty())
	})
})
