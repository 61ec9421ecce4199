package detect_test

import (
	"errors"
	"fmt"
	"iter"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// labelled returns items with the IDs 0, 1, … and the labels.
func labelled(labels ...string) iter.Seq2[detect.Item, error] {
	return func(yield func(detect.Item, error) bool) {
		for i, label := range labels {
			if !yield(detect.Item{ID: fmt.Sprint(i), Text: fmt.Sprint("text ", i), Label: label}, nil) {
				return
			}
		}
	}
}

func repeated(n int, label string) (list []string) {
	for range n {
		list = append(list, label)
	}
	return list
}

var _ = Describe("the agreement of two annotators", Label("H-04"), func() {
	It("is Cohen's kappa of the table of labels", func() {
		// 20 both defers, 5 and 10 different, 15 both clean: po = 35/50, pe = (25·30 + 25·20)/2500 = 1/2,
		// kappa = (0.7 - 0.5) / (1 - 0.5).
		first := append(repeated(25, "defers"), repeated(25, "clean")...)
		second := append(append(repeated(20, "defers"), repeated(5, "clean")...), append(repeated(10, "defers"), repeated(15, "clean")...)...)
		a, err := detect.Agree(labelled(first...), labelled(second...), detect.Messages)
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Agreement).To(ratioOf(35, 50))
		Expect(*a.Kappa.Value).To(BeNumerically("~", 0.4, 1e-12))
		Expect(a.Labels).To(Equal([]string{"defers", "asks", "suggests", "clean"}))
		Expect(a.Counts).To(Equal([][]int{{20, 0, 0, 5}, {0, 0, 0, 0}, {0, 0, 0, 0}, {10, 0, 0, 15}}))
		Expect(a.Positive.Counts).To(Equal([][]int{{20, 5}, {10, 15}}))
		Expect(a.Differences).To(HaveLen(15))
		Expect(a.Differences[0]).To(Equal(detect.Difference{
			ID: "20", First: "defers", FirstConfidence: "high", Second: "clean", SecondConfidence: "high", Excerpt: "text 20",
		}))
	})

	It("ignores items that one did not label, or that have another text", func() {
		changed := func(yield func(detect.Item, error) bool) {
			_ = yield(detect.Item{ID: "0", Text: "another", Label: "clean"}, nil) &&
				yield(detect.Item{ID: "new", Text: "x", Label: "clean"}, nil)
		}
		a, err := detect.Agree(labelled("clean", "asks"), changed, detect.Messages)
		Expect(err).NotTo(HaveOccurred())
		Expect([]int{a.OnlyFirst, a.OnlySecond, a.Changed}).To(Equal([]int{1, 1, 1}))
		Expect(a.Agreement).To(nothing())
		Expect(a.Kappa.Value).To(BeNil())
	})

	It("returns the first error of either corpus", func() {
		broken := func(yield func(detect.Item, error) bool) { yield(detect.Item{}, errors.New("line 7")) }
		for _, sides := range [][2]iter.Seq2[detect.Item, error]{{broken, labelled("asks")}, {labelled("asks"), broken}} {
			_, err := detect.Agree(sides[0], sides[1], detect.Messages)
			Expect(err).To(MatchError("line 7"))
		}
	})

	It("agrees with kappa computed from the lists, and is symmetric", func() {
		label := rapid.SampledFrom(detect.Messages.Labels())
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := rapid.IntRange(1, 40).Draw(rt, "n")
			first := rapid.SliceOfN(label, n, n).Draw(rt, "first")
			second := rapid.SliceOfN(label, n, n).Draw(rt, "second")
			agreed, chance := 0.0, 0.0
			for i := range first {
				if first[i] == second[i] {
					agreed++
				}
				for j := range second { // chance: any label of the first with any of the second
					if first[i] == second[j] {
						chance++
					}
				}
			}
			agreed, chance = agreed/float64(n), chance/float64(n*n)
			a, err := detect.Agree(labelled(first...), labelled(second...), detect.Messages)
			Expect(err).NotTo(HaveOccurred())
			if chance == 1 {
				Expect(a.Kappa.Value).To(BeNil())
				return
			}
			Expect(*a.Kappa.Value).To(BeNumerically("~", (agreed-chance)/(1-chance), 1e-9))
			back, err := detect.Agree(labelled(second...), labelled(first...), detect.Messages)
			Expect(err).NotTo(HaveOccurred())
			Expect(*back.Kappa.Value).To(BeNumerically("~", *a.Kappa.Value, 1e-9))
		})
	})
})
