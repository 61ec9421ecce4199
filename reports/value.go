package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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

// Find returns the measure of that name; one that is unknown if there is none.
func Find(list []measure.Value, name string) measure.Value {
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

// Text writes a measure for a person: "unknown" if it is not known, "n/a" if there
// was nothing to measure, and never a 0 for either. Units of money are left out.
func Text(v measure.Value) string {
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
		return Text(v)
	}
	return strconv.FormatFloat(*v.Value, 'f', -1, 64)
}

// brief is Text for a narrow column: of money not more than four decimals.
func brief(v measure.Value) string {
	money := v.Unit == "EUR" || v.Unit == "USD"
	switch {
	case !money || !told(v) || *v.Value == 0 || math.Abs(*v.Value) >= 1:
		return Text(v)
	case math.Abs(*v.Value) < 0.0001:
		return "<0.0001"
	default:
		return strconv.FormatFloat(*v.Value, 'f', 4, 64)
	}
}

// share is a rate as "60 %".
func share(v measure.Value) string {
	if !told(v) {
		return Text(v)
	}
	return format.Percent(*v.Value)
}

// shareOf is a rate as counts of what they are of, share and interval: "12 of 12 runs,
// 100 % [75.8, 100]".
func shareOf(v measure.Value, noun string) string {
	if !told(v) {
		return Text(v)
	}
	line := fmt.Sprintf("%.0f of %d%s, %s", math.Round(*v.Value*float64(v.N)), v.N, strings.TrimRight(" "+noun, " "), share(v))
	if in := v.Interval; in != nil {
		line += fmt.Sprintf(" [%s, %s]", strings.TrimSuffix(format.Percent(in.Lo), " %"), strings.TrimSuffix(format.Percent(in.Hi), " %"))
	}
	return line
}
