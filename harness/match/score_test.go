package match_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/match"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// scored returns the evaluation of a detector with these counts.
func scored(tp, fn, fp, tn int) detect.Evaluation {
	s := detect.NewScorer(detect.ScoreOptions{Resamples: 500})
	n := 0
	add := func(times int, label string, found bool) {
		for range times {
			n++
			s.Add(detect.Item{ID: fmt.Sprint(n), Text: "text", Label: label}, detect.Prediction{Positive: found}, nil)
		}
	}
	add(tp, "defers", true)
	add(fn, "defers", false)
	add(fp, "clean", true)
	add(tn, "clean", false)
	return s.Result()
}

var _ = Describe("the matchers of scores", func() {
	It("match if the lower end of the interval is high enough", func() {
		r := scored(95, 5, 2, 98) // precision 95/97, recall 95/100
		for _, subject := range []any{r, &r, r.Overall, detect.Group{Scores: r.Overall}} {
			Expect(subject).To(And(match.Precision(0.9), match.Recall(0.85), match.F1(0.9)))
			// The values are 0.979, 0.95 and 0.964; their intervals begin below.
			Expect(subject).NotTo(Or(match.Precision(0.97), match.Recall(0.94), match.F1(0.96)))
		}
	})

	It("report the value with its interval, and whether more items could decide", func() {
		r := scored(95, 5, 2, 98)
		var b strings.Builder
		for _, m := range []types.GomegaMatcher{match.Precision(0.97), match.Recall(0.99), match.F1(0.96)} {
			Expect(m.Match(r)).To(BeFalse())
			fmt.Fprintln(&b, m.FailureMessage(r))
		}
		m := match.Recall(0.5)
		Expect(m.Match(r)).To(BeTrue())
		fmt.Fprintln(&b, m.NegatedFailureMessage(r))
		golden.Expect("scores.txt", []byte(b.String()))
	})

	DescribeTable("return an error if they cannot decide", func(subject any, m types.GomegaMatcher, message string) {
		_, err := m.Match(subject)
		Expect(err).To(MatchError(ContainSubstring(message)))
	},
		Entry("of 0 of 0", scored(0, 0, 1, 3), match.Recall(0.5), "there is no recall: 0 found, 0 missed, 1 false alarms, 3 correctly ignored"),
		Entry("of a nil result", (*detect.Evaluation)(nil), match.F1(0.5), "nil"),
		Entry("of something else", 3, match.F1(0.5), "<int>: 3"),
		Entry("of a score beyond 1", scored(1, 1, 1, 1), match.Precision(90), "between 0 and 1"),
		Entry("of a score without an interval", detect.Scores{Precision: detect.Value{Value: new(float64)}}, match.Precision(0.5), "has no interval"),
	)
})
