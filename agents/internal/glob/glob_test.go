package glob_test

import (
	"path"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/internal/glob"
)

func TestGlob(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/internal/glob")
}

func match(pattern, name string) bool {
	GinkgoHelper()
	p, err := glob.Compile(pattern)
	Expect(err).NotTo(HaveOccurred())
	return p.Match(name)
}

var _ = DescribeTable("matches", func(pattern, name string, want bool) {
	Expect(match(pattern, name)).To(Equal(want))
},
	Entry("a name", "a.go", "a.go", true),
	Entry("a star in the folder itself", "*.go", "a.go", true),
	Entry("and not below it", "*.go", "x/a.go", false),
	Entry("** in no folder", "**/*.go", "a.go", true),
	Entry("** in several folders", "**/*.go", "x/y/a.go", true),
	Entry("** in the middle", "src/**/a.go", "src/a.go", true),
	Entry("** in the middle, deep", "src/**/a.go", "src/x/y/a.go", true),
	Entry("another folder", "src/**/a.go", "lib/x/a.go", false),
	Entry("** at the end", "src/**", "src/x/y", true),
	Entry("** at the end is not the folder itself", "src/**", "src", false),
	Entry("** alone", "**", "x/y", true),
	Entry("two of them", "**/test/**/*.go", "a/test/b/test/c.go", true),
	Entry("two of them, tried again", "**/a/b/**/c", "a/x/a/b/c", true),
	Entry("two in a row", "**/**/a", "a", true),
	Entry("too short", "a/b", "a", false),
	Entry("a class", "[ab].md", "b.md", true),
	Entry("a question mark is one letter", "?.md", "é.md", true),
)

var _ = DescribeTable("refuses a pattern", func(pattern, reason string) {
	_, err := glob.Compile(pattern)
	Expect(err).To(MatchError(ContainSubstring(reason)))
},
	Entry("empty", "", `the part ""`),
	Entry("absolute", "/etc/*", `the part ""`),
	Entry("that leaves the folder", "../*", `the part ".."`),
	Entry("with ** beside text", "a**/b", "beside other text"),
	Entry("not closed", "a/[b", "syntax error in pattern"),
)

// slow follows the definition of what ** means, by trying everything.
func slow(parts, names []string) bool {
	switch {
	case len(parts) == 0:
		return len(names) == 0
	case parts[0] == "**":
		for i := range len(names) + 1 {
			if (len(parts) > 1 || i < len(names)) && slow(parts[1:], names[i:]) {
				return true
			}
		}
		return len(parts) == 1 && len(names) > 0
	case len(names) == 0:
		return false
	}
	ok, err := path.Match(parts[0], names[0])
	return err == nil && ok && slow(parts[1:], names[1:])
}

var _ = It("matches as trying everything does", func() {
	part := rapid.SampledFrom([]string{"a", "b", "*", "**", "?b"})
	name := rapid.SampledFrom([]string{"a", "b", "ab"})
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		parts := rapid.SliceOfN(part, 1, 6).Draw(t, "parts")
		names := rapid.SliceOfN(name, 1, 8).Draw(t, "names")
		p, err := glob.Compile(strings.Join(parts, "/"))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(strings.Join(names, "/")); got != slow(parts, names) {
			t.Fatalf("%v on %v: %v", parts, names, got)
		}
	})
})

var _ = It("does not take exponential time", func() {
	Expect(match(strings.Repeat("**/a/", 200)+"b", strings.Repeat("a/", 2000)+"a")).To(BeFalse())
})
