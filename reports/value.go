package reports

import (
	"strconv"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/stat"
)

// The measures that reports show; JSON and JUnit have all.
const (
	calls      = "calls"
	tokens     = "tokens"
	costEUR    = "cost_eur"
	latencyP95 = "latency_p95"
	duration   = "duration"
)

// find returns the measure of that name; one that is unknown if there is none.
func find(list []measure.Value, name string) measure.Value {
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	return measure.Value{Name: name}
}

// passRate is the share of passed among passed and failed trials. Trials that
// could not be told or were skipped are no evidence.
func passRate(c Count) measure.Value {
	return rate("pass_rate", stat.Proportion(c.Pass, c.Pass+c.Fail, stat.Level))
}

// told reports whether v is a number that can be shown: neither unknown, nor a
// lower bound, nor 0 of 0.
func told(v measure.Value) bool { return v.Known && v.Value != nil }

// text is a measure for a person: "unknown" if it is not known, "n/a" if there
// was nothing to measure, and never a 0 for either. Units of money are left out.
func text(v measure.Value) string {
	switch {
	case !v.Known:
		return "unknown"
	case v.Value == nil:
		return "n/a"
	}
	switch v.Unit {
	case "s":
		return format.Seconds(*v.Value)
	case "EUR", "USD":
		return format.Money(*v.Value)
	default:
		return format.Number(*v.Value)
	}
}

// exact is a measure for a program: all digits, in the measure's unit.
func exact(v measure.Value) string {
	if !told(v) {
		return text(v)
	}
	return strconv.FormatFloat(*v.Value, 'f', -1, 64)
}
