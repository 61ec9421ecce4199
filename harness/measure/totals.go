package measure

import (
	"fmt"
	"math"

	"github.com/rehearse-dev/rehearse/stat"
)

// Value is one measure over several trials, with its confidence interval.
type Value struct {
	Name string `json:"name"`
	// Unit is "" for counts, "EUR", "USD" or "s".
	Unit string `json:"unit,omitempty"`
	// Known is false if something is missing, such as a price. Value, if it is not nil, is
	// then a lower bound for sums of money and tokens, and based on fewer observations for
	// times; Warnings describe the missing parts.
	Known bool `json:"known"`
	// Value is nil if it is unknown or undefined (0 of 0).
	Value *float64 `json:"value"`
	// N is the number of observations: trials, or calls for latencies.
	N int `json:"n"`
	// Interval is nil if N is too small.
	Interval *stat.Interval `json:"interval,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Summary holds the measures over the trials of Totals.
type Summary struct {
	Trials int
	// Means are for one trial, Sums over all of them; latencies are for one call
	// in both. The order is fixed.
	Means, Sums []Value
}

// Totals accumulates the facts of many trials, such as those of a scenario. It
// keeps the count, mean, variance and sum of each measure and a bounded
// histogram of latencies: some kilobytes, and at most 1 MB, however many trials
// there are. The zero value is empty and ready; it is not safe for concurrent
// use.
type Totals struct {
	trials   int
	measures [len(perTrial)]series
	latency  stat.Durations
	unknown  int // trials with missing latencies
}

// series is one measure over the trials.
type series struct {
	stat.Moments
	unknown int    // trials in which it was not known
	why     string // of the first of them
}

// measured is the value of one measure in one trial.
type measured struct {
	value float64
	known bool
	// partial is true if an unknown value is still a lower bound.
	partial bool
	why     string
}

// bound reports whether the value is a lower bound.
func (m measured) bound() bool { return !m.known && m.partial && m.value > 0 }

func count(n int) measured { return measured{value: float64(n), known: true} }

// perTrial are the measures of which each trial has one value.
var perTrial = [...]struct {
	name, unit string
	of         func(*Facts) measured
}{
	{"calls", "", func(f *Facts) measured { return count(f.Calls.Total) }},
	{"failed_calls", "", func(f *Facts) measured { return count(f.Calls.Failed) }},
	{"retries", "", func(f *Facts) measured { return count(f.Calls.Retries) }},
	{"iterations", "", func(f *Facts) measured { return count(f.Run.Iterations) }},
	{"tokens", "", func(f *Facts) measured { return f.Tokens.measured(f.Tokens.Total) }},
	{"tokens_input", "", func(f *Facts) measured { return f.Tokens.measured(f.Tokens.Input) }},
	{"tokens_cached", "", func(f *Facts) measured { return f.Tokens.measured(f.Tokens.Cached) }},
	{"tokens_output", "", func(f *Facts) measured { return f.Tokens.measured(f.Tokens.Output) }},
	{"cost_eur", "EUR", func(f *Facts) measured { return f.Cost.measured(f.Cost.EUR) }},
	{"cost_usd", "USD", func(f *Facts) measured { return f.Cost.measured(f.Cost.USD) }},
	{"duration", "s", func(f *Facts) measured {
		return measured{value: f.Run.Duration, known: f.Run.DurationKnown, why: "it was not timed"}
	}},
}

func (t *TokenFacts) measured(n int) measured {
	return measured{value: float64(n), known: t.Known, partial: true, why: "a call has no token usage"}
}

func (c *CostFacts) measured(amount float64) measured {
	return measured{value: amount, known: c.Known, partial: true, why: c.Why}
}

// Add adds a trial.
func (t *Totals) Add(f Facts) {
	t.trials++
	for i := range perTrial {
		m := perTrial[i].of(&f)
		s := &t.measures[i]
		if !m.known {
			if s.unknown == 0 {
				s.why = m.why
			}
			s.unknown++
		}
		if m.known || m.bound() {
			s.Add(m.value)
		}
	}
	if f.Latency.N < f.Calls.Total {
		t.unknown++
	}
	for _, x := range f.Latency.All {
		t.latency.Add(x)
	}
}

// Close returns the measures so far. It may be called any number of times, and
// trials may be added in between.
func (t *Totals) Close() Summary {
	sum := Summary{Trials: t.trials}
	for i, p := range perTrial {
		s := &t.measures[i]
		mean := t.value(p.name, p.unit, s)
		total := mean
		if s.N() > 0 {
			mean.fill(s.Mean(stat.Level))
			total.Value = new(s.Sum())
		}
		sum.Means, sum.Sums = append(sum.Means, mean), append(sum.Sums, total)
	}
	latencies := t.latencies()
	sum.Means, sum.Sums = append(sum.Means, latencies...), append(sum.Sums, latencies...)
	return sum
}

// value returns a value without its number, and reports in how many trials it is unknown.
func (t *Totals) value(name, unit string, s *series) Value {
	v := Value{Name: name, Unit: unit, Known: s.unknown == 0, N: s.N()}
	if s.unknown > 0 {
		v.Warnings = []string{fmt.Sprintf("unknown in %d of %d trials: %s", s.unknown, t.trials, s.why)}
	}
	return v
}

// fill sets the value from a summary. A value that is not known has no interval, because
// observations are not missing at random.
func (v *Value) fill(s stat.Summary) {
	v.N = s.N
	if math.IsNaN(s.Value) {
		return
	}
	v.Value = new(s.Value)
	if v.Known {
		v.Interval = s.Interval
	}
	v.Warnings = append(v.Warnings, s.Warnings...)
}

// latencies returns the measures over all calls of all trials.
func (t *Totals) latencies() []Value {
	quantiles := t.latency.Quantiles(stat.Level, 0.50, 0.95)
	largest := stat.Summary{Value: t.latency.Max(), N: t.latency.N()}
	if largest.N == 0 {
		largest.Value = math.NaN()
	}
	return []Value{
		t.latencyValue(latencyMean, t.latency.Mean(stat.Level)),
		t.latencyValue(latencyP50, quantiles[0]),
		t.latencyValue(latencyP95, quantiles[1]),
		t.latencyValue(latencyMax, largest),
	}
}

func (t *Totals) latencyValue(name string, s stat.Summary) Value {
	v := Value{Name: name, Unit: "s", Known: t.unknown == 0}
	if t.unknown > 0 {
		v.Warnings = []string{fmt.Sprintf("in %d of %d trials calls were not timed", t.unknown, t.trials)}
	}
	if s.N == 0 {
		return v
	}
	v.fill(s)
	if v.Interval != nil && s.N > t.trials {
		v.Warnings = append(v.Warnings, "the interval treats the calls of a trial as independent")
	}
	return v
}
