package measure_test

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

var _ = Describe("the measures of one trial", Label("H-04"), func() {
	single := func(f measure.Facts, name string) measure.Single {
		GinkgoHelper()
		for s := range measure.Singles(&f) {
			if s.Name == name {
				return s
			}
		}
		Fail("no measure " + name)
		return measure.Single{}
	}

	It("are equal to a summary of that trial alone", func() {
		f := measure.Trial(scenario(), trial(), nil, nil)
		var totals measure.Totals
		totals.Add(f)
		all := slices.Collect(measure.Singles(&f))
		sum := totals.Close()
		Expect(all).To(HaveLen(len(sum.Means)))
		for i, want := range sum.Means {
			Expect(all[i].Name).To(Equal(want.Name))
			Expect(all[i].Unit).To(Equal(want.Unit))
			Expect(all[i].Known).To(Equal(want.Known), want.Name)
			if want.Known {
				Expect(all[i].Value).To(BeNumerically("~", *want.Value, 1e-9), want.Name)
			}
		}
	})
	It("explain why they are unknown", func() {
		f := measure.Facts{Cost: measure.CostFacts{Why: "no price"}, Calls: measure.CallFacts{Total: 2}, Latency: measure.LatencyFacts{N: 1, Mean: 1}}
		Expect(single(f, "cost_eur")).To(Equal(measure.Single{Name: "cost_eur", Unit: "EUR", Why: "no price"}))
		Expect(single(f, "duration").Known).To(BeFalse())
		Expect(single(f, "duration").Bound).To(BeFalse())
		Expect(single(f, "latency_p95").Known).To(BeFalse(), "one of two calls was timed")
		Expect(single(f, "calls")).To(Equal(measure.Single{Name: "calls", Value: 2, Known: true}))
	})
	It("are lower bounds if a part is known", func() {
		f := measure.Facts{Tokens: measure.TokenFacts{Total: 9}, Cost: measure.CostFacts{Known: true, EUR: 1}}
		tokens := single(f, "tokens")
		Expect(tokens.Known).To(BeFalse())
		Expect(tokens.Bound).To(BeTrue())
		Expect(tokens.Value).To(Equal(9.0))
		Expect(single(f, "tokens_input").Bound).To(BeFalse(), "nothing is known of it")
		Expect(single(f, "cost_eur").Bound).To(BeFalse(), "all is known")
	})
	It("have no latency without a call", func() {
		for s := range measure.Singles(&measure.Facts{}) {
			Expect(s.Name).NotTo(HavePrefix("latency"))
		}
	})
	It("can be abandoned early", func() {
		f := measure.Trial(scenario(), trial(), nil, nil)
		for n := range 15 {
			seen := 0
			for range measure.Singles(&f) {
				if seen++; seen > n {
					break
				}
			}
			Expect(seen).To(Equal(n + 1))
		}
	})
})
