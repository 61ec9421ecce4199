package run_test

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// letters splits "A B A" into its texts.
func letters(text string) []string { return strings.Fields(text) }

var _ = Describe("Repeats", Label("L-05"), func() {
	DescribeTable("counts equal texts in a row",
		func(texts []string, want ...int) {
			var run run.Repeats
			for i, text := range texts {
				Expect(run.Next(text)).To(Equal(want[i]), "text %d of %q", i, texts)
			}
		},
		Entry("the first counts 1", letters("A"), 1),
		Entry("equal ones count up", letters("A A A"), 1, 2, 3),
		Entry("a different one counts 1, not 0", letters("A A B B A"), 1, 2, 1, 2, 1),
		Entry("an empty first text counts 1", []string{"", "", "x", ""}, 1, 2, 1, 1),
		Entry("equality is strict", []string{"a", "a ", "A", "a\u0301", "á"}, 1, 1, 1, 1, 1),
	)

	It("equals a naive count from the end", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			texts := rapid.SliceOf(rapid.SampledFrom(letters("A B C"))).Draw(t, "texts")
			var run run.Repeats
			for i, text := range texts {
				naive := 0
				for j := i; j >= 0 && texts[j] == text; j-- {
					naive++
				}
				if got := run.Next(text); got != naive {
					t.Fatalf("after %q: %d, want %d", texts[:i+1], got, naive)
				}
			}
		})
	})
})

// naiveCycle looks for the shortest repeated block at the end of texts.
func naiveCycle(texts []string) (period, times int) {
	for p := 2; p <= 4; p++ {
		if len(texts) < 2*p {
			continue
		}
		block := texts[len(texts)-p:]
		constant := !slices.ContainsFunc(block, func(s string) bool { return s != block[0] })
		n := 1
		for end := len(texts) - p; end >= p && slices.Equal(texts[end-p:end], block); end -= p {
			n++
		}
		if n >= 2 && !constant {
			return p, n
		}
	}
	return 0, 0
}

var _ = Describe("Cycle", Label("L-10"), func() {
	DescribeTable("finds texts that take turns",
		func(texts string, period, times int) {
			var c run.Cycle
			var gotPeriod, gotTimes int
			for _, text := range letters(texts) {
				gotPeriod, gotTimes = c.Next(text)
			}
			Expect([]int{gotPeriod, gotTimes}).To(Equal([]int{period, times}))
		},
		Entry("two, once", "A B", 0, 0),
		Entry("two, one and a half times", "A B A", 0, 0),
		Entry("two, twice", "A B A B", 2, 2),
		Entry("two, three times", "A B A B A B", 2, 3),
		Entry("two, three times, begun in the middle", "X Y B A B A B A", 2, 3),
		Entry("three", "A B C A B C", 3, 2),
		Entry("three of which two are equal", "A A B A A B", 3, 2),
		Entry("four", "A B C D A B C D", 4, 2),
		Entry("five is too long", "A B C D E A B C D E", 0, 0),
		Entry("one text is no cycle", "A A A A A A A A", 0, 0),
		Entry("broken at the last", "A B A B A C", 0, 0),
		Entry("a run after a cycle ends it", "A B A B B", 0, 0),
	)

	It("equals a naive search from the end", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			texts := rapid.SliceOfN(rapid.SampledFrom(letters("A B C")), 0, 40).Draw(t, "texts")
			var c run.Cycle
			for i, text := range texts {
				period, times := c.Next(text)
				wantPeriod, wantTimes := naiveCycle(texts[:i+1])
				if period != wantPeriod || times != wantTimes {
					t.Fatalf("after %q: %d × %d, want %d × %d", texts[:i+1], period, times, wantPeriod, wantTimes)
				}
			}
		})
	})
})

var _ = Describe("Near", Label("L-10"), func() {
	DescribeTable("is equal for texts that differ in digits, times and spacing",
		func(a, b string) { Expect(run.Near(a)).To(Equal(run.Near(b))) },
		Entry("counts", "step 3 of 9", "step 12 of 9"),
		Entry("fractions", "took 1.5 s", "took 2 s"),
		Entry("thousands", "1,024 files", "7 files"),
		Entry("spacing", "a  b\n\tc ", "a b c"),
		Entry("no-break space", "a\u00a0b", "a b"),
		Entry("clock times", "at 9:05", "at 10:15:59.120"),
		Entry("am and pm", "at 9:05 am", "at 1:15 PM"),
		Entry("ISO times", "2026-01-02T10:00:00Z ok", "2026-11-20 18:30:05.123+02:00 ok"),
		Entry("a date alone", "since 2026-01-02", "since 2025-12-31T00:00Z"),
		Entry("written dates", "on Jan 3, 2026.", "on 14 February 2026."),
		Entry("weekdays", "on Mon, 5 Jan 2026.", "on Tuesday, 6 Oct 2026."),
		Entry("Arabic-Indic digits", "step ٣", "step 4"),
	)

	DescribeTable("differs where words, case or punctuation do",
		func(a, b string) { Expect(run.Near(a)).NotTo(Equal(run.Near(b))) },
		Entry("a word", "still running", "almost through"),
		Entry("case", "done", "Done"),
		Entry("punctuation", "done.", "done!"),
		Entry("a number and none", "step 1", "step"),
		Entry("a word that begins like a month", "march on", "may on"),
		Entry("joined words", "a b", "ab"),
	)

	It("is its own fixed point", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			once := run.Near(rapid.String().Draw(t, "text"))
			if twice := run.Near(once); twice != once {
				t.Fatalf("%q became %q", once, twice)
			}
		})
	})
})
