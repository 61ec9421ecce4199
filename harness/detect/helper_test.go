package detect_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// answer is an item with the prediction of a detector, or its error.
type answer struct {
	item detect.Item
	p    detect.Prediction
	err  error
}

func ptr(v float64) *float64 { return &v }

// predicted returns n items with a label and the same prediction.
func predicted(n int, label string, positive bool) []answer {
	var list []answer
	for i := range n {
		list = append(list, answer{
			item: detect.Item{ID: fmt.Sprintf("%s-%t-%d", label, positive, i), Label: label, Text: "A message."},
			p:    detect.Prediction{Positive: positive},
		})
	}
	return list
}

// scoreTable returns 30 items: 8 found of 10 that defer, and 4 of 20 others.
func scoreTable() []answer {
	return slices.Concat(predicted(8, "defers", true), predicted(2, "defers", false),
		predicted(3, "suggests", true), predicted(1, "asks", true), predicted(4, "asks", false), predicted(12, "clean", false))
}

// quick are options for specs that do not look at bootstraps.
func quick() detect.ScoreOptions { return detect.ScoreOptions{Detector: "d", Resamples: 200} }

func scored(o detect.ScoreOptions, list []answer) detect.Evaluation {
	s := detect.NewScorer(o)
	for _, a := range list {
		s.Add(a.item, a.p, a.err)
	}
	return s.Result()
}

// ratioOf expects a value k/n.
func ratioOf(k, n int) types.GomegaMatcher {
	return And(
		HaveField("Value", HaveValue(BeNumerically("~", float64(k)/float64(n), 1e-12))),
		HaveField("N", n),
	)
}

// nothing is the value of 0 of 0.
func nothing() types.GomegaMatcher {
	return And(HaveField("Value", BeNil()), HaveField("N", 0), HaveField("Interval", BeNil()))
}

func dimension(r detect.Evaluation, by string) detect.Dimension {
	GinkgoHelper()
	for _, d := range r.Groups {
		if d.By == by {
			return d
		}
	}
	Fail("no groups by " + by)
	return detect.Dimension{}
}

// cells are the counts of each group, by name.
func cells(groups []detect.Group) map[string]detect.Counts {
	m := map[string]detect.Counts{}
	for _, g := range groups {
		m[g.Name] = g.Counts
	}
	return m
}
