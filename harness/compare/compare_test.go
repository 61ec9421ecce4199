package compare_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

var _ = Describe("scenarios", Label("H-06"), func() {
	calls := measured("calls", "", 1)

	It("that are missing or new fail, by name", func() {
		r := compare.Compare(run(passed("a", 1, calls), passed("b", 1, calls)), run(passed("b", 1, calls), passed("c", 1, calls)), compare.Options{})
		Expect(r.Missing).To(Equal([]string{"a"}))
		Expect(r.New).To(Equal([]string{"c"}))
		Expect(r.Verdict).To(Equal(gate.Fail))
		Expect(rules(r)).To(ConsistOf("missing-scenario", "new-scenario"))
		Expect(r.Findings[0].Scenario).To(Equal("a"))
		Expect(r.Findings[0].Measure).To(BeEmpty())
	})
	It("without a counterpart are not compared", func() {
		for _, r := range []compare.Result{
			compare.Compare(run(), run(), compare.Options{}),
			compare.Compare(run(passed("a", 1, calls)), run(), compare.Options{}),
			compare.Compare(run(passed("a", 1, calls)), run(passed("b", 1, calls)), compare.Options{}),
		} {
			Expect(r.Verdict).To(Equal(gate.Error))
			Expect(rules(r)).To(ContainElement("nothing-compared"))
		}
	})
	It("whose trials are missing, broken or skipped cannot pass", func() {
		for want, trials := range map[string]compare.Trials{
			"1 of 3 trials now have no result":                        {Planned: 3, Pass: 2},
			"the harness could not run 1 of 3 trials now":             {Planned: 3, Pass: 2, Error: 1},
			"2 of 3 trials now were skipped":                          {Planned: 3, Pass: 1, Skip: 2},
			"0 of 0 trials now were skipped":                          {},
			"the counts of its trials now are impossible: {Planned:3": {Planned: 3, Pass: math.MinInt},
		} {
			after := passed("a", 3, calls)
			after.Trials = trials
			r := one(passed("a", 3, calls), after)
			Expect(r.Verdict).To(Equal(gate.Error))
			Expect(r.Findings[0].Message).To(HavePrefix(want))
			Expect(one(after, passed("a", 3, calls)).Verdict).To(Equal(gate.Error))
		}
	})
	It("that were skipped before are new, and skipped on both sides are noted", func() {
		skipped := passed("a", 2, calls)
		skipped.Trials = compare.Trials{Planned: 2, Skip: 2}
		Expect(rules(one(skipped, passed("a", 2, calls)))).To(Equal([]string{"new-scenario"}))
		also := passed("b", 2, calls)
		r := compare.Compare(run(skipped, also), run(skipped, also), compare.Options{})
		Expect(r.Findings).To(HaveExactElements(HaveField("Rule", "skipped")))
		Expect(r.Comparisons).To(BeEmpty())
		Expect(r.Verdict).To(Equal(gate.Pass))
	})
	It("that were all skipped on both sides are not compared", func() {
		skipped := passed("a", 2, calls)
		skipped.Trials = compare.Trials{Planned: 2, Skip: 2}
		r := one(skipped, skipped)
		Expect(rules(r)).To(Equal([]string{"nothing-compared"}))
		Expect(r.Verdict).To(Equal(gate.Error))
	})
	It("with changed expectations fail, separately from changed measures", func() {
		after := passed("a", 1, measured("calls", "", 2))
		after.Expectations["expect.calls"], after.Expectations["digest"], after.Expectations["limits.tokens"] = "at most 99", "sha256:2", "5"
		delete(after.Expectations, "seed")
		r := one(passed("a", 1, calls), after)
		Expect(r.Changed).To(Equal([]compare.ExpectationChange{
			{Scenario: "a", What: "digest", Before: "sha256:1", After: "sha256:2"},
			{Scenario: "a", What: "expect.calls", Before: "at most 9", After: "at most 99"},
			{Scenario: "a", What: "limits.tokens", Before: "", After: "5"},
			{Scenario: "a", What: "seed", Before: "7", After: ""},
		}))
		Expect(rules(r)).To(ConsistOf("changed-expectation", "changed-expectation", "changed-expectation", "regression"))
		Expect(of(r, "calls").Why).To(Equal("1 before and 2 now; its files have changed too"))
		Expect(r.Findings).To(ContainElement(And(
			HaveField("At", "expect.calls"), HaveField("Message", `expect.calls was "at most 9" and is "at most 99"`),
		)))
		Expect(r.Findings).To(ContainElement(HaveField("Message", `limits.tokens was not given and is "5"`)))
	})
	It("may have settings that older recordings lack, if their files are the same", func() {
		after := passed("a", 1, calls)
		after.Expectations["limits.tokens"] = "5"
		r := one(passed("a", 1, calls), after)
		Expect(r.Changed).To(BeEmpty())
		Expect(r.Verdict).To(Equal(gate.Pass))
		before := passed("a", 1, calls)
		before.Expectations["limits.tokens"] = "4"
		Expect(one(before, after).Verdict).To(Equal(gate.Fail), "a setting that changed")
	})
	It("whose files changed otherwise fail, too", func() {
		after := passed("a", 1, calls)
		after.Expectations["digest"] = "sha256:2"
		r := one(passed("a", 1, calls), after)
		Expect(r.Findings).To(HaveExactElements(And(
			HaveField("Rule", "changed-expectation"), HaveField("At", ""), HaveField("Evidence", "sha256:1 before, sha256:2 now"),
			HaveField("Message", HaveSuffix("; its file, or a file that it names, has changed")),
		)))
		Expect(r.Verdict).To(Equal(gate.Fail))
	})
	It("whose files changed are compared by their hashes", func() {
		before, after := passed("a", 1, calls), passed("a", 1, calls)
		before.Files = map[string]string{"a.yaml": "1", "same.txt": "2", "gone.txt": "3"}
		after.File, after.Files = "folder/a.yaml", map[string]string{"a.yaml": "4", "same.txt": "2", "../new.txt": "5"}
		Expect(one(before, after).Changed).To(BeEmpty(), "a file that is not part of the digest")
		after.Expectations["digest"] = "sha256:2"
		r := one(before, after)
		Expect(r.Changed).To(HaveExactElements(HaveField("Files", []string{"new.txt", "folder/a.yaml", "folder/gone.txt"})))
		Expect(r.Findings).To(HaveExactElements(
			HaveField("Message", "the compared scenarios differ; changed files: new.txt, folder/a.yaml, folder/gone.txt")))
	})
})

var _ = Describe("the runs as a whole", Label("H-06"), func() {
	calls := measured("calls", "", 1)

	It("may have different tools and price tables, which is noted", func() {
		before, after := run(passed("a", 1, calls)), run(passed("a", 1, calls))
		after.Tool, after.Prices = "rehearse 2", ""
		r := compare.Compare(before, after, compare.Options{})
		Expect(r.Verdict).To(Equal(gate.Pass))
		Expect(r.Findings).To(HaveExactElements(
			HaveField("Message", "the price table was of 2026-11-01 and is of an unknown date"),
			HaveField("Message", "this run was made by rehearse 2, the one before by rehearse 1"),
		))
	})
	It("add the findings of the caller", func() {
		torn := gate.Finding{Severity: gate.Broken, Rule: "torn", Message: "it was torn"}
		r := compare.Compare(run(passed("a", 1, calls)), run(passed("a", 1, calls)), compare.Options{Findings: []gate.Finding{torn}})
		Expect(r.Verdict).To(Equal(gate.Error))
		Expect(r.Findings).To(Equal([]compare.Finding{{Finding: torn}}))
	})
	It("are compared by other rules only as a changed expectation", func() {
		before := run(passed("a", 1, measured("tokens", "", 100)))
		before.Rules = compare.DefaultRules()
		wide := before.Rules
		wide.Tokens = 9
		r := compare.Compare(before, run(passed("a", 1, measured("tokens", "", 500))), compare.Options{Rules: wide})
		Expect(of(r, "tokens").Verdict).To(Equal(compare.Tied))
		Expect(r.Changed).To(Equal([]compare.ExpectationChange{{What: "rules.tokens", Before: "0.05", After: "9"}}))
		Expect(r.Verdict).To(Equal(gate.Fail))
	})
	It("are compared by default rules if theirs are invalid", func() {
		before := run(passed("a", 1, measured("tokens", "", 100)))
		before.Rules = compare.Rules{Alpha: math.NaN(), Tokens: 99}
		r := compare.Compare(before, run(passed("a", 1, measured("tokens", "", 500))), compare.Options{})
		Expect(of(r, "tokens").Verdict).To(Equal(compare.Worse))
	})
})

// changes returns a comparison with every kind of change.
func changes() compare.Result {
	before := run(
		passed("agents/exact", 2, measured("calls", "", 5, 6), measured("cost_eur", "EUR", 0.02, 0.02), measured("duration", "s", 3600, 3600)),
		judged(real("agents/flaky", 20, measured("calls", "", 3)), 19, 1),
		passed("agents/gone", 1, measured("calls", "", 1)),
		real("agents/noisy", 20, measured("calls", "", 4), measured("cost_eur", "EUR", around(5, 20, 3)...), measured("duration", "s", around(100, 20, 3)...), measured("latency_p95", "s", around(10, 20, 7)...)),
		passed("agents/stop", 1, measured("calls", "", 2)),
	)
	after := run(
		passed("agents/exact", 2, measured("calls", "", 5, 8), measured("cost_eur", "EUR", 0.0206, 0.0206), measured("duration", "s", 3000, 3000)),
		judged(real("agents/flaky", 20, measured("calls", "", 3)), 9, 11),
		real("agents/noisy", 20, measured("calls", "", 4), measured("cost_eur", "EUR", around(5.2, 20, 7)...), measured("duration", "s", around(100.4, 20, 7)...), measured("latency_p95", "s", around(12, 20, 3)...)),
		passed("agents/stop", 1, measured("calls", "", 2)),
		passed("agents/unblessed", 1, measured("calls", "", 1)),
	)
	before.Run, after.Run = "rehearse.baseline.json", "run-2"
	before.Scenarios[4].Stops = strings.Repeat("PN", 20) + strings.Repeat("p", 3) + strings.Repeat("n", 3)
	after.Scenarios[3].Stops = strings.Repeat("PN", 15) + strings.Repeat("np", 5) + strings.Repeat("p", 3) + "Pnn"
	after.Scenarios[0].Expectations["expect.calls"] = "at most 20"
	return compare.Compare(before, after, compare.Options{Findings: []gate.Finding{{Severity: gate.Info, Rule: "note", Message: "a note of the caller"}}})
}

var _ = Describe("a comparison", Label("H-06"), func() {
	It("is the golden one", func() {
		var got bytes.Buffer
		enc := json.NewEncoder(&got)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		Expect(enc.Encode(changes())).To(Succeed())
		golden.Expect("changes.json", got.Bytes())
	})
	It("is repeatable and sorted", func() {
		r := changes()
		Expect(changes()).To(Equal(r))
		Expect(slices.IsSortedFunc(r.Comparisons, func(a, b compare.Comparison) int {
			return strings.Compare(a.Scenario+"\x00"+a.Measure, b.Scenario+"\x00"+b.Measure)
		})).To(BeTrue())
	})

	It("of a run with itself has no findings", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			side := anything(rt, "side", true)
			if len(side.Scenarios) == 0 {
				return
			}
			r := compare.Compare(side, side, compare.Options{Resamples: 100})
			for _, c := range r.Comparisons {
				if c.Verdict == compare.Worse || c.Verdict == compare.Better || c.Verdict == compare.Tied {
					rt.Fatalf("%+v", c)
				}
			}
			if len(r.Changed)+len(r.Missing)+len(r.New) > 0 || r.Verdict == gate.Fail {
				rt.Fatalf("%+v", r)
			}
		})
	})

	It("of any runs is symmetric, and passes only if nothing is worse or missing", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			before, after := anything(rt, "before", false), anything(rt, "after", false)
			o := compare.Options{Resamples: 100}
			r, back := compare.Compare(before, after, o), compare.Compare(after, before, o)
			if _, err := json.Marshal(r); err != nil {
				rt.Fatalf("it cannot be written: %v", err)
			}
			worse := slices.ContainsFunc(r.Comparisons, func(c compare.Comparison) bool { return c.Verdict == compare.Worse })
			if r.Verdict == gate.Pass && (worse || len(r.Changed)+len(r.Missing)+len(r.New) > 0) || r.Verdict == gate.Skip {
				rt.Fatalf("%s: %+v", r.Verdict, r)
			}
			if !slices.Equal(r.Missing, back.New) || len(r.Changed) != len(back.Changed) || len(r.Comparisons) != len(back.Comparisons) {
				rt.Fatalf("%+v\ndoes not mirror\n%+v", r, back)
			}
			for i, c := range r.Comparisons {
				if b := back.Comparisons[i]; c.Rule == compare.Paired && c.Verdict == compare.Better && b.Verdict != compare.Worse && b.Verdict != compare.Tied {
					rt.Fatalf("%+v\ndoes not mirror\n%+v", c, b)
				}
				if c.Why == "" || c.Measure == "" || c.Verdict == "" || c.Rule == "" {
					rt.Fatalf("%+v", c)
				}
			}
		})
	})
})

// anything draws a run; a sane one could come from a Builder.
func anything(rt *rapid.T, label string, sane bool) compare.Baseline {
	number := rapid.OneOf(rapid.Float64Range(0, 10), rapid.SampledFrom([]float64{0, 1, 1, 1, 2, 1e300}))
	count := rapid.IntRange(0, 8)
	if !sane {
		number = rapid.OneOf(number, rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -math.MaxFloat64, math.MaxFloat64}))
		count = rapid.OneOf(count, rapid.SampledFrom([]int{-1, math.MinInt, math.MaxInt, 1_000_000_000}))
	}
	verdict := rapid.SampledFrom([]gate.Verdict{gate.Pass, gate.Fail})
	b := compare.Baseline{Run: label}
	for _, name := range []string{"a", "b", "c"} {
		if rapid.IntRange(0, 5).Draw(rt, label+" has "+name) == 0 {
			continue
		}
		s := compare.Scenario{Name: name, RealTime: rapid.Bool().Draw(rt, "real"), Expectations: map[string]string{"digest": rapid.SampledFrom([]string{"1", "1", "2"}).Draw(rt, "digest")}}
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		for range n {
			s.Ends = append(s.Ends, compare.End{Verdict: verdict.Draw(rt, "verdict"), Status: rapid.SampledFrom([]string{"", "done", "timeout"}).Draw(rt, "status")})
			if s.Ends[len(s.Ends)-1].Verdict == gate.Pass {
				s.Trials.Pass++
			} else {
				s.Trials.Fail++
			}
			s.Trials.Planned++
		}
		if !sane && rapid.Bool().Draw(rt, "odd counts") {
			s.Trials = compare.Trials{Planned: count.Draw(rt, "planned"), Pass: count.Draw(rt, "pass"), Fail: count.Draw(rt, "fail"), Error: count.Draw(rt, "error"), Skip: count.Draw(rt, "skip")}
		}
		for _, m := range []struct{ name, unit string }{{"calls", ""}, {"cost_eur", "EUR"}, {"duration", "s"}, {"new_kind", "x"}} {
			list := rapid.SliceOfN(number, n, n).Draw(rt, fmt.Sprint(m.name))
			made := measured(m.name, m.unit, list...)
			if !sane && rapid.IntRange(0, 3).Draw(rt, "holes") == 0 {
				made.Trials, made.Known = make([]*float64, count.Draw(rt, "kept")&7), rapid.Bool().Draw(rt, "known")
			}
			s.Measures = append(s.Measures, made)
		}
		s.Stops = rapid.StringMatching("[PpNn]{0,12}").Draw(rt, "stops")
		b.Scenarios = append(b.Scenarios, s)
	}
	return b
}
