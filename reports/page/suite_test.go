package page_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "rewrite the golden files from what is rendered now")

func TestPage(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "reports/page")
}

// expectGolden compares got with the golden file of that name.
func expectGolden(name string, got []byte) {
	GinkgoHelper()
	file := filepath.Join("testdata", name)
	if *update {
		Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		Expect(os.WriteFile(file, got, 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred(), "go test -update writes golden files")
	if !bytes.Equal(got, want) {
		Expect(string(got)).To(Equal(string(want)), "go test -update accepts the change")
	}
}
