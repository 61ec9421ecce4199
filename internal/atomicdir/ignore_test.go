package atomicdir_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
)

var _ = Describe("a folder that git ignores", func() {
	It("is created with a .gitignore, and an existing one is kept", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "a", "runs")
		Expect(atomicdir.Ignore(folder)).To(Succeed())
		file := filepath.Join(folder, ".gitignore")
		Expect(os.ReadFile(file)).To(BeEquivalentTo("*\n"))
		Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
		Expect(atomicdir.Ignore(folder)).To(Succeed())
		Expect(os.ReadFile(file)).To(BeEmpty())
	})

	It("is refused where a file has its name", func() {
		file := filepath.Join(GinkgoT().TempDir(), "runs")
		Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
		Expect(atomicdir.Ignore(file)).To(MatchError(ContainSubstring("create a folder for the results")))
	})
})
