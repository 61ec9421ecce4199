package detect_test

import (
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

var _ = Describe("the calibration of scores", Label("H-04"), func() {
	It("compares the mean score of each bin with the share to find", func() {
		c := scored(quick(), scores(true, 0.85, false, 0.85, false, 0.1, true, 1.0)).Calibration
		// |0.1 - 0| for 1 item, |0.85 - 1/2| for 2, |1 - 1| for 1: (0.1 + 0.7 + 0) / 4.
		Expect(*c.Error.Value).To(BeNumerically("~", 0.2, 1e-9))
		Expect(c.Error.N).To(Equal(4))
		Expect(c.Error.Interval.Method).To(Equal("bootstrap"))
		Expect(c.Bins).To(HaveLen(3))
		Expect(c.Bins[1]).To(And(
			HaveField("Lo", 0.8), HaveField("Hi", 0.9), HaveField("N", 2),
			HaveField("Score", BeNumerically("~", 0.85, 1e-9)), HaveField("Share", ratioOf(1, 2)),
		))
		Expect(c.Bins[2]).To(And(HaveField("Lo", 0.9), HaveField("Hi", 1.0), HaveField("Score", 1.0)))
	})

	It("is n/a without scores, and ignores items without one", func() {
		Expect(scored(quick(), predicted(3, "clean", false)).Calibration).To(BeNil())
		list := append(scores(true, 0.5, false, math.NaN(), true, 1.5), predicted(3, "clean", false)...)
		Expect(scored(quick(), list).Calibration.Error.N).To(Equal(1))
	})

	It("is good for scores that are probabilities, and bad for their opposites", func() {
		r := rand.New(rand.NewPCG(1, 2))
		var good, bad []any
		for range 5000 {
			p := r.Float64()
			label := r.Float64() < p
			good, bad = append(good, label, p), append(bad, label, 1-p)
		}
		e := scored(quick(), scores(good...)).Calibration.Error
		Expect(*e.Value).To(BeNumerically("<", 0.03))
		Expect(e.Interval.Hi).To(BeNumerically("<", 0.04))
		// The mean of |p - (1-p)| over p in [0, 1].
		Expect(*scored(quick(), scores(bad...)).Calibration.Error.Value).To(BeNumerically("~", 0.5, 0.03))
	})

	It("does not depend on the order of the items", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			var list []answer
			for range rapid.IntRange(1, 30).Draw(rt, "n") {
				list = append(list, scores(rapid.Bool().Draw(rt, "defers"), rapid.Float64Range(0, 1).Draw(rt, "score"))...)
			}
			o := detect.ScoreOptions{Resamples: 20}
			want := scored(o, list).Calibration
			slices.Reverse(list)
			Expect(scored(o, list).Calibration).To(Equal(want))
			n := 0
			for _, b := range want.Bins {
				n += b.N
				if b.Score < b.Lo-1e-9 || b.Score > b.Hi+1e-9 {
					rt.Fatalf("the mean %g is outside its bin %+v", b.Score, b)
				}
			}
			if e := *want.Error.Value; n != len(list) || e < 0 || e > 1 {
				rt.Fatalf("%d of %d items in bins; error %g", n, len(list), e)
			}
		})
	})
})
