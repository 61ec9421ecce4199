package reports

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// scoreText returns a share with three decimals; "n/a" for 0 of 0.
func scoreText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.3f", *v)
}

// signedScore returns a difference of shares with its sign.
func signedScore(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%+.3f", *v)
}

// scoreInterval returns the interval of a value; empty if it has none.
func scoreInterval(v detect.Value, show func(*float64) string) string {
	if v.Interval == nil {
		return ""
	}
	return show(&v.Interval.Lo) + " to " + show(&v.Interval.Hi)
}

// scoreWithInterval returns a share with its interval, both with two decimals.
func scoreWithInterval(v detect.Value) string {
	if v.Value == nil {
		return "n/a"
	}
	text := fmt.Sprintf("%.2f", *v.Value)
	if v.Interval != nil {
		text += fmt.Sprintf(" (%.2f-%.2f)", v.Interval.Lo, v.Interval.Hi)
	}
	return text
}

// intervalMethod returns the method of an interval; empty without an interval.
func intervalMethod(v detect.Value) string {
	if v.Interval == nil {
		return ""
	}
	return v.Interval.Method
}

// latencyLine returns latencies and throughput on one line.
func latencyLine(l *detect.Latency) string {
	line := fmt.Sprintf("latency p50 %s, p99 %s, max %s; %s bytes", format.Seconds(l.P50),
		format.Seconds(l.P99), format.Seconds(l.Max), format.Number(float64(l.Bytes)))
	if l.MBPerSecond != nil {
		line += fmt.Sprintf(" at %s MB/s", format.Significant(*l.MBPerSecond))
	}
	return line
}

// costLine returns the calls and their cost on one line.
func costLine(c *detect.Cost) string {
	made := format.Count(c.Calls, "call")
	switch {
	case c.Known:
		return made + ", " + format.Amount(c.EUR, "EUR")
	case c.EUR == 0:
		return made + ", unknown EUR"
	}
	return made + ", at least " + format.Amount(c.EUR, "EUR")
}

// dimensions returns the dimensions with more than one group, and the named categories.
func dimensions(r *detect.Evaluation) []detect.Dimension {
	list := slices.DeleteFunc(slices.Clone(r.Groups), func(d detect.Dimension) bool {
		return len(d.Groups) == 1 && d.Groups[0].Total() == r.Overall.Total()
	})
	if len(r.Categories) > 0 {
		list = append(list, detect.Dimension{By: "named category", Groups: r.Categories})
	}
	return list
}

// byWeight returns the groups in their order, or the largest first if there are many.
func byWeight(d detect.Dimension) []detect.Group {
	if len(d.Groups) <= maxGroups {
		return d.Groups
	}
	return slices.SortedStableFunc(slices.Values(d.Groups), func(a, b detect.Group) int { return b.Total() - a.Total() })
}
