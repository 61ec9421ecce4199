package measure

import (
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// Metric computes a value, or several, from the facts of an extension over many trials.
type Metric struct {
	part   func(facts any, core *Facts) part
	values func(*tally) []Value
}

// part is the contribution of one trial to a metric.
type part struct {
	sum     float64
	of      int            // the number by which sums are divided
	counts  map[string]int // for SumBy
	unknown bool           // sum is not known
}

// tally accumulates one metric.
type tally struct {
	trials  int
	sum     float64
	of      int
	counts  map[string]int
	unknown bool
	moments stat.Moments // of the trials' sums
}

func (t *tally) add(p part) {
	t.trials++
	t.sum += p.sum
	t.of += p.of
	t.unknown = t.unknown || p.unknown
	t.moments.Add(p.sum)
	for key, n := range p.counts {
		if t.counts == nil {
			t.counts = map[string]int{}
		}
		t.counts[key] += n
	}
}

// Sum adds up a count.
func Sum[T any](name string, count func(*T) int) Metric {
	return newMetric(
		func(f *T, _ *Facts) part { return part{sum: float64(count(f))} },
		func(t *tally) Value { return Value{Name: name, Known: true, N: t.trials, Value: new(t.sum)} },
	)
}

// Amount adds up an amount in a unit. It is unknown if that of any trial is.
func Amount[T any](name, unit string, amount func(*T) (value float64, known bool)) Metric {
	return newMetric(
		func(f *T, _ *Facts) part { value, known := amount(f); return part{sum: value, unknown: !known} },
		func(t *tally) Value {
			return Value{Name: name, Unit: unit, Known: !t.unknown, N: t.trials, Value: new(t.sum)}
		},
	)
}

// SumBy adds up counts by key. Each key has a value of its own, whose name is prefix
// followed by the key.
func SumBy[T any](prefix string, counts func(*T) map[string]int) Metric {
	return Metric{
		part: func(facts any, _ *Facts) part { return part{counts: counts(facts.(*T))} },
		values: func(t *tally) (all []Value) {
			for _, key := range slices.Sorted(maps.Keys(t.counts)) {
				all = append(all, Value{Name: prefix + key, Known: true, N: t.trials, Value: new(float64(t.counts[key]))})
			}
			return all
		},
	}
}

// Mean averages a count over the trials, with a confidence interval.
func Mean[T any](name string, count func(*T) int) Metric {
	return newMetric(
		func(f *T, _ *Facts) part { return part{sum: float64(count(f))} },
		func(t *tally) Value { return summarized(name, t.moments.Mean(stat.Level)) },
	)
}

// Ratio divides the sum of one count by the sum of another.
func Ratio[T any](name string, counts func(*T) (k, n int)) Metric {
	return newMetric(
		func(f *T, _ *Facts) part { k, n := counts(f); return part{sum: float64(k), of: n} },
		func(t *tally) Value { return t.quotient(name, "") },
	)
}

// MeanTime divides a sum of seconds by the number of times that were measured. It is
// unknown if the seconds of any trial are.
func MeanTime[T any](name string, times func(*T) (seconds float64, n int, known bool)) Metric {
	return newMetric(
		func(f *T, _ *Facts) part {
			seconds, n, known := times(f)
			return part{sum: seconds, of: n, unknown: !known}
		},
		func(t *tally) Value { return t.quotient(name, "s") },
	)
}

// Rate is the share of k in n, both summed over the trials, with Wilson's interval.
func Rate[T any](name string, counts func(*T) (k, n int)) Metric {
	return rate(name, func(f *T, _ *Facts) (k, n int) { return counts(f) })
}

// RateOfCalls is the number of times that something happened as a share of all calls.
func RateOfCalls[T any](name string, count func(*T) int) Metric {
	return rate(name, func(f *T, core *Facts) (k, n int) { return count(f), core.Calls.Total })
}

// RateOfTrials is the share of trials in which something is true.
func RateOfTrials[T any](name string, is func(*T, *Facts) bool) Metric {
	return rate(name, func(f *T, core *Facts) (k, n int) {
		if is(f, core) {
			k = 1
		}
		return k, 1
	})
}

func rate[T any](name string, counts func(*T, *Facts) (k, n int)) Metric {
	return newMetric(
		func(f *T, core *Facts) part { k, n := counts(f, core); return part{sum: float64(k), of: n} },
		func(t *tally) Value { return summarized(name, stat.Proportion(int(t.sum), t.of, stat.Level)) },
	)
}

func newMetric[T any](of func(*T, *Facts) part, value func(*tally) Value) Metric {
	return Metric{
		part:   func(facts any, core *Facts) part { return of(facts.(*T), core) },
		values: func(t *tally) []Value { return []Value{value(t)} },
	}
}

func summarized(name string, s stat.Summary) Value {
	v := Value{Name: name, Known: true}
	v.fill(s)
	return v
}

// quotient returns the sum divided by t.of.
func (t *tally) quotient(name, unit string) Value {
	v := Value{Name: name, Unit: unit, Known: !t.unknown, N: t.of}
	switch {
	case t.unknown:
		v.Warnings = []string{"the recording of a process contains no times"}
	case v.N > 0:
		v.Value = new(t.sum / float64(t.of))
	}
	return v
}
