package plot

import (
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Difference is a difference with its interval; NaN is unknown.
type Difference struct {
	Name          string
	Value, Lo, Hi float64
	// Verdict is "better", "worse", "equivalent", "tied", or another word.
	Verdict string
}

var differenceClass = map[string]string{"better": "pass", "worse": "fail", "equivalent": "c1", "tied": "c1"}

// differenceSign distinguishes verdicts without colours; others have a question mark.
var differenceSign = map[string]string{"better": "▲", "worse": "▼", "equivalent": "=", "tied": "="}

// Differences draws a forest plot: a row for each difference around the zero line, and a band of
// differences below the smallest effect of interest, unless that is 0. format writes a difference
// without its sign.
func Differences(title string, rows []Difference, smallest float64, format func(float64) string) doc.Plot {
	span := largestOf(rows)
	if finite(smallest) {
		span = max(span, 1.5*math.Abs(smallest))
	}
	if span == 0 {
		span = 1
	}
	signed := func(v float64) string { return withSign(v, format) }
	return forest(title, rows, signed, func(s *sheet, bottom float64) {
		s.x.setTicks(-span*1.05, span*1.05, func(v float64) string {
			bare, _, _ := strings.Cut(signed(v), " ") // the notes have the unit
			if strings.Contains(bare, ".") {
				bare = strings.TrimRight(strings.TrimRight(bare, "0"), ".")
			}
			return bare
		})
		s.mark(func(x, _ func(float64) float64) {
			if smallest > 0 && finite(smallest) {
				s.svg.rect(x(-smallest), 0, x(smallest)-x(-smallest), bottom, "c1 soft",
					"smaller than the smallest effect of interest, "+format(smallest))
			}
		})
	})
}

// Changes draws a forest plot of relative changes: 0.05 is 5 % more. A change beyond ±50 % is
// drawn at the edge, and its interval has no end there.
func Changes(title string, rows []Difference) doc.Plot {
	span := min(0.5, max(0.05, largestOf(rows)))
	signed := func(v float64) string { return withSign(v, percent) }
	return forest(title, rows, signed, func(s *sheet, _ float64) { s.x.setTicks(-span*1.05, span*1.05, signed) })
}

// largestOf returns the largest absolute value of the first rows and their intervals.
func largestOf(rows []Difference) float64 {
	largest := 0.0
	for _, r := range rows[:min(len(rows), maxIntervals)] {
		for _, v := range []float64{r.Value, r.Lo, r.Hi} {
			if finite(v) {
				largest = max(largest, math.Abs(v))
			}
		}
	}
	return largest
}

// forest draws intervals around the zero line. prepare sets the X axis and draws below them.
func forest(title string, rows []Difference, signed func(float64) string, prepare func(s *sheet, bottom float64)) doc.Plot {
	if len(rows) == 0 {
		return doc.Plot{Title: title, Text: "Nothing was compared."}
	}
	list := make([]interval, len(rows))
	for i, r := range rows {
		list[i] = r.interval(signed)
	}
	return intervalPlot(title, list, func(s *sheet, bottom float64) {
		prepare(s, bottom)
		s.mark(func(x, _ func(float64) float64) { s.svg.stroke("axis", 1, true, x(0), 0, x(0), bottom) })
	})
}

func (r Difference) interval(signed func(float64) string) interval {
	in := interval{name: r.Name, value: r.Value, lo: r.Lo, hi: r.Hi, class: "skip", note: "?", words: sanitize.Line(r.Verdict, maxLabel)}
	if class, ok := differenceClass[r.Verdict]; ok {
		in.class, in.note = class, differenceSign[r.Verdict]
	}
	if finite(r.Value) {
		in.note = signed(r.Value) + " " + in.note
	}
	return in
}

// withSign returns a difference with its sign; a minus is as wide as a plus.
func withSign(v float64, format func(float64) string) string {
	switch {
	case v > 0:
		return "+" + format(v)
	case v < 0:
		return "−" + format(-v)
	}
	return format(0)
}
