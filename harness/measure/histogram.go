package measure

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/rehearse-dev/rehearse/stat"
)

// maxDistinct is how many different latencies are kept exactly.
const maxDistinct = 4096

var roundedWarning = fmt.Sprintf("more than %d different latencies: rounded to three digits", maxDistinct)

// histogram counts equal latencies. Once there are more than maxDistinct
// different ones, all are rounded to three significant digits, an error of at
// most 0.5 %: the range of time.Duration then has room for no more than some
// 17,000 of them. The result does not depend on the order of the latencies.
// Mean and maximum stay exact.
type histogram struct {
	counts  map[time.Duration]int
	rounded bool
	moments stat.Moments
	max     float64
}

func (h *histogram) add(seconds float64) {
	h.moments.Add(seconds)
	h.max = max(h.max, seconds)
	d := duration(seconds)
	if h.rounded {
		d = round(d)
	}
	if h.counts == nil {
		h.counts = map[time.Duration]int{}
	}
	h.counts[d]++
	if len(h.counts) <= maxDistinct || h.rounded {
		return
	}
	h.rounded = true
	coarse := map[time.Duration]int{}
	for d, n := range h.counts {
		coarse[round(d)] += n
	}
	h.counts = coarse
}

// round rounds to three significant digits.
func round(d time.Duration) time.Duration {
	step := time.Duration(1)
	for rest := d; rest >= 1000; rest /= 10 {
		step *= 10
	}
	return d.Round(step)
}

// closed is a histogram in ascending order.
type closed struct {
	n       int
	max     float64
	rounded bool
	moments stat.Moments
	values  []time.Duration
	upTo    []int // how many latencies are at most the value of the same index
}

func (h *histogram) close() closed {
	c := closed{max: h.max, rounded: h.rounded, moments: h.moments, values: slices.Sorted(maps.Keys(h.counts))}
	for _, d := range c.values {
		c.n += h.counts[d]
		c.upTo = append(c.upTo, c.n)
	}
	return c
}

// at returns the latency of rank i, from 0, in seconds.
func (c *closed) at(i int) float64 {
	return c.values[sort.SearchInts(c.upTo, i+1)].Seconds()
}

// duration is the inverse of time.Duration.Seconds, to the nanosecond.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
