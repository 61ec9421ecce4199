package console_test

import (
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/console"
)

var codes = regexp.MustCompile("\x1b\\[[0-9;]*m")

var _ = Describe("Fold", Label("H-05"), func() {
	It("ends colours at the end of a line, and begins them again", func() {
		Expect(console.Fold("a \x1b[31mred word\x1b[0m here", 6, true)).To(Equal([]string{
			"a \x1b[31mred\x1b[0m", "\x1b[31mword\x1b[0m", "here",
		}))
	})
	It("breaks a long word only if it must", func() {
		Expect(console.Fold("x abcdefgh y", 5, true)).To(Equal([]string{"x", "abcde", "fgh y"}))
		Expect(console.Fold("x abcdefgh y", 5, false)).To(Equal([]string{"x", "abcdefgh", "y"}))
	})
	It("keeps all text, in lines that fit", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			words := rapid.SliceOf(rapid.SampledFrom([]string{
				"a", "word", "abcdefghijklmnop", "日本語日本語", "\x1b[31mred\x1b[0m", "\x1b[1;31mlong-red-word\x1b[0m", "\x1b[32mopen", "close\x1b[0m", "\xff", "\x1b[2J",
			})).Draw(t, "words")
			width := rapid.IntRange(2, 30).Draw(t, "width")
			lines := console.Fold(strings.Join(words, " "), width, true)
			squeeze := func(s string) string { return strings.ReplaceAll(codes.ReplaceAllString(s, ""), " ", "") }
			if got, want := squeeze(strings.Join(lines, "")), squeeze(strings.Join(words, "")); got != want {
				t.Fatalf("%q instead of %q", got, want)
			}
			for _, line := range lines {
				if console.Width(codes.ReplaceAllString(line, "")) > width {
					t.Fatalf("%q is wider than %d", line, width)
				}
			}
		})
	})
})
