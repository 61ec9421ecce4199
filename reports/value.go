package reports

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/measure"
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
	s := stat.Proportion(c.Pass, c.Pass+c.Fail, stat.Level)
	v := measure.Value{Name: "pass_rate", Known: true, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if s.N > 0 {
		v.Value = &s.Value
	}
	return v
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
		return seconds(*v.Value)
	case "EUR", "USD":
		return money(*v.Value)
	default:
		return number(*v.Value)
	}
}

// exact is a measure for a program: all digits, in the measure's unit.
func exact(v measure.Value) string {
	if !told(v) {
		return text(v)
	}
	return strconv.FormatFloat(*v.Value, 'f', -1, 64)
}

// number writes whole numbers in full up to 99999, larger ones as 123k or 12.3M,
// and means with one decimal.
func number(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 999_500_000:
		return significant(v/1e9) + "G"
	case abs >= 999_500:
		return significant(v/1e6) + "M"
	case abs >= 99_999.5:
		return significant(v/1e3) + "k"
	case v == math.Trunc(v) || abs >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs < 0.1:
		return significant(v)
	default:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
}

// money writes at least cents and small amounts with three digits that count.
func money(v float64) string {
	if v == 0 || math.Abs(v) >= 1 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return significant(v)
}

// significant writes three digits that count.
func significant(v float64) string {
	if v == 0 {
		return "0"
	}
	// Rounded first: 0.9996 has its first digit before the point once rounded.
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', min(max(digits, 0), 9), 64)
}

// seconds writes a time with about three digits: 450ms, 1.25s, 4h0m, 12m5s.
func seconds(v float64) string {
	if math.Abs(v) > math.MaxInt64/float64(time.Second)/2 {
		return significant(v) + "s"
	}
	d := time.Duration(v * float64(time.Second))
	switch abs := d.Abs(); {
	case abs >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case abs >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case abs >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case abs >= 100*time.Millisecond:
		return d.Round(time.Millisecond).String()
	case abs >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
