package detect

import (
	"time"

	"github.com/rehearse-dev/rehearse/stat"
)

// latency accumulates the times of the detector.
type latency struct {
	took  stat.Durations
	total time.Duration // whole, so that its order does not matter
	bytes int64
}

func (l *latency) add(took time.Duration, size int) {
	l.took.Add(took.Seconds())
	l.total += max(0, took)
	l.bytes += int64(size)
}

// result returns nil if nothing was measured.
func (l *latency) result() *Latency {
	if l.took.Max() == 0 {
		return nil
	}
	q := l.took.Quantiles(stat.Level, 0.50, 0.99)
	return &Latency{
		N: l.took.N(), Mean: l.total.Seconds() / float64(l.took.N()), P50: q[0].Value, P99: q[1].Value, Max: l.took.Max(),
		Rounded: l.took.Rounded(), Bytes: l.bytes, MBPerSecond: number(float64(l.bytes) / 1e6 / l.total.Seconds()),
	}
}

// costs accumulates the cost of calls to models.
type costs struct {
	calls   int
	eur     float64
	unknown bool
}

func (c *costs) add(calls int, eur *float64) {
	c.calls += calls
	switch {
	case eur != nil:
		c.eur += *eur
	case calls > 0:
		c.unknown = true
	}
}

func (c *costs) result() *Cost {
	if c.calls == 0 && c.eur == 0 {
		return nil
	}
	return &Cost{Calls: c.calls, EUR: c.eur, Known: !c.unknown}
}
