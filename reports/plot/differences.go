package plot

import (
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Difference is a difference in the unit of its measure, with its interval; NaN is what
// is not known.
type Difference struct {
	Name          string
	Value, Lo, Hi float64
	// Verdict is "better", "worse", "equivalent" or "undecided".
	Verdict string
}

var differenceClass = map[string]string{"better": "pass", "worse": "fail", "equivalent": "c1"}

// Differences draws a row for each difference, around a line where there is none, and a
// band of those that are smaller than the smallest of interest, which is 0 if there is
// none. A forest plot, as it is called elsewhere. Format writes a difference without its
// sign.
func Differences(title string, rows []Difference, smallest float64, format func(float64) string) doc.Plot {
	if len(rows) == 0 {
		return doc.Plot{Title: title, Text: "Nothing was compared."}
	}
	more := max(0, len(rows)-maxIntervals)
	rows = rows[:len(rows)-more]
	span := 0.0
	if finite(smallest) {
		span = 1.5 * math.Abs(smallest)
	}
	for _, r := range rows {
		for _, v := range []float64{r.Value, r.Lo, r.Hi} {
			if finite(v) {
				span = max(span, math.Abs(v))
			}
		}
	}
	if span == 0 {
		span = 1
	}
	signed := func(v float64) string { return withSign(v, format) }
	var says []string
	list := make([]interval, len(rows))
	for i, r := range rows {
		list[i] = r.interval(signed)
		says = append(says, sanitize.Line(r.Name, maxLabel)+" "+list[i].note)
	}
	s := newSheet(narrow, float64(len(rows))*rowHeight+30)
	s.x.setTicks(-span*1.05, span*1.05, func(v float64) string {
		bare, _, _ := strings.Cut(signed(v), " ") // the notes have the unit
		if strings.Contains(bare, ".") {
			bare = strings.TrimRight(strings.TrimRight(bare, "0"), ".")
		}
		return bare
	})
	bottom := float64(len(rows))*rowHeight + 4
	s.mark(func(x, _ func(float64) float64) {
		if smallest > 0 && finite(smallest) {
			s.svg.rect(x(-smallest), 0, x(smallest)-x(-smallest), bottom, "c1 soft",
				"smaller than the smallest effect of interest, "+format(smallest))
		}
		s.svg.stroke("axis", 1, true, x(0), 0, x(0), bottom)
	})
	s.intervals(list)
	return s.picture(title, strings.Join(says, "; ")+"."+left(more))
}

func (r Difference) interval(signed func(float64) string) interval {
	in := interval{name: r.Name, value: r.Value, lo: r.Lo, hi: r.Hi, class: "skip", note: sanitize.Line(r.Verdict, maxLabel)}
	if class, ok := differenceClass[r.Verdict]; ok {
		in.class = class
	}
	if finite(r.Value) {
		in.note = signed(r.Value) + " " + in.note
	}
	return in
}

// withSign writes a difference; a minus is as wide as a plus.
func withSign(v float64, format func(float64) string) string {
	switch {
	case v > 0:
		return "+" + format(v)
	case v < 0:
		return "−" + format(-v)
	}
	return format(0)
}
