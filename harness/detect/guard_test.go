package detect_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

var _ = Describe("the guard as a detector", func() {
	const message = "The parser is done.\n\n## Next steps\n- Write the migration\n- Run the tests\n"

	It("returns the verdict of the guard with its evidence", func(ctx SpecContext) {
		for _, policy := range []stop.Policy{stop.Balanced, stop.Strict} {
			d := stopkind.Detector(stop.Options{Policy: policy})
			Expect(d.Name()).To(Equal("guard:" + string(policy)))
			want := stop.Judge(message, stop.Options{Policy: policy, Request: "Ask."})
			got, err := ask(ctx, d, message)
			Expect(err).NotTo(HaveOccurred())
			Expect(got.Positive).To(Equal(!want.MayStop))
			Expect(got.Class).To(BeEquivalentTo(want.Class))
			Expect(*got.Score).To(Equal(want.Score))
			Expect(got.Steps).To(Equal(stop.Texts(want.Steps)))
			Expect(got.Reasons).To(ContainElement(want.Reason))
			for _, s := range want.Signals {
				Expect(got.Signals).To(HaveKey(s.Name))
				Expect(got.Reasons).To(ContainElement(HavePrefix(s.Name)))
			}
			Expect(got.Signals).NotTo(BeEmpty())
			Expect(got.Categories).To(ContainElement("next_steps"))
			Expect(got.Spans).NotTo(BeEmpty())
			for i, s := range got.Spans {
				Expect(strings.TrimSpace(message[s[0]:s[1]])).NotTo(BeEmpty())
				Expect(i == 0 || got.Spans[i-1][0] <= s[0]).To(BeTrue())
			}
		}
	})

	It("has no spans for a message that may stop", func(ctx SpecContext) {
		mentions := 0
		for _, item := range shipped() {
			p, err := ask(ctx, stopkind.Detector(stop.Options{}), item.Text)
			Expect(err).NotTo(HaveOccurred())
			if !p.Positive {
				mentions += len(p.Categories)
				Expect(p.Spans).To(BeEmpty(), item.ID)
			}
		}
		Expect(mentions).To(BeNumerically(">", 0), "some of them mention what could be done")
	})

	It("judges an item with its request", func(ctx SpecContext) {
		const request = "Write the migration and run the tests."
		want := stop.Judge(message, stop.Options{Request: request})
		got, err := stopkind.Detector(stop.Options{}).Detect(ctx, detect.Item{Text: message, Request: request})
		Expect(err).NotTo(HaveOccurred())
		Expect(*got.Score).To(Equal(want.Score))
	})

	It("accepts another threshold", func(ctx SpecContext) {
		d := stopkind.Detector(stop.Options{Threshold: 0.25})
		Expect(d.Name()).To(Equal("guard:balanced@0.25"))
		want := stop.Judge(message, stop.Options{Threshold: 0.25})
		Expect(ask(ctx, d, message)).To(HaveField("Positive", !want.MayStop))
	})
})

var _ = Describe("a threshold", func() {
	scored := func(score *float64, err error) detect.Detector {
		return detect.AtThreshold(by(func(context.Context, detect.Item) (detect.Prediction, error) {
			return detect.Prediction{Positive: score != nil && *score < 0.5, Score: score, Calls: 1}, err
		}), 0.5)
	}
	number := func(x float64) *float64 { return &x }

	It("replaces the decision of the detector", func(ctx SpecContext) {
		Expect(ask(ctx, scored(number(0.5), nil), "x")).To(HaveField("Positive", true))
		Expect(ask(ctx, scored(number(0.49), nil), "x")).To(HaveField("Positive", false))
		Expect(scored(nil, nil).Name()).To(Equal("table@0.5"))
	})
	It("needs a score", func(ctx SpecContext) {
		p, err := ask(ctx, scored(nil, nil), "x")
		Expect(err).To(MatchError(ContainSubstring("gave no score")))
		Expect(p.Calls).To(Equal(1))
		_, err = ask(ctx, scored(number(1), context.Canceled), "x")
		Expect(err).To(MatchError(context.Canceled))
	})
})
