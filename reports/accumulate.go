package reports

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// level is the confidence of all intervals.
const level = 0.95

// accumulator sums up the facts of trials. Its memory does not grow with their
// number. The zero value is ready.
type accumulator struct {
	series  [len(kinds)]series
	latency latencies
}

// kinds are the measures that are one number for each trial.
var kinds = [...]struct {
	name, unit string
	of         func(*measure.Facts) (value float64, known bool)
}{
	{Calls, "", func(f *measure.Facts) (float64, bool) { return float64(f.Calls.Total), true }},
	{FailedCalls, "", func(f *measure.Facts) (float64, bool) { return float64(f.Calls.Failed), true }},
	{Retries, "", func(f *measure.Facts) (float64, bool) { return float64(f.Calls.Retries), true }},
	{Iterations, "", func(f *measure.Facts) (float64, bool) { return float64(f.Run.Iterations), true }},
	{Tokens, "", func(f *measure.Facts) (float64, bool) { return float64(f.Tokens.Total), f.Tokens.Known }},
	{TokensIn, "", func(f *measure.Facts) (float64, bool) {
		return float64(f.Tokens.Input + f.Tokens.Cached), f.Tokens.Known
	}},
	{TokensOut, "", func(f *measure.Facts) (float64, bool) { return float64(f.Tokens.Output), f.Tokens.Known }},
	{CostEUR, "EUR", func(f *measure.Facts) (float64, bool) { return f.Cost.EUR, f.Cost.Known }},
	{CostUSD, "USD", func(f *measure.Facts) (float64, bool) { return f.Cost.USD, f.Cost.Known }},
	{Duration, "s", func(f *measure.Facts) (float64, bool) { return f.Run.Duration, f.Run.DurationKnown }},
}

func (a *accumulator) add(f measure.Facts) {
	for i, k := range kinds {
		a.series[i].add(k.of(&f))
	}
	a.latency.add(f.Calls, f.Latency)
}

// means are the measures as means over the trials.
func (a *accumulator) means() []Measure { return a.list(series.mean) }

// sums are the measures as sums over the trials.
func (a *accumulator) sums() []Measure { return a.list(series.total) }

func (a *accumulator) list(value func(series, *Measure)) []Measure {
	out := make([]Measure, 0, len(kinds)+4)
	for i, k := range kinds {
		if k.name == Duration {
			out = append(out, a.latency.measures()...)
		}
		s := a.series[i]
		m := Measure{Name: k.name, Unit: k.unit, Known: s.unknown == 0, N: s.n}
		if s.unknown > 0 {
			m.Warnings = []string{fmt.Sprintf("unknown in %s of %d", plural(s.unknown, "trial"), s.n)}
		}
		if s.n > 0 && (m.Known || s.sum > 0) {
			value(s, &m)
		}
		out = append(out, m)
	}
	return out
}

// series is one number for each trial: how often it was unknown (it is then a
// lower bound), sum, mean and sum of squared deviations (Welford's recurrence).
type series struct {
	n, unknown       int
	sum, average, m2 float64
}

func (s *series) add(v float64, known bool) {
	s.n++
	if !known {
		s.unknown++
	}
	s.sum += v
	delta := v - s.average
	s.average += delta / float64(s.n)
	s.m2 += delta * (v - s.average)
}

func (s series) total(m *Measure) { m.Value = &s.sum }

// mean sets the mean and Student's interval, which at least two trials give:
// mean ± t(n-1) · s/√n.
func (s series) mean(m *Measure) {
	m.Value = &s.average
	if s.n < 2 || !m.Known {
		return
	}
	n := float64(s.n)
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1 + level) / 2)
	half := t * math.Sqrt(s.m2/(n-1)/n)
	m.Interval = &Interval{Lo: s.average - half, Hi: s.average + half, Level: level, Method: "student-t"}
}

// passRate is the share of passed among passed and failed trials with Wilson's
// interval. Trials that could not be told or were skipped are no evidence.
func passRate(c Count) Measure {
	m := Measure{Name: "pass_rate", Known: true, N: c.Pass + c.Fail}
	if m.N == 0 {
		return m
	}
	n := float64(m.N)
	p := float64(c.Pass) / n
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	centre := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	m.Value = &p
	m.Interval = &Interval{Lo: max(0, centre-half), Hi: min(1, centre+half), Level: level, Method: "wilson"}
	return m
}
