package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// load estimates how much the load of the machine changes a wall-clock time. It works on
// logarithms, because load slows trials by a factor.
type load struct {
	drift *stat.Drift
	// shift is the Hodges-Lehmann estimate of the difference of the logarithms.
	shift float64
}

// shortest is the smallest time, in seconds; shorter ones are raised to it.
const shortest = 1e-6

// newLoad returns the load for the trial times of both runs; NaN marks a missing time.
func newLoad(before, after []float64) *load {
	logs := func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = math.Log(max(v, shortest)) // NaN stays NaN
		}
		return out
	}
	b, a := logs(before), logs(after)
	differences := make([]float64, len(b))
	for i := range b {
		differences[i] = a[i] - b[i]
	}
	differences = slices.DeleteFunc(differences, math.IsNaN)
	return &load{drift: stat.NewDrift(b, a), shift: stat.HodgesLehmann(differences, stat.Level).Value}
}

// explains describes how much load could have changed the time if that explains the difference,
// else it returns "". It returns "" for a nil load, that of other measures. Half of alpha is spent on this
// test, shared by all families of times.
func (l *load) explains(s correction) string {
	if l == nil {
		return ""
	}
	most := l.drift.Bound(s.alpha / 2 / float64(max(1, s.timed)))
	switch {
	case math.Abs(l.shift) > most:
		return ""
	case most > maxLoad:
		return "with so few trials it cannot be distinguished from a change of the machine's load"
	}
	return fmt.Sprintf("a change of the machine's load can explain a factor of up to %.2g", math.Exp(most))
}

// maxLoad is the largest bound that is shown, the logarithm of 100.
var maxLoad = math.Log(100)
