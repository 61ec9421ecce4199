package reports

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// scoreText is a share with three decimals; "n/a" of 0 of 0.
func scoreText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.3f", *v)
}

// signedScore is a difference of shares.
func signedScore(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return fmt.Sprintf("%+.3f", *v)
}

// scoreInterval is the interval of v, or nothing.
func scoreInterval(v detect.Value, show func(*float64) string) string {
	if v.Interval == nil {
		return ""
	}
	return show(&v.Interval.Lo) + " to " + show(&v.Interval.Hi)
}

// scoreWithInterval is a share with its interval, both with two decimals, for tables.
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

// intervalMethod names how an interval was made, if there is one.
func intervalMethod(v detect.Value) string {
	if v.Interval == nil {
		return ""
	}
	return v.Interval.Method
}

// latencyLine is one line of latencies and throughput.
func latencyLine(l *detect.Latency) string {
	line := fmt.Sprintf("latency p50 %s, p99 %s, max %s; %s bytes", format.Seconds(l.P50),
		format.Seconds(l.P99), format.Seconds(l.Max), format.Number(float64(l.Bytes)))
	if l.MBPerSecond != nil {
		line += fmt.Sprintf(" at %s MB/s", format.Significant(*l.MBPerSecond))
	}
	return line
}

// costLine is one line of calls and what they cost.
func costLine(c *detect.Cost) string {
	made := format.Plural(c.Calls, "call")
	switch {
	case c.Known:
		return made + ", " + format.Amount(c.EUR, "EUR")
	case c.EUR == 0:
		return made + ", unknown EUR"
	}
	return made + ", at least " + format.Amount(c.EUR, "EUR")
}

// dimensions are those that add to the overall scores: not those in which all items are
// of one group.
func dimensions(r *detect.Evaluation) []detect.Dimension {
	list := slices.DeleteFunc(slices.Clone(r.Groups), func(d detect.Dimension) bool {
		return len(d.Groups) == 1 && d.Groups[0].Total() == r.Overall.Total()
	})
	if len(r.Categories) > 0 {
		list = append(list, detect.Dimension{By: "named category", Groups: r.Categories})
	}
	return list
}

// byWeight returns the groups in their order, or if they are many those with the most
// items first.
func byWeight(d detect.Dimension) []detect.Group {
	if len(d.Groups) <= maxGroups {
		return d.Groups
	}
	return slices.SortedStableFunc(slices.Values(d.Groups), func(a, b detect.Group) int { return b.Total() - a.Total() })
}
