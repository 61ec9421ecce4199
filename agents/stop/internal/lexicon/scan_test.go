package lexicon_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/lexicon"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// found reads a message with a list of one class "x.c" for each section and
// returns "class:words" of each hit.
func found(list, message string) []string {
	GinkgoHelper()
	l, err := lexicon.Compile(lexicon.Source{Name: "x", Text: list})
	Expect(err).NotTo(HaveOccurred())
	doc := text.NewReader(l.Vocabulary()).Read(message)
	out := []string{}
	for _, h := range l.Scan(doc, nil) {
		span := message[doc.Words[h.First].Start:doc.Words[h.End-1].End]
		out = append(out, l.Classes()[h.Class]+":"+span)
	}
	return out
}

var _ = DescribeTable("a phrase",
	func(phrase, message string, want ...string) {
		for i := range want {
			want[i] = "x.c:" + want[i]
		}
		if want == nil {
			want = []string{}
		}
		Expect(found("[c]\n"+phrase, message)).To(Equal(want))
	},
	Entry("is words in order", "next steps", "The next steps are", "next steps"),
	Entry("is no part of words", "then", "authentication thenar"),
	Entry("has alternatives", "let me run|test it", "Let me test it. Let me run it", "Let me test it", "Let me run it"),
	Entry("has alternatives of several words", "(as soon as|once) done", "as soon as done, once done", "as soon as done", "once done"),
	Entry("has optional parts", "run (the|a)? test", "run test; run a test", "run test", "run a test"),
	Entry("has endings", "next step(s)", "next step, next steps", "next step", "next steps"),
	Entry("skips one word", "run _ tests", "run the tests, run `x` tests, run tests", "run the tests", "run `x` tests"),
	Entry("skips at most one word", "run _? tests", "run tests, run all the tests, run my tests", "run tests", "run my tests"),
	Entry("is folded", "Étape(s) à faire", "ETAPE A FAIRE", "ETAPE A FAIRE"),
	Entry("takes an apostrophe", "j'ai", "j’ai, J'AI", "j’ai", "J'AI"),
	Entry("stops at a comma", "next steps", "next, steps"),
	Entry("asks for a comma", "done , next", "done, next; done next", "done, next"),
	Entry("goes over one line break", "next steps", "the next\nsteps", "next\nsteps"),
	Entry("stops at the end of a sentence", "next steps", "the next. Steps"),
	Entry("goes over emphasis", "next steps", "**next** _steps_", "next** _steps"),
	Entry("is the longest of its class", "run (it)?", "run it", "run it"),
)
