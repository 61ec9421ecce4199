package text_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var _ = Describe("the structure of a message", func() {
	inputs, err := filepath.Glob("testdata/*.md")
	if err != nil || len(inputs) == 0 {
		panic("testdata holds no messages")
	}
	for _, input := range inputs {
		It("is as the golden file says: "+filepath.Base(input), func() {
			message, err := os.ReadFile(input)
			Expect(err).NotTo(HaveOccurred())
			var r text.Reader
			got := dump(r.Read(string(message)))
			golden := strings.TrimSuffix(input, ".md") + ".golden"
			if *update {
				Expect(os.WriteFile(golden, []byte(got), 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(string(want)))
		})
	}
})
