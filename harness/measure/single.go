package measure

import "iter"

// Single is one measure of one trial.
type Single struct {
	Name string
	// Unit is the unit of Value.
	Unit string
	// Value must not be used if Known and Bound are false.
	Value float64
	Known bool
	// Bound is true if the value is not known, but Value is a lower bound.
	Bound bool
	// Why is the reason why the value is not known.
	Why string
}

// Singles returns the measures of one trial, with the names and in the order of Summary.
// Latencies are over the trial's own calls; a trial without calls has no latencies.
func Singles(f *Facts) iter.Seq[Single] {
	return func(yield func(Single) bool) {
		for i := range perTrial {
			m := perTrial[i].of(f)
			if !yield(Single{perTrial[i].name, perTrial[i].unit, m.value, m.known, m.bound(), m.why}) {
				return
			}
		}
		l := &f.Latency
		if l.N == 0 && f.Calls.Total == 0 {
			return
		}
		timed := l.N > 0 && l.N >= f.Calls.Total
		for _, m := range [...]struct {
			name  string
			value float64
		}{{latencyMean, l.Mean}, {latencyP50, l.P50}, {latencyP95, l.P95}, {latencyMax, l.Max}} {
			if !yield(Single{m.name, "s", m.value, timed, false, "its calls were not timed"}) {
				return
			}
		}
	}
}

// The names of the measures over calls.
const (
	latencyMean = "latency_mean"
	latencyP50  = "latency_p50"
	latencyP95  = "latency_p95"
	latencyMax  = "latency_max"
)
