package suggest_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

var keys = []string{"name", "about", "proves", "drive", "backend", "expect", "trials", "seed", "no_progress_limit", "calls", "cells"}

var _ = Describe("Nearest", func() {
	DescribeTable("names the word that was probably meant",
		func(word, want string) { Expect(suggest.Nearest(word, keys)).To(Equal(want)) },
		Entry("the word itself", "name", "name"),
		Entry("a letter too few", "bckend", "backend"),
		Entry("a letter too much", "expectt", "expect"),
		Entry("another letter", "sead", "seed"),
		Entry("two swapped letters", "nmae", "name"),
		Entry("case and separators", "No-Progress-Limit", "no_progress_limit"),
		Entry("two errors in a long word", "no_progres_limitt", "no_progress_limit"),
		Entry("the first of two that are equally near", "cblls", "calls"),
		Entry("nothing near", "colour", ""),
		Entry("two errors in a short word", "sxxd", ""),
		Entry("the empty word", "", ""),
	)

	It("never suggests a word that shares no letter", func() {
		Expect(suggest.Nearest("x", []string{"y", "z"})).To(BeEmpty())
	})

	It("refuses to work on absurdly long words", func() {
		long := strings.Repeat("a", 1<<20)
		Expect(suggest.Nearest(long, []string{long})).To(BeEmpty())
		Expect(suggest.Nearest("a", []string{long})).To(BeEmpty())
	})

	It("finds a word after any single error in it", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			word := rapid.StringMatching(`[a-z]{4,20}`).Draw(t, "word")
			at := rapid.IntRange(0, len(word)-2).Draw(t, "at")
			wrong := rapid.SampledFrom([]string{
				word[:at] + word[at+1:],
				word[:at] + "x" + word[at:],
				word[:at] + "x" + word[at+1:],
				word[:at] + word[at+1:at+2] + word[at:at+1] + word[at+2:],
			}).Draw(t, "wrong")
			if got := suggest.Nearest(wrong, []string{"0000", word, "1111"}); got != word {
				t.Fatalf("Nearest(%q) = %q, want %q", wrong, got, word)
			}
		})
	})
})
