package detect_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

var _ = Describe("Similar", func() {
	DescribeTable("compares the words of two steps",
		func(a, b string, exact, overlap bool) {
			for _, pair := range [][2]string{{a, b}, {b, a}} {
				gotExact, gotOverlap := detect.Similar(pair[0], pair[1])
				Expect(gotExact).To(Equal(exact), "exact")
				Expect(gotOverlap).To(Equal(overlap), "overlap")
			}
		},
		Entry("equal", "run the tests", "run the tests", true, true),
		Entry("but for case, Markdown and punctuation", "Run the `tests`.", "- **run** the tests", true, true),
		Entry("accents count", "déployer", "deployer", false, false),
		Entry("2 of 3 words: 2/3", "run tests", "run the tests", false, true),
		Entry("2 of 4 words: a half", "run the tests", "run the linter", false, true),
		Entry("1 of 3 words", "run tests", "run benchmarks", false, false),
		Entry("words are counted: 2 of 4", "test test", "test a test b", false, true),
		Entry("the same words in another order", "tests run", "run tests", false, true),
		Entry("contained, and a fifth as long", "run tests", "then I will run tests before the next release comes", false, true),
		Entry("contained, but shorter than a fifth", "tests", "I will run the tests again", false, false),
		Entry("scattered words are not contained", "run tests", "run I will then before the next release comes tests", false, false),
		Entry("part of a word is not a word", "test it", "contest item one two", false, false),
		Entry("no words", "", "", false, false),
		Entry("only punctuation", "...", "...", false, false),
	)

	It("limits the work on very long steps", func() {
		long := strings.Repeat("word ", 1<<20)
		exact, overlap := detect.Similar(long, long)
		Expect(exact && overlap).To(BeTrue())
	})

	It("is symmetric, and exact steps overlap", func() {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"run", "the", "tests", "and", "deploy"}), 0, 8)
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			a, b := strings.Join(words.Draw(rt, "a"), " "), strings.Join(words.Draw(rt, "b"), ", ")
			e1, o1 := detect.Similar(a, b)
			e2, o2 := detect.Similar(b, a)
			if e1 != e2 || o1 != o2 || e1 && !o1 {
				rt.Fatalf("%q and %q: %t %t, %t %t", a, b, e1, o1, e2, o2)
			}
		})
	})
})

// deferring is an item that defers steps, with the answer of a detector.
func deferring(text string, labelled, found []string, spans ...[2]int) answer {
	return answer{
		item: detect.Item{ID: text, Text: text, Label: "defers", Steps: labelled},
		p:    detect.Prediction{Positive: true, Steps: found, Spans: spans},
	}
}

// counted returns the counts of a match.
func counted(f detect.Found) [3]int { return [3]int{f.TP, f.FP, f.FN} }

var _ = Describe("steps and spans", func() {
	It("are matched one to one, the most alike first", func() {
		// "run the tests" would also overlap "run the linter", which has a better
		// match; one found step is wrong, and one labelled one is missed.
		a := deferring("…",
			[]string{"run the tests", "run the linter", "write the documentation"},
			[]string{"Run the linter.", "run all the tests", "celebrate with everybody"})
		steps := scored(quick(), []answer{a}).Steps
		Expect(steps).To(HaveLen(3))
		for _, m := range steps {
			Expect(m.Items).To(Equal(1))
			Expect(counted(m.Exact)).To(Equal([3]int{1, 2, 2}), m.Scope)
			Expect(counted(m.Overlap)).To(Equal([3]int{2, 1, 1}), m.Scope)
			Expect(m.Overlap.Precision).To(ratioOf(2, 3))
			Expect(m.Overlap.Recall).To(ratioOf(2, 3))
			Expect(*m.Overlap.F1.Value).To(BeNumerically("~", 2.0/3, 1e-12)) // 4 / (4 + 1 + 1)
		}
	})

	It("do not count one found step twice", func() {
		a := deferring("…", []string{"run tests", "run tests"}, []string{"run tests"})
		Expect(counted(scored(quick(), []answer{a}).Steps[0].Overlap)).To(Equal([3]int{1, 0, 1}))
		b := deferring("…", []string{"run tests"}, []string{"run tests", "run tests"})
		Expect(counted(scored(quick(), []answer{b}).Steps[0].Overlap)).To(Equal([3]int{1, 1, 0}))
	})

	It("are counted in three scopes", func() {
		missed := deferring("a", []string{"run tests"}, nil)
		missed.p.Positive = false
		found := deferring("b", []string{"deploy it"}, []string{"deploy it"})
		false1 := answer{item: detect.Item{ID: "c", Label: "clean"}, p: detect.Prediction{Positive: true, Steps: []string{"x", "y"}}}
		unlabelled := deferring("d", nil, []string{"nobody knows"})
		r := scored(quick(), []answer{missed, found, false1, unlabelled})
		want := map[string][4]int{"annotated": {2, 1, 0, 1}, "detected": {1, 1, 0, 0}, "all": {3, 1, 2, 1}}
		for _, m := range r.Steps {
			c := counted(m.Overlap)
			Expect([4]int{m.Items, c[0], c[1], c[2]}).To(Equal(want[m.Scope]), m.Scope)
		}
		Expect(r.Spans).To(BeEmpty(), "the detector reports no span")
	})

	It("are compared by bytes if the step occurs in the text", func() {
		text := "Done. I will run the tests and then deploy."
		a := deferring(text, []string{"run the tests", "deploy", "nowhere"}, nil, [2]int{13, 26}, [2]int{31, 42})
		r := scored(quick(), []answer{a})
		Expect([]int{r.LocatedSteps, r.UnlocatedSteps}).To(Equal([]int{2, 1}))
		// The first is the step itself; "then deploy" (11 bytes) has 6 of its 11.
		Expect(counted(r.Spans[0].Exact)).To(Equal([3]int{1, 1, 1}))
		Expect(counted(r.Spans[0].Overlap)).To(Equal([3]int{2, 0, 0}))
	})

	DescribeTable("overlap by half of the union, or within by a fifth",
		func(span [2]int, overlap bool) {
			// The step is bytes 10 to 20.
			a := deferring(strings.Repeat("-", 10)+"abcdefghij"+strings.Repeat("-", 60), []string{"abcdefghij"}, nil, span)
			want := [3]int{0, 1, 1}
			if overlap {
				want = [3]int{1, 0, 0}
			}
			Expect(counted(scored(quick(), []answer{a}).Spans[0].Overlap)).To(Equal(want))
		},
		Entry("5 of 15 bytes", [2]int{15, 25}, false),
		Entry("7 of 13 bytes", [2]int{13, 23}, true),
		Entry("within, 2 of 10", [2]int{12, 14}, true),
		Entry("within, 1 of 10", [2]int{12, 13}, false),
		Entry("around, 10 of 50", [2]int{5, 55}, true),
		Entry("around, 10 of 51", [2]int{5, 56}, false),
		Entry("beside", [2]int{20, 30}, false),
		Entry("reversed", [2]int{20, 10}, false),
		Entry("out of the text", [2]int{-5, 12}, false),
	)

	It("find steps that occur twice in their order", func() {
		text := "test, then test"
		a := deferring(text, []string{"test", "test"}, nil, [2]int{0, 4}, [2]int{11, 15})
		Expect(counted(scored(quick(), []answer{a}).Spans[0].Exact)).To(Equal([3]int{2, 0, 0}))
	})

	It("limit the work on thousands of steps", func() {
		many := strings.Split(strings.Repeat("do this thing,", 5000), ",")
		a := deferring("…", many, many)
		got := counted(scored(quick(), []answer{a}).Steps[0].Overlap)
		Expect(got).To(Equal([3]int{200, 4801, 4801}))
	})
})
