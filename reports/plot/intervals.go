package plot

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Share is a share between 0 and 1 with its interval, such as a pass rate or a
// precision.
type Share struct {
	Name string
	measure.Value
}

// maxIntervals limits the rows of intervals.
const maxIntervals = 40

// Shares draws a row for each share: a point with its interval.
func Shares(title string, rows []Share) doc.Plot {
	if len(rows) == 0 {
		return doc.Plot{Title: title, Text: "There are no shares to show."}
	}
	list := make([]interval, len(rows))
	for i, r := range rows {
		list[i] = r.interval()
	}
	return intervalPlot(title, list, func(s *sheet, _ float64) { s.x.setShares(2, percent) })
}

// intervalPlot draws a row for each interval up to the limit. prepare sets the X axis and draws
// below the rows, which end at bottom.
func intervalPlot(title string, list []interval, prepare func(s *sheet, bottom float64)) doc.Plot {
	more := max(0, len(list)-maxIntervals)
	list = list[:len(list)-more]
	var texts []string
	for _, in := range list {
		texts = append(texts, strings.TrimSpace(sanitize.Line(in.name, maxLabel)+" "+in.note+" "+in.words))
	}
	text := strings.Join(texts, "; ") + "."
	if more > 0 {
		text += fmt.Sprintf(" %s not shown.", format.Count(more, "row"))
	}
	height := float64(len(list)) * rowHeight
	s := newSheet(narrow, height+30)
	prepare(s, height+4)
	s.intervals(list)
	return s.picture(title, text)
}

func (r Share) interval() interval {
	in := interval{name: r.Name, value: math.NaN(), lo: math.NaN(), hi: math.NaN(), class: "c1", note: "n/a"}
	switch {
	case !r.Known:
		in.note = "unknown"
	case r.Value.Value != nil && finite(*r.Value.Value):
		in.value = *r.Value.Value
		in.note = percent(in.value)
		if ci := r.Interval; ci != nil && finite(ci.Lo, ci.Hi) {
			in.lo, in.hi = ci.Lo, ci.Hi
			in.note += fmt.Sprintf(" [%s, %s]", bare(ci.Lo), bare(ci.Hi))
		}
		in.note += fmt.Sprintf(", n = %d", r.N)
	}
	return in
}

// bare returns a share in per cent without the sign.
func bare(share float64) string { return strings.TrimSuffix(percent(share), " %") }

// interval is a row of a plot of intervals, with a note at its right and further words for
// readers who do not see it. NaN is unknown.
type interval struct {
	name, note, words, class string
	value, lo, hi            float64
}

// intervals draws a row for each interval: a line, a point for the value, and the note at the
// right.
func (s *sheet) intervals(list []interval) {
	names := make([]string, len(list))
	s.right = 0
	for i, in := range list {
		names[i] = in.name
		s.right = max(s.right, widthOf(in.note)+10)
	}
	s.rows(names)
	s.x.padding = 4
	s.grid(false)
	lo, hi := s.x.min, s.x.max
	s.mark(func(x, y func(float64) float64) {
		for i, in := range list {
			middle := y(-float64(i))
			s.svg.text(s.width-2, middle+4, "end", "", in.note)
			if !finite(in.value) {
				continue
			}
			if finite(in.lo, in.hi) {
				from, to := x(clamp(in.lo, lo, hi)), x(clamp(in.hi, lo, hi))
				s.svg.stroke(in.class, 2, false, from, middle, to, middle)
				s.whisker(in.class, from, middle, in.lo >= lo)
				s.whisker(in.class, to, middle, in.hi <= hi)
			}
			s.svg.circle(x(clamp(in.value, lo, hi)), middle, 4, in.class, "")
		}
	})
}

// whisker ends an interval, unless it continues beyond the plot.
func (s *sheet) whisker(class string, x, y float64, ends bool) {
	if ends {
		s.svg.stroke(class, 2, false, x, y-4, x, y+4)
	}
}

func clamp(v, lo, hi float64) float64 { return min(max(v, lo), hi) }
