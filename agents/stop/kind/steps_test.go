package kind_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

var _ = Describe("The steps of the shipped messages", Label("G-05"), func() {
	It("are mostly those that a person marked", func(ctx SpecContext) {
		scorer := detect.NewScorer(detect.ScoreOptions{Resamples: 1})
		for _, item := range shippedDeferrals() {
			scorer.Add(item, judge(ctx, item), nil)
		}
		for _, m := range scorer.Result().Steps {
			if m.Scope == "detected" {
				Expect(m.Items).To(BeNumerically(">", 400))
				Expect(*m.Overlap.Precision.Value).To(BeNumerically(">=", 0.83), "precision")
				Expect(*m.Overlap.Recall.Value).To(BeNumerically(">=", 0.78), "recall")
			}
		}
	})

	It("are exact in tables, nested and inline lists", func(ctx SpecContext) {
		plain := strings.NewReplacer("**", "")
		layouts := 0
		for _, item := range shippedDeferrals() {
			if !slices.Contains(item.Tags, "layout") {
				continue
			}
			layouts++
			p := judge(ctx, item)
			want := make([]string, len(item.Steps))
			for i, step := range item.Steps {
				want[i] = plain.Replace(step)
			}
			Expect(p.Steps).To(Equal(want), item.ID)
		}
		Expect(layouts).To(BeNumerically(">=", 14))
	})
})

func judge(ctx context.Context, item detect.Item) detect.Prediction {
	GinkgoHelper()
	p, err := kind.Detector(stop.Options{Policy: stop.Balanced}).Detect(ctx, item)
	Expect(err).NotTo(HaveOccurred())
	return p
}

// shippedDeferrals reads this project's own messages that defer and have steps.
func shippedDeferrals() (items []detect.Item) {
	GinkgoHelper()
	files, err := fs.Glob(fixtures.Stops, "stops/*.jsonl")
	Expect(err).NotTo(HaveOccurred())
	for _, name := range files {
		file, err := fixtures.Stops.Open(name)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		for item, err := range detect.ReadCorpus(file, name, detect.Messages) {
			Expect(err).NotTo(HaveOccurred())
			if item.Label == detect.Defers && len(item.Steps) > 0 {
				items = append(items, item)
			}
		}
	}
	return items
}
