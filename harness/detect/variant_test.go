package detect_test

import (
	"fmt"
	"io/fs"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// shipped reads this project's own messages.
func shipped() (items []detect.Item) {
	GinkgoHelper()
	files, err := fs.Glob(fixtures.Stops, "stops/*.jsonl")
	Expect(err).NotTo(HaveOccurred())
	for _, name := range files {
		file, err := fixtures.Stops.Open(name)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		for item, err := range detect.ReadCorpus(file, name, detect.Messages) {
			Expect(err).NotTo(HaveOccurred())
			items = append(items, item)
		}
	}
	Expect(len(items)).To(BeNumerically(">=", 600))
	return items
}

// The two specs together: encodings and formatting here, length below.
var _ = DescribeTable("no verdict of the guard changes when a message only looks different", Label("G-10"),
	func(ctx SpecContext, policy stop.Policy) {
		guard := stopkind.Detector(stop.Options{Policy: policy})
		var changed []string
		tried := map[string]int{}
		for _, item := range shipped() {
			plain, err := guard.Detect(ctx, detect.Item{Text: item.Text})
			Expect(err).NotTo(HaveOccurred())
			for _, v := range variantsOf(item.Text) {
				tried[v.name]++
				p, err := guard.Detect(ctx, detect.Item{Text: v.text})
				Expect(err).NotTo(HaveOccurred())
				if p.Positive != plain.Positive {
					changed = append(changed, fmt.Sprintf("%s (%s) %s: %t becomes %t (%.3f, %.3f)",
						item.ID, item.Label, v.name, plain.Positive, p.Positive, *plain.Score, *p.Score))
				}
			}
		}
		for _, r := range rewritings {
			Expect(tried[r.name] > 0 || r.name == "nfc").To(BeTrue(), r.name+" was tried on no message; nfc only changes what nfd makes")
		}
		Expect(changed).To(BeEmpty(), strings.Join(changed, "\n"))
	},
	Entry("balanced", stop.Balanced), Entry("strict", stop.Strict),
)

var _ = DescribeTable("a mention is found behind any length of finished work", Label("G-10"),
	func(ctx SpecContext, done, mention string) {
		var text strings.Builder
		for text.Len() < 4<<20 {
			text.WriteString(done)
		}
		guard := stopkind.Detector(stop.Options{})
		Expect(ask(ctx, guard, text.String())).To(HaveField("Positive", false))
		text.WriteString(mention)
		Expect(ask(ctx, guard, text.String())).To(HaveField("Positive", true))
	},
	Entry("paragraphs", "The parser is done and its tests pass.\n\n", "Now let me run the integration tests:"),
	Entry("one line", "The parser is done. ", "Now let me run the integration tests:"),
	Entry("a list in French", "- Le module est terminé et testé.\n", "\nIl me reste à migrer les données ; je lance maintenant la migration :"),
)
