package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Tradeoff is the cost and the quality of a choice.
type Tradeoff struct {
	Name          string
	Cost, Quality measure.Value
	// Front is true if no other choice is at least as good at no more cost.
	Front bool
}

// Plane describes the axes of Pareto.
type Plane struct {
	// Cost and Quality are the labels of the axes.
	Cost, Quality string
	// Show formats a quality; nil is format.Number.
	Show func(float64) string
	// Lower is true if a lower quality is better.
	Lower bool
}

// Pareto draws up to twelve choices by cost and quality, with a cross for the intervals and a
// line along the front: the choices that no other one beats in both.
func Pareto(title string, p Plane, choices []Tradeoff) doc.Plot {
	var list []Tradeoff
	for _, t := range choices {
		if known(t.Cost) && *t.Cost.Value >= 0 && known(t.Quality) && len(list) < maxRows {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return doc.Plot{Title: title, Text: "Nothing has both a known cost and a known quality."}
	}
	if p.Show == nil {
		p.Show = format.Number
	}
	s := newSheet(narrow, 260+float64(len(list))*legendRow)
	s.top = float64(len(list))*legendRow + 8
	lo, hi := extent(list, func(t Tradeoff) measure.Value { return t.Cost })
	s.x.setTicks(max(0, lo), hi, nil)
	lo, hi = extent(list, func(t Tradeoff) measure.Value { return t.Quality })
	s.y.setTicks(lo, hi, p.Show)
	s.x.label, s.y.label = p.Cost, p.Quality
	s.grid(true)
	s.line("skip", true, front(list))
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = fmt.Sprintf("%s: %s, %s", sanitize.Line(t.Name, maxLabel), around(t.Quality, p.Show), around(t.Cost, format.Money))
		if t.Front {
			texts[i] += ", on the front"
		}
	}
	s.mark(func(x, y func(float64) float64) {
		for i, t := range list {
			class := series(i)
			s.cross(class, t, x, y)
			s.numbered(i, x(*t.Cost.Value), y(*t.Quality.Value), class, texts[i])
			s.numberedLegend(i, t.Name, p.Show(*t.Quality.Value)+" · "+format.Money(*t.Cost.Value))
		}
	})
	better := "up"
	if p.Lower {
		better = "down"
	}
	return s.picture(title, fmt.Sprintf("%s over %s; %s and to the left is better. %s.", p.Quality, p.Cost, better, strings.Join(texts, "; ")))
}

// cross draws the intervals of a choice.
func (s *sheet) cross(class string, t Tradeoff, x, y func(float64) float64) {
	if in := t.Cost.Interval; in != nil && finite(in.Lo, in.Hi) {
		s.svg.stroke(class, 1, false, x(clamp(in.Lo, s.x.min, s.x.max)), y(*t.Quality.Value), x(clamp(in.Hi, s.x.min, s.x.max)),
			y(*t.Quality.Value))
	}
	if in := t.Quality.Interval; in != nil && finite(in.Lo, in.Hi) {
		s.svg.stroke(class, 1, false, x(*t.Cost.Value), y(in.Lo), x(*t.Cost.Value), y(in.Hi))
	}
}

// known reports whether a value can be drawn.
func known(v measure.Value) bool { return v.Known && v.Value != nil && finite(*v.Value) }

// around returns a value with its interval.
func around(v measure.Value, format func(float64) string) string {
	text := format(*v.Value)
	if in := v.Interval; in != nil && finite(in.Lo, in.Hi) {
		text += fmt.Sprintf(" [%s, %s]", format(in.Lo), format(in.Hi))
	}
	return text
}

// extent returns the range of an axis for all values and intervals.
func extent(list []Tradeoff, of func(Tradeoff) measure.Value) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, t := range list {
		v := of(t)
		all := []float64{*v.Value}
		if in := v.Interval; in != nil && finite(in.Lo, in.Hi) {
			all = append(all, in.Lo, in.Hi)
		}
		lo, hi = min(lo, slices.Min(all)), max(hi, slices.Max(all))
	}
	room := (hi - lo) * 0.08
	if room == 0 { // one value only
		room = max(math.Abs(hi)*0.1, 1e-6)
	}
	return lo - room, hi + room
}

// front returns the corners of a staircase along the front.
func front(list []Tradeoff) []point {
	on := slices.DeleteFunc(slices.Clone(list), func(t Tradeoff) bool { return !t.Front })
	slices.SortStableFunc(on, func(a, b Tradeoff) int { return cmp.Compare(*a.Cost.Value, *b.Cost.Value) })
	var points []point
	for i, t := range on {
		if i > 0 {
			points = append(points, point{*t.Cost.Value, points[len(points)-1].y})
		}
		points = append(points, point{*t.Cost.Value, *t.Quality.Value})
	}
	return points
}
