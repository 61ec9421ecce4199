package reports

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// latencies is the distribution of the latencies of calls over all trials. Up to
// maxExact calls it is exact; from then on it is a histogram whose buckets grow
// by bucketRatio, so that a quantile is off by at most half a percent.
type latencies struct {
	trials, unknown int
	one             measure.LatencyFacts // of the only trial
	n               int
	sum, max        float64
	exact           []float64
	buckets         map[int]int // nil while exact
}

const (
	maxExact    = 1000
	bucketRatio = 1.01
)

func (l *latencies) add(f measure.CallFacts, latency measure.LatencyFacts) {
	l.trials++
	l.one = latency
	if latency.N == 0 && f.Total > 0 {
		l.unknown++
	}
	for _, v := range latency.All {
		l.n++
		l.sum += v
		l.max = max(l.max, v)
		if l.buckets == nil {
			l.exact = append(l.exact, v)
		} else {
			l.buckets[bucket(v)]++
		}
	}
	if len(l.exact) > maxExact {
		l.buckets = map[int]int{}
		for _, v := range l.exact {
			l.buckets[bucket(v)]++
		}
		l.exact = nil
	}
}

// noTime is the bucket of 0, which has no logarithm.
const noTime = math.MinInt32

func bucket(v float64) int {
	if v < 1e-9 {
		return noTime
	}
	return int(math.Round(math.Log(v) / math.Log(bucketRatio)))
}

// measures are mean, median, 95th percentile and maximum. Those of a single
// trial are the trial's own, on which its verdict rests.
func (l *latencies) measures() []Measure {
	names := []string{LatencyMean, LatencyP50, LatencyP95, LatencyMax}
	values := []float64{l.one.Mean, l.one.P50, l.one.P95, l.one.Max}
	if l.trials > 1 && l.n > 0 {
		values = []float64{l.sum / float64(l.n), l.quantile(0.50), l.quantile(0.95), l.max}
	}
	out := make([]Measure, len(names))
	for i, name := range names {
		out[i] = Measure{Name: name, Unit: "s", Known: l.unknown == 0, N: l.n}
		if l.unknown > 0 {
			out[i].Warnings = append(out[i].Warnings, fmt.Sprintf("unknown in %s of %d", plural(l.unknown, "trial"), l.trials))
		}
		if l.n > 0 && l.unknown == 0 {
			out[i].Value = &values[i]
		}
		if l.buckets != nil {
			out[i].Warnings = append(out[i].Warnings, "quantiles are within 0.5 %")
		}
	}
	return out
}

// quantile is the least latency that a share q of the calls does not exceed.
func (l *latencies) quantile(q float64) float64 {
	rank := max(1, int(math.Ceil(q*float64(l.n))))
	if l.buckets == nil {
		return slices.Sorted(slices.Values(l.exact))[rank-1]
	}
	for _, b := range slices.Sorted(maps.Keys(l.buckets)) {
		if rank -= l.buckets[b]; rank > 0 {
			continue
		}
		if b == noTime {
			return 0
		}
		return min(l.max, math.Pow(bucketRatio, float64(b)))
	}
	return l.max
}
