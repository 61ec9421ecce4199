package detect_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

var _ = Describe("the scores of a detector", Label("H-04"), func() {
	It("are counts first, and the rates that follow from them", func() {
		r := scored(detect.ScoreOptions{Detector: "d"}, scoreTable())
		Expect(r.Overall.Counts).To(Equal(detect.Counts{TP: 8, FP: 4, FN: 2, TN: 16}))
		Expect(r.Detector).To(Equal("d"))
		Expect(r.Positive).To(Equal([]string{"defers"}))
		Expect([]int{r.Items, r.Scored, r.Failed}).To(Equal([]int{30, 30, 0}))
		Expect(r.Overall.Precision).To(ratioOf(8, 12))
		Expect(r.Overall.Recall).To(ratioOf(8, 10))
		Expect(r.Overall.FPR).To(ratioOf(4, 20))
		Expect(*r.Overall.F1.Value).To(BeNumerically("~", 16.0/22, 1e-12)) // 2·8 / (2·8 + 4 + 2)
		Expect(r.Overall.F1.N).To(Equal(30))
		// R: binom::binom.wilson(8, 10): 0.4901625 to 0.9433178.
		Expect(r.Overall.Recall.Interval.Lo).To(BeNumerically("~", 0.4901625, 5e-8))
		Expect(r.Overall.Recall.Interval.Hi).To(BeNumerically("~", 0.9433178, 5e-8))
		Expect(r.Overall.Recall.Interval.Method).To(Equal("wilson"))
		Expect(r.Overall.F1.Interval.Method).To(Equal("bootstrap"))
		Expect(r.Overall.F1.Interval.Lo).To(BeNumerically("~", 0.5, 0.06))
	})

	It("are n/a rather than 0 without observations", func() {
		r := scored(quick(), predicted(5, "clean", false))
		Expect(r.Overall.Precision).To(nothing())
		Expect(r.Overall.Recall).To(nothing())
		Expect(r.Overall.F1.Value).To(BeNil())
		Expect(r.Overall.FPR).To(ratioOf(0, 5))
		empty := scored(quick(), nil)
		Expect(empty.Overall.FPR).To(nothing())
		Expect(empty.Curve).To(BeNil())
		Expect(empty.Classes).To(BeNil())
		Expect(empty.Latency).To(BeNil())
		Expect(empty.Cost).To(BeNil())
		Expect(empty.FalsePositives).To(And(BeEmpty(), Not(BeNil())))
	})

	It("count other labels as positive on request", func() {
		o := quick()
		o.Positive = []string{"defers", "suggests"}
		r := scored(o, scoreTable())
		// The three suggestions that were found are right now: 11 of 15 found, 1 wrong.
		Expect(r.Overall.Counts).To(Equal(detect.Counts{TP: 11, FP: 1, FN: 2, TN: 16}))
	})

	It("are n/a for categories and steps that no label names", func() {
		list := predicted(2, "clean", true)
		list = append(list, predicted(2, "defers", true)...)
		for i := range list {
			list[i].p.Categories, list[i].p.Steps, list[i].p.Spans = []string{"next_steps"}, []string{"test it"}, [][2]int{{0, 4}}
		}
		r := scored(quick(), list)
		Expect(r.Categories).To(BeEmpty())
		Expect(r.Steps).To(BeEmpty())
		Expect(r.Spans).To(BeEmpty())
		Expect(r.Unlabelled).To(Equal([]string{"categories", "steps"}))
		Expect(scored(quick(), predicted(2, "defers", true)).Unlabelled).To(BeEmpty(), "the detector reports neither")
	})

	It("leave out the categories of messages whose label names none", func() {
		list := slices.Concat(predicted(3, "defers", true), predicted(1, "suggests", true), predicted(2, "clean", true))
		for i := range list {
			list[i].p.Categories = []string{"next_steps"}
		}
		list[0].item.Categories = []string{"next_steps"}
		list[1].item.Categories = []string{} // known to have none
		Expect(cells(scored(quick(), list).Categories)).To(Equal(map[string]detect.Counts{"next_steps": {TP: 1, FP: 3}}))
	})

	It("count failures as neither right nor wrong", func() {
		list := scoreTable()
		list[0].err = errors.New("endpoint: 503")
		list = append(list, answer{item: detect.Item{ID: "x", Label: "perhaps"}})
		r := scored(quick(), list)
		Expect([]int{r.Items, r.Scored, r.Failed}).To(Equal([]int{31, 29, 2}))
		Expect(r.Overall.TP).To(Equal(7))
		Expect(r.Failures).To(ConsistOf(
			detect.Failure{ID: "defers-true-0", Error: "endpoint: 503"},
			detect.Failure{ID: "x", Error: "the item has no label"},
		))
	})

	It("are given by language, confidence, category, part, repository and tag", func() {
		list := []answer{
			{item: detect.Item{ID: "1", Label: "defers", Lang: "fr", Part: "natural", Repo: "a", Tags: []string{"x", "y"}, Categories: []string{"next_steps"}}, p: detect.Prediction{Positive: true}},
			{item: detect.Item{ID: "2", Label: "defers", Lang: "en", Part: "natural", Repo: "b", Confidence: "low", Categories: []string{"next_steps", "future_actions"}}},
			{item: detect.Item{ID: "3", Label: "clean", Lang: "fr", Part: "enriched", Repo: "a", Confidence: "medium", Tags: []string{"x"}}, p: detect.Prediction{Positive: true}},
			{item: detect.Item{ID: "4", Label: "clean"}},
		}
		r := scored(quick(), list)
		tp, fn, fp := detect.Counts{TP: 1}, detect.Counts{FN: 1}, detect.Counts{FP: 1}
		Expect(cells(dimension(r, "language").Groups)).To(Equal(map[string]detect.Counts{"fr": {TP: 1, FP: 1}, "en": fn}))
		Expect(cells(dimension(r, "confidence").Groups)).To(Equal(map[string]detect.Counts{"high": {TP: 1, TN: 1}, "low": fn, "medium": fp}))
		Expect(cells(dimension(r, "category").Groups)).To(Equal(map[string]detect.Counts{"next_steps": {TP: 1, FN: 1}, "future_actions": fn}))
		Expect(cells(dimension(r, "part").Groups)).To(Equal(map[string]detect.Counts{"natural": {TP: 1, FN: 1}, "enriched": fp}))
		Expect(cells(dimension(r, "repository").Groups)).To(Equal(map[string]detect.Counts{"a": {TP: 1, FP: 1}, "b": fn}))
		Expect(cells(dimension(r, "tag").Groups)).To(Equal(map[string]detect.Counts{"x": {TP: 1, FP: 1}, "y": tp}))
		var order []string
		for _, g := range dimension(r, "confidence").Groups {
			order = append(order, g.Name)
		}
		Expect(order).To(Equal([]string{"high", "medium", "low"}))
	})

	It("keep at most 201 groups of a kind, and count what they merge", func() {
		var list []answer
		for i := range 300 {
			list = append(list, answer{item: detect.Item{ID: fmt.Sprint(i), Label: "clean", Tags: []string{fmt.Sprint("tag", i)}}})
		}
		d := dimension(scored(quick(), list), "tag")
		Expect(d.Groups).To(HaveLen(201))
		Expect(d.Merged).To(Equal(100))
		Expect(cells(d.Groups)).To(HaveKeyWithValue("(other)", detect.Counts{TN: 100}))
	})

	It("compare the categories, if the detector names any", func() {
		list := scoreTable()[:4]
		list[0].item.Categories, list[0].p.Categories = []string{"a", "b"}, []string{"b", "c"}
		list[1].item.Categories, list[1].p.Categories = []string{"b", "b"}, []string{"b", "b"}
		r := scored(quick(), list)
		Expect(cells(r.Categories)).To(Equal(map[string]detect.Counts{
			"a": {FN: 1, TN: 1}, "b": {TP: 2}, "c": {FP: 1, TN: 1},
		}), "the other two items defer, and their categories are unknown")
		Expect(r.Categories[0].Recall).To(ratioOf(0, 1))
		Expect(r.Categories[2].Precision).To(nothing(), "no label names c")
		list[0].p.Categories, list[1].p.Categories = nil, nil
		Expect(scored(quick(), list).Categories).To(BeEmpty())
	})

	It("compare the classes of reflections, which are two", Label("R-04"), func() {
		o := quick()
		o.Kind = detect.Reflections
		var list []answer
		for i, class := range []string{"complacent", "complacent", "critical", "critical"} {
			label := []string{"complacent", "critical"}[i%2]
			list = append(list, answer{
				item: detect.Item{ID: fmt.Sprint(i), Label: label},
				p:    detect.Prediction{Positive: class == "complacent", Class: class},
			})
		}
		list = append(list, answer{item: detect.Item{ID: "other", Label: "defers"}})
		r := scored(o, list)
		Expect(r.Classes.Labels).To(Equal([]string{"complacent", "critical"}))
		Expect(r.Classes.Counts).To(Equal([][]int{{1, 1}, {1, 1}}))
		Expect(*r.Classes.Kappa.Value).To(BeNumerically("~", 0, 1e-9))
		Expect(r.Failed).To(Equal(1), "a label of messages")
		Expect(r.Positive).To(Equal([]string{"complacent"}))
		o.Positive = []string{"defers"}
		Expect(o.Validate()).To(MatchError(ContainSubstring("not a label of reflections")))
	})

	It("compare four classes, with kappa", func() {
		var list []answer
		add := func(n int, label, class string) {
			for range n {
				list = append(list, answer{item: detect.Item{ID: fmt.Sprint(len(list)), Label: label}, p: detect.Prediction{Class: class}})
			}
		}
		add(6, "defers", "defers")
		add(2, "defers", "suggests")
		add(3, "suggests", "suggests")
		add(1, "asks", "clean")
		add(8, "clean", "clean")
		add(2, "clean", "")
		add(1, "clean", "nonsense")
		c := scored(quick(), list).Classes
		Expect(c.Labels).To(Equal([]string{"defers", "asks", "suggests", "clean"}))
		Expect(c.Counts).To(Equal([][]int{{6, 0, 2, 0}, {0, 0, 0, 1}, {0, 0, 3, 0}, {0, 0, 0, 8}}))
		Expect(c.Unknown).To(Equal(1))
		Expect(c.Agreement).To(ratioOf(17, 20))
		// By chance (8·6 + 1·0 + 3·5 + 8·9) / 20² = 135/400 = 0.3375.
		Expect(*c.Kappa.Value).To(BeNumerically("~", (0.85-0.3375)/(1-0.3375), 1e-12))
		Expect(c.Kappa.Interval).NotTo(BeNil())
	})

	It("do not depend on the order of the items", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			list := anyAnswers(rt)
			want := encode(rt, scored(quick(), list))
			shuffled := rapid.Permutation(list).Draw(rt, "order")
			if got := encode(rt, scored(quick(), shuffled)); got != want {
				rt.Fatalf("%s\nis not\n%s", got, want)
			}
		})
	})

	It("add up, lie within their intervals, and survive a JSON round trip", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			list := anyAnswers(rt)
			r := scored(quick(), list)
			if r.Scored+r.Failed != len(list) || r.Overall.Total() != r.Scored {
				rt.Fatalf("%d + %d of %d", r.Scored, r.Failed, len(list))
			}
			for _, v := range []detect.Value{r.Overall.Precision, r.Overall.Recall, r.Overall.F1, r.Overall.FPR} {
				if in := v.Interval; in != nil && !(0 <= in.Lo && in.Lo <= *v.Value && *v.Value <= in.Hi && in.Hi <= 1) {
					rt.Fatalf("%g outside of %+v", *v.Value, in)
				}
			}
			sum := detect.Counts{}
			for _, d := range r.Groups {
				if d.By == "confidence" {
					for _, g := range d.Groups {
						sum = detect.Counts{TP: sum.TP + g.TP, FP: sum.FP + g.FP, FN: sum.FN + g.FN, TN: sum.TN + g.TN}
					}
				}
			}
			if sum != r.Overall.Counts {
				rt.Fatalf("the groups sum up to %+v, not %+v", sum, r.Overall.Counts)
			}
			var back detect.Evaluation
			if err := json.Unmarshal([]byte(encode(rt, r)), &back); err != nil || encode(rt, back) != encode(rt, r) {
				rt.Fatal(err)
			}
		})
	})

	It("can be computed repeatedly, between additions", func() {
		s := detect.NewScorer(quick())
		for _, a := range scoreTable()[:20] {
			s.Add(a.item, a.p, a.err)
		}
		before := s.Result()
		Expect(s.Result()).To(Equal(before))
		counts := before.Overall.Counts
		for _, a := range scoreTable()[20:] {
			s.Add(a.item, a.p, a.err)
		}
		Expect(before.Overall.Counts).To(Equal(counts))
		Expect(s.Result().Overall).To(Equal(scored(quick(), scoreTable()).Overall))
	})

	It("include latency and throughput", func() {
		var list []answer
		for i := range 100 {
			a := predicted(1, "clean", false)[0]
			a.p.Took = time.Duration(i+1) * time.Millisecond
			a.item.Text = string(make([]byte, 1000))
			list = append(list, a)
		}
		l := scored(quick(), list).Latency
		Expect(l.N).To(Equal(100))
		Expect(l.P50).To(BeNumerically("~", 0.0505, 1e-9)) // between the 50th and the 51st
		Expect(l.P99).To(BeNumerically("~", 0.09901, 1e-9))
		Expect(l.Max).To(Equal(0.1))
		Expect(l.Mean).To(BeNumerically("~", 0.0505, 1e-9))
		Expect(l.Bytes).To(Equal(int64(100_000)))
		Expect(*l.MBPerSecond).To(BeNumerically("~", 0.1/5.05, 1e-9)) // 0.1 MB in 5.05 s
	})

	It("sum up calls and costs, and report an unknown price", func() {
		list := scoreTable()[:3]
		list[0].p.Calls, list[0].p.CostEUR = 2, ptr(0.5)
		list[1].p.Calls, list[1].p.CostEUR = 1, ptr(0.25)
		Expect(*scored(quick(), list).Cost).To(Equal(detect.Cost{Calls: 3, EUR: 0.75, Known: true}))
		list[2].p.Calls = 1
		Expect(*scored(quick(), list).Cost).To(Equal(detect.Cost{Calls: 4, EUR: 0.75, Known: false}))
	})

	DescribeTable("refuse invalid options",
		func(o detect.ScoreOptions, want string) {
			Expect(o.Validate()).To(MatchError(ContainSubstring(want)))
			Expect(func() { detect.NewScorer(o) }).To(PanicWith(MatchError(ContainSubstring(want))))
		},
		Entry("a label that there is not", detect.ScoreOptions{Positive: []string{"defer"}}, `"defer" is not a label of messages; choose from ["defers" "asks" "suggests" "clean"]`),
		Entry("negative resamples", detect.ScoreOptions{Resamples: -1}, "got -1"),
		Entry("endless lists", detect.ScoreOptions{MaxErrors: 1 << 20}, "at most 100,000"),
	)
})

// anyAnswers draws answers of every kind, also wrong and hostile ones.
func anyAnswers(rt *rapid.T) []answer {
	label := rapid.SampledFrom(append(detect.Messages.Labels(), "", "perhaps"))
	text := rapid.SampledFrom([]string{"", "I will test it.", "Fini. Reste à déployer.", "\xff\x00"})
	number := rapid.SampledFrom([]float64{0, 0.001, 0.29, 0.5, 0.9999, 1, -1, 2, math.NaN(), math.Inf(1)})
	steps := rapid.SliceOfN(rapid.SampledFrom([]string{"I will test it", "déployer", "", "\xff"}), 0, 4)
	spans := rapid.SliceOfN(rapid.SampledFrom([][2]int{{0, 4}, {2, 9}, {5, 5}, {-1, 3}, {9, 2}, {0, 999}}), 0, 4)
	n := rapid.IntRange(0, 25).Draw(rt, "n")
	var list []answer
	for i := range n {
		a := answer{
			item: detect.Item{
				ID: fmt.Sprint(i), Text: text.Draw(rt, "text"), Label: label.Draw(rt, "label"), Steps: steps.Draw(rt, "steps"),
				Confidence: rapid.SampledFrom([]string{"", "high", "medium", "low", "odd"}).Draw(rt, "confidence"),
				Lang:       rapid.SampledFrom([]string{"", "en", "fr"}).Draw(rt, "lang"),
			},
			p: detect.Prediction{
				Positive: rapid.Bool().Draw(rt, "positive"), Class: label.Draw(rt, "class"),
				Steps: steps.Draw(rt, "found steps"), Spans: spans.Draw(rt, "spans"),
				Took: time.Duration(rapid.IntRange(0, 3000).Draw(rt, "took")) * time.Millisecond,
			},
		}
		if rapid.Bool().Draw(rt, "has a score") {
			a.p.Score = ptr(number.Draw(rt, "score"))
		}
		if rapid.IntRange(0, 9).Draw(rt, "fails") == 0 {
			a.err = errors.New("failed")
		}
		list = append(list, a)
	}
	return list
}

func encode(rt *rapid.T, r detect.Evaluation) string {
	text, err := json.Marshal(r)
	if err != nil {
		rt.Fatal(err)
	}
	return string(text)
}
