package match

import (
	"fmt"

	"github.com/onsi/gomega/format"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// Precision matches if the lower end of the interval of a detector's precision is at least atLeast.
// It accepts a detect.Evaluation, detect.Group or detect.Scores, as Recall and F1 do.
func Precision(atLeast float64) types.GomegaMatcher {
	return &scores{name: "precision", floor: atLeast, of: func(s *detect.Scores) detect.Value { return s.Precision }}
}

// Recall matches the recall, as Precision matches the precision.
func Recall(atLeast float64) types.GomegaMatcher {
	return &scores{name: "recall", floor: atLeast, of: func(s *detect.Scores) detect.Value { return s.Recall }}
}

// F1 matches the harmonic mean of precision and recall, as Precision matches the precision.
func F1(atLeast float64) types.GomegaMatcher {
	return &scores{name: "F1", floor: atLeast, of: func(s *detect.Scores) detect.Value { return s.F1 }}
}

type scores struct {
	name  string
	floor float64
	of    func(*detect.Scores) detect.Value

	all   detect.Scores
	value detect.Value
}

// Match implements types.GomegaMatcher.
func (m *scores) Match(actual any) (bool, error) {
	switch a := actual.(type) {
	case detect.Evaluation:
		m.all = a.Overall
	case *detect.Evaluation:
		if a == nil {
			return false, fmt.Errorf("the result is nil")
		}
		m.all = a.Overall
	case detect.Scores:
		m.all = a
	case detect.Group:
		m.all = a.Scores
	default:
		return false, fmt.Errorf("expected a detect.Evaluation, a detect.Group or a detect.Scores, got\n%s", format.Object(actual, 1))
	}
	m.value = m.of(&m.all)
	switch {
	case !(m.floor > 0 && m.floor <= 1):
		return false, fmt.Errorf("a score must be between 0 and 1, got %g", m.floor)
	case m.value.Value == nil:
		return false, fmt.Errorf("there is no %s: %s", m.name, m.counts())
	case m.value.Interval == nil:
		return false, fmt.Errorf("%s is %.3f and has no interval: %s", m.name, *m.value.Value, m.counts())
	}
	return m.value.Interval.Lo >= m.floor, nil
}

// FailureMessage implements types.GomegaMatcher.
func (m *scores) FailureMessage(any) string {
	text := fmt.Sprintf("Expected %s of at least %.3f, saw %s.", m.name, m.floor, m.saw())
	if *m.value.Value >= m.floor {
		text += "\nThe value is high enough, but the lower end of its interval is not: more items could decide."
	}
	return text
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (m *scores) NegatedFailureMessage(any) string {
	return fmt.Sprintf("Did not expect %s of at least %.3f, saw %s.", m.name, m.floor, m.saw())
}

func (m *scores) saw() string {
	i := m.value.Interval
	return fmt.Sprintf("%.3f (%.3f to %.3f at %.0f %%, n = %d; %s)", *m.value.Value, i.Lo, i.Hi, 100*i.Level, m.value.N, m.counts())
}

func (m *scores) counts() string {
	c := m.all.Counts
	return fmt.Sprintf("%d found, %d missed, %d false alarms, %d correctly ignored", c.TP, c.FN, c.FP, c.TN)
}
