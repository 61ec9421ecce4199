package work_test

import (
	"io/fs"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/work"
)

var _ = Describe("ReadFile", Label("P-06"), func() {
	It("reads the beginning of a file in the folder, and nothing outside of it", func() {
		outer := GinkgoT().TempDir()
		dir := filepath.Join(outer, "plan")
		Expect(os.MkdirAll(filepath.Join(dir, "src"), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(dir, "src", "cart.go"), []byte("package cart\n"), 0o600)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(outer, "secret.txt"), []byte("secret"), 0o600)).To(Succeed())
		Expect(os.Symlink(filepath.Join("..", "secret.txt"), filepath.Join(dir, "link.txt"))).To(Succeed())

		read := work.ReadFile(dir)
		data, size, err := read("src/cart.go", 7)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(Equal("package"))
		Expect(size).To(Equal(int64(13)))
		for _, name := range []string{"link.txt", "../secret.txt", "src"} {
			_, _, err = read(name, 100)
			Expect(err).To(HaveOccurred(), name)
		}
		_, _, err = read("none.go", 100)
		Expect(err).To(MatchError(fs.ErrNotExist))
	})
})
