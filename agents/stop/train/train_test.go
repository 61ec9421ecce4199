package train_test

import (
	"context"
	"fmt"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/train"
)

// corpus returns messages of four groups. In each, those about brass defer and those about copper
// are clean, by words that no signal knows.
func corpus() []train.Example {
	var all []train.Example
	for g := range 4 {
		for i := range 12 {
			e := train.Example{
				Message: fmt.Sprintf("Copper number %d is polished well.", i), Class: stop.Clean,
				Request: "Polish it.", Group: fmt.Sprint("group ", g), Weight: 1, Clear: true,
			}
			switch i % 4 {
			case 0, 1:
				e.Message, e.Class = fmt.Sprintf("Brass number %d is dull for now.", i), stop.Defers
			case 2:
				e.Message, e.Class = "Tin or zinc?", stop.Asks
			}
			all = append(all, e)
		}
	}
	return all
}

func fit(examples []train.Example, o train.Options) train.Result {
	GinkgoHelper()
	set, err := train.NewSet(examples, o)
	Expect(err).NotTo(HaveOccurred())
	r, err := set.Fit(context.Background(), nil)
	Expect(err).NotTo(HaveOccurred())
	return r
}

func score(message string, w *stop.Weights) float64 {
	return stop.Judge(message, stop.Options{Weights: w, Request: "Polish it."}).Score
}

func content(w *stop.Weights) []byte {
	GinkgoHelper()
	b, err := w.MarshalBinary()
	Expect(err).NotTo(HaveOccurred())
	return b
}

var _ = Describe("Fit", Label("G-09"), func() {
	It("learns words", func() {
		r := fit(corpus(), train.Options{})
		Expect(score("Brass number 7 is dull for now.", r.Weights)).To(BeNumerically(">", 0.8))
		Expect(score("Copper number 7 is polished well.", r.Weights)).To(BeNumerically("<", 0.2))
		v := stop.Judge("Tin or zinc?", stop.Options{Weights: r.Weights})
		Expect(v.Class).To(Equal(stop.Asks))
		Expect(v.Probabilities[stop.Asks]).To(BeNumerically(">", v.Probabilities[stop.Clean]))
	})

	It("gives the same weights each time", func() {
		Expect(content(fit(corpus(), train.Options{}).Weights)).To(Equal(content(fit(corpus(), train.Options{Workers: 1}).Weights)))
	})

	It("validates with weights that do not depend on the labels of the group left out", func() {
		examples := corpus()
		before := fit(examples, train.Options{}).Unseen["group 2"]
		for i := range examples {
			if e := &examples[i]; e.Group == "group 2" {
				e.Class = map[stop.Class]stop.Class{stop.Defers: stop.Clean, stop.Clean: stop.Defers, stop.Asks: stop.Suggests}[e.Class]
			}
		}
		after := fit(examples, train.Options{})
		after.Unseen["group 2"].Thresholds = before.Thresholds // chosen on scores of weights that have seen the group
		Expect(content(after.Unseen["group 2"])).To(Equal(content(before)))
		Expect(content(after.Unseen["group 1"])).NotTo(Equal(content(before)))
	})

	It("gives no weight to words of fewer groups than are needed", func() {
		examples := corpus()
		examples[0].Message = "Unobtainium is dull for now."
		alone := fit(examples, train.Options{})
		examples[0].Message = "Kryptonite is dull for now."
		Expect(alone.Weights.Keys()).To(Equal(fit(examples, train.Options{}).Weights.Keys()))
		Expect(len(fit(examples, train.Options{MinGroups: 1}).Weights.Keys())).To(BeNumerically(">", len(alone.Weights.Keys())))
	})

	It("raises the weight of an example that must be judged right until it is", func() {
		odd := train.Example{Message: "Copper number 3 is polished well.", Request: "Polish it.", Class: stop.Defers, Weight: 0.3}
		Expect(score(odd.Message, fit(append(corpus(), odd), train.Options{}).Weights)).To(BeNumerically("<", 0.3))
		odd.Must = true
		r := fit(append(corpus(), odd), train.Options{})
		Expect(score(odd.Message, r.Weights)).To(BeNumerically(">", 0.4))
		Expect(r.Unseen).To(HaveLen(4), "it is no group to validate")
	})

	It("starts from a prior, which few examples hardly change", func() {
		examples := corpus()[:24]
		for i := range examples {
			examples[i].Weight = 1e-6
		}
		shipped := stop.ShippedWeights()
		r := fit(examples, train.Options{Prior: shipped})
		for _, message := range []string{"Now let me run the tests:", "All done.", "Which one do you prefer?"} {
			Expect(score(message, r.Weights)).To(BeNumerically("~", score(message, shipped), 0.01), message)
		}
		Expect(r.Weights.Thresholds).To(Equal(shipped.Thresholds), "too few messages defer to choose thresholds")
	})

	It("orders the thresholds: strict, balanced, careful", func() {
		t := fit(corpus(), train.Options{}).Weights.Thresholds
		Expect(t.Balanced).To(BeNumerically("<=", 0.5))
		Expect(t.Careful).To(BeNumerically("<=", 1))
		Expect(t.Strict).To(BeNumerically(">", 0))
	})

	It("reports its progress, and ends with the context", func() {
		set, err := train.NewSet(corpus(), train.Options{})
		Expect(err).NotTo(HaveOccurred())
		var seen []int
		_, err = set.Fit(context.Background(), func(done, all int) {
			Expect(all).To(Equal(5))
			seen = append(seen, done)
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(seen).To(Equal([]int{1, 2, 3, 4, 5}))
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = set.Fit(ctx, nil)
		Expect(err).To(MatchError(context.Canceled))
	})

	DescribeTable("refuses", func(change func([]train.Example), o train.Options, reason string) {
		examples := corpus()
		change(examples)
		_, err := train.NewSet(examples, o)
		Expect(err).To(MatchError(ContainSubstring(reason)))
	},
		Entry("an unknown label", func(e []train.Example) { e[3].Class = "fine" }, train.Options{}, `example 4 has the label "fine"`),
		Entry("a weight that is not a number", func(e []train.Example) { e[3].Weight = math.NaN() }, train.Options{}, "example 4 has the weight NaN"),
		Entry("a negative weight", func(e []train.Example) { e[0].Weight = -1 }, train.Options{}, "the weight -1"),
		Entry("one group", func(all []train.Example) {
			for i := range all {
				all[i].Group = "a"
			}
		}, train.Options{}, "at least two groups"),
		Entry("one class", func(all []train.Example) {
			for i := range all {
				all[i].Class = stop.Defers
			}
		}, train.Options{}, "both messages that defer and others"),
		Entry("a negative c", func([]train.Example) {}, train.Options{C: -1}, "c must be above 0, got -1"),
	)
})
