package golden_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestGolden(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/golden")
}

var _ = Describe("a golden file", func() {
	BeforeEach(func() {
		GinkgoT().Chdir(GinkgoT().TempDir())
		Expect(os.Mkdir("testdata", 0o755)).To(Succeed())
		Expect(os.WriteFile("testdata/a.txt", []byte("as it was"), 0o600)).To(Succeed())
	})
	It("matches the written text", func() { golden.Expect("a.txt", []byte("as it was")) })
	It("fails the spec if it is not, or is not there", func() {
		Expect(InterceptGomegaFailure(func() { golden.Expect("a.txt", []byte("as it is")) })).To(MatchError(ContainSubstring("accepts the change")))
		Expect(InterceptGomegaFailure(func() { golden.Expect("b.txt", nil) })).To(MatchError(ContainSubstring("writes golden files")))
	})
})

var _ = Describe("a block of a page", func() {
	const page = "# T\n\n<!-- figures: sums; make docs -->\n\n| 1 |\n\n<!-- end of figures -->\n"
	BeforeEach(func() {
		GinkgoT().Chdir(GinkgoT().TempDir())
		Expect(os.WriteFile("page.md", []byte(page), 0o600)).To(Succeed())
	})
	It("is what a test computes", func() { golden.ExpectBlock("page.md", "sums", "| 1 |\n") })
	It("fails the spec if a figure was edited, or the block is not there", func() {
		Expect(InterceptGomegaFailure(func() { golden.ExpectBlock("page.md", "sums", "| 2 |\n") })).To(MatchError(ContainSubstring("make docs")))
		Expect(InterceptGomegaFailure(func() { golden.ExpectBlock("page.md", "other", "") })).To(MatchError(ContainSubstring("no block other")))
	})
	It("is rewritten with -update, and nothing else is", func() {
		DeferCleanup(flag.Set, "update", flag.Lookup("update").Value.String())
		Expect(flag.Set("update", "true")).To(Succeed())
		golden.ExpectBlock("page.md", "sums", "| 2 |\n")
		Expect(os.ReadFile("page.md")).To(BeEquivalentTo(strings.Replace(page, "1", "2", 1)))
	})
})
