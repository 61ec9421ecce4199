package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Point is a detector's precision and recall, from 0 to 1, with their intervals; NaN is unknown.
type Point struct {
	Name                                string
	Precision, PrecisionLo, PrecisionHi float64
	Recall, RecallLo, RecallHi          float64
	// Curve has the values at other thresholds; its F1 and Best are not used.
	Curve Curve
}

// PrecisionRecall draws up to twelve detectors as points, with a cross for the intervals and the
// curve over thresholds: further up and to the right is better.
func PrecisionRecall(title string, points []Point) doc.Plot {
	var list []Point
	for _, p := range points {
		if finite(p.Precision, p.Recall) && len(list) < maxRows {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return doc.Plot{Title: title, Text: "No detector has both a precision and a recall."}
	}
	s := newSheet(narrow, 260+float64(len(list))*legendRow)
	s.top = float64(len(list))*legendRow + 8
	s.x.setShares(4, percent)
	s.y.setShares(4, percent)
	s.x.label, s.y.label = "recall", "precision"
	s.grid(true)
	var texts []string
	for _, p := range list {
		texts = append(texts, fmt.Sprintf("%s: precision %s, recall %s",
			sanitize.Line(p.Name, maxLabel), percent(p.Precision), percent(p.Recall)))
	}
	for i, p := range list {
		s.line(series(i), false, p.Curve.recallPoints())
	}
	s.mark(func(x, y func(float64) float64) {
		for i, p := range list {
			class := series(i)
			if finite(p.RecallLo, p.RecallHi) {
				s.svg.stroke(class, 1, false, x(p.RecallLo), y(p.Precision), x(p.RecallHi), y(p.Precision))
			}
			if finite(p.PrecisionLo, p.PrecisionHi) {
				s.svg.stroke(class, 1, false, x(p.Recall), y(p.PrecisionLo), x(p.Recall), y(p.PrecisionHi))
			}
			s.numbered(i, x(p.Recall), y(p.Precision), class, texts[i])
			s.numberedLegend(i, p.Name, fmt.Sprintf("precision %s · recall %s", percent(p.Precision), percent(p.Recall)))
		}
	})
	return s.picture(title, strings.Join(texts, "; ")+".")
}

// numbered draws a point with its number, so points can be distinguished without colours.
func (s *sheet) numbered(i int, x, y float64, class, title string) {
	s.svg.circle(x, y, 7, class, title)
	s.svg.text(x, y+4, "", "on", fmt.Sprint(i+1))
}

// numberedLegend writes row i of the legend above the plot: a numbered point, a name, a note.
func (s *sheet) numberedLegend(i int, name, note string) {
	y := float64(i)*legendRow + 10
	s.numbered(i, 20, y, series(i), "")
	s.svg.text(38, y+4, "", "", sanitize.Line(name, maxLabel))
	s.svg.text(s.width-4, y+4, "end", "axis", note)
}

// Curve has the scores of a detector by threshold. The lists have the same length, the
// thresholds rise, and NaN is 0 of 0.
type Curve struct {
	T, Precision, Recall, F1 []float64
	// Best is the threshold of the highest F1, or NaN.
	Best float64
}

// recallPoints returns precision over recall.
func (c *Curve) recallPoints() []point {
	var list []point
	for i := range min(len(c.Precision), len(c.Recall)) {
		if finite(c.Recall[i], c.Precision[i]) {
			list = append(list, point{c.Recall[i], c.Precision[i]})
		}
	}
	return few(list)
}

// Calibration has the scores of a detector, by bin, and the share of items to find, from 0 to 1.
type Calibration struct {
	Name string
	Bins []CalibrationBin
	// Error is the expected calibration error, or NaN.
	Error float64
}

// CalibrationBin is a bin of N items with its mean score, and their share with its interval; NaN
// is unknown.
type CalibrationBin struct {
	Score, Share, Lo, Hi float64
	N                    int
}

// Reliability draws the share of items to find over the score, for up to six detectors. The nearer
// to the diagonal the points are, the more the scores mean what they claim.
func Reliability(title string, list []Calibration) doc.Plot {
	list = slices.DeleteFunc(slices.Clone(list), func(c Calibration) bool {
		return !slices.ContainsFunc(c.Bins, func(b CalibrationBin) bool { return finite(b.Score, b.Share) })
	})
	if len(list) == 0 {
		return doc.Plot{Title: title, Text: "No detector computes scores."}
	}
	list = list[:min(len(list), maxSeries)]
	s := newSheet(narrow, 260+float64(len(list))*legendRow)
	s.top = float64(len(list))*legendRow + 8
	s.x.setShares(5, format.Number)
	s.y.setShares(4, percent)
	s.x.label, s.y.label = "score", "items to find"
	s.grid(true)
	s.mark(func(x, y func(float64) float64) { s.svg.stroke("axis", 1, true, x(0), y(0), x(1), y(1)) })
	var texts []string
	for i, c := range list {
		text := "expected calibration error unknown"
		if finite(c.Error) {
			text = fmt.Sprintf("expected calibration error %.3f", c.Error)
		}
		texts = append(texts, sanitize.Line(c.Name, maxLabel)+": "+text)
		s.reliability(i, c)
		s.mark(func(_, _ func(float64) float64) { s.legend(i, series(i), i%2 == 1, c.Name, text) })
	}
	return s.picture(title, strings.Join(texts, "; ")+".")
}

// reliability draws the line of a detector.
func (s *sheet) reliability(i int, c Calibration) {
	var line []point
	for _, b := range c.Bins {
		if finite(b.Score, b.Share) {
			line = append(line, point{b.Score, b.Share})
		}
	}
	s.line(series(i), i%2 == 1, line)
	s.mark(func(x, y func(float64) float64) {
		for _, b := range c.Bins {
			if !finite(b.Score, b.Share) {
				continue
			}
			at := x(clamp(b.Score, 0, 1))
			if finite(b.Lo, b.Hi) {
				s.svg.stroke(series(i), 1, false, at, y(clamp(b.Lo, 0, 1)), at, y(clamp(b.Hi, 0, 1)))
			}
			s.svg.circle(at, y(clamp(b.Share, 0, 1)), 4, series(i), fmt.Sprintf("score %s: %s of %s to find",
				format.Significant(b.Score), percent(b.Share), format.Count(b.N, "item")))
		}
	})
}

// Thresholds draws precision, recall and F1 over the threshold.
func Thresholds(title string, c Curve) doc.Plot {
	n := min(len(c.T), len(c.Precision), len(c.Recall), len(c.F1))
	lines := []struct {
		name   string
		values []float64
		points []point
	}{{name: "precision", values: c.Precision}, {name: "recall", values: c.Recall}, {name: "F1", values: c.F1}}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range lines {
		for at := range n {
			if x, y := c.T[at], lines[i].values[at]; finite(x, y) {
				lines[i].points = append(lines[i].points, point{x, y})
				lo, hi = min(lo, x), max(hi, x)
			}
		}
		lines[i].points = few(lines[i].points)
	}
	if lo >= hi {
		return doc.Plot{Title: title, Text: "There are not enough scores for a curve over thresholds."}
	}
	s := newSheet(narrow, 220)
	s.top = legendRow + 8
	s.x.setTicks(lo, hi, format.Number)
	if lo >= 0 && hi <= 1 {
		s.x.setShares(5, format.Number)
	}
	s.y.setShares(4, percent)
	s.x.label = "threshold"
	s.grid(true)
	for i, l := range lines {
		s.line(series(i), i == 1, l.points)
	}
	text := "Precision, recall and F1 over the threshold."
	if finite(c.Best) {
		text = fmt.Sprintf("Precision, recall and F1 over the threshold; F1 is best at %s.", format.Significant(c.Best))
	}
	s.mark(func(x, y func(float64) float64) {
		left := 8.0
		for i, l := range lines {
			s.svg.stroke(series(i), 2, i == 1, left, 10, left+24, 10)
			s.svg.text(left+30, 14, "", "", l.name)
			left += widthOf(l.name) + 50
		}
		if finite(c.Best) && c.Best >= lo && c.Best <= hi {
			s.svg.stroke("axis", 1, true, x(c.Best), y(0), x(c.Best), y(1))
			s.svg.text(s.width-4, 14, "end", "axis", "best F1 at "+format.Significant(c.Best))
		}
	})
	return s.picture(title, text)
}

// few thins out points to about the visible number.
func few(points []point) []point {
	every := len(points)/(2*steps) + 1
	if every == 1 {
		return points
	}
	var out []point
	for i := 0; i < len(points)-1; i += every {
		out = append(out, points[i])
	}
	return append(out, points[len(points)-1])
}
