package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// TrendPoint is a measure in one of several runs.
type TrendPoint struct {
	// Value is NaN if it is unknown; Lo and Hi are the ends of its confidence interval, NaN without one.
	Value, Lo, Hi float64
	// Name is short, such as a commit, and Tone the class of the run's verdict.
	Name string
	Tone doc.Tone
	// Break is true if the value cannot be compared with those before it.
	Break bool
}

// maxTicks limits the names below a trend, maxName each of them in characters, and maxTrend its points, the newest.
const (
	maxTicks = 6
	maxName  = 10
	maxTrend = 200
)

// Trend draws a measure over runs, the oldest first: a line with confidence intervals that is interrupted
// where values cannot be compared, by a dashed line, and where they are unknown.
func Trend(title string, points []TrendPoint, show func(float64) string) doc.Plot {
	points = points[max(0, len(points)-maxTrend):]
	lo, hi := math.Inf(1), math.Inf(-1)
	known := 0
	for _, p := range points {
		for _, v := range []float64{p.Value, p.Lo, p.Hi} {
			if finite(p.Value, v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		if finite(p.Value) {
			known++
		}
	}
	if known == 0 {
		return doc.Plot{Title: title, Text: "No run has a known value."}
	}
	switch {
	case lo == 0 && hi == 0:
		hi = 1
	case lo == hi: // a line in the middle
		lo, hi = lo-math.Abs(lo)/2, hi+math.Abs(hi)/2
	}
	s := newSheet(narrow, 150)
	s.x.min, s.x.max = -0.5, float64(len(points))-0.5
	s.y.setTicks(lo, hi, show)
	s.y.min, s.y.max = min(s.y.min, lo), max(s.y.max, hi)
	every := (len(points) + maxTicks - 1) / maxTicks
	for i := len(points) - 1; i >= 0; i -= every {
		s.x.ticks = append(s.x.ticks, tick{float64(i), sanitize.Line(points[i].Name, maxName)})
	}
	s.grid(false)
	s.mark(func(x, y func(float64) float64) { s.trend(points, x, y, show) })
	text := fmt.Sprintf("%d runs; from %s to %s", len(points), show(lo), show(hi))
	return s.picture(title, text+".")
}

func (s *sheet) trend(points []TrendPoint, x, y func(float64) float64, show func(float64) string) {
	var line []float64
	flush := func() {
		if len(line) > 2 {
			s.svg.stroke("c1", 2, false, line...)
		}
		line = nil
	}
	for i, p := range points {
		if p.Break || !finite(p.Value) {
			flush()
		}
		if p.Break && i > 0 {
			s.svg.stroke("axis", 1, true, x(float64(i)-0.5), s.area.bottom, x(float64(i)-0.5), s.area.top)
		}
		if finite(p.Value) {
			line = append(line, x(float64(i)), y(p.Value))
		}
		if finite(p.Value, p.Lo, p.Hi) && p.Lo < p.Hi {
			s.svg.stroke("c1", 1, false, x(float64(i)), y(p.Lo), x(float64(i)), y(p.Hi))
		}
	}
	flush()
	for i, p := range points {
		if finite(p.Value) {
			title := strings.TrimSpace(p.Name + " " + show(p.Value))
			if finite(p.Lo, p.Hi) && p.Lo < p.Hi {
				title += fmt.Sprintf(" [%s, %s]", show(p.Lo), show(p.Hi))
			}
			s.svg.circle(x(float64(i)), y(p.Value), 3, string(p.Tone), title)
		}
	}
}
