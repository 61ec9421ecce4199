package lexicon_test

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/lexicon"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

var _ = DescribeTable("a list that is wrong is refused with its place",
	func(list, want string) {
		_, err := lexicon.Compile(lexicon.Source{Name: "en", Text: list})
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
	Entry("no class", "# none\nnext", `lexicon en:2: "next"`),
	Entry("a broken class", "[a b]", "lexicon en:1"),
	Entry("an unclosed class", "[a", "a class is written [name]"),
	Entry("an unclosed group", "[c]\n(a|b", "en:2"),
	Entry("an unopened group", "[c]\na)", "closes nothing"),
	Entry("an unclosed ending", "[c]\nstep(s", "not closed"),
	Entry("an empty ending", "[c]\nstep()", "not made of letters"),
	Entry("an empty alternative", "[c]\na (b|) c", "holds no word"),
	Entry("a missing alternative", "[c]\na|", "missing"),
	Entry("a wild card in front", "[c]\n_ a", "begin it with a word"),
	Entry("an optional wild card in front", "[c]\n_? a", "begin it with a word"),
	Entry("a comma in front", "[c]\n, a", "begin it with a word"),
	Entry("nothing required", "[c]\na? b?", "every word is optional"),
	Entry("punctuation", "[c]\ne.g.", `"."`),
	Entry("a word without a letter", "[c]\na '", "holds no letter"),
	Entry("a group that runs into a word", "[c]\n(re)start", "put a space"),
	Entry("groups too deep", "[c]\n"+strings.Repeat("(", 20)+"a"+strings.Repeat(")", 20), "deep"),
	Entry("a phrase too long", "[c]\n"+strings.Repeat("a ", 30), "words"),
)

var _ = Describe("a lexicon", func() {
	It("reports all classes, each with its longest phrase and where it was written", func() {
		l, err := lexicon.Compile(
			lexicon.Source{Name: "en", Text: "[plan]\nnext\nnext step(s)\n[noun]\nsteps\nnext steps"},
			lexicon.Source{Name: "fr", Text: "[plan]\nsuite"},
		)
		Expect(err).NotTo(HaveOccurred())
		Expect(l.Classes()).To(Equal([]string{"en.plan", "en.noun", "fr.plan"}))
		plan, ok := l.Class("fr.plan")
		Expect(ok).To(BeTrue())
		Expect(plan).To(Equal(lexicon.Class(2)))
		_, ok = l.Class("fr.noun")
		Expect(ok).To(BeFalse())

		doc := text.NewReader(l.Vocabulary()).Read("OK.\n\nThe next steps, la suite")
		Expect(l.Scan(doc, nil)).To(Equal([]lexicon.Hit{
			{Class: 0, Phrase: 1, Sentence: 1, First: 2, End: 4},
			{Class: 1, Phrase: 3, Sentence: 1, First: 2, End: 4},
			{Class: 1, Phrase: 2, Sentence: 1, First: 3, End: 4},
			{Class: 2, Phrase: 4, Sentence: 1, First: 5, End: 6},
		}))
		Expect(l.Phrase(1)).To(Equal(lexicon.Phrase{Class: 0, Text: "next step(s)", Source: "en", Line: 3}))
		Expect(l.Phrases()).To(HaveLen(5))
	})

	It("with no phrases finds nothing", func() {
		l, err := lexicon.Compile()
		Expect(err).NotTo(HaveOccurred())
		r := text.NewReader(l.Vocabulary())
		Expect(l.Scan(r.Read("the next steps"), nil)).To(BeEmpty())
		Expect(l.ScanText(r, "the next steps", nil)).To(BeEmpty())
	})

	It("finds what a search of all starts and lengths finds, with structure and without", func() {
		words := []string{"a", "b", "été", "d"}
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			phrases := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "été", "_"}), 1, 4), 1, 5).Draw(t, "phrases")
			list := "[c]\n"
			for i := range phrases {
				if phrases[i][0] == "_" {
					phrases[i][0] = "a"
				}
				list += strings.Join(phrases[i], " ") + "\n"
			}
			l, err := lexicon.Compile(lexicon.Source{Name: "x", Text: list})
			Expect(err).NotTo(HaveOccurred())
			message := rapid.SliceOfN(rapid.SampledFrom(words), 0, 700).Draw(t, "message")
			var want []int
			for i := range message {
				longest := 0
				for _, p := range phrases {
					if len(p) > longest && matches(p, message[i:]) {
						longest = len(p)
					}
				}
				if longest > 0 {
					want = append(want, i, i+longest)
				}
			}
			s := strings.Join(message, " ")
			r := text.NewReader(l.Vocabulary())
			var plain []int
			for _, h := range l.ScanText(r, s, nil) {
				plain = append(plain, strings.Count(s[:h.Start], " "), strings.Count(s[:h.End], " ")+1)
			}
			var read []int
			for _, h := range l.Scan(r.Read(s), nil) {
				read = append(read, h.First, h.End)
			}
			Expect(plain).To(Equal(want))
			Expect(read).To(Equal(want))
		})
	})

	It("finds phrases wherever the text is cut into windows, and over one line break", func() {
		l, err := lexicon.Compile(lexicon.Source{Name: "x", Text: "[c]\na b c\na _ d"})
		Expect(err).NotTo(HaveOccurred())
		r := text.NewReader(l.Vocabulary())
		for lead := range 4 {
			s := strings.Repeat("x ", lead) + strings.Repeat("a b\nc a b d ", 500)
			Expect(l.ScanText(r, s, nil)).To(HaveLen(1000))
			Expect(l.Scan(r.Read(s), nil)).To(HaveLen(1000))
		}
		Expect(l.ScanText(r, "a b\n\nc, a b, c", nil)).To(BeEmpty())
	})

	It("scans without allocation", func() {
		l, err := lexicon.Compile(lexicon.Source{Name: "x", Text: phrases(1400)})
		Expect(err).NotTo(HaveOccurred())
		s := strings.Repeat(page, 40)
		r := text.NewReader(l.Vocabulary())
		raw := l.ScanText(r, s, nil)
		Expect(testing.AllocsPerRun(10, func() { raw = l.ScanText(r, s, raw[:0]) })).To(BeZero())
		hits := l.Scan(r.Read(s), nil)
		Expect(testing.AllocsPerRun(10, func() { hits = l.Scan(r.Read(s), hits[:0]) })).To(BeZero())
		Expect(hits).NotTo(BeEmpty())
	})
})

func matches(phrase, message []string) bool {
	if len(phrase) > len(message) {
		return false
	}
	for i, p := range phrase {
		if p != "_" && p != message[i] {
			return false
		}
	}
	return true
}

func FuzzCompile(f *testing.F) {
	f.Add("[c]\nlet me (now)? run|test _? it , step(s)", "let me run it, steps")
	f.Add("[c]\n((a|b c)? d)", "b c d")
	f.Fuzz(func(t *testing.T, list, message string) {
		if len(list) > 1000 {
			return
		}
		l, err := lexicon.Compile(lexicon.Source{Name: "x", Text: list})
		if err != nil {
			return
		}
		r := text.NewReader(l.Vocabulary())
		doc := r.Read(message)
		for _, h := range l.Scan(doc, nil) {
			s := doc.Sentences[h.Sentence]
			if h.First < s.First || h.End > s.End || h.End <= h.First {
				t.Fatalf("a hit of words %d to %d leaves its sentence", h.First, h.End)
			}
		}
		l.ScanText(r, message, nil)
	})
}
