package measure

import (
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// GuardTotals accumulates what stop guards did in many trials. The zero value is
// empty and ready; it is not safe for concurrent use.
type GuardTotals struct {
	sum        GuardFacts
	runs       int // trials in which an answer was judged
	allowed    int // of them, ended with an answer that might stop
	detections stat.Moments
	untimed    int // trials with forced executions whose times are unknown
}

// Add adds a trial. One in which no answer was judged changes nothing.
func (t *GuardTotals) Add(f GuardFacts) {
	if f.Judged == 0 {
		return
	}
	t.runs++
	if f.Allowed {
		t.allowed++
	}
	t.detections.Add(float64(f.Detections))
	if f.Forced > 0 && !f.ExecutionKnown {
		t.untimed++
	}
	s := &t.sum
	s.Judged += f.Judged
	s.Refused += f.Refused
	s.Forced += f.Forced
	s.Detections += f.Detections
	s.Steps += f.Steps
	s.Executed += f.Executed
	s.Execution += f.Execution
	s.Labelled += f.Labelled
	s.Deferred += f.Deferred
	s.Prevented += f.Prevented
	s.FalsePositives += f.FalsePositives
	s.FalseNegatives += f.FalseNegatives
	for category, n := range f.By {
		if s.By == nil {
			s.By = map[string]int{}
		}
		s.By[category] += n
	}
}

// Close returns the metrics of document 000 in a fixed order; nil if no guard
// was asked. Rates over labels are 0 of 0 where there are none, not 0. It may be
// called any number of times.
func (t *GuardTotals) Close() []Value {
	if t.runs == 0 {
		return nil
	}
	s := &t.sum
	values := []Value{
		summed("guard_judged", s.Judged, t.runs),
		summed("guard_refused", s.Refused, t.runs),
		summed("guard_detections", s.Detections, t.runs),
	}
	for _, category := range slices.Sorted(maps.Keys(s.By)) {
		values = append(values, summed("guard_detections_"+category, s.By[category], t.runs))
	}
	perRun := Value{Name: "guard_detections_per_run", Known: true}
	perRun.fill(t.detections.Mean(stat.Level))
	return append(
		values, perRun,
		summed("guard_forced_executions", s.Forced, t.runs),
		ratio("guard_steps_per_execution", s.Steps, s.Refused),
		summed("guard_steps_executed", s.Executed, t.runs),
		t.execution(),
		rate("guard_success_rate", t.allowed, t.runs),
		// Where a bound ended the run, the answer was no success and no stop either.
		rate("guard_prevented_rate", s.Prevented, s.Prevented+s.FalseNegatives),
		rate("guard_false_positive_rate", s.FalsePositives, s.Labelled-s.Deferred),
		rate("guard_false_negative_rate", s.FalseNegatives, s.Deferred),
	)
}

// summed is a sum over n trials.
func summed(name string, sum, n int) Value {
	return Value{Name: name, Known: true, N: n, Value: pointer(float64(sum))}
}

// execution is the mean time that a forced execution took.
func (t *GuardTotals) execution() Value {
	v := Value{Name: "guard_execution_mean", Unit: "s", Known: t.untimed == 0, N: t.sum.Forced}
	switch {
	case !v.Known:
		v.Warnings = []string{"recordings of processes hold no times"}
	case v.N > 0:
		v.Value = pointer(t.sum.Execution / float64(v.N))
	}
	return v
}

// ratio is the mean of a count over others.
func ratio(name string, sum, n int) Value {
	v := Value{Name: name, Known: true, N: n}
	if n > 0 {
		v.Value = pointer(float64(sum) / float64(n))
	}
	return v
}

// rate is k of n, with Wilson's interval.
func rate(name string, k, n int) Value {
	v := Value{Name: name, Known: true}
	v.fill(stat.Proportion(k, n, stat.Level))
	return v
}
