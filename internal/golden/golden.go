// Package golden compares output with files in testdata, for specs.
package golden

import (
	"flag"
	"os"
	"path/filepath"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the golden files from what is written now")

// Expect fails a spec unless got equals the file of that name in testdata. With -update it
// writes the file instead.
func Expect(name string, got []byte) {
	ginkgo.GinkgoHelper()
	file := filepath.Join("testdata", name)
	if *update {
		gomega.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(gomega.Succeed())
		gomega.Expect(os.WriteFile(file, got, 0o644)).To(gomega.Succeed()) //nolint:gosec // it is committed
	}
	want, err := os.ReadFile(file)
	gomega.Expect(err).NotTo(gomega.HaveOccurred(), "go test -update writes golden files")
	gomega.Expect(string(got)).To(gomega.Equal(string(want)), "go test -update accepts the change")
}
