package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// quick are options for specs that do not look at intervals.
func quick() Options { return Options{Resamples: 200} }

// table is n samples in each of four repositories with one signal, of which k
// with the signal and m without it are positive; half have the signal.
func table(n, k, m int) []Sample {
	var list []Sample
	for g := range 4 {
		for i := range n {
			s := Sample{Item: detect.Item{ID: fmt.Sprint(g, "-", i), Repo: fmt.Sprint("g", g), Label: "clean"}}
			positive := i-n/2 < m
			if i < n/2 {
				s.Prediction.Signals = map[string]float64{"seen": 1}
				positive = i < k
			}
			if positive {
				s.Item.Label = "defers"
			}
			list = append(list, s)
		}
	}
	return list
}

func weight(r Result, signal string) Weight {
	GinkgoHelper()
	i := slices.IndexFunc(r.Table, func(w Weight) bool { return w.Signal == signal })
	Expect(i).To(BeNumerically(">=", 0), "no signal "+signal)
	return r.Table[i]
}

var _ = Describe("Fit", func() {
	It("finds the log-odds that follow from a table", func() {
		// With the signal 40 of 50 are positive, without it 10 of 50: log-odds of
		// ln(4) = 1.386 and ln(1/4) = -1.386. Without a penalty to speak of, the
		// intercept is the second and the weight their difference, 2.773.
		o := quick()
		o.Lambdas, o.Digits = []float64{1e-6}, 3
		r, err := Fit(table(100, 40, 10), o)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Model.Intercept).To(BeNumerically("~", -1.386, 0.0006))
		Expect(r.Model.Weights).To(HaveKeyWithValue("seen", BeNumerically("~", 2.773, 0.0006)))
		Expect(r.Model.Score(map[string]float64{"seen": 1})).To(BeNumerically("~", 0.8, 0.0005))
		Expect(r.Model.Score(map[string]float64{"other": 1})).To(BeNumerically("~", 0.2, 0.0005))
		Expect(r.Warnings).To(BeEmpty())
		// All repositories are alike, so nothing depends on which is left out.
		w := weight(r, "seen")
		Expect(w).To(Equal(Weight{Signal: "seen", Weight: w.Weight, Items: 200, Positives: 160, Lowest: w.Weight, Highest: w.Weight}))
		// The signal alone decides: 160 found of 200, and 40 of the 50·4 missed.
		Expect(r.Fitted.Overall.Counts).To(HaveField("TP", 160))
		Expect(r.Fitted.Overall.Counts).To(HaveField("FP", 40))
		Expect(r.Fitted.Overall.Counts).To(HaveField("FN", 40))
		Expect(r.Folds).To(HaveLen(4))
		Expect(r.Groups).To(Equal(4))
	})

	It("shrinks weights more the stronger the penalty is", func() {
		last := math.Inf(1)
		for _, lambda := range []float64{0.01, 1, 100, 10000} {
			o := quick()
			o.Lambdas, o.Digits = []float64{lambda}, 6
			r, err := Fit(table(100, 40, 10), o)
			Expect(err).NotTo(HaveOccurred())
			Expect(r.Model.Lambda).To(Equal(lambda))
			Expect(r.Model.Weights["seen"]).To(And(BeNumerically("<", last), BeNumerically(">", 0)))
			last = r.Model.Weights["seen"]
		}
	})

	It("chooses a weak penalty for clear signals and a strong one for noise", func() {
		clear, err := Fit(table(100, 50, 0), quick())
		Expect(err).NotTo(HaveOccurred())
		noise, err := Fit(noisy(200), quick())
		Expect(err).NotTo(HaveOccurred())
		Expect(clear.Model.Lambda).To(Equal(0.1))
		Expect(noise.Model.Lambda).To(Equal(100.0))
	})

	It("draws weights to the given ones, the more so the less evidence there is", func() {
		list := table(100, 40, 10)
		list[0].Prediction.Signals = map[string]float64{"seen": 1, "once": 1}
		o := quick()
		o.Prior = Model{Intercept: -3, Weights: map[string]float64{"seen": 0.7, "once": 1.5, "never": 9}}
		o.Lambdas = []float64{1e6}
		r, err := Fit(list, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Model.Weights).To(Equal(map[string]float64{"seen": 0.7, "once": 1.5}))
		Expect(r.Model.Intercept).To(BeNumerically("~", -0.35, 0.02), "is free: half of the items are positive")

		o.Lambdas = []float64{1e-6}
		r, err = Fit(list, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Model.Weights).To(HaveKeyWithValue("seen", BeNumerically("~", 2.77, 0.01)))
		Expect(weight(r, "once")).To(And(HaveField("Weight", 1.5), HaveField("Rare", true)))
	})

	It("chooses the threshold of the best F1, with room on both sides", func() {
		// With the signal 45 of 50 are positive, without it 25: scores of 0.9 and 0.5.
		// Up to 0.50 all are found: F1 = 2·70 / (2·70 + 30) = 0.82. Above, the 45 are:
		// 2·45 / (2·45 + 5 + 25) = 0.75. So it is the middle of 0.01 to 0.50.
		o := quick()
		o.Lambdas = []float64{1e-6}
		r, err := Fit(table(100, 45, 25), o)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Model.Threshold).To(BeNumerically("~", 0.25, 0.011))
		Expect(r.Folds[0].Threshold).To(BeNumerically("~", 0.25, 0.011))
		Expect(r.Fitted.Overall.Counts).To(HaveField("TP", 280))
		Expect(r.Fitted.Overall.Counts).To(HaveField("FP", 120))
	})

	It("reports how much a weight depends on the omitted items", func() {
		// The signal says much in one repository and little in the other.
		list := table(100, 40, 10)[:200]
		weak := 0
		for i := range list[100:] {
			if s := &list[100+i]; s.Prediction.Signals != nil && s.Item.Label == "defers" && weak < 25 {
				s.Item.Label = "clean"
				weak++
			}
		}
		o := quick()
		o.Lambdas, o.Digits = []float64{1e-6}, 3
		r, err := Fit(list, o)
		Expect(err).NotTo(HaveOccurred())
		w := weight(r, "seen")
		// ln(40/10) - ln(10/40), and ln(15/35) - ln(10/40).
		Expect(w.Highest).To(BeNumerically("~", 2.773, 0.002))
		Expect(w.Lowest).To(BeNumerically("~", 0.539, 0.002))
		Expect(w.Deviation).To(BeNumerically("~", (2.773-0.539)/2, 0.002))
		Expect(w.Weight).To(And(BeNumerically(">", w.Lowest), BeNumerically("<", w.Highest)))
	})

	It("sets a weight to 0 if its sign is not allowed, and reports it", func() {
		o := quick()
		o.Signs = map[string]int{"seen": -1}
		r, err := Fit(table(100, 40, 10), o)
		Expect(err).NotTo(HaveOccurred())
		Expect(weight(r, "seen")).To(And(HaveField("Weight", 0.0), HaveField("Bound", true)))
		Expect(r.Model.Weights).To(BeEmpty())
		// 50 of 100 are positive, and nothing tells them apart.
		Expect(r.Model.Intercept).To(BeNumerically("~", 0, 0.001))

		o.Signs["seen"] = 1
		r, err = Fit(table(100, 40, 10), o)
		Expect(err).NotTo(HaveOccurred())
		Expect(weight(r, "seen")).To(And(HaveField("Weight", BeNumerically(">", 2)), HaveField("Bound", false)))
	})

	It("gives a rare signal no weight", func() {
		list := table(100, 40, 10)
		list[0].Prediction.Signals = map[string]float64{"seen": 1, "once": 1}
		r, err := Fit(list, quick())
		Expect(err).NotTo(HaveOccurred())
		Expect(weight(r, "once")).To(Equal(Weight{Signal: "once", Items: 1, Positives: 1, Rare: true}))
	})

	It("counts items by their weight", func() {
		list := table(100, 40, 10)
		o := quick()
		o.Lambdas, o.Digits = []float64{1e-6}, 3
		// Positives count twice: 80 of 90 and 20 of 60, so ln(8) and ln(1/2).
		o.Weight = func(i detect.Item) float64 {
			if i.Label == "defers" {
				return 2
			}
			return 1
		}
		r, err := Fit(list, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Model.Intercept).To(BeNumerically("~", -math.Ln2, 0.0006))
		Expect(r.Model.Weights["seen"]).To(BeNumerically("~", 4*math.Ln2, 0.0006))
	})

	It("never lets a repository judge itself", func() {
		// Each repository has a signal of its own that decides the label, and another one that
		// is random. Cross-validation must not profit from signals that do not carry over.
		var list []Sample
		r := rand.New(rand.NewPCG(3, 4))
		for g := range 6 {
			for i := range 60 {
				s := Sample{Item: detect.Item{ID: fmt.Sprint(g, "-", i), Repo: fmt.Sprint("g", g), Label: "clean"}}
				s.Prediction.Signals = map[string]float64{"noise": r.Float64()}
				if i%3 == 0 {
					s.Item.Label = "defers"
					s.Prediction.Signals[fmt.Sprint("own", g)] = 1
				}
				list = append(list, s)
			}
		}
		o := quick()
		o.Lambdas = []float64{0.1}
		out, err := Fit(list, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(weight(out, "own3").Weight).To(BeNumerically(">", 3), "what it has seen is easy")
		Expect(*out.Fitted.Curve.AveragePrecision).To(BeNumerically("<", 0.5), "what it has not is chance: a third is positive")
	})

	It("reports the result of the shipped weights on the same items", func() {
		list := table(100, 40, 10)
		for i := range list {
			list[i].Prediction.Positive = true // finds all, and 200 too many
		}
		r, err := Fit(list, quick())
		Expect(err).NotTo(HaveOccurred())
		Expect(*r.Shipped.Overall.Recall.Value).To(Equal(1.0))
		Expect(*r.Shipped.Overall.Precision.Value).To(Equal(0.5))
		Expect(r.Paired).To(And(HaveField("N", 400), HaveField("A", Shipped), HaveField("B", Fitted)))
		// Fitted: 160 true and 160 true negatives right; shipped: 200 right.
		Expect(r.Paired.Both + r.Paired.OnlyB).To(Equal(320))
		Expect(r.Paired.Both + r.Paired.OnlyA).To(Equal(200))
	})

	It("deals many groups into ten folds, or into the given number", func() {
		list := drawn(400, 10, 40, 5)
		r, err := Fit(list, quick())
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Folds).To(HaveLen(10))
		o := quick()
		o.Folds = 3
		r, err = Fit(list, o)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Folds).To(HaveLen(3))
		items := 0
		for _, f := range r.Folds {
			items += f.Items
		}
		Expect(items).To(Equal(400))
	})

	It("recovers weights that made the labels, better than chance and stably", func() {
		o := quick()
		o.Lambdas = []float64{0.1, 1}
		r, err := Fit(drawn(1500, 20, 6, 9), o)
		Expect(err).NotTo(HaveOccurred())
		for _, w := range r.Table {
			var column int
			_, _ = fmt.Sscanf(w.Signal, "s%d", &column)
			switch {
			case column < 4:
				Expect(w.Weight).To(BeNumerically("~", 1.2, 0.4), w.Signal)
			case column < 8:
				Expect(w.Weight).To(BeNumerically("~", -0.8, 0.5), w.Signal)
			default:
				Expect(w.Weight).To(BeNumerically("~", 0, 0.4), w.Signal)
			}
			Expect(w.Lowest).To(BeNumerically("<=", w.Highest))
			Expect(w.Deviation).To(BeNumerically("<", 0.2), w.Signal)
		}
	})

	It("gives the same result for the same samples", func() {
		list := drawn(300, 12, 5, 2)
		encode := func() string {
			r, err := Fit(list, Options{Resamples: 200, Seed: 4})
			Expect(err).NotTo(HaveOccurred())
			text, err := json.Marshal(r)
			Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		Expect(encode()).To(Equal(encode()))
	})

	DescribeTable("refuses what cannot be fitted",
		func(change func([]Sample, *Options) []Sample, want string) {
			o := quick()
			_, err := Fit(change(table(10, 4, 1), &o), o)
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("no samples", func([]Sample, *Options) []Sample { return nil }, "no item has a signal"),
		Entry("one class", func(l []Sample, o *Options) []Sample {
			o.Positive = []string{"asks"}
			return l
		}, "0 of 40 items have a label to find"),
		Entry("one repository", func(l []Sample, _ *Options) []Sample { return l[:10] }, "at least two repositories"),
		Entry("an unknown label", func(l []Sample, _ *Options) []Sample {
			l[3].Item.Label = "maybe"
			return l
		}, `"maybe"`),
		Entry("a signal that is no number", func(l []Sample, _ *Options) []Sample {
			l[0].Prediction.Signals = map[string]float64{"seen": math.NaN()}
			return l
		}, `signal "seen" of item "0-0"`),
		Entry("a penalty of 0", func(l []Sample, o *Options) []Sample {
			o.Lambdas = []float64{1, 0}
			return l
		}, "lambdas"),
		Entry("one fold", func(l []Sample, o *Options) []Sample {
			o.Folds = 1
			return l
		}, "1 folds"),
		Entry("a negative weight", func(l []Sample, o *Options) []Sample {
			o.Weight = func(detect.Item) float64 { return -1 }
			return l
		}, "weight -1"),
		Entry("too many decimals", func(l []Sample, o *Options) []Sample {
			o.Digits = 12
			return l
		}, "12 decimals"),
	)
})

// noisy are n samples in each of four repositories whose signals say nothing.
func noisy(n int) []Sample {
	r := rand.New(rand.NewPCG(11, 12))
	list := table(n, 0, 0)
	for i := range list {
		if r.Float64() < 0.3 {
			list[i].Item.Label = "defers"
		}
		list[i].Prediction = detect.Prediction{Signals: map[string]float64{}}
		for j := range 10 {
			list[i].Prediction.Signals[fmt.Sprint("noise", j)] = r.Float64()
		}
	}
	return list
}
