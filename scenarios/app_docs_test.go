package scenarios_test

import (
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("docs/how-to/drivers.md", func() {
	var text string
	BeforeEach(func() {
		data, err := os.ReadFile("../docs/how-to/drivers.md")
		Expect(err).NotTo(HaveOccurred())
		text = string(data)
	})

	It("shows scenarios that are right", func() {
		blocks := strings.Split(text, "```yaml\n")[1:]
		Expect(blocks).NotTo(BeEmpty())
		for _, block := range blocks {
			block, _, _ = strings.Cut(block, "```")
			_, found := scenarios.Parse("docs/how-to/drivers.md", []byte(block), nil, scenarios.Options{Kinds: kinds.All().Formats()})
			Expect(found).To(BeEmpty(), block)
		}
	})

	It("names every way in which a driven agent ends", func() {
		for _, status := range scenarios.AppStatuses() {
			Expect(text).To(ContainSubstring("| `" + status + "` |"))
		}
	})
})
