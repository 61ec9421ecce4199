package stat

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"
)

// maxDistinct is the number of different durations that are stored exactly.
const maxDistinct = 4096

var roundedWarning = fmt.Sprintf("more than %d different durations: rounded to three digits", maxDistinct)

// Durations is a sample of durations, in seconds, in bounded memory: it counts durations that are
// equal to the nanosecond. Beyond 4,096 different ones, all are rounded to three significant
// digits, with an error of at most 0.5 %, which limits them to about 17,000. The result does not
// depend on the order of additions. Mean and maximum stay exact. The zero value is an empty sample.
type Durations struct {
	counts  map[time.Duration]int
	rounded bool
	moments Moments
	max     float64
}

// Add adds a duration in seconds; a negative one counts as 0.
func (d *Durations) Add(seconds float64) {
	seconds = max(0, seconds)
	d.moments.Add(seconds)
	d.max = max(d.max, seconds)
	v := time.Duration(math.Round(seconds * float64(time.Second)))
	if d.rounded {
		v = threeDigits(v)
	}
	if d.counts == nil {
		d.counts = map[time.Duration]int{}
	}
	d.counts[v]++
	if len(d.counts) <= maxDistinct || d.rounded {
		return
	}
	d.rounded = true
	coarse := map[time.Duration]int{}
	for v, n := range d.counts {
		coarse[threeDigits(v)] += n
	}
	d.counts = coarse
}

// threeDigits rounds to three significant digits.
func threeDigits(d time.Duration) time.Duration {
	step := time.Duration(1)
	for rest := d; rest >= 1000; rest /= 10 {
		step *= 10
	}
	return d.Round(step)
}

// N returns the number of durations.
func (d *Durations) N() int { return d.moments.N() }

// Max returns the exact longest duration in seconds; 0 for an empty sample.
func (d *Durations) Max() float64 { return d.max }

// Rounded reports whether quantiles have only three significant digits.
func (d *Durations) Rounded() bool { return d.rounded }

// Mean returns the mean in seconds, like Moments.Mean.
func (d *Durations) Mean(level float64) Summary { return d.moments.Mean(level) }

// Quantiles returns the quantiles of qs in seconds, like Quantile. Quantiles of rounded durations
// have a warning.
func (d *Durations) Quantiles(level float64, qs ...float64) []Summary {
	values := slices.Sorted(maps.Keys(d.counts))
	upTo := make([]int, 0, len(values)) // number of durations up to values[i]
	n := 0
	for _, v := range values {
		n += d.counts[v]
		upTo = append(upTo, n)
	}
	at := func(i int) float64 { return values[sort.SearchInts(upTo, i+1)].Seconds() }
	var out []Summary
	for _, q := range qs {
		s := Quantile(n, at, q, level)
		if d.rounded {
			s.Warnings = append(s.Warnings, roundedWarning)
		}
		out = append(out, s)
	}
	return out
}
