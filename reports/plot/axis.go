package plot

import (
	"math"
	"strconv"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// axis is an axis of a sheet with its range and ticks.
type axis struct {
	min, max float64
	log      bool
	label    string
	ticks    []tick
	// class is the style of the labels of the ticks.
	class string
	// line draws the axis, and notches a short line at each tick.
	line, notches bool
	// padding separates the data from the axis.
	padding float64
}

// tick is a labelled place on an axis.
type tick struct {
	value float64
	label string
}

// Sizes of the parts of an axis, in pixels.
const (
	labelHeight = textSize
	descent     = 0.1 * textSize
	notchLength = 4
)

// maxDecimals limits the decimals of the labels of ticks.
const maxDecimals = 9

func newAxis() axis { return axis{class: "axis", line: true, notches: true, padding: 2} }

// position returns where v lies between the ends of the axis, from 0 to 1.
func (a *axis) position(v float64) float64 {
	if a.log {
		return (math.Log(v) - math.Log(a.min)) / (math.Log(a.max) - math.Log(a.min))
	}
	return (v - a.min) / (a.max - a.min)
}

// contains reports whether a position is on the axis, allowing for rounding.
func contains(position float64) bool { return position > -1e-9 && position < 1+1e-9 }

// beside returns the room for the line and the notches.
func (a *axis) beside() (room float64) {
	if len(a.ticks) > 0 && a.notches {
		room = notchLength
	}
	if a.line {
		room += 0.5
	}
	return room + a.padding
}

// height returns the room that the axis takes below the data.
func (a *axis) height() float64 {
	room := a.beside()
	if a.label != "" {
		room += labelHeight
	}
	if len(a.ticks) > 0 {
		room += labelHeight
	}
	return room
}

// width returns the room that the axis takes to the left of the data.
func (a *axis) width() float64 {
	room := a.beside() + a.labelWidth()
	if a.label != "" {
		room += labelHeight + descent
	}
	return room
}

// labelWidth returns the width of the longest label of a tick and of a space.
func (a *axis) labelWidth() float64 {
	longest := 0.0
	for _, t := range a.ticks {
		longest = max(longest, widthOf(t.label))
	}
	if longest > 0 {
		longest += widthOf(" ")
	}
	return longest
}

// setTicks sets the range of the axis and at least three round values as ticks. show returns
// their labels; a value with an empty label is left out. Without show, the labels are numbers with equally many
// decimals.
func (a *axis) setTicks(lo, hi float64, show func(float64) string) {
	a.min, a.max = lo, hi
	power := math.Pow10(int(math.Floor(math.Log10(hi - lo))))
	for _, times := range []float64{5, 2, 1, 0.5, 0.2} {
		values := multiples(times*power, lo, hi)
		if len(values) < 3 {
			continue
		}
		if show == nil {
			decimals := max(0, int(math.Ceil(-math.Log10(times*power)-1e-9)))
			show = func(v float64) string { return strconv.FormatFloat(v, 'f', decimals, 64) }
			if decimals > maxDecimals {
				show = format.Number
			}
		}
		for _, v := range values {
			if label := show(v); label != "" {
				a.ticks = append(a.ticks, tick{v, label})
			}
		}
		return
	}
}

// multiples returns the multiples of step from lo to hi. Multiples that are equal because of
// rounding are returned once.
func multiples(step, lo, hi float64) (values []float64) {
	first := math.Ceil(lo / step)
	for i := range 60 {
		v := (first + float64(i)) * step
		if v <= hi+step/1e6 && (len(values) == 0 || v > values[len(values)-1]) {
			values = append(values, v)
		}
	}
	return values
}

// setShares makes the axis one of shares, with n steps.
func (a *axis) setShares(n int, show func(float64) string) {
	a.min, a.max, a.ticks = 0, 1, nil
	for i := range n + 1 {
		share := float64(i) / float64(n)
		a.ticks = append(a.ticks, tick{share, show(share)})
	}
}
