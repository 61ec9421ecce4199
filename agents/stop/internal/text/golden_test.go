package text_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

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
			golden.Expect(strings.TrimSuffix(filepath.Base(input), ".md")+".golden", []byte(got))
		})
	}
})
