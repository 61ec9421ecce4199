package audit

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// The geometry of charts, in the units of their viewBox.
const (
	halfWidth  = 480 // of a chart beside another one
	fullWidth  = 800
	labelWidth = 84  // for what stands to the left of a row
	valueWidth = 140 // for what stands to the right of a bar
	rowHeight  = 26
	axisHeight = 24
)

// chart is a drawing of rows; the template draws it as SVG.
type chart struct {
	ID, Title, Desc string
	Width, Height   int
	Rows            []row
	Ticks           []tick
	// Breaks are pauses that take less room than time.
	Breaks []tick
	// Bottom is where the rows end.
	Bottom float64
}

// row is one line of a chart.
type row struct {
	Label, Value string
	Y, Middle    float64 // top, and where its text stands
	ValueX       float64
	Marks        []mark
}

// mark is a rectangle in a row. Class says what it means to the style sheet, and
// Title to who points at it.
type mark struct {
	Class, Title string
	X, W         float64
}

// tick is a labelled place on the horizontal axis.
type tick struct {
	X     float64
	Label string
	// Anchor is "end" where the label would stick out of the drawing.
	Anchor string
}

// newChart returns a chart with room for n rows.
func newChart(id, title string, width, n int) *chart {
	return &chart{
		ID: id, Title: title, Width: width, Height: n*rowHeight + axisHeight + 6,
		Bottom: float64(n*rowHeight) + 4,
	}
}

func (c *chart) add(label string) *row {
	y := float64(len(c.Rows)*rowHeight) + 4
	c.Rows = append(c.Rows, row{Label: label, Y: y, Middle: y + rowHeight/2})
	return &c.Rows[len(c.Rows)-1]
}

// axis marks round values from 0 to at least most and returns the scale.
func (c *chart) axis(most float64, format func(float64) string) func(float64) float64 {
	step := roundStep(most / 4)
	end := math.Max(step, math.Ceil(most/step-1e-9)*step)
	room := float64(c.Width - labelWidth - valueWidth)
	at := func(v float64) float64 { return labelWidth + round1(v/end*room) }
	for i := 0.0; i*step <= end+step/2; i++ {
		c.Ticks = append(c.Ticks, tick{X: at(i * step), Label: format(i * step)})
	}
	return at
}

// roundStep returns the smallest of 1, 2 and 5 times a power of ten that is not below
// v.
func roundStep(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if v <= f*power*(1+1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// round1 keeps coordinates short.
func round1(v float64) float64 { return math.Round(v*10) / 10 }

// costChart shows what each purpose cost.
func costChart(a Audit) *chart {
	c := newChart("cost", "Cost by purpose", halfWidth, len(a.Purposes))
	most := 0.0
	for _, g := range a.Purposes {
		most = max(most, g.Cost.AtLeast)
	}
	at := c.axis(most, format.Money)
	for _, g := range a.Purposes {
		r := c.add(g.Name)
		r.Value = money(g.Cost, a.Prices.Currency)
		w := at(g.Cost.AtLeast) - labelWidth
		r.ValueX = labelWidth + w + 8
		r.Marks = []mark{{Class: "bar", X: labelWidth, W: w, Title: g.Name + ": " + r.Value}}
	}
	c.Desc = fmt.Sprintf("One bar for each purpose of a call; in total %s.", money(a.Total.Cost, a.Prices.Currency))
	return c
}

// latencyChart shows how long answers took: a bar to the mean, a line to the
// longest.
func latencyChart(a Audit) *chart {
	c := newChart("latency", "Latency by purpose", halfWidth, len(a.Purposes))
	most := 0.0
	for _, g := range a.Purposes {
		if g.Latency.Max != nil {
			most = max(most, *g.Latency.Max)
		}
	}
	at := c.axis(most, format.Seconds)
	for _, g := range a.Purposes {
		r := c.add(g.Name)
		r.ValueX = labelWidth + 8
		if g.Latency.N == 0 {
			r.Value = "no answer yet"
			continue
		}
		mean, longest := at(*g.Latency.Mean), at(*g.Latency.Max)
		r.Value = fmt.Sprintf("%s, max %s", format.Seconds(*g.Latency.Mean), format.Seconds(*g.Latency.Max))
		r.ValueX = longest + 8
		title := fmt.Sprintf("%s: mean %s, p95 %s, max %s, %s", g.Name, format.Seconds(*g.Latency.Mean),
			format.Seconds(*g.Latency.P95), format.Seconds(*g.Latency.Max), format.Plural(g.Latency.N, "answer"))
		r.Marks = []mark{
			{Class: "line", X: labelWidth, W: longest - labelWidth, Title: title},
			{Class: "bar", X: labelWidth, W: mean - labelWidth, Title: title},
		}
	}
	c.Desc = "For each purpose a bar to the mean and a line to the longest answer."
	return c
}

// pause is how long nothing must happen for the time to be shown shorter than it
// was, and pauseWidth how wide it is then.
const (
	pause      = 15 * time.Minute
	pauseWidth = 26
)

// scale maps time to places, with pauses cut short.
type scale struct {
	at     []time.Time // in order
	x      []float64
	breaks []tick
}

// newScale lays out instants between two places.
func newScale(instants []time.Time, from, to float64) scale {
	slices.SortFunc(instants, time.Time.Compare)
	busy, pauses := time.Duration(0), 0
	for i := 1; i < len(instants); i++ {
		if gap := instants[i].Sub(instants[i-1]); gap > pause {
			pauses++
		} else {
			busy += gap
		}
	}
	// However many pauses there are, they take at most half of the room.
	wide := min(pauseWidth, (to-from)/2/float64(max(pauses, 1)))
	perSecond := (to - from - wide*float64(pauses)) / math.Max(busy.Seconds(), 1)
	s := scale{at: instants}
	x := from
	for i, t := range instants {
		if i > 0 {
			gap := t.Sub(instants[i-1])
			if gap > pause {
				s.breaks = append(s.breaks, tick{X: round1(x + wide/2), Label: format.Seconds(gap.Seconds())})
				x += wide
			} else {
				x += gap.Seconds() * perSecond
			}
		}
		s.x = append(s.x, x)
	}
	return s
}

// place returns where an instant lies; one of those that were laid out.
func (s scale) place(t time.Time) float64 {
	i, _ := slices.BinarySearchFunc(s.at, t, time.Time.Compare)
	return round1(s.x[min(i, len(s.x)-1)])
}

// timeline shows when each step was taken and when its calls were made.
func timeline(a Audit) *chart {
	var instants []time.Time
	for _, m := range a.Messages {
		instants = append(instants, m.At)
	}
	for _, call := range a.Calls {
		instants = append(instants, call.At, call.At.Add(call.Latency))
	}
	if len(instants) == 0 {
		return nil
	}
	s := newScale(instants, labelWidth, fullWidth-12)
	c := newChart("timeline", "Timeline", fullWidth, began(a.Steps))
	c.Breaks = s.breaks
	first, last := s.at[0], s.at[len(s.at)-1]
	c.Ticks = []tick{{X: s.place(first), Label: "0s"}, {X: s.place(last), Label: format.Seconds(last.Sub(first).Seconds())}}
	c.Ticks[1].Anchor = "end"
	for _, st := range a.Steps {
		if !st.Began.IsZero() {
			c.addStep(s, st, where(a.Calls, func(call Call) bool { return call.Step == st.Step }))
		}
	}
	c.Desc = fmt.Sprintf("When each step was taken, from %s to %s, and when its %s were made.",
		first.Format(time.DateTime), last.Format(time.DateTime), format.Plural(len(a.Calls), "call"))
	return c
}

// began counts the steps that have begun.
func began(steps []Step) int {
	n := 0
	for _, s := range steps {
		if !s.Began.IsZero() {
			n++
		}
	}
	return n
}

func (c *chart) addStep(s scale, st Step, calls []Call) {
	r := c.add(stepName(st.Step))
	bar := func(from, to time.Time, least float64, class, title string) mark {
		x := s.place(from)
		return mark{Class: class, Title: title, X: x, W: max(s.place(to)-x, least)}
	}
	r.Marks = append(r.Marks, bar(st.Began, st.Ended, 2, "span",
		fmt.Sprintf("%s: %s", r.Label, format.Seconds(st.Ended.Sub(st.Began).Seconds()))))
	for _, call := range calls {
		r.Marks = append(r.Marks, bar(call.At, call.At.Add(call.Latency), 3, "call "+class(call.Outcome),
			fmt.Sprintf("call %d, %s: %s after %s", call.N, call.Purpose, call.Outcome, format.Seconds(call.Latency.Seconds()))))
	}
}

// class returns the style of a call by how it ended.
func class(o session.Outcome) string {
	switch o {
	case session.Accepted:
		return "good"
	case session.Rejected, session.Begun:
		return "fair"
	}
	return "bad"
}
