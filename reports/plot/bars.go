package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// maxRows limits the rows of bars or points.
const maxRows = 12

// maxLabel limits the name of a row, in characters.
const maxLabel = 24

// Bar is an amount with a name.
type Bar struct {
	Name  string
	Value float64
	// Unknown is true if Value is a lower bound.
	Unknown bool
}

// Costs draws bars, the longest first, such as the cost by purpose. unit follows the amounts;
// "EUR" and "USD" are money. Bars beyond the limit are added up.
func Costs(title, unit string, bars []Bar) doc.Plot {
	bars = slices.DeleteFunc(slices.Clone(bars), func(b Bar) bool { return !finite(b.Value) || b.Value < 0 })
	slices.SortStableFunc(bars, func(a, b Bar) int { return cmp.Compare(b.Value, a.Value) })
	if len(bars) == 0 || bars[0].Value == 0 {
		return doc.Plot{Title: title, Text: "There is nothing that has a cost."}
	}
	bars = rest(bars)
	show := format.Number
	if unit == "EUR" || unit == "USD" {
		show = format.Money
		for _, small := range []struct {
			prefix        string
			below, factor float64
		}{{"µ", 1e-4, 1e6}, {"m", 0.1, 1e3}} {
			if bars[0].Value < small.below {
				unit = small.prefix + unit
				show = func(v float64) string { return format.Significant(v * small.factor) }
				break
			}
		}
	}
	amount := func(b Bar) string {
		s := show(b.Value)
		if b.Unknown {
			s = "≥ " + s
		}
		return strings.TrimSpace(s + " " + unit)
	}
	var names, texts []string
	for _, b := range bars {
		names = append(names, b.Name)
		texts = append(texts, sanitize.Line(b.Name, maxLabel)+" "+amount(b))
	}
	s := newSheet(narrow, float64(len(bars))*rowHeight+8)
	s.rows(names)
	s.right = 0
	for _, b := range bars {
		s.right = max(s.right, widthOf(amount(b))+8)
	}
	s.x.min, s.x.max = 0, bars[0].Value
	s.x.line = false
	s.mark(func(x, y func(float64) float64) {
		for i, b := range bars {
			class := "c1"
			if b.Unknown {
				class = "skip"
			}
			left, right, middle := x(0), x(b.Value), y(-float64(i))
			s.svg.rect(left, middle-7, math.Max(1, right-left), 14, class, "")
			s.svg.text(right+6, middle+4, "", "", amount(b))
		}
	})
	return s.picture(title, strings.Join(texts, ", ")+".")
}

// rest adds up the bars beyond the limit.
func rest(bars []Bar) []Bar {
	if len(bars) <= maxRows {
		return bars
	}
	other := Bar{Name: fmt.Sprintf("(%d others)", len(bars)-maxRows+1)}
	for _, b := range bars[maxRows-1:] {
		other.Value += b.Value
		other.Unknown = other.Unknown || b.Unknown
	}
	return append(slices.Clone(bars[:maxRows-1]), other)
}
