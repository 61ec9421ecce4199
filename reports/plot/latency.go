package plot

import (
	"fmt"
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/stat"
)

// Sample is a group of latencies.
type Sample struct {
	Name    string
	Seconds []float64
}

// maxSeries limits the lines of a plot to the number of colours.
const maxSeries = 6

// steps is the number of quantiles in a line.
const steps = 200

// Latency draws the distribution of the latencies of groups, such as purposes: the share of
// calls by the time they took at most. The axis is logarithmic if the longest took more than 50
// times as long as the shortest. Groups beyond the six largest are drawn as one.
func Latency(title string, groups []Sample) doc.Plot {
	groups = largest(groups)
	var all []float64
	for _, g := range groups {
		all = append(all, g.Seconds...)
	}
	slices.Sort(all)
	switch {
	case len(all) == 0:
		return doc.Plot{Title: title, Text: "There are no calls whose latency is known."}
	case all[0] == all[len(all)-1]:
		text := fmt.Sprintf("There is nothing to draw: %s, each of %s.", format.Count(len(all), "call"), format.Seconds(all[0]))
		return doc.Plot{Title: title, Text: text}
	}
	s := newSheet(narrow, 180+float64(len(groups))*legendRow)
	s.top = float64(len(groups))*legendRow + 6
	lo := s.timeAxis(all)
	s.y.setShares(4, percent)
	s.grid(true)
	for i, g := range groups {
		slices.Sort(g.Seconds)
		s.line(series(i), i%2 == 1, distribution(g.Seconds, lo, all[len(all)-1]))
	}
	s.mark(func(x, y func(float64) float64) {
		for i, g := range groups {
			s.quantileMarks(g, series(i), lo, x, y)
			s.legend(i, series(i), i%2 == 1, g.Name, quantiles(g))
		}
	})
	return s.picture(title, fmt.Sprintf("%s: half took at most %s, 95 %% at most %s, the longest %s.",
		format.Count(len(all), "call"), format.Seconds(quantile(all, 0.5)), format.Seconds(quantile(all, 0.95)),
		format.Seconds(all[len(all)-1])))
}

// largest returns the groups to draw, in their order, with finite values.
func largest(groups []Sample) []Sample {
	var list []Sample
	for _, g := range groups {
		g.Seconds = slices.DeleteFunc(slices.Clone(g.Seconds), func(v float64) bool { return !finite(v) || v < 0 })
		if len(g.Seconds) > 0 {
			list = append(list, g)
		}
	}
	if len(list) <= maxSeries {
		return list
	}
	sizes := make([]int, len(list))
	for i, g := range list {
		sizes[i] = len(g.Seconds)
	}
	slices.Sort(sizes)
	least, other := sizes[len(sizes)-maxSeries+1], Sample{}
	var large []Sample
	merged := 0
	for _, g := range list {
		if len(g.Seconds) >= least && len(large) < maxSeries-1 {
			large = append(large, g)
			continue
		}
		merged++
		other.Seconds = append(other.Seconds, g.Seconds...)
	}
	other.Name = fmt.Sprintf("(%d others)", merged)
	return append(large, other)
}

// timeAxis sets the X axis for sorted seconds that are not all equal, and returns its lower end.
func (s *sheet) timeAxis(sorted []float64) float64 {
	first := sorted[slices.IndexFunc(sorted, func(v float64) bool { return v > 0 })]
	hi := sorted[len(sorted)-1]
	if hi <= 50*first {
		s.x.setTimes(hi)
		return 0
	}
	s.x.log, s.x.max = true, hi
	lo := math.Pow10(int(math.Floor(math.Log10(first))))
	for i, v := range decades {
		if v <= first && (i+1 == len(decades) || decades[i+1] > first) {
			lo = v
		}
	}
	s.x.min = lo
	var list []tick
	for _, v := range decades {
		if v >= lo && v <= hi*1.0001 {
			list = append(list, tick{v, format.Seconds(v)})
		}
	}
	for every := 2; len(list) > 7; every++ {
		list = thinned(list, every)
	}
	s.x.ticks = list
	return lo
}

// decades are the ticks of a logarithmic axis of times: tenfold steps below a minute, and then
// minutes, hours and days.
var decades = []float64{1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 60, 600, 3600, 36_000, 86_400, 864_000, 8_640_000}

// timeSteps are the distances between ticks above a second.
var timeSteps = []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400}

// setTimes sets the range of the axis from 0 to hi seconds, with round times as ticks.
func (a *axis) setTimes(hi float64) {
	for _, step := range slices.Backward(timeSteps) {
		values := multiples(step, 0, hi)
		if len(values) < 3 {
			continue
		}
		if len(values) > 8 { // beyond all steps
			break
		}
		a.min, a.max = 0, hi
		for _, v := range values {
			a.ticks = append(a.ticks, tick{v, format.Seconds(v)})
		}
		return
	}
	a.setTicks(0, hi, format.Seconds)
}

func thinned(list []tick, every int) []tick {
	var out []tick
	for i := 0; i < len(list); i += every {
		out = append(out, list[i])
	}
	return out
}

// distribution returns the share of sorted values up to each of them, as steps from lo to hi.
// Beyond the limit, it has every n-th step.
func distribution(sorted []float64, lo, hi float64) []point {
	points := []point{{lo, 0}}
	n := min(steps, len(sorted))
	before := 0.0
	for i := range n {
		at := (i+1)*len(sorted)/n - 1
		x, share := max(lo, sorted[at]), float64(at+1)/float64(len(sorted))
		points = append(points, point{x, before}, point{x, share})
		before = share
	}
	return append(points, point{hi, 1})
}

// shareUpTo returns the share of sorted values up to v.
func shareUpTo(sorted []float64, v float64) float64 {
	n, _ := slices.BinarySearchFunc(sorted, v, func(x, v float64) int {
		if x <= v {
			return -1
		}
		return 1
	})
	return float64(n) / float64(len(sorted))
}

// quantileMarks marks the median and the 95th percentile of a group.
func (s *sheet) quantileMarks(g Sample, class string, lo float64, x, y func(float64) float64) {
	for _, q := range []float64{0.5, 0.95} {
		v := quantile(g.Seconds, q)
		text := fmt.Sprintf("%s: %s took at most %s", sanitize.Line(g.Name, maxLabel), percent(q), format.Seconds(v))
		// Between two values the line is level; at a value it rises past the quantile.
		s.svg.circle(x(max(lo, v)), y(min(max(q, before(g.Seconds, v)), shareUpTo(g.Seconds, v))), 3.5, class, text)
	}
}

// before returns the share of sorted values below v.
func before(sorted []float64, v float64) float64 {
	n, _ := slices.BinarySearch(sorted, v)
	return float64(n) / float64(len(sorted))
}

func quantiles(g Sample) string {
	return fmt.Sprintf("p50 %s, p95 %s, n %s", format.Seconds(quantile(g.Seconds, 0.5)), format.Seconds(quantile(g.Seconds, 0.95)),
		format.Int(len(g.Seconds)))
}

func quantile(sorted []float64, q float64) float64 {
	return stat.QuantileValue(len(sorted), func(i int) float64 { return sorted[i] }, q)
}

// series returns the class of the i-th line.
func series(i int) string { return fmt.Sprintf("c%d", i%maxSeries+1) }

func percent(share float64) string {
	return fmt.Sprintf("%s %%", format.Number(math.Round(share*1000)/10))
}

// legend writes row i of the legend above the plot: a line, a name, a note.
func (s *sheet) legend(i int, class string, dash bool, name, note string) {
	y := float64(i)*legendRow + 10
	s.svg.stroke(class, 2, dash, 8, y, 32, y)
	room := int((s.width - 42 - widthOf(note)) / widthOf("0"))
	s.svg.text(38, y+4, "", "", sanitize.Line(name, max(6, min(room, maxLabel))))
	s.svg.text(s.width-4, y+4, "end", "axis", note)
}
