// Package golden compares output with files in testdata, for specs.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
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

// ExpectBlock fails a spec unless got is the text between the marks of that name in a page of the documentation, which are
// "<!-- figures: NAME; make docs -->" and "<!-- end of figures -->" on lines of their own. With -update it replaces the text.
func ExpectBlock(page, name, got string) {
	ginkgo.GinkgoHelper()
	lock := flock.New(page) // tests of several packages may update one page
	gomega.Expect(lock.Lock()).To(gomega.Succeed())
	defer func() { gomega.Expect(lock.Unlock()).To(gomega.Succeed()) }()
	text, err := os.ReadFile(page)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	begin := fmt.Sprintf("<!-- figures: %s; make docs -->\n", name)
	before, rest, opened := strings.Cut(string(text), begin)
	published, after, closed := strings.Cut(rest, "<!-- end of figures -->\n")
	gomega.Expect(opened && closed).To(gomega.BeTrue(), "%s has no block %s", page, name)
	got = "\n" + got + "\n"
	if *update {
		whole := before + begin + got + "<!-- end of figures -->\n" + after
		gomega.Expect(os.WriteFile(page, []byte(whole), 0o644)).To(gomega.Succeed()) //nolint:gosec // it is committed
		published = got
	}
	gomega.Expect(published).To(gomega.Equal(got), "make docs writes the figures of this block")
}
