package history_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
)

var scenario = history.Identity{Scenario: "a"}

// points returns a run for each value of a measure, each of its own commit, in virtual time.
func points(measure, unit string, values ...float64) []history.Point {
	list := make([]history.Point, len(values))
	for i, v := range values {
		list[i] = history.Point{
			Identity: scenario, Run: fmt.Sprint("run ", i), At: time.Unix(int64(i), 0), Origin: history.Origin{Commit: fmt.Sprint("commit ", i)},
			Prices: "2026-01-01", Digest: "one", Verdict: gate.Pass, Trials: history.Counts{Pass: 5},
			Measures: []history.PointMeasure{{
				Measure: compare.Measure{Name: measure, Unit: unit, Known: true, Value: &v, N: 5}, Alike: true,
			}},
		}
	}
	return list
}

// steps returns n values a, then m values b.
func steps(n int, a float64, m int, b float64) []float64 {
	values := make([]float64, n+m)
	for i := range values {
		values[i] = a
		if i >= n {
			values[i] = b
		}
	}
	return values
}

// trend returns the only series of a trend.
func trend(list []history.Point, measure string) (history.Trend, history.Series) {
	GinkgoHelper()
	t := history.NewTrend(scenario, list, []string{measure})
	Expect(t.Series).To(HaveLen(1))
	Expect(t.Series[0].Values).To(HaveLen(len(list)))
	return t, t.Series[0]
}

var _ = Describe("A trend", Label("H-04"), func() {
	It("names the run with which a value that repeats changed, even the last one", func() {
		_, s := trend(points("cost_eur", "EUR", steps(19, 0.010, 11, 0.012)...), "cost_eur")
		Expect(s.Changes).To(HaveLen(1))
		c := s.Changes[0]
		Expect(c.Index).To(Equal(19))
		Expect(c.Run).To(Equal("run 19"))
		Expect(c.Commit).To(Equal("commit 19"))
		Expect(c.Rule).To(Equal(history.Exact))
		Expect(c.Worse).To(BeTrue())
		Expect(c.Before).To(BeNumerically("~", 0.010, 1e-12))
		Expect(c.After).To(BeNumerically("~", 0.012, 1e-12))
		Expect(*c.Relative).To(BeNumerically("~", 0.2, 1e-9))
		_, s = trend(points("calls", "", steps(19, 3, 1, 2)...), "calls")
		Expect(s.Changes).To(HaveLen(1))
		Expect(s.Changes[0].Worse).To(BeFalse())
	})

	It("tests values that vary, and does not report their noise", func() {
		r := rand.New(rand.NewPCG(1, 2))
		values := steps(20, 1, 20, 1)
		for i := range values {
			values[i] += r.NormFloat64() / 10
		}
		_, s := trend(points("duration", "s", values...), "duration")
		Expect(s.Changes).To(BeEmpty())
		for i := 20; i < 40; i++ {
			values[i]++
		}
		_, s = trend(points("duration", "s", values...), "duration")
		Expect(s.Changes).To(HaveLen(1))
		Expect(s.Changes[0].Index).To(Equal(20))
		Expect(s.Changes[0].Rule).To(Equal(history.Tested))
		Expect(s.Changes[0].P).To(And(BeNumerically(">", 0), BeNumerically("<=", history.Alpha)))
	})

	DescribeTable("tests what the agent's code alone does not determine",
		func(change func(p []history.Point)) {
			list := points("calls", "", steps(19, 3, 1, 4)...)
			_, s := trend(list, "calls")
			Expect(s.Changes).To(HaveLen(1))
			change(list)
			_, s = trend(list, "calls")
			Expect(s.Changes).To(BeEmpty(), "one run is no evidence")
		},
		Entry("real time", func(p []history.Point) { p[3].RealTime = true }),
		Entry("trials that differ", func(p []history.Point) { p[3].Measures[0].Alike = false }),
		Entry("runs of one commit that differ", func(p []history.Point) { p[19].Commit = p[18].Commit }),
	)

	It("does not take changed files for the same code", func() {
		list := points("calls", "", steps(19, 3, 1, 4)...)
		list[19].Commit, list[19].Dirty = list[18].Commit, true
		_, s := trend(list, "calls")
		Expect(s.Changes).To(HaveLen(1))
	})

	It("breaks where the content changed, and never compares or averages across", func() {
		list := points("calls", "", append(steps(10, 3, 10, 7), steps(5, 7, 5, 9)...)...)
		for i := range list[10:] {
			list[10+i].Digest = "two"
		}
		t, s := trend(list, "calls")
		Expect(t.Breaks).To(Equal([]history.Break{{Index: 10, Run: "run 10", Why: history.ContentBreak}}))
		Expect(s.Changes).To(HaveLen(1))
		Expect(s.Changes[0].Index).To(Equal(25))
		Expect(s.Changes[0].Before).To(Equal(7.0))
	})

	It("breaks costs, and only costs, where the prices changed", func() {
		for unit, changes := range map[string]int{"EUR": 0, "": 1} {
			list := points("m", unit, steps(10, 3, 10, 7)...)
			for i := range list[10:] {
				list[10+i].Prices = "2026-02-01"
			}
			t, s := trend(list, "m")
			Expect(s.Changes).To(HaveLen(changes), unit)
			Expect(t.Breaks).To(HaveLen(1))
			Expect(t.Breaks[0].Why).To(Equal(history.PricesBreak))
		}
	})

	It("leaves out runs without a verdict, and values that are not known", func() {
		list := points("calls", "", steps(10, 3, 10, 3)...)
		list[4].Verdict, *list[4].Measures[0].Value = gate.Error, 99
		list[5].Verdict, list[5].Measures[0].Known = gate.Pass, false
		list[6].Measures = nil
		_, s := trend(list, "calls")
		Expect(s.Changes).To(BeEmpty())
		Expect([]*float64{s.Values[4].Value, s.Values[5].Value, s.Values[6].Value}).To(HaveEach(BeNil()))
		Expect(*s.Values[7].Value).To(Equal(3.0))
	})

	It("has the rate of passed trials, where more is better", func() {
		list := points("calls", "", steps(10, 3, 10, 3)...)
		for i := range list[10:] {
			list[10+i].Trials = history.Counts{Fail: 5}
			list[10+i].Verdict = gate.Fail
		}
		_, s := trend(list, history.PassRate)
		Expect(s.Changes).To(HaveLen(1))
		Expect(s.Changes[0].Worse).To(BeTrue())
		Expect([]float64{s.Changes[0].Before, s.Changes[0].After}).To(Equal([]float64{1, 0}))
		Expect(*s.Values[0].Lo).To(BeNumerically("~", 0.566, 0.001))
	})

	It("has no values without runs", func() {
		Expect(history.NewTrend(scenario, nil, nil).Series).To(BeEmpty())
	})
})

var _ = Describe("Flaky scenarios", Label("H-04"), func() {
	// runs returns a run for each sign: P passed, F failed, M trials disagree, E no verdict.
	runs := func(signs string) []history.Point {
		list := points("calls", "", make([]float64, len(signs))...)
		for i, sign := range signs {
			list[i].RealTime = true
			list[i].Trials = map[rune]history.Counts{'P': {Pass: 5}, 'F': {Fail: 5}, 'M': {Pass: 4, Fail: 1}, 'E': {Error: 5}}[sign]
		}
		return list
	}
	DescribeTable("are told from changes",
		func(signs string, flaky bool) {
			Expect(history.NewFlakiness(runs(signs), 2).Flaky).To(HaveLen(map[bool]int{true: 1}[flaky]), signs)
		},
		Entry("always passed", "PPPP", false), Entry("always failed", "FFF", false),
		Entry("a regression", "PPPFFF", false), Entry("a fix", "FFPPP", false),
		Entry("back and forth", "PFP", true), Entry("trials that disagree", "PPMP", true),
		Entry("without a verdict", "PEPEP", false), Entry("no runs with a verdict", "EE", false),
	)

	It("are found by runs of one clean commit that disagree", func() {
		list := runs("PF")
		list[1].Commit = list[0].Commit
		Expect(history.NewFlakiness(list, 2).Flaky).To(HaveLen(1))
		list[1].Dirty = true
		Expect(history.NewFlakiness(list, 2).Flaky).To(BeEmpty())
	})

	It("are judged by their newest content", func() {
		list := runs("PFPFPPP")
		for i := range 4 {
			list[i].Digest = "old"
		}
		Expect(history.NewFlakiness(list, 2).Flaky).To(BeEmpty())
	})

	It("have the rate of failed trials with its interval; those that should repeat come first", func() {
		other := runs("PFPF")
		random := runs("MMMM")
		for i := range random {
			random[i].Identity, random[i].RealTime = history.Identity{Scenario: "b"}, false
		}
		f := history.NewFlakiness(append(other, random...), 2)
		Expect(f.Runs).To(Equal(4))
		Expect(f.Scenarios).To(Equal(2))
		Expect(f.Flaky).To(HaveLen(2))
		Expect(f.Flaky[0].Scenario).To(Equal("b"))
		Expect(f.Flaky[0].Repeatable).To(BeTrue())
		Expect(f.Flaky[0].Mixed).To(Equal(4))
		Expect(*f.Flaky[0].FailRate.Value).To(BeNumerically("~", 0.2, 1e-9))
		Expect(f.Flaky[0].FailRate.Interval.Method).To(Equal("wilson"))
		Expect(f.Flaky[1].Flips).To(Equal(3))
		Expect(f.Flaky[1].LastFailed).To(Equal("run 3"))
	})
})
