package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// pass is the measure that is 1 for a passed and 0 for a failed trial.
const pass = "pass"

// measured is a measure that can be computed for a trial.
type measured struct {
	result.Measure
	expr *gate.Number // nil for the others
}

// trialMeasures returns the names of the measures of a trial, in order, and their units by name.
func trialMeasures() (names []string, units map[string]string) {
	names, units = []string{pass}, map[string]string{pass: ""}
	one := measure.Facts{Calls: measure.CallFacts{Total: 1}} // with a call, there are latencies
	for s := range measure.Singles(&one) {
		names, units[s.Name] = append(names, s.Name), s.Unit
	}
	return names, units
}

// quantityOf returns the measure for an entry of the file. It calls found with each problem and its
// key.
func quantityOf(m Measure, language *gate.Language, found func(key, nearest string, err error)) measured {
	q := measured{Measure: result.Measure{
		Name: m.Name, Expr: m.Expr, Better: result.Direction(m.Better), Smallest: m.SmallestEffect, Range: m.Range,
	}}
	names, units := trialMeasures()
	unit, taken := units[m.Name]
	switch {
	case m.Expr != "" && taken:
		found("name", "", fmt.Errorf("%q is a measure already; give the expression another name", m.Name))
	case m.Expr != "":
		q.compile(m, language, found)
	case !taken:
		found("name", suggest.Nearest(m.Name, names), fmt.Errorf("unknown measure %q; choose from %s, or write an expression with expr",
			m.Name, strings.Join(names, ", ")))
	default:
		q.Unit, q.Share = unit, m.Name == pass
		if q.Better == "" {
			q.Better = result.Lower
			if q.Share {
				q.Better = result.Higher
			}
		}
	}
	if q.Share && q.Smallest >= 1 {
		found("smallest_effect", "",
			fmt.Errorf("a difference of shares must be less than 1, got %g; write 0.1 for ten percentage points", q.Smallest))
	}
	if err := q.bounded(); err != nil {
		found("range", "", err)
		q.Range = nil
	}
	return q
}

// bounded checks the declared range.
func (q *measured) bounded() error {
	r := q.Range
	switch {
	case r == nil:
		return nil
	case q.Share:
		return fmt.Errorf("%s is a boolean and needs no range; remove it", q.Name)
	case len(r) != 2 || !(r[0] < r[1]) || math.IsInf(r[1]-r[0], 0):
		return fmt.Errorf("%v is not a range; write the least and the greatest value, such as [0, 60]", r)
	case q.Smallest >= r[1]-r[0]:
		return fmt.Errorf("the range %v is smaller than the smallest_effect %g; write a smaller effect or a larger range", r, q.Smallest)
	}
	return nil
}

func (q *measured) compile(m Measure, language *gate.Language, found func(key, nearest string, err error)) {
	var err error
	if q.expr, err = language.CompileNumber(m.Expr); err != nil {
		found("expr", "", fmt.Errorf("the expression cannot be used: %w", err))
		return
	}
	q.Share = q.expr.Share()
	if q.Better == "" {
		found("", "", fmt.Errorf("the measure %s needs a direction; write better: higher or better: lower", m.Name))
	}
}

// values returns the known measures of a trial, including expressions, and why others are unknown.
func values(j *harness.Judged, quantities []measured) (known map[string]float64, why map[string]string) {
	known, why = map[string]float64{}, map[string]string{}
	if j.Verdict == gate.Error || j.Verdict == gate.Skip {
		return known, why
	}
	known[pass] = 0
	if j.Verdict == gate.Pass {
		known[pass] = 1
	}
	for s := range measure.Singles(&j.Facts) {
		if s.Known {
			known[s.Name] = s.Value
		} else {
			why[s.Name] = s.Why
		}
	}
	for i := range quantities {
		q := &quantities[i]
		if q.expr == nil {
			continue
		}
		if v, reason := q.expr.Of(&j.Facts); reason == "" {
			known[q.Name] = v
		} else {
			why[q.Name] = reason
		}
	}
	return known, why
}

// firstRepeated returns the index of the first measure with the name of an earlier one; -1 without one.
func firstRepeated(all []measured) int {
	for i := range all {
		if slices.ContainsFunc(all[:i], func(q measured) bool { return q.Name == all[i].Name }) {
			return i
		}
	}
	return -1
}

// measurePath returns the path of a key of a measure in the file, with index 0 for the primary one.
func measurePath(i int, key string) string {
	path := "primary"
	if i > 0 {
		path = fmt.Sprintf("secondary[%d]", i-1)
	}
	return yamlsrc.Join(path, key)
}
