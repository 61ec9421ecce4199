package detect_test

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// answer is an item with what a detector says of it.
type answer struct {
	item detect.Item
	p    detect.Prediction
	err  error
}

func ptr(v float64) *float64 { return &v }

// said are n items with a label, of which the detector says yes or no.
func said(n int, label string, positive bool) []answer {
	var list []answer
	for i := range n {
		list = append(list, answer{
			item: detect.Item{ID: fmt.Sprintf("%s-%t-%d", label, positive, i), Label: label, Text: "A message."},
			p:    detect.Prediction{Positive: positive},
		})
	}
	return list
}

// table is 30 items: 8 found of 10 that defer, and 4 of 20 others.
func scoreTable() []answer {
	return slices.Concat(said(8, "defers", true), said(2, "defers", false),
		said(3, "suggests", true), said(1, "asks", true), said(4, "asks", false), said(12, "clean", false))
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
