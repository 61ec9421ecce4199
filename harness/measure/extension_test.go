package measure_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// clerkFacts are the facts of an extension.
type clerkFacts struct {
	Letters int            `json:"letters"`
	Open    int            `json:"open"`
	Seconds float64        `json:"seconds,omitempty"`
	By      map[string]int `json:"by,omitempty"`
	untimed bool
}

func clerk(metrics ...measure.Metric) measure.Extension {
	return measure.Extension{
		Name: "clerk", Zero: &clerkFacts{}, Metrics: metrics, Section: measure.Section{Title: "Clerks"},
		Of: func(_ *record.Scenario, tr *record.Trial, core *measure.Facts) any {
			if tr.Head.N == 2 {
				core.Run.Violations = append(core.Run.Violations, "a letter was lost")
			}
			return &clerkFacts{Letters: len(tr.Events)}
		},
		Counts: func(facts any) bool { return facts.(*clerkFacts).Letters > 0 },
	}
}

var _ = Describe("An extension", func() {
	trial := func(n, letters int, golden string) record.Trial {
		tr := record.Trial{Head: record.TrialHead{N: n}, Events: make([]record.Event, letters)}
		if golden != "" {
			tr.Head.Golden = json.RawMessage(golden)
		}
		return tr
	}
	measured := func(tr record.Trial) measure.Facts {
		return measure.Trial(record.Scenario{}, tr, nil, []measure.Extension{clerk()})
	}

	It("adds its facts to those of a trial, and may report a violation", func() {
		f := measured(trial(2, 3, ""))
		Expect(f.Extensions).To(Equal(map[string]any{"clerk": &clerkFacts{Letters: 3}}))
		Expect(f.Run.Violations).To(Equal([]string{"a letter was lost"}))
	})

	It("adds nonzero facts to those of the golden run, and to their JSON", func() {
		f := measured(trial(1, 3, ""))
		data, err := json.Marshal(measure.GoldenOf(&f))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(HaveSuffix(`,"clerk":{"letters":3,"open":0}}`))
		Expect(measured(trial(1, 0, string(data))).Golden).To(Equal(measure.GoldenOf(&f)))

		f = measured(trial(1, 0, ""))
		data, err = json.Marshal(measure.GoldenOf(&f))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).NotTo(ContainSubstring("clerk"))
	})

	It("reads the golden facts of recordings with zero facts, and with those of others", func() {
		f := measured(trial(1, 0, `{"status":"done","clerk":{"letters":0,"open":0},"stranger":{"x":1}}`))
		Expect(f.Run.Error).To(BeEmpty())
		Expect(f.Golden.Status).To(Equal("done"))
		Expect(f.Golden.Extensions).To(Equal(map[string]any{"clerk": &clerkFacts{}}))
	})

	It("reports golden facts that cannot be read", func() {
		Expect(measured(trial(1, 0, `{"clerk":{"letters":"many"}}`)).Run.Error).To(
			HavePrefix("the recorded facts of the golden run cannot be read: clerk: "))
	})
})

var _ = Describe("Metrics of extensions", func() {
	// totals returns the metrics of trials with these numbers of letters, one of them open.
	totals := func(letters []int, metrics ...measure.Metric) measure.AgentMetrics {
		t := measure.NewAgentTotals([]measure.Extension{clerk(metrics...)})
		for _, n := range letters {
			f := measure.Facts{Extensions: map[string]any{"clerk": &clerkFacts{
				Letters: n, Open: 1, Seconds: 2, By: map[string]int{"air": n, "sea": 1}, untimed: n == 9,
			}}}
			f.Calls.Total = 8
			t.Add(&f)
		}
		first := t.Close()
		Expect(t.Close()).To(Equal(first))
		return first
	}
	one := func(letters []int, m measure.Metric) measure.Value {
		GinkgoHelper()
		all := totals(letters, m).All()
		Expect(all).To(HaveLen(1))
		return all[0]
	}
	letters := func(f *clerkFacts) int { return f.Letters }

	It("sum", func() {
		Expect(one([]int{1, 2, 0}, measure.Sum("n", letters))).To(Equal(measure.Value{Name: "n", Known: true, N: 2, Value: new(3.0)}))
	})
	It("sum by key", func() {
		Expect(totals([]int{1, 2}, measure.SumBy("n_", func(f *clerkFacts) map[string]int { return f.By })).All()).To(Equal([]measure.Value{
			{Name: "n_air", Known: true, N: 2, Value: new(3.0)}, {Name: "n_sea", Known: true, N: 2, Value: new(2.0)},
		}))
	})
	It("average, with an interval", func() {
		v := one([]int{1, 2, 6}, measure.Mean("n", letters))
		Expect(v.Value).To(HaveValue(Equal(3.0)))
		Expect(v.Interval.Lo).To(BeNumerically("~", 3-6.572411, 1e-5)) // as in the specs of Totals
	})
	It("divide", func() {
		Expect(one([]int{1, 3}, measure.Ratio("n", func(f *clerkFacts) (k, n int) { return f.Open, f.Letters }))).To(
			Equal(measure.Value{Name: "n", Known: true, N: 4, Value: new(0.5)}))
		Expect(one([]int{1}, measure.Ratio("n", func(*clerkFacts) (k, n int) { return 0, 0 })).Value).To(BeNil())
	})
	It("divide times, which are unknown if one is", func() {
		times := measure.MeanTime("t", func(f *clerkFacts) (float64, int, bool) { return f.Seconds, f.Letters, !f.untimed })
		Expect(one([]int{1, 3}, times)).To(Equal(measure.Value{Name: "t", Unit: "s", Known: true, N: 4, Value: new(1.0)}))
		Expect(one([]int{9, 1}, times)).To(Equal(measure.Value{Name: "t", Unit: "s", N: 10, Warnings: []string{"the recording of a process contains no times"}}))
	})
	It("are rates with Wilson's interval", func() {
		rate := one([]int{1, 3}, measure.Rate("r", func(f *clerkFacts) (k, n int) { return f.Open, f.Letters }))
		Expect(rate.Value).To(HaveValue(Equal(0.5)))
		Expect(rate.Interval.Method).To(Equal("wilson"))
		Expect(one([]int{1, 3}, measure.RateOfCalls("r", letters)).Value).To(HaveValue(Equal(0.25)))
		Expect(one([]int{1, 3}, measure.RateOfTrials("r", func(f *clerkFacts, core *measure.Facts) bool { return f.Letters == 3 && core.Calls.Total == 8 })).Value).To(HaveValue(Equal(0.5)))
	})
	It("do not exist where no trial counts", func() {
		Expect(totals([]int{0}, measure.Sum("n", letters))).To(BeEmpty())
		Expect((*measure.AgentTotals)(nil).Close()).To(BeEmpty())
	})
	It("are named by their extension", func() {
		m := totals([]int{1}, measure.Sum("n", letters))
		Expect(m.ByName()).To(Equal(map[string][]measure.Value{"clerk": m[0].Values}))
		Expect(m[0].Section.Title).To(Equal("Clerks"))
	})
})
