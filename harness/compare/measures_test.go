package compare_test

import (
	"math"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
)

// around returns n values around a mean, spread evenly by up to 1, in an order that depends
// on the step.
func around(mean float64, n, step int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = mean + 2*float64((i*step+step)%n)/float64(n) - 1
	}
	return values
}

var _ = Describe("a measure that repeats", Label("H-06"), func() {
	DescribeTable("is compared exactly, trial by trial",
		func(before, after []float64, verdict compare.Verdict, why string) {
			r := one(passed("a", len(before), measured("calls", "", before...)), passed("a", len(after), measured("calls", "", after...)))
			c := of(r, "calls")
			Expect(c.Rule).To(Equal(compare.Exact))
			Expect(c.Verdict).To(Equal(verdict))
			Expect(c.Why).To(Equal(why))
			Expect(c.P).To(BeNil())
			if verdict == compare.Worse {
				Expect(r.Verdict).To(Equal(gate.Fail))
				Expect(rules(r)).To(Equal([]string{"regression"}))
				Expect(r.Findings[0].Measure).To(Equal("calls"))
				Expect(r.Findings[0].Message).To(Equal("calls is worse: " + why))
			} else {
				Expect(r.Verdict).To(Equal(gate.Pass))
			}
		},
		Entry("one more", []float64{5}, []float64{6}, compare.Worse, "5 before and 6 now"),
		Entry("one less", []float64{5}, []float64{4}, compare.Better, "5 before and 4 now"),
		Entry("more in one of three", []float64{5, 6, 7}, []float64{5, 8, 7}, compare.Worse,
			"6 before and 8 now in trial 2; it is more in 1 and less in 0 of 3 trials"),
		Entry("more in one and less in two is worse: they do not cancel out", []float64{5, 6, 7}, []float64{4, 7, 6}, compare.Worse,
			"5 before and 4 now in trial 1; it is more in 1 and less in 2 of 3 trials"),
		Entry("less in two", []float64{5, 6, 7}, []float64{4, 6, 6}, compare.Better,
			"5 before and 4 now in trial 1; it is more in 0 and less in 2 of 3 trials"),
	)

	It("is counted, but not listed, if it is equal", func() {
		r := one(passed("a", 3, measured("calls", "", 1, 2, 3), measured("duration", "s", 1.5)), passed("a", 3, measured("calls", "", 1, 2, 3), measured("duration", "s", 1.5)))
		Expect(r.Comparisons).To(BeEmpty())
		Expect(r.Equal).To(Equal(4), "calls, duration, status and pass rate")
		Expect(r.Verdict).To(Equal(gate.Pass))
		Expect(r.Findings).To(BeEmpty())
	})
	It("may be a time in virtual time", func() {
		c := of(one(passed("a", 1, measured("duration", "s", 3)), passed("a", 1, measured("duration", "s", 3.000001))), "duration")
		Expect(c.Rule).To(Equal(compare.Exact))
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(*c.Effect.Value).To(BeNumerically("~", 1e-6, 1e-12))
	})
	It("is compared by the mean beyond the stored trials", func() {
		values := make([]float64, 300)
		m := func(last float64) compare.Measure {
			values[299] = last
			out := measured("calls", "", slices.Clone(values)...)
			out.Trials = make([]*float64, 200)
			for i := range out.Trials {
				out.Trials[i] = &values[0]
			}
			return out
		}
		Expect(of(one(passed("a", 300, m(1)), passed("a", 300, m(4))), "calls").Verdict).To(Equal(compare.Worse))
		Expect(one(passed("a", 300, m(1)), passed("a", 300, m(1))).Comparisons).To(BeEmpty())
	})
	It("is worse if the mean beyond the stored trials is, whatever the others are", func() {
		m := func(first, then, rest float64) compare.Measure {
			values := slices.Repeat([]float64{then}, 300)
			values[0] = first
			for i := 200; i < 300; i++ {
				values[i] = rest
			}
			out := measured("calls", "", values...)
			if out.Trials != nil {
				out.Trials = out.Trials[:200]
			}
			return out
		}
		c := of(one(passed("a", 300, m(2, 2, 2)), passed("a", 300, m(1, 2, 9))), "calls")
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(c.Why).To(Equal("2 before and 1 now in trial 1; it is more in 0 and less in 1 of 200 trials; 2 before and 9 now on average in the 100 trials that were not stored"))
		Expect(of(one(passed("a", 300, m(1, 2, 9)), passed("a", 300, m(2, 2, 2))), "calls").Verdict).To(Equal(compare.Worse), "a trial is more")
		Expect(of(one(passed("a", 300, m(2, 2, 9)), passed("a", 300, m(1, 2, 3))), "calls").Verdict).To(Equal(compare.Better))
		Expect(one(passed("a", 300, m(1, 2, 9)), passed("a", 300, m(1, 2, 9))).Comparisons).To(BeEmpty())
	})
	It("may be a count in real time if all trials are equal", func() {
		c := of(one(real("a", 3, measured("calls", "", 5, 5, 5)), real("a", 3, measured("calls", "", 6, 6, 6))), "calls")
		Expect(c.Rule).To(Equal(compare.Exact))
		Expect(c.Verdict).To(Equal(compare.Worse))
	})
})

var _ = Describe("cost and tokens", Label("H-06"), func() {
	DescribeTable("have a relative limit",
		func(name string, before, after float64, verdict compare.Verdict, why string) {
			c := of(one(passed("a", 1, measured(name, map[string]string{"cost_eur": "EUR"}[name], before)), passed("a", 1, measured(name, map[string]string{"cost_eur": "EUR"}[name], after))), name)
			Expect(c.Rule).To(Equal(compare.Relative))
			Expect(c.Verdict).To(Equal(verdict))
			Expect(c.Why).To(Equal(why))
		},
		Entry("at the limit", "tokens", 1000.0, 1050.0, compare.Tied, "1,000 before and 1,050 now: +5 %, within the limit of 5 %"),
		Entry("over the limit", "tokens", 1000.0, 1051.0, compare.Worse, "1,000 before and 1,051 now: +5.1 %, over the limit of 5 %"),
		Entry("ten times as much", "tokens", 1000.0, 10994.0, compare.Worse, "1,000 before and 10,994 now: +999 %, over the limit of 5 %"),
		Entry("more than ten times as much", "tokens", 1000.0, 10996.0, compare.Worse, "1,000 before and 10,996 now: +1000 %, over the limit of 5 %"),
		Entry("less by more than the limit", "tokens", 1000.0, 949.0, compare.Better, "1,000 before and 949 now: -5.1 %, by more than the limit of 5 %"),
		Entry("a higher cost", "cost_eur", 0.02, 0.03, compare.Worse, "0.0200 EUR before and 0.0300 EUR now: +50 %, over the limit of 5 %"),
		Entry("a cost after none", "cost_eur", 0.0, 0.03, compare.Worse, "0.00 EUR before and 0.0300 EUR now: from nothing, over the limit of 5 %"),
	)
	It("have the limit that was blessed", func() {
		before, after := run(passed("a", 1, measured("tokens", "", 100))), run(passed("a", 1, measured("tokens", "", 109)))
		before.Rules = compare.DefaultRules()
		before.Rules.Tokens = 0.1
		r := compare.Compare(before, after, compare.Options{})
		Expect(of(r, "tokens").Verdict).To(Equal(compare.Tied))
		Expect(r.Changed).To(BeEmpty())
	})
	It("are compared over the same trials", func() {
		r := one(passed("a", 2, measured("tokens", "", 100, 200)), passed("a", 3, measured("tokens", "", 100, 200, 900)))
		Expect(r.Comparisons).To(BeEmpty())
	})
	It("omit parts of another measure, and measures that are neither good nor bad", func() {
		r := one(real("a", 8, measured("tokens_input", "", around(9, 8, 3)...), measured("tokens_cached", "", 4), measured("calls", "", 1)),
			real("a", 8, measured("tokens_input", "", around(99, 8, 5)...), measured("tokens_cached", "", 9), measured("calls", "", 1)))
		Expect(r.Comparisons).To(BeEmpty())
	})
})

var _ = Describe("a measure that varies", Label("H-06"), func() {
	compared := func(before, after []float64) (compare.Result, compare.Comparison) {
		GinkgoHelper()
		r := one(real("a", len(before), measured("calls", "", 1), measured("duration", "s", before...)), real("a", len(after), measured("calls", "", 1), measured("duration", "s", after...)))
		return r, of(r, "duration")
	}

	It("is worse if the test is significant, with the effect and its interval", func() {
		r, c := compared(around(10, 20, 3), around(12, 20, 7))
		Expect(c.Rule).To(Equal(compare.Paired))
		Expect(c.Verdict).To(Equal(compare.Worse))
		Expect(*c.Effect.Value).To(BeNumerically("~", 2, 0.2))
		Expect(c.Effect.Interval.Lo).To(BeNumerically(">", 1))
		Expect(*c.P).To(BeNumerically("<", 0.001))
		Expect(*c.Adjusted).To(Equal(*c.P), "one test")
		Expect(c.Why).To(MatchRegexp(`^\+\S+s \(\+\S+ %; 95 % interval \+\S+s to \+\S+s; 20 trials\), p < 0\.0001 after correction for 1 test$`))
		Expect(r.Verdict).To(Equal(gate.Fail))
	})
	It("is worse at exactly the level, and not below it", func() {
		before, after := []float64{5, 5, 6, 7, 8}, []float64{11, 12, 13, 14, 15}
		for alpha, want := range map[float64]compare.Verdict{2.0 / 252: compare.Worse, math.Nextafter(2.0/252, 0): compare.Insufficient} {
			b := run(real("a", 5, measured("calls", "", before...)))
			b.Rules = compare.DefaultRules()
			b.Rules.Alpha = alpha
			Expect(of(compare.Compare(b, run(real("a", 5, measured("calls", "", after...))), compare.Options{}), "calls").Verdict).To(Equal(want))
		}
	})
	It("is better the other way", func() {
		r, c := compared(around(12, 20, 3), around(10, 20, 7))
		Expect(c.Verdict).To(Equal(compare.Better))
		Expect(r.Verdict).To(Equal(gate.Pass))
	})
	It("is tied if the whole interval is within the margin", func() {
		_, c := compared(around(100, 40, 3), around(100.5, 40, 7))
		Expect(c.Verdict).To(Equal(compare.Tied), c.Why)
		Expect(c.Why).To(HaveSuffix("all of it within the smallest effect of interest, 5s"))
	})
	It("is tied even if it is significant", func() {
		before := around(100, 40, 3)
		after := slices.Clone(before)
		for i := range after {
			after[i]++
		}
		_, c := compared(before, after)
		Expect(*c.P).To(BeNumerically("<", 0.001))
		Expect(c.Verdict).To(Equal(compare.Tied))
	})
	It("is undecided with few trials, with the number needed", func() {
		_, c := compared([]float64{1, 2}, []float64{3, 5})
		Expect(c.Verdict).To(Equal(compare.Insufficient))
		Expect(c.P).To(BeNil())
		Expect(c.Why).To(Equal("+2.5s (+167 %; 2 trials); at least 4 trials are needed"))
	})
	It("is undecided with much noise, with the number of trials that would decide", func() {
		r, c := compared(around(10, 8, 3), around(10.3, 8, 5))
		Expect(c.Verdict).To(Equal(compare.Insufficient))
		Expect(c.Why).To(MatchRegexp(`, p = 0\.\d+ after correction for 1 test; about \d+ trials would decide$`))
		Expect(r.Verdict).To(Equal(gate.Pass), "a test was carried out and found nothing")
	})
	It("is any wall-clock time, even if it is equal in all trials", func() {
		for _, n := range []int{1, 3} {
			r := one(real("a", n, measured("calls", "", 1), measured("duration", "s", 1)), real("a", n, measured("calls", "", 1), measured("duration", "s", 1.001)))
			Expect(of(r, "duration").Rule).To(Equal(compare.Paired))
			Expect(of(r, "duration").Verdict).To(Equal(compare.Insufficient))
			Expect(r.Verdict).To(Equal(gate.Pass))
		}
	})
	DescribeTable("has a smallest effect of interest: that of cost and tokens is their limit",
		func(name string, rules compare.Rules, verdict compare.Verdict) {
			values := around(100, 40, 3)
			more := slices.Clone(values)
			for i := range more {
				more[i] += 10
			}
			before := run(real("a", 40, measured(name, "", values...)))
			before.Rules = rules
			c := of(compare.Compare(before, run(real("a", 40, measured(name, "", more...))), compare.Options{}), name)
			Expect(c.Rule).To(Equal(compare.Paired))
			Expect(c.Verdict).To(Equal(verdict), c.Why)
		},
		Entry("cost_eur within its limit", "cost_eur", compare.Rules{Alpha: 0.05, Margin: 0.01, Cost: 0.2, Tokens: 0.01}, compare.Tied),
		Entry("cost_eur beyond its limit", "cost_eur", compare.Rules{Alpha: 0.05, Margin: 0.2, Cost: 0.01, Tokens: 0.2}, compare.Worse),
		Entry("tokens within its limit", "tokens", compare.Rules{Alpha: 0.05, Margin: 0.01, Cost: 0.01, Tokens: 0.2}, compare.Tied),
		Entry("tokens beyond its limit", "tokens", compare.Rules{Alpha: 0.05, Margin: 0.2, Cost: 0.2, Tokens: 0.01}, compare.Worse),
		Entry("calls within its limit", "calls", compare.Rules{Alpha: 0.05, Margin: 0.2, Cost: 0.01, Tokens: 0.01}, compare.Tied),
		Entry("calls beyond its limit", "calls", compare.Rules{Alpha: 0.05, Margin: 0.01, Cost: 0.2, Tokens: 0.2}, compare.Worse),
	)
	It("is equal if no trial differs", func() {
		r := one(real("a", 2, measured("duration", "s", 1, 2)), real("a", 2, measured("duration", "s", 1, 2)))
		Expect(r.Comparisons).To(BeEmpty())
		Expect(r.Verdict).To(Equal(gate.Pass))
	})
	It("is corrected for the tests of all scenarios that could be significant", func() {
		before, after := []compare.Scenario{}, []compare.Scenario{}
		for _, name := range []string{"a", "b", "c"} {
			before = append(before, real(name, 20, measured("duration", "s", around(10, 20, 3)...)))
			after = append(after, real(name, 20, measured("duration", "s", around(10.6, 20, 7)...)))
		}
		before = append(before, real("d", 3, measured("calls", "", 1), measured("duration", "s", 1, 2, 3)))
		after = append(after, real("d", 3, measured("calls", "", 1), measured("duration", "s", 4, 2, 3)))
		r := compare.Compare(run(before...), run(after...), compare.Options{})
		Expect(*r.Comparisons[0].P).To(BeNumerically("<", 0.1))
		Expect(*r.Comparisons[0].Adjusted).To(BeNumerically("~", math.Min(1, 3**r.Comparisons[0].P), 1e-12))
		Expect(of(compare.Result{Comparisons: r.Comparisons[3:]}, "duration").P).To(BeNil())
	})
	It("is not tested if too few trials differ", func() {
		_, c := compared([]float64{1, 1, 1, 1, 1, 1, 1, 2}, []float64{1, 1, 1, 1, 9, 9, 9, 9})
		Expect(c.P).To(BeNil())
		Expect(c.Verdict).To(Equal(compare.Insufficient))
	})
	It("is one with differing trials on either side", func() {
		c := of(one(real("a", 8, measured("calls", "", 5)), real("a", 8, measured("calls", "", around(9, 8, 3)...))), "calls")
		Expect(c.Rule).To(Equal(compare.Paired))
	})
	It("is one whose scenario or seed has changed", func() {
		for _, key := range []string{"digest", "seed"} {
			after := passed("a", 8, measured("calls", "", around(9, 8, 3)...))
			after.Expectations[key] = "other"
			c := of(one(passed("a", 8, measured("calls", "", around(5, 8, 3)...)), after), "calls")
			Expect(c.Rule).To(Equal(compare.Paired), key)
		}
	})
})

var _ = Describe("an unknown value", Label("H-06"), func() {
	compared := func(before, after compare.Measure) compare.Result {
		return one(passed("a", 1, measured("calls", "", 1), before), passed("a", 1, measured("calls", "", 1), after))
	}

	It("fails if it was known before", func() {
		r := compared(measured("cost_eur", "EUR", 1), unknown("cost_eur", "EUR"))
		Expect(of(r, "cost_eur").Verdict).To(Equal(compare.Insufficient))
		Expect(of(r, "cost_eur").Why).To(Equal("it was known before and is not now"))
		Expect(rules(r)).To(Equal([]string{"not-comparable"}))
		Expect(r.Verdict).To(Equal(gate.Error))
	})
	It("is listed if it was unknown before, or on both sides", func() {
		for why, m := range map[string]compare.Measure{
			"it was not known before":        measured("cost_eur", "EUR", 1),
			"it is not known on either side": unknown("cost_eur", "EUR"),
		} {
			r := compared(unknown("cost_eur", "EUR"), m)
			Expect(of(r, "cost_eur").Verdict).To(Equal(compare.Insufficient))
			Expect(of(r, "cost_eur").Why).To(Equal(why))
			Expect(r.Verdict).To(Equal(gate.Pass))
			Expect(r.Equal).To(Equal(3), "calls, status, pass rate")
		}
	})
	It("fails if it was partly known before", func() {
		r := compared(bound("tokens", "", 100), unknown("tokens", ""))
		Expect(rules(r)).To(Equal([]string{"not-comparable"}))
		Expect(r.Verdict).To(Equal(gate.Error))
	})
	DescribeTable("is compared by its lower bounds if it repeats",
		func(before, after compare.Measure, calls float64, verdict compare.Verdict, why string, finds ...string) {
			r := one(passed("a", 1, measured("calls", "", 3), before), passed("a", 1, measured("calls", "", calls), after))
			c := of(r, "tokens")
			Expect(c.Rule).To(Equal(compare.Relative))
			Expect(c.Verdict).To(Equal(verdict))
			Expect(c.Why).To(Equal(why))
			Expect(append([]string{}, rules(r)...)).To(Equal(finds))
		},
		Entry("the same", bound("tokens", "", 100), bound("tokens", "", 100), 3.0, compare.Insufficient,
			"it is not known on either side: at least 100 before and at least 100 now"),
		Entry("nearly the same", bound("tokens", "", 100), bound("tokens", "", 95), 3.0, compare.Insufficient,
			"it is not known on either side: at least 100 before and at least 95 now: -5 %"),
		Entry("a little more", bound("tokens", "", 100), bound("tokens", "", 105), 3.0, compare.Insufficient,
			"it is not known on either side: at least 100 before and at least 105 now: +5 %"),
		Entry("much more", bound("tokens", "", 711), bound("tokens", "", 71_100), 3.0, compare.Worse,
			"at least 711 before and at least 71,100 now: +9900 %, over the limit of 5 % in the known part alone", "regression"),
		Entry("more by fewer calls", bound("tokens", "", 100), bound("tokens", "", 106), 2.0, compare.Worse,
			"at least 100 before and at least 106 now: +6 %, over the limit of 5 % in the known part alone", "regression"),
		Entry("less, without an explanation", bound("tokens", "", 100), bound("tokens", "", 90), 3.0, compare.Insufficient,
			"at least 100 before and at least 90 now: -10 %; as many calls were made, so perhaps only less of it is known now", "not-comparable"),
		Entry("less, by fewer calls", bound("tokens", "", 100), bound("tokens", "", 90), 2.0, compare.Insufficient,
			"it is not known on either side: at least 100 before and at least 90 now: -10 %"),
		Entry("known before", measured("tokens", "", 100), bound("tokens", "", 90), 3.0, compare.Insufficient,
			"it was known before and is not now: 100 before and at least 90 now: -10 %", "not-comparable"),
		Entry("known before, and more", measured("tokens", "", 100), bound("tokens", "", 110), 3.0, compare.Worse,
			"100 before and at least 110 now: +10 %, over the limit of 5 % in the known part alone", "regression"),
		Entry("known now, and perhaps more", bound("tokens", "", 100), measured("tokens", "", 110), 3.0, compare.Insufficient,
			"at least 100 before and 110 now: +10 %; it was only partly known before, so it may or may not be more now", "not-comparable"),
		Entry("known now, and not more", bound("tokens", "", 100), measured("tokens", "", 105), 3.0, compare.Tied,
			"at least 100 before and 105 now: +5 %, within the limit of 5 %"),
		Entry("known now, and less", bound("tokens", "", 100), measured("tokens", "", 90), 3.0, compare.Better,
			"at least 100 before and 90 now: -10 %, by more than the limit of 5 %"),
	)
	It("is not compared by bounds that vary by chance", func() {
		r := one(real("a", 2, measured("calls", "", 1), bound("tokens", "", 100, 120)), real("a", 2, measured("calls", "", 1), bound("tokens", "", 300, 320)))
		Expect(of(r, "tokens").Rule).To(Equal(compare.Paired))
		Expect(of(r, "tokens").Verdict).To(Equal(compare.Insufficient))
	})
	It("fails if there was something to measure before", func() {
		for _, gone := range []compare.Measure{measured("tokens", "", 100, 100), measured("latency_p95", "s", 1), measured("retries", "", 0)} {
			for _, now := range []compare.Measure{measured("calls", "", 1), {Name: gone.Name, Unit: gone.Unit, Known: true}} {
				r := compared(gone, now)
				Expect(of(r, gone.Name).Why).To(Equal("there is nothing to measure now"))
				Expect(rules(r)).To(Equal([]string{"not-comparable"}), gone.Name)
				Expect(r.Verdict).To(Equal(gate.Error))
			}
		}
	})
	It("is listed if there was nothing to measure before", func() {
		r := compared(measured("calls", "", 1), measured("retries", "", 0))
		Expect(of(r, "retries").Why).To(Equal("there was nothing to measure before"))
		Expect(of(r, "retries").Verdict).To(Equal(compare.Insufficient))
		Expect(r.Verdict).To(Equal(gate.Pass))
	})
	It("may be the latency of calls if no calls are made now", func() {
		r := one(passed("a", 1, measured("calls", "", 1), measured("latency_p95", "s", 1)), passed("a", 1, measured("calls", "", 0)))
		Expect(of(r, "latency_p95").Why).To(Equal("there is nothing to measure now"))
		Expect(rules(r)).To(BeEmpty())
		for _, m := range []compare.Measure{measured("duration", "s", 1), measured("tokens", "", 1)} {
			r = one(passed("a", 1, measured("calls", "", 1), m), passed("a", 1, measured("calls", "", 0)))
			Expect(rules(r)).To(Equal([]string{"not-comparable"}))
		}
	})
	It("is also a value that is not finite", func() {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, r := range []compare.Result{
				compared(measured("duration", "s", bad), measured("duration", "s", bad)),
				compared(measured("duration", "s", 1), measured("duration", "s", bad)),
			} {
				Expect(of(r, "duration").Verdict).To(Equal(compare.Insufficient))
				Expect(r.Verdict).To(Equal(gate.Error))
			}
		}
	})
	It("is also a value with another unit", func() {
		r := compared(measured("duration", "s", 1), measured("duration", "EUR", 1))
		Expect(of(r, "duration").Verdict).To(Equal(compare.Insufficient))
		Expect(r.Verdict).To(Equal(gate.Error))
	})
	It("is also a time that is real on one side only", func() {
		r := one(passed("a", 1, measured("calls", "", 1), measured("duration", "s", 1)), real("a", 1, measured("calls", "", 1), measured("duration", "s", 1)))
		Expect(of(r, "duration").Why).To(Equal("one side ran in real time and the other in virtual time"))
		Expect(rules(r)).To(Equal([]string{"changed-expectation"}))
	})
	It("makes the scenario an error if no measure could be compared", func() {
		r := one(real("a", 2, measured("duration", "s", 1, 2)), real("a", 2, measured("duration", "s", 2, 4)))
		Expect(rules(r)).To(Equal([]string{"nothing-comparable"}))
		Expect(r.Verdict).To(Equal(gate.Error))
	})
})
