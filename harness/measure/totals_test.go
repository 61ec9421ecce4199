package measure_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/stat"
)

func named(values []measure.Value, name string) measure.Value {
	GinkgoHelper()
	i := slices.IndexFunc(values, func(v measure.Value) bool { return v.Name == name })
	Expect(i).To(BeNumerically(">=", 0), "no measure "+name)
	return values[i]
}

// facts returns the facts of a trial in which each measure is k times a different number.
func facts(k float64) measure.Facts {
	n := int(k)
	return measure.Facts{
		Run:     measure.RunFacts{Iterations: 2 * n, Duration: 3 * k, DurationKnown: true},
		Calls:   measure.CallFacts{Total: 2, Failed: 5 * n, Retries: 7 * n},
		Tokens:  measure.TokenFacts{Known: true, Input: 11 * n, Cached: 13 * n, Output: 17 * n, Total: 19 * n},
		Cost:    measure.CostFacts{Known: true, EUR: 23 * k, USD: 29 * k},
		Latency: measure.LatencyFacts{N: 2, All: []float64{k, 2 * k}},
	}
}

var _ = Describe("Totals", Label("H-04"), func() {
	var t measure.Totals
	BeforeEach(func() { t = measure.Totals{} })

	// Of 1, 2 and 6 the mean is 3, the sum 9 and the variance 7; Student's t for
	// two degrees of freedom is 4.302653, so the half-width is 4.302653 x
	// sqrt(7/3) = 6.572411, times the measure's factor.
	DescribeTable("means and sums over trials",
		func(name, unit string, factor float64) {
			for _, k := range []float64{1, 2, 6} {
				t.Add(facts(k))
			}
			got := t.Close()
			Expect(got.Trials).To(Equal(3))
			mean, sum := named(got.Means, name), named(got.Sums, name)
			Expect(mean.Unit).To(Equal(unit))
			Expect(sum.Unit).To(Equal(unit))
			Expect(mean.Known && sum.Known).To(BeTrue())
			Expect([]int{mean.N, sum.N}).To(Equal([]int{3, 3}))
			Expect(*mean.Value).To(BeNumerically("~", 3*factor, 1e-9))
			Expect(*sum.Value).To(BeNumerically("~", 9*factor, 1e-9))
			Expect(mean.Interval.Lo).To(BeNumerically("~", (3-6.572411)*factor, 1e-5*factor))
			Expect(mean.Interval.Hi).To(BeNumerically("~", (3+6.572411)*factor, 1e-5*factor))
			Expect(mean.Interval.Level).To(Equal(0.95))
			Expect(sum.Interval).To(BeNil())
			Expect(mean.Warnings).To(BeEmpty())
		},
		Entry("iterations", "iterations", "", 2.0),
		Entry("duration", "duration", "s", 3.0),
		Entry("failed_calls", "failed_calls", "", 5.0),
		Entry("retries", "retries", "", 7.0),
		Entry("tokens_input", "tokens_input", "", 11.0),
		Entry("tokens_cached", "tokens_cached", "", 13.0),
		Entry("tokens_output", "tokens_output", "", 17.0),
		Entry("tokens", "tokens", "", 19.0),
		Entry("cost_eur", "cost_eur", "EUR", 23.0),
		Entry("cost_usd", "cost_usd", "USD", 29.0),
	)

	It("reports no spread of equal values", func() {
		t.Add(facts(1))
		t.Add(facts(6))
		v := named(t.Close().Means, "calls")
		Expect(*v.Value).To(Equal(2.0))
		Expect(v.Interval).To(BeNil())
		Expect(v.Warnings).To(ConsistOf("all 2 values are equal"))
	})

	It("measures latencies over all calls", func() {
		for _, k := range []float64{1, 2, 6} {
			t.Add(facts(k)) // 1 2, 2 4, 6 12
		}
		got := t.Close().Means
		for name, want := range map[string]float64{
			"latency_mean": 4.5,  // 27 / 6
			"latency_p50":  3,    // index 5 x 0.50 = 2.50: between 2 and 4
			"latency_p95":  10.5, // index 5 x 0.95 = 4.75: between 6 and 12
			"latency_max":  12,
		} {
			v := named(got, name)
			Expect(v.Unit).To(Equal("s"))
			Expect(v.N).To(Equal(6), name)
			Expect(v.Known).To(BeTrue())
			Expect(*v.Value).To(BeNumerically("~", want, 1e-9), name)
		}
		Expect(named(got, "latency_mean").Interval.Method).To(Equal("student-t"))
		Expect(named(got, "latency_mean").Warnings).To(ConsistOf(ContainSubstring("independent")))
		Expect(named(got, "latency_p95").Warnings).To(ConsistOf("6 values are too few for an interval"))
		Expect(named(t.Close().Sums, "latency_p95")).To(Equal(named(got, "latency_p95")))
	})

	It("has no values without trials", func() {
		s := t.Close()
		Expect(s.Means).NotTo(BeEmpty())
		for _, v := range append(s.Means, s.Sums...) {
			Expect(v.Value).To(BeNil(), v.Name)
			Expect(v.N).To(BeZero(), v.Name)
			Expect(v.Interval).To(BeNil(), v.Name)
		}
	})

	It("is a lower bound if one trial is unknown", func() {
		t.Add(facts(2))
		missing := facts(4)
		missing.Cost.Known, missing.Cost.Why = false, "call 1: no price"
		missing.Tokens.Known = false
		missing.Run.DurationKnown = false
		t.Add(missing)
		s := t.Close()
		for name, want := range map[string]float64{"cost_eur": 23 * 3, "cost_usd": 29 * 3, "tokens": 19 * 3, "tokens_input": 33, "tokens_cached": 39, "tokens_output": 51} {
			v := named(s.Means, name)
			Expect(v.Known).To(BeFalse(), name)
			Expect(*v.Value).To(BeNumerically("~", want, 1e-9), name)
			Expect(v.Interval).To(BeNil(), name)
			Expect(v.Warnings).To(ContainElement(HavePrefix("unknown in 1 of 2 trials: ")), name)
		}
		Expect(named(s.Sums, "cost_eur").Warnings).To(ContainElement(ContainSubstring("call 1: no price")))
		d := named(s.Means, "duration")
		Expect(d.Known).To(BeFalse())
		Expect(*d.Value).To(Equal(6.0)) // of the one trial that was timed
		Expect(d.N).To(Equal(1))
	})

	It("never reports an unknown value as zero", func() {
		f := facts(1)
		f.Cost = measure.CostFacts{Why: "no price"}
		f.Latency = measure.LatencyFacts{}
		t.Add(f)
		s := t.Close()
		for _, name := range []string{"cost_eur", "cost_usd", "latency_mean", "latency_p50", "latency_p95", "latency_max"} {
			for _, v := range []measure.Value{named(s.Means, name), named(s.Sums, name)} {
				Expect(v.Known).To(BeFalse(), name)
				Expect(v.Value).To(BeNil(), name)
				Expect(v.Warnings).NotTo(BeEmpty(), name)
			}
		}
		text, err := json.Marshal(named(s.Means, "cost_eur"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(ContainSubstring(`"value":null`))
	})

	It("has no latencies of trials without calls, which are not unknown", func() {
		t.Add(measure.Facts{})
		v := named(t.Close().Means, "latency_p95")
		Expect(v.Known).To(BeTrue())
		Expect(v.Value).To(BeNil())
	})

	It("can be closed repeatedly, with additions in between", func() {
		t.Add(facts(1))
		first := t.Close()
		Expect(t.Close()).To(Equal(first))
		t.Add(facts(2))
		Expect(*named(t.Close().Sums, "tokens").Value).To(Equal(57.0)) // 19 + 38
		Expect(*named(first.Sums, "tokens").Value).To(Equal(19.0))
	})

	It("does not depend on the order of the trials", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			ks := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 20).Draw(rt, "ks")
			shuffled := rapid.Permutation(ks).Draw(rt, "shuffled")
			var a, b measure.Totals
			for i := range ks {
				a.Add(facts(float64(ks[i])))
				b.Add(facts(float64(shuffled[i])))
			}
			x, y := a.Close(), b.Close()
			for i := range x.Means {
				if math.Abs(*x.Means[i].Value-*y.Means[i].Value) > 1e-9 {
					rt.Fatalf("%+v, %+v", x.Means[i], y.Means[i])
				}
			}
		})
	})

	It("rounds latencies if there are too many different ones, with a warning", func() {
		random := rand.New(rand.NewPCG(1, 2))
		var all []float64
		for range 5000 {
			x := []float64{random.ExpFloat64(), random.ExpFloat64()}
			all = append(all, x...)
			t.Add(measure.Facts{Calls: measure.CallFacts{Total: 2}, Latency: measure.LatencyFacts{N: 2, All: x}})
		}
		slices.Sort(all)
		exact := stat.Quantile(len(all), func(i int) float64 { return all[i] }, 0.95, 0.95)
		p95 := named(t.Close().Means, "latency_p95")
		Expect(*p95.Value).To(BeNumerically("~", exact.Value, exact.Value*0.005))
		Expect(p95.Interval.Lo).To(BeNumerically("~", exact.Interval.Lo, exact.Value*0.01))
		Expect(p95.Interval.Hi).To(BeNumerically("~", exact.Interval.Hi, exact.Value*0.01))
		Expect(p95.Warnings).To(ContainElement(ContainSubstring("rounded to three digits")))
		Expect(*named(t.Close().Means, "latency_max").Value).To(Equal(all[len(all)-1]))
		Expect(named(t.Close().Means, "latency_max").Warnings).NotTo(ContainElement(ContainSubstring("rounded")))
	})
})
