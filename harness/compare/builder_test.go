package compare_test

import (
	"encoding/json"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// one returns a run of a scenario with n planned trials and the given completed ones.
func oneTrial(n int, trials ...func(*measure.Facts)) compare.Scenario {
	GinkgoHelper()
	var b compare.Builder
	b.Begin(head("s", n))
	for i, change := range trials {
		if change == nil {
			continue
		}
		f := facts(2, 1)
		change(f)
		b.Add(head("s", n), i+1, f, nil)
	}
	return closed(&b)
}

func closed(b *compare.Builder) compare.Scenario {
	GinkgoHelper()
	out, err := b.Close()
	Expect(err).NotTo(HaveOccurred())
	Expect(out.Scenarios).To(HaveLen(1))
	return out.Scenarios[0]
}

func same(*measure.Facts) {}

func calls(n int) func(*measure.Facts) {
	return func(f *measure.Facts) { f.Calls.Total, f.Latency.N = n, n }
}

func measuredIn(s compare.Scenario, name string) compare.Measure {
	GinkgoHelper()
	m, ok := s.Measure(name)
	Expect(ok).To(BeTrue(), name)
	return m
}

var _ = Describe("the summary of a run", Label("H-06"), func() {
	It("has the value and the count of a measure that repeats", func() {
		s := oneTrial(3, same, same, same)
		Expect(measuredIn(s, "calls")).To(Equal(compare.Measure{Name: "calls", Known: true, Value: ptr(2.0), N: 3}))
		Expect(s.Ends).To(Equal([]compare.End{{Verdict: gate.Pass, Status: "done"}}))
		end, ok := s.End(3)
		Expect(ok).To(BeTrue())
		Expect(end).To(Equal(compare.End{Verdict: gate.Pass, Status: "done"}))
		_, ok = s.End(4)
		Expect(ok).To(BeFalse())
	})

	It("has the values of a measure that varies, with the interval of its mean", func() {
		m := measuredIn(oneTrial(3, calls(1), calls(2), calls(6)), "calls")
		Expect(m.Trials).To(Equal([]*float64{ptr(1.0), ptr(2.0), ptr(6.0)}))
		Expect(*m.Value).To(Equal(3.0))
		// 3 ± 4.302653 · sqrt(7)/sqrt(3), as s² = (4 + 1 + 9)/2.
		Expect(m.Interval.Lo).To(BeNumerically("~", 3-4.302653*math.Sqrt(7.0/3), 1e-5))
		Expect(m.Interval.Hi).To(BeNumerically("~", 3+4.302653*math.Sqrt(7.0/3), 1e-5))
		value, ok := m.At(3)
		Expect(ok).To(BeTrue())
		Expect(value).To(Equal(6.0))
		for _, n := range []int{-1, 0, 4} {
			_, ok = m.At(n)
			Expect(ok).To(BeFalse(), "%d", n)
		}
	})

	It("never replaces unknown values", func() {
		s := oneTrial(2, same, func(f *measure.Facts) {
			f.Cost, f.Tokens, f.Run.DurationKnown = measure.CostFacts{}, measure.TokenFacts{}, false
		})
		for _, name := range []string{"cost_eur", "tokens", "tokens_input", "duration"} {
			m := measuredIn(s, name)
			Expect(m.Known).To(BeFalse(), name)
			Expect(m.N).To(Equal(1), name)
			Expect(m.Trials).To(HaveLen(1), name)
			_, ok := m.At(2)
			Expect(ok).To(BeFalse(), name)
		}
		never := measuredIn(oneTrial(1, func(f *measure.Facts) { f.Cost = measure.CostFacts{} }), "cost_eur")
		Expect(never).To(Equal(compare.Measure{Name: "cost_eur", Unit: "EUR"}))
		Expect(measuredIn(oneTrial(1, func(f *measure.Facts) { f.Run.Duration = math.NaN() }), "duration").Known).To(BeFalse())
	})

	It("has a partly known value as a lower bound", func() {
		s := oneTrial(2, same, func(f *measure.Facts) {
			f.Tokens.Known, f.Tokens.Total, f.Run.DurationKnown = false, 20, false
		})
		m := measuredIn(s, "tokens")
		Expect(m.Known).To(BeFalse())
		Expect(m.Trials).To(Equal([]*float64{ptr(120.0), ptr(20.0)}))
		Expect(*m.Value).To(Equal(70.0))
		Expect(m.Interval).To(BeNil())
	})

	It("stores how each trial ended if they differ, even with the same status", func() {
		exits := oneTrial(2, same, func(f *measure.Facts) { f.Run.ExitCode = 1 })
		Expect(exits.Status).To(Equal("done"))
		Expect(exits.Ends).To(Equal([]compare.End{{Verdict: gate.Pass, Status: "done"}, {Verdict: gate.Pass, Status: "done", ExitCode: 1}}))

		var b compare.Builder
		b.Add(head("s", 2), 1, facts(2, 1), nil)
		b.Add(head("s", 2), 2, facts(2, 1), failing)
		judged := closed(&b)
		Expect(judged.Status).To(Equal("done"))
		Expect(judged.Ends).To(Equal([]compare.End{{Verdict: gate.Pass, Status: "done"}, {Verdict: gate.Fail, Status: "done"}}))
	})

	It("is an error if trials are missing, and pairs the others by their number", func() {
		s := oneTrial(3, calls(1), nil, calls(3))
		Expect(s.Verdict).To(Equal(gate.Error))
		Expect(s.Trials).To(Equal(compare.Trials{Planned: 3, Pass: 2}))
		Expect(measuredIn(s, "calls").Trials).To(Equal([]*float64{ptr(1.0), nil, ptr(3.0)}))
		Expect(s.Ends).To(HaveLen(3))
		_, ok := s.End(2)
		Expect(ok).To(BeFalse())
		late := oneTrial(3, nil, nil, same)
		_, ok = late.End(1)
		Expect(ok).To(BeFalse())
		m := measuredIn(late, "calls")
		_, ok = m.At(1)
		Expect(ok).To(BeFalse(), "the value of trial 3 is not that of trial 1")
	})

	It("has the trials by number, in whatever order they are added", func() {
		var b compare.Builder
		for _, n := range []int{3, 1, 2} {
			b.Add(head("s", 3), n, facts(n, 1), nil)
		}
		Expect(measuredIn(closed(&b), "calls").Trials).To(Equal([]*float64{ptr(1.0), ptr(2.0), ptr(3.0)}))
	})

	It("has a scenario without trials", func() {
		s := oneTrial(2)
		Expect(s.Verdict).To(Equal(gate.Error))
		Expect(s.Measures).To(BeEmpty())
	})

	DescribeTable("takes the worst verdict", func(want gate.Verdict, severities ...gate.Severity) {
		var b compare.Builder
		for i, severity := range severities {
			b.Add(head("s", len(severities)), i+1, facts(1, 1), []gate.Finding{{Severity: severity}})
		}
		Expect(closed(&b).Verdict).To(Equal(want))
	},
		Entry("passed", gate.Pass, gate.Info, gate.Info),
		Entry("failed", gate.Fail, gate.Info, gate.Failing),
		Entry("failed before it was skipped", gate.Fail, gate.Failing, gate.Skipped),
		Entry("broke", gate.Error, gate.Failing, gate.Broken),
		Entry("skipped", gate.Skip, gate.Skipped, gate.Skipped),
	)

	It("has the values of 200 trials, and counts the others", func() {
		var b compare.Builder
		for n := 1; n <= 250; n++ {
			f := facts(2, 1)
			if n > 200 {
				f.Calls.Total, f.Run.Status = 3, "error"
			}
			b.Add(head("s", 250), n, f, nil)
		}
		s := closed(&b)
		m := measuredIn(s, "calls")
		Expect(m.Trials).To(HaveLen(compare.MaxTrials))
		Expect(m.N).To(Equal(250))
		Expect(*m.Value).To(Equal(2.2)) // (200·2 + 50·3)/250
		Expect(s.Status).To(Equal(compare.Mixed))
		Expect(s.Ends).To(HaveLen(compare.MaxTrials))
	})

	It("can be closed again", func() {
		b := compare.Builder{Run: record.Run{ID: "r", Tool: "t", Prices: "2026-11-20"}}
		b.Add(head("s", 2), 1, facts(1, 1), nil)
		first, err := b.Close()
		Expect(err).NotTo(HaveOccurred())
		b.Add(head("s", 2), 2, facts(5, 1), nil)
		second, err := b.Close()
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Scenarios[0].Trials.Pass).To(Equal(1))
		Expect(first.Scenarios[0].Ends).To(HaveLen(1))
		Expect(second.Scenarios[0].Trials.Pass).To(Equal(2))
		Expect(second.Run + second.Tool + second.Prices).To(Equal("rt2026-11-20"))
		Expect(second.Rules).To(Equal(compare.DefaultRules()))
	})

	It("has times of real processes only if there are enough for a test", func() {
		timed := func(n int) string {
			h := head("s", n)
			h.RealTime = true
			var b compare.Builder
			for i := 1; i <= n; i++ {
				b.Add(h, i, facts(1, float64(i)), nil)
			}
			out, err := b.Close()
			Expect(err).NotTo(HaveOccurred())
			return string(compare.Encode(out))
		}
		Expect(timed(compare.MinTimed - 1)).To(ContainSubstring(`"duration": {"unit":"s","unknown":true,"n":0}`))
		Expect(timed(compare.MinTimed)).To(ContainSubstring(`"trials":[1,2,3,4,5,6]`))
	})
})

var _ = Describe("the expectations", Label("H-06"), func() {
	expectations := func(change func(*record.Scenario)) map[string]string {
		GinkgoHelper()
		h := head("s", 1)
		change(&h)
		var b compare.Builder
		b.Begin(h)
		return closed(&b).Expectations
	}

	DescribeTable("change with", func(key, want string, change func(*record.Scenario)) {
		before := expectations(func(*record.Scenario) {})
		after := expectations(change)
		Expect(after[key]).To(Equal(want))
		Expect(before[key]).NotTo(Equal(want))
		delete(before, key)
		delete(after, key)
		Expect(after).To(Equal(before), "nothing else")
	},
		Entry("a count", "expect.calls", "at most 9", func(s *record.Scenario) { s.Expect.Calls.Exactly, s.Expect.Calls.AtMost = nil, ptr(9) }),
		Entry("a count of nothing", "expect.calls", "exactly 0", func(s *record.Scenario) { s.Expect.Calls.Exactly = ptr(0) }),
		Entry("no count", "expect.calls", "", func(s *record.Scenario) { s.Expect.Calls = nil }),
		Entry("the status", "expect.status", "error", func(s *record.Scenario) { s.Expect.Status = "error" }),
		Entry("the exit code", "expect.exit_code", "", func(s *record.Scenario) { s.Expect.ExitCode = nil }),
		Entry("the cost", "expect.cost", "at most 9 EUR", func(s *record.Scenario) { s.Expect.Cost.AtMost.Amount = 9 }),
		Entry("no duration at all", "expect.duration", "0s", func(s *record.Scenario) { s.Expect.Duration = ptr(quantity.Duration(0)) }),
		Entry("an expression", "expect.that[0]", "true", func(s *record.Scenario) { s.Expect.That[0] = "true" }),
		Entry("a label", "expect.stops[0]", "clean", func(s *record.Scenario) { s.Expect.Stops = []string{"clean"} }),
		Entry("tolerance", "expect.allow[1]", "unexpected-call", func(s *record.Scenario) { s.Expect.Allow = append(s.Expect.Allow, "unexpected-call") }),
		Entry("an invariant", "invariants[0]", "calls.total < 9", func(s *record.Scenario) { s.Invariants = []string{"calls.total < 9"} }),
		Entry("perturbations", "perturb[0]", "call=1:timeout", func(s *record.Scenario) { s.Perturb = []string{"call=1:timeout"} }),
		Entry("a limit", "limits.max_iterations", "11", func(s *record.Scenario) {
			s.Limits = json.RawMessage(`{"prompt":"Fix it.","max_iterations":11,"timeout":"5m0s","inner":{"rounds":5}}`)
		}),
		Entry("no limit", "limits.timeout", "", func(s *record.Scenario) {
			s.Limits = json.RawMessage(`{"prompt":"Fix it.","max_iterations":10,"timeout":"0s","inner":{"rounds":5}}`)
		}),
		Entry("a price", "price", "0.4 in, 0 cached, 0 written, 3 out USD a million, 0.85 EUR a USD", func(s *record.Scenario) { s.Price.Output = 3 }),
		Entry("no price", "price", "unknown", func(s *record.Scenario) { s.Price = nil }),
		Entry("the files", "digest", "sha256:4567", func(s *record.Scenario) { s.Digest = "sha256:4567" }),
		Entry("the number of trials", "trials", "9", func(s *record.Scenario) { s.Trials = 9 }),
		Entry("the seed", "seed", "8", func(s *record.Scenario) { s.Seed = 8 }),
		Entry("the clock", "clock", "real", func(s *record.Scenario) { s.RealTime = true }),
		Entry("the backend", "backend", "socket", func(s *record.Scenario) { s.Backend = "socket" }),
		Entry("the model", "model", "gpt-5", func(s *record.Scenario) { s.Model = "gpt-5" }),
	)

	It("do not change with the date of a price", func() {
		Expect(expectations(func(s *record.Scenario) { s.Price.Date, s.Price.Source = "2027-01-01", "elsewhere" })).
			To(Equal(expectations(func(*record.Scenario) {})))
	})

	It("abbreviate long texts, which stay distinct", func() {
		long := make([]byte, 10_000)
		for i := range long {
			long[i] = 'x'
		}
		text := func(end string) string {
			return expectations(func(s *record.Scenario) { s.Expect.That[0] = string(long) + end })["expect.that[0]"]
		}
		Expect(len(text("a"))).To(BeNumerically("<", 200))
		Expect(text("a")).NotTo(Equal(text("b")))
	})

	It("format limits in words, and other objects key by key", func() {
		with := expectations(func(s *record.Scenario) {
			s.Limits = json.RawMessage(`{"rounds":{"at_least":1,"at_most":3},"retries":{"at_most":3,"every":2}}`)
		})
		Expect(with).To(HaveKeyWithValue("limits.rounds", "at least 1 and at most 3"))
		Expect(with).To(HaveKeyWithValue("limits.retries.at_most", "3"))
		Expect(with).To(HaveKeyWithValue("limits.retries.every", "2"))
		Expect(with).NotTo(HaveKey("limits.retries"))
	})

	It("cannot be computed from limits that are not JSON", func() {
		h := head("s", 1)
		h.Limits = json.RawMessage(`{"a":`)
		var b compare.Builder
		b.Begin(h)
		_, err := b.Close()
		Expect(err).To(MatchError(ContainSubstring("read the limits of s")))
	})

	It("have one hash", func() {
		a, b := sample(), sample()
		Expect(a.Gates()).To(Equal(b.Gates()))
		b.Scenarios[1].Expectations["expect.calls"] = "exactly 3"
		Expect(a.Gates()).NotTo(Equal(b.Gates()))
		b = sample()
		b.Scenarios = b.Scenarios[:2]
		Expect(a.Gates()).NotTo(Equal(b.Gates()))
		b = sample()
		b.Scenarios[0].Measures = nil
		Expect(a.Gates()).To(Equal(b.Gates()), "measures are not expectations")
	})
})

var _ = Describe("Rules", func() {
	DescribeTable("are validated", func(change func(*compare.Rules), message string) {
		r := compare.DefaultRules()
		Expect(r.Validate()).To(Succeed())
		change(&r)
		Expect(r.Validate()).To(MatchError(ContainSubstring(message)))
	},
		Entry("alpha 0", func(r *compare.Rules) { r.Alpha = 0 }, "got 0"),
		Entry("alpha 1", func(r *compare.Rules) { r.Alpha = 1 }, "got 1"),
		Entry("alpha math.NaN()", func(r *compare.Rules) { r.Alpha = math.NaN() }, "got NaN"),
		Entry("margin -0.1", func(r *compare.Rules) { r.Margin = -0.1 }, "got -0.1"),
		Entry("cost math.Inf(1)", func(r *compare.Rules) { r.Cost = math.Inf(1) }, "got +Inf"),
		Entry("tokens math.NaN()", func(r *compare.Rules) { r.Tokens = math.NaN() }, "got NaN"),
	)
})
