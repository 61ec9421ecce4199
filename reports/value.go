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

// Find returns the measure with that name; an unknown one if it is missing.
func Find(list []measure.Value, name string) measure.Value {
	for _, v := range list {
		if v.Name == name {
			return v
		}
	}
	return measure.Value{Name: name}
}

// passRate returns the share of passed among passed and failed trials. Errors and skips are not
// evidence.
func passRate(c Count) measure.Value {
	return rate("pass_rate", stat.Proportion(c.Pass, c.Pass+c.Fail, stat.Level))
}

// hasNumber reports whether v is a number: neither unknown, nor a lower bound, nor 0 of 0.
func hasNumber(v measure.Value) bool { return v.Known && v.Value != nil }

// Text formats a measure for a person: "unknown", "n/a" if there was nothing to measure, else
// the number. Currencies are left out.
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

// exact formats a measure for a program: all digits, in the measure's unit.
func exact(v measure.Value) string {
	if !hasNumber(v) {
		return Text(v)
	}
	return strconv.FormatFloat(*v.Value, 'f', -1, 64)
}

// Brief is Text with at most four decimals of money, for narrow columns.
func Brief(v measure.Value) string {
	money := v.Unit == "EUR" || v.Unit == "USD"
	switch {
	case !money || !hasNumber(v) || *v.Value == 0 || math.Abs(*v.Value) >= 1:
		return Text(v)
	case math.Abs(*v.Value) < 0.0001:
		return "<0.0001"
	default:
		return strconv.FormatFloat(*v.Value, 'f', 4, 64)
	}
}

// share returns a rate such as "60 %".
func share(v measure.Value) string {
	if !hasNumber(v) {
		return Text(v)
	}
	return format.Percent(*v.Value)
}

// shareOf returns a rate with its counts and interval, such as "12 of 12 runs, 100 % [75.8,
// 100]".
func shareOf(v measure.Value, noun string) string {
	if !hasNumber(v) {
		return Text(v)
	}
	line := fmt.Sprintf("%.0f of %d%s, %s", math.Round(*v.Value*float64(v.N)), v.N, strings.TrimRight(" "+noun, " "), share(v))
	if in := v.Interval; in != nil {
		line += fmt.Sprintf(" [%s, %s]", strings.TrimSuffix(format.Percent(in.Lo), " %"), strings.TrimSuffix(format.Percent(in.Hi), " %"))
	}
	return line
}
