package sanitize_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

func TestPlain(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/sanitize")
}

var _ = DescribeTable("one line",
	func(in string, limit int, want string) {
		Expect(sanitize.Line(in, limit)).To(Equal(want))
	},
	Entry("ASCII stays", "all is well", 0, "all is well"),
	Entry("letters, CJK and emoji stay", "é 日本 👨‍👩‍👧", 0, "é 日本 👨‍👩‍👧"),
	Entry("line breaks become one space", "a\r\n\n\tb\u2028c", 0, "a b c"),
	Entry("colours are shown, not obeyed", "\x1b[31mred", 0, `\x1b[31mred`),
	Entry("NUL and BEL", "a\x00b\a", 0, `a\x00b\a`),
	Entry("a reversed line", "a\u202eb", 0, `a\u202eb`),
	Entry("C1 controls", "\u009b31m", 0, `\u009b31m`),
	Entry("broken UTF-8", "a\xffb", 0, "a\ufffdb"),
	Entry("cut by runes", "日本語です", 3, "日本…"),
	Entry("exactly at the limit", "abc", 3, "abc"),
)

var _ = Describe("text of several lines", func() {
	It("keeps line breaks and tabs and nothing else that is invisible", func() {
		Expect(sanitize.Text("a\r\n\tb\x1b[2J\u2028", 0)).To(Equal("a\n\tb\\x1b[2J\\u2028"))
	})
	It("is cut by runes", func() {
		Expect(sanitize.Text("é\né\né", 4)).To(Equal("é\né…"))
	})
})

var _ = DescribeTable("a Markdown code span",
	func(in, want string) {
		Expect(sanitize.Code(in, 0)).To(Equal(want))
	},
	Entry("plain", "a *b* <c> @d", "`a *b* <c> @d`"),
	Entry("empty", "", ""),
	Entry("backticks get a longer fence", "a``b`", "``` a``b` ```"),
	Entry("bars cannot end a table's cell", `a\|b`, "`a\\¦b`"),
	Entry("line breaks cannot end the paragraph", "a\n\n# b", "`a # b`"),
)

var _ = It("never lets a control character through, whatever comes in", func() {
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "in"))
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		line, text := sanitize.Line(in, limit), sanitize.Text(in, limit)
		for _, out := range []string{line, strings.NewReplacer("\n", "", "\t", "").Replace(text)} {
			if !utf8.ValidString(out) || strings.ContainsFunc(out, unicode.IsControl) {
				t.Fatalf("%q became %q", in, out)
			}
			if limit > 0 && utf8.RuneCountInString(out) > limit {
				t.Fatalf("%q is longer than %d runes", out, limit)
			}
		}
	})
})

func BenchmarkLine(b *testing.B) {
	for name, s := range map[string]string{
		"ascii":  strings.Repeat("all is well ", 20),
		"floor":  "",
		"escape": strings.Repeat("é\x1b[0m ", 40),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sanitize.Line(s, 0)
			}
		})
	}
}

func TestLinesKeepsTheFirstAndTheLast(t *testing.T) {
	var long []string
	for i := range 50 {
		long = append(long, "line "+strconv.Itoa(i))
	}
	got := sanitize.Lines(strings.Join(long, "\n"), 0)
	if len(got) != 20 || got[0] != "line 0" || got[10] != "… 31 lines are left out here …" || got[11] != "line 41" || got[19] != "line 49" {
		t.Errorf("got %q", got)
	}
	if got := sanitize.Lines(strings.Join(long[:20], "\n"), 0); !slices.Equal(got, long[:20]) {
		t.Errorf("got %q", got)
	}
}

func TestLinesAreSafeToShow(t *testing.T) {
	got := sanitize.Lines("one\r\n\r\n\tat \x1b[31mtwo\n"+strings.Repeat("x", 20)+"\n", 10)
	if want := []string{"one", `  at \x1b…`, "xxxxxxxxx…"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := sanitize.Lines(" \n\n", 10); got != nil {
		t.Errorf("got %q of nothing", got)
	}
}
