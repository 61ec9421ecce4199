package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Span is a call on a timeline.
type Span struct {
	// N is the call's number, Name its purpose: calls with the same name share a row.
	N    int
	Name string
	// Link is an anchor of the page ("#call-7"); empty for none.
	Link       string
	From, Took time.Duration
	Retries    int
	// Fault is the kind of a fault that was injected into the call.
	Fault  string
	Failed bool
	// Idle is true for a time without a call, in which a person thinks; N is then not used.
	Idle bool
}

// maxMarks limits the drawn spans; neighbours are merged to stay below it.
const maxMarks = 400

// kind is the style of a span.
type kind int

const (
	well  kind = iota
	upset      // a fault or a retry, and an answer in the end
	lost       // no answer
	idle       // a person thinks
)

var kindClass = [...]string{well: "c1", upset: "info", lost: "fail", idle: "c2"}

// box is one or more spans of a row and kind, in pixels.
type box struct {
	row         int
	kind        kind
	from, to    float64
	first, last Span
	n           int
}

// Timeline draws the calls of one trial over its time, with a row for each name. If no time
// passed, calls are drawn in their order.
func Timeline(title string, spans []Span) doc.Plot {
	if len(spans) == 0 {
		return doc.Plot{Title: title, Text: "There were no calls."}
	}
	names, row := rowsOf(spans)
	end := time.Duration(0)
	for _, s := range spans {
		end = max(end, s.From+s.Took)
	}
	inOrder := end <= 0
	s := newSheet(wide, float64(len(names))*rowHeight+46)
	s.top = legendRow + 4
	s.rows(names)
	if inOrder {
		s.x.setTicks(0.5, float64(len(spans))+0.5, callLabel)
	} else {
		s.x.setTimes(end.Seconds())
	}
	s.grid(false)
	s.mark(func(x, y func(float64) float64) {
		boxes := make([]box, len(spans))
		for i, span := range spans {
			from, to := x(span.From.Seconds()), x((span.From + span.Took).Seconds())
			if inOrder {
				from, to = x(float64(i)+0.6), x(float64(i)+1.4)
			}
			boxes[i] = box{row: row[i], kind: span.kind(), from: from, to: max(to, from+2), first: span, last: span, n: 1}
		}
		s.boxes(together(boxes), y)
		for i, sign := range []string{"! fault or retry", "× failed"} {
			s.svg.text(s.width-84*float64(1-i)-4, 12, "end", kindClass[i+1], sign)
		}
		if slices.ContainsFunc(spans, func(s Span) bool { return s.Idle }) {
			s.svg.text(s.width-190, 12, "end", kindClass[well], "■ call")
			s.svg.text(s.width-240, 12, "end", kindClass[idle], "■ candidate")
		}
	})
	return s.picture(title, timelineText(spans, end))
}

// callLabel labels whole numbers.
func callLabel(v float64) string {
	if v != math.Trunc(v) {
		return ""
	}
	return "call " + format.Number(v)
}

func timelineText(spans []Span, end time.Duration) string {
	count := [4]int{}
	for _, s := range spans {
		count[s.kind()]++
	}
	text := fmt.Sprintf("%s in %s", format.Count(len(spans)-count[idle], "call"), format.Seconds(end.Seconds()))
	if count[upset] > 0 {
		text += ", " + format.Int(count[upset]) + " with a fault or a retry"
	}
	if count[lost] > 0 {
		text += ", " + format.Int(count[lost]) + " failed"
	}
	return text + "."
}

// rowsOf names the rows in the order of their first use, and returns the row of each span. Names
// beyond the limit share the last one.
func rowsOf(spans []Span) (names []string, row []int) {
	index := map[string]int{}
	row = make([]int, len(spans))
	for i, s := range spans {
		at, ok := index[s.Name]
		if !ok {
			at = min(len(names), maxRows-1)
			index[s.Name] = at
			if len(names) < maxRows {
				names = append(names, s.Name)
			}
		}
		row[i] = at
	}
	if others := len(index) - maxRows + 1; others > 1 {
		names[maxRows-1] = fmt.Sprintf("(%d others)", others)
	}
	return names, row
}

func (s Span) kind() kind {
	switch {
	case s.Idle:
		return idle
	case s.Failed:
		return lost
	case s.Retries > 0 || s.Fault != "":
		return upset
	default:
		return well
	}
}

// together merges neighbours of a row and kind until few enough are left.
func together(list []box) []box {
	slices.SortStableFunc(list, func(a, b box) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from))
	})
	for gap := 1.0; len(list) > maxMarks; gap *= 2 {
		out := list[:1]
		for _, b := range list[1:] {
			if last := &out[len(out)-1]; last.row == b.row && last.kind == b.kind && b.from-last.to < gap {
				last.to, last.last, last.n = max(last.to, b.to), b.last, last.n+b.n
				continue
			}
			out = append(out, b)
		}
		list = out
	}
	return list
}

// boxes draws boxes, with a sign above faults and failures.
func (s *sheet) boxes(list []box, y func(float64) float64) {
	for _, b := range list {
		top := math.Round(y(-float64(b.row))) - 3
		linked := b.n == 1 && s.svg.link(b.first.Link)
		s.linked = s.linked || linked
		s.svg.rect(b.from, top, max(1.5, b.to-b.from-1), 9, kindClass[b.kind], b.title())
		if linked {
			s.svg.raw("</a>")
		}
	}
	for _, b := range list {
		if sign := [...]string{well: "", upset: "!", lost: "×", idle: ""}[b.kind]; sign != "" {
			s.svg.text((b.from+b.to)/2, math.Round(y(-float64(b.row)))-4, "", "mark "+kindClass[b.kind], sign)
		}
	}
}

// title describes a box.
func (b box) title() string {
	if b.kind == idle {
		return fmt.Sprintf("candidate: %s", format.Seconds(b.last.From.Seconds()+b.last.Took.Seconds()-b.first.From.Seconds()))
	}
	if b.n > 1 {
		return fmt.Sprintf("%s, from call %d to %d", format.Count(b.n, "call"), b.first.N, b.last.N)
	}
	c := b.first
	parts := []string{fmt.Sprintf("%d: %s", c.N, format.Seconds(c.Took.Seconds()))}
	if c.Fault != "" {
		parts = append(parts, sanitize.Line(c.Fault, maxLabel))
	}
	if c.Retries > 0 {
		parts = append(parts, strings.Replace(format.Count(c.Retries, "retry"), "retrys", "retries", 1))
	}
	if c.Failed {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ", ")
}
