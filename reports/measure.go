package reports

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Measure is one number with its doubt.
type Measure struct {
	Name string `json:"name"`
	// Unit is "", "EUR", "USD" or "s".
	Unit string `json:"unit,omitempty"`
	// Known is false where something is missing, such as a price. Value, if there
	// is one, is then a lower bound.
	Known bool `json:"known"`
	// Value is null where there is nothing to tell: unknown, or 0 of 0.
	Value *float64 `json:"value"`
	// N is the number of observations behind the value.
	N int `json:"n"`
	// Interval is absent where one observation, or none, cannot give one.
	Interval *Interval `json:"interval,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
}

// Interval says how far a value can be trusted.
type Interval struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
	// Level is the confidence, in (0, 1).
	Level  float64 `json:"level"`
	Method string  `json:"method"`
}

// The names of measures, in the order of a report.
const (
	Calls       = "calls"
	FailedCalls = "failed_calls"
	Retries     = "retries"
	Iterations  = "iterations"
	Tokens      = "tokens"
	TokensIn    = "tokens_input"
	TokensOut   = "tokens_output"
	CostEUR     = "cost_eur"
	CostUSD     = "cost_usd"
	LatencyMean = "latency_mean"
	LatencyP50  = "latency_p50"
	LatencyP95  = "latency_p95"
	LatencyMax  = "latency_max"
	Duration    = "duration"
)

// find returns the measure of that name; one that is unknown if there is none.
func find(list []Measure, name string) Measure {
	for _, m := range list {
		if m.Name == name {
			return m
		}
	}
	return Measure{Name: name}
}

// String is the value for a person: "unknown" if it is not known, "n/a" if there
// was nothing to measure, and never a 0 for either.
func (m Measure) String() string {
	switch {
	case !m.Known:
		return "unknown"
	case m.Value == nil:
		return "n/a"
	}
	switch m.Unit {
	case "s":
		return seconds(*m.Value)
	case "EUR", "USD":
		return money(*m.Value)
	default:
		return number(*m.Value)
	}
}

// exact is the value for a program: all digits, in the measure's unit.
func (m Measure) exact() string {
	if !m.Known || m.Value == nil {
		return m.String()
	}
	return strconv.FormatFloat(*m.Value, 'f', -1, 64)
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
	case abs >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
