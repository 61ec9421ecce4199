package plot

import (
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Sizes in pixels.
const (
	textSize  = 11
	rowHeight = 22
	legendRow = 16
)

// perCell is the width of a terminal's cell in sizes of the font, a little more than a digit of
// common fonts. The page chooses the font, so widths are estimated.
const perCell = 0.64

func widthOf(s string) float64 { return perCell * textSize * float64(console.Width(s)) }

// sheet is a plot that is being drawn.
type sheet struct {
	x, y          axis
	svg           *canvas
	width, height float64
	// top and right are margins that marks of the sheet itself use.
	top, right float64
	linked     bool
	layers     []layer
	area       area // set when the sheet is drawn
}

// area is the rectangle of the data, in pixels.
type area struct{ left, right, top, bottom float64 }

// layer draws a part of a plot over its axes. x and y convert data to pixels.
type layer func(x, y func(float64) float64)

// newSheet returns a sheet with empty axes.
func newSheet(width, height float64) *sheet {
	return &sheet{x: newAxis(), y: newAxis(), svg: &canvas{}, width: width, height: height, top: 4, right: 4}
}

// mark adds marks.
func (s *sheet) mark(draw layer) { s.layers = append(s.layers, draw) }

// grid adds lines at the ticks of the X axis, and of the Y axis if both is true.
func (s *sheet) grid(both bool) {
	s.mark(func(x, y func(float64) float64) {
		for _, t := range s.x.ticks {
			if contains(s.x.position(t.value)) {
				s.svg.stroke("grid", 1, false, x(t.value), s.area.bottom, x(t.value), s.area.top)
			}
		}
		for _, t := range s.y.ticks {
			if both && contains(s.y.position(t.value)) {
				s.svg.stroke("grid", 1, false, s.area.left, y(t.value), s.area.right, y(t.value))
			}
		}
	})
}

// point is a point of a line, in units of the data.
type point struct{ x, y float64 }

// line adds a line through points. Points beyond the axes are drawn at their ends.
func (s *sheet) line(class string, dash bool, points []point) {
	s.mark(func(x, y func(float64) float64) {
		var at []float64
		for _, p := range points {
			at = append(at, x(clamp(p.x, s.x.min, s.x.max)), y(clamp(p.y, s.y.min, s.y.max)))
		}
		s.svg.stroke(class, 2, dash, at...)
	})
}

// rows makes the Y axis one of names, from top to bottom: row i is at -i.
func (s *sheet) rows(names []string) {
	s.y = axis{min: 0.5 - float64(len(names)), max: 0.5, line: true}
	for i, name := range names {
		s.y.ticks = append(s.y.ticks, tick{-float64(i), sanitize.Line(name, maxLabel) + "\u00a0"})
	}
	s.x.padding = 0
}

// picture draws the sheet.
func (s *sheet) picture(title, text string) doc.Plot {
	s.layout()
	x := func(v float64) float64 { return s.area.left + s.x.position(v)*(s.area.right-s.area.left) }
	y := func(v float64) float64 { return s.area.bottom - s.y.position(v)*(s.area.bottom-s.area.top) }
	s.drawX(x)
	s.drawY(y)
	for _, draw := range s.layers {
		draw(x, y)
	}
	s.svg.flush()
	role := "img"
	if s.linked {
		role = "group" // an image's links would be hidden from screen readers
	}
	out := &canvas{}
	w, h := number(s.width), number(s.height)
	name := escape(title, maxTitle)
	out.raw(`<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="`, w, `" height="`, h, `" viewBox="0 0 `, w, ` `, h,
		`" role="`, role, `" aria-label="`, name, `"><title>`, name, `</title><desc>`, escape(text, 1000), `</desc>`)
	out.out.Write(s.svg.out.Bytes())
	out.raw(`</svg>`)
	return doc.Plot{Title: title, Text: text, SVG: out.out.Bytes(), Wide: s.width > narrow}
}

// layout sets the area of the data: the room that the axes leave, less the room of the last
// labels.
func (s *sheet) layout() {
	a := area{left: s.y.width(), right: s.width - s.right, top: s.top, bottom: s.height - s.x.height()}
	s.area = a
	for _, t := range s.x.ticks {
		if at := s.x.position(t.value); at > 0 && contains(at) {
			s.area.right = min(s.area.right, a.left+(a.right-widthOf(t.label)/2-a.left)/at)
		}
	}
	for _, t := range s.y.ticks {
		if at := s.y.position(t.value); at > 0 && contains(at) {
			s.area.top = max(s.area.top, a.bottom-(a.bottom-a.top-labelHeight/2.0)/at)
		}
	}
}

// drawX draws the horizontal axis, from the lower edge of the picture upwards.
func (s *sheet) drawX(x func(float64) float64) {
	at := s.height
	if s.x.label != "" {
		s.svg.text((s.area.left+s.area.right)/2, at-2*descent, "middle", "axis", s.x.label)
		at -= labelHeight
	}
	for _, t := range s.x.ticks {
		if contains(s.x.position(t.value)) {
			s.svg.text(x(t.value), at-2*descent, "middle", s.x.class, t.label)
		}
	}
	if len(s.x.ticks) > 0 {
		at -= labelHeight
	}
	if len(s.x.ticks) > 0 && s.x.notches {
		for _, t := range s.x.ticks {
			if contains(s.x.position(t.value)) {
				s.svg.stroke("axis", 1, false, x(t.value), at, x(t.value), at-notchLength)
			}
		}
		at -= notchLength
	}
	if s.x.line {
		s.svg.stroke("axis", 1, false, s.area.left, at, s.area.right, at)
	}
}

// drawY draws the vertical axis, from the left edge of the picture to the right.
func (s *sheet) drawY(y func(float64) float64) {
	at := 0.0
	if s.y.label != "" {
		s.svg.rotated(labelHeight-descent, (s.area.top+s.area.bottom)/2, "axis", s.y.label)
		at = labelHeight + descent
	}
	at += s.y.labelWidth()
	for _, t := range s.y.ticks {
		if contains(s.y.position(t.value)) {
			s.svg.text(at-widthOf(" "), y(t.value)+0.3*textSize, "end", s.y.class, t.label)
		}
	}
	if len(s.y.ticks) > 0 && s.y.notches {
		for _, t := range s.y.ticks {
			if contains(s.y.position(t.value)) {
				s.svg.stroke("axis", 1, false, at, y(t.value), at+notchLength, y(t.value))
			}
		}
		at += notchLength
	}
	if s.y.line {
		s.svg.stroke("axis", 1, false, at, s.area.bottom, at, s.area.top)
	}
}
