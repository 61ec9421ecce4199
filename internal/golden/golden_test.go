package golden_test

import (
	"os"
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
