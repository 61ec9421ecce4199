package detect_test

import (
	"math"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// scores are items with a score, true ones deferring.
func scores(list ...any) []answer {
	var out []answer
	for i := 0; i < len(list); i += 2 {
		a := answer{item: detect.Item{ID: string(rune('a' + i/2)), Label: "clean"}}
		if list[i].(bool) {
			a.item.Label = "defers"
		}
		a.p.Score = ptr(list[i+1].(float64))
		out = append(out, a)
	}
	return out
}

var _ = Describe("the threshold curve", func() {
	It("has the average precision of scikit-learn's example", func() {
		// sklearn.metrics.average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
		// is 0.83: 1/2 x 1 from 0.8 on, 1/2 x 2/3 from 0.35 on.
		c := scored(quick(), scores(false, 0.1, false, 0.4, true, 0.35, true, 0.8)).Curve
		Expect(*c.AveragePrecision).To(BeNumerically("~", 0.5+1.0/3, 1e-12))
		Expect(c.N).To(Equal(4))
		want := []detect.Point{
			{Threshold: 0.1, Precision: ptr(0.5), Recall: ptr(1), F1: ptr(4.0 / 6), FPR: ptr(1)},
			{Threshold: 0.35, Precision: ptr(2.0 / 3), Recall: ptr(1), F1: ptr(4.0 / 5), FPR: ptr(0.5)},
			{Threshold: 0.4, Precision: ptr(0.5), Recall: ptr(0.5), F1: ptr(2.0 / 4), FPR: ptr(0.5)},
			{Threshold: 0.8, Precision: ptr(1), Recall: ptr(0.5), F1: ptr(2.0 / 3), FPR: ptr(0)},
		}
		Expect(c.Points).To(Equal(want))
		Expect(*c.Best).To(Equal(want[1]))
	})

	It("takes the highest threshold among the best", func() {
		c := scored(quick(), scores(true, 0.9, true, 0.5, false, 0.7, false, 0.6)).Curve
		// From 0.9: F1 = 2/3; from 0.5: 4/6.
		Expect(c.Best.Threshold).To(Equal(0.9))
	})

	It("puts each threshold into its own bin", func() {
		for i := range 1001 {
			c := scored(detect.ScoreOptions{Resamples: 1}, scores(true, float64(i)/1000)).Curve
			Expect(c.Best.Threshold).To(Equal(float64(i) / 1000))
		}
	})

	It("ignores items without a score between 0 and 1", func() {
		list := scores(true, 0.5, false, math.NaN(), true, -0.1, true, 1.1)
		list = append(list, predicted(3, "clean", false)...)
		c := scored(quick(), list).Curve
		Expect([]int{c.N, c.Missing}).To(Equal([]int{1, 6}))
	})

	It("is n/a without anything to find", func() {
		c := scored(quick(), scores(false, 0.5, false, 1.0)).Curve
		Expect(c.AveragePrecision).To(BeNil())
		Expect(c.Best).To(BeNil())
		Expect(c.Points[0]).To(And(HaveField("Recall", BeNil()), HaveField("F1", BeNil()), HaveField("FPR", HaveValue(Equal(1.0)))))
	})

	It("agrees with counting at each of its thresholds", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			var list []answer
			for range rapid.IntRange(1, 40).Draw(rt, "n") {
				// Scores at, just below and between the thousandths.
				s := float64(rapid.IntRange(0, 1000).Draw(rt, "bin")) / 1000
				if rapid.Bool().Draw(rt, "below") {
					s = math.Nextafter(s, 0)
				}
				list = append(list, scores(rapid.Bool().Draw(rt, "defers"), s)...)
			}
			c := scored(detect.ScoreOptions{Resamples: 1}, list).Curve
			if !slices.IsSortedFunc(c.Points, func(a, b detect.Point) int { return int(1e4 * (a.Threshold - b.Threshold)) }) {
				rt.Fatal("the thresholds do not rise")
			}
			for _, p := range c.Points {
				var n detect.Counts
				for _, a := range list {
					switch found := *a.p.Score >= p.Threshold; {
					case found && a.item.Label == "defers":
						n.TP++
					case found:
						n.FP++
					case a.item.Label == "defers":
						n.FN++
					}
				}
				if *p.Precision != float64(n.TP)/float64(n.TP+n.FP) {
					rt.Fatalf("precision at %g is %g, counted %+v", p.Threshold, *p.Precision, n)
				}
				if n.TP+n.FN > 0 && (*p.Recall != float64(n.TP)/float64(n.TP+n.FN) || *c.Best.F1 < *p.F1) {
					rt.Fatalf("recall at %g is %g, counted %+v", p.Threshold, *p.Recall, n)
				}
			}
		})
	})
})

var _ = Describe("a comparison of two detectors", func() {
	// compared has counts by the label and the predictions of A and B.
	compared := func(o detect.ScoreOptions, cells map[[3]bool]int) detect.Comparison {
		p := detect.NewPair("a", "b", o)
		for _, key := range [][3]bool{
			{true, true, true},
			{true, true, false},
			{true, false, true},
			{true, false, false},
			{false, true, true},
			{false, true, false},
			{false, false, true},
			{false, false, false},
		} {
			label := "clean"
			if key[0] {
				label = "defers"
			}
			for range cells[key] {
				p.Add(detect.Item{Label: label}, detect.Prediction{Positive: key[1]}, detect.Prediction{Positive: key[2]}, nil, nil)
			}
		}
		return p.Result()
	}

	It("compares the same items", func() {
		c := compared(detect.ScoreOptions{}, map[[3]bool]int{
			{true, true, true}: 40, {true, true, false}: 2, {true, false, true}: 12, {true, false, false}: 6,
			{false, true, true}: 10, {false, true, false}: 9, {false, false, true}: 1, {false, false, false}: 120,
		})
		Expect([]int{c.Items, c.N}).To(Equal([]int{200, 200}))
		// A alone is right on 2 that B misses and 1 that B finds wrongly; B on 12 and 9.
		Expect([]int{c.Both, c.OnlyA, c.OnlyB, c.Neither}).To(Equal([]int{160, 3, 21, 16}))
		// 2 x (1 + 24 + 276 + 2024) / 2^24.
		Expect(*c.P).To(BeNumerically("~", 2*2325/math.Pow(2, 24), 1e-12))
		// A: TP 42, FP 19, FN 18. B: TP 52, FP 11, FN 8.
		Expect(*c.Precision.Value).To(BeNumerically("~", 52.0/63-42.0/61, 1e-12))
		Expect(*c.Recall.Value).To(BeNumerically("~", 10.0/60, 1e-12))
		Expect(*c.F1.Value).To(BeNumerically("~", 104.0/123-84.0/121, 1e-12))
		Expect(c.F1.Interval.Lo).To(BeNumerically(">", 0), "B is better beyond chance")
		Expect(c.F1.Interval.Method).To(Equal("bootstrap"))
	})

	It("has no difference of a value that one side does not have", func() {
		c := compared(quick(), map[[3]bool]int{{true, true, false}: 8, {true, false, false}: 2, {false, false, false}: 20})
		Expect(c.Precision.Value).To(BeNil(), "B finds nothing: its precision is 0 of 0")
		Expect(*c.Recall.Value).To(Equal(-0.8))
		Expect(*c.F1.Value).To(BeNumerically("~", -16.0/18, 1e-12))
	})

	It("mirrors when the sides change", func() {
		cells := map[[3]bool]int{{true, true, true}: 10, {true, true, false}: 5, {true, false, true}: 2, {false, true, false}: 4, {false, false, false}: 30}
		swapped := map[[3]bool]int{}
		for k, n := range cells {
			swapped[[3]bool{k[0], k[2], k[1]}] = n
		}
		c, m := compared(quick(), cells), compared(quick(), swapped)
		Expect([]int{m.OnlyB, m.OnlyA}).To(Equal([]int{c.OnlyA, c.OnlyB}))
		Expect(*m.P).To(Equal(*c.P))
		Expect(*m.F1.Value).To(Equal(-*c.F1.Value))
	})

	It("leaves out items on which one of them failed", func() {
		p := detect.NewPair("a", "b", quick())
		p.Add(detect.Item{Label: "defers"}, detect.Prediction{}, detect.Prediction{}, errFailed, nil)
		p.Add(detect.Item{Label: "defers"}, detect.Prediction{}, detect.Prediction{}, nil, errFailed)
		p.Add(detect.Item{Label: "perhaps"}, detect.Prediction{}, detect.Prediction{}, nil, nil)
		c := p.Result()
		Expect([]int{c.Items, c.N}).To(Equal([]int{3, 0}))
		Expect(c.P).To(BeNil())
		Expect(c.F1.Value).To(BeNil())
		Expect(p.Result()).To(Equal(c))
	})

	It("refuses invalid options", func() {
		Expect(func() { detect.NewPair("a", "b", detect.ScoreOptions{Positive: []string{"x"}}) }).To(Panic())
	})
})
