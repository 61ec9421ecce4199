package plot

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// Sizes in pixels.
const (
	textSize  = 11
	rowHeight = 22
	legendRow = 16
)

// words lays out and draws text. The page chooses the font, so that widths are
// estimated, and the browser aligns.
type words struct {
	text.Plain
	svg *canvas
}

// perCell is the width of a terminal's cell in sizes of the font: a little more
// than what common fonts take for a digit.
const perCell = 0.64

func widthOf(s string) float64 { return perCell * textSize * float64(tty.Width(s)) }

// Extents implements text.Handler.
func (w words) Extents(f font.Font) font.Extents {
	return font.Extents{Ascent: 0.9 * f.Size, Descent: 0.1 * f.Size, Height: f.Size}
}

// Box implements text.Handler.
func (w words) Box(s string, f font.Font) (width, height, depth vg.Length) {
	return vg.Length(widthOf(s)), 0.9 * f.Size, 0.1 * f.Size
}

// Draw implements text.Handler.
func (w words) Draw(_ vg.Canvas, s string, style text.Style, at vg.Point) {
	class, _ := style.Color.(ink)
	y := at.Y + style.Font.Size*(vg.Length(style.YAlign)+0.1)
	if style.Rotation != 0 { // of a vertical axis: a quarter to the left
		w.svg.rotated(at.X.Points(), w.svg.height-at.Y.Points(), string(class), s)
		return
	}
	w.svg.text(at.X.Points(), w.svg.height-y.Points(), anchors[style.XAlign], string(class), s)
}

var anchors = map[text.XAlignment]string{text.XLeft: "", text.XCenter: "middle", text.XRight: "end"}

// sheet is a plot that is being drawn.
type sheet struct {
	*plot.Plot
	svg           *canvas
	width, height float64
	// top and right are margins that marks of the sheet itself use.
	top, right float64
	linked     bool
}

// newSheet returns a sheet with empty axes.
func newSheet(width, height float64) *sheet {
	s := &sheet{Plot: plot.New(), svg: &canvas{height: height}, width: width, height: height, top: 4, right: 4}
	handler := words{svg: s.svg}
	style := text.Style{Color: ink("axis"), Font: font.Font{Size: textSize}, Handler: handler}
	s.BackgroundColor = nil
	s.TextHandler = handler
	s.Title.TextStyle, s.Legend.TextStyle = style, style
	for _, axis := range []*plot.Axis{&s.X, &s.Y} {
		for _, s := range []*text.Style{&axis.Label.TextStyle, &axis.Tick.Label} {
			s.Color, s.Font, s.Handler = style.Color, style.Font, style.Handler
		}
		axis.LineStyle = draw.LineStyle{Color: ink("axis"), Width: 1}
		axis.Tick.LineStyle = axis.LineStyle
		axis.Tick.Length = 4
		axis.Padding = 2
	}
	return s
}

// marks is a plotter that draws with pixels from the upper left corner. x and y
// turn data into them.
type marks func(x, y func(float64) float64)

// mark adds marks.
func (s *sheet) mark(draws marks) {
	s.Add(plotted(func(c draw.Canvas, p *plot.Plot) {
		toX, toY := p.Transforms(&c)
		draws(func(v float64) float64 { return toX(v).Points() },
			func(v float64) float64 { return s.height - toY(v).Points() })
	}))
}

// plotted lets a function be a plotter.
type plotted func(draw.Canvas, *plot.Plot)

// Plot implements plot.Plotter.
func (f plotted) Plot(c draw.Canvas, p *plot.Plot) { f(c, p) }

// grid adds lines at the ticks of the X axis, and of the Y axis if both is true.
func (s *sheet) grid(both bool) {
	g := &plotter.Grid{Vertical: draw.LineStyle{Color: ink("grid"), Width: 1}}
	if both {
		g.Horizontal = draw.LineStyle{Color: ink("grid"), Width: 1}
	}
	s.Add(g)
}

// line adds a line through points.
func (s *sheet) line(class string, dash bool, points plotter.XYs) {
	l := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: ink(class), Width: 2}}
	if dash {
		l.Dashes = []vg.Length{4, 3}
	}
	s.Add(l)
}

// ticks sets the ticks of an axis with its range: about n of them, labelled by
// show.
func ticks(axis *plot.Axis, lo, hi float64, show func(float64) string) {
	axis.Min, axis.Max = lo, hi
	var list plot.ConstantTicks
	for _, t := range (plot.DefaultTicks{}).Ticks(lo, hi) {
		if !t.IsMinor() {
			list = append(list, plot.Tick{Value: t.Value, Label: show(t.Value)})
		}
	}
	axis.Tick.Marker = list
}

// shares makes an axis one of shares, with n steps.
func shares(axis *plot.Axis, n int, show func(float64) string) {
	axis.Min, axis.Max = 0, 1
	var list plot.ConstantTicks
	for i := range n + 1 {
		share := float64(i) / float64(n)
		list = append(list, plot.Tick{Value: share, Label: show(share)})
	}
	axis.Tick.Marker = list
}

// rows makes the Y axis one of names, from top to bottom: row i is at -i.
func (s *sheet) rows(names []string) {
	s.Y.Min, s.Y.Max = 0.5-float64(len(names)), 0.5
	list := plot.ConstantTicks{}
	for i, name := range names {
		// A label must not be empty: a tick without is a minor one.
		list = append(list, plot.Tick{Value: -float64(i), Label: sanitize.Line(name, maxLabel) + "\u00a0"})
	}
	s.Y.Tick.Marker = list
	s.Y.Tick.Width = 0
	s.Y.Tick.Label.Color = ink("")
	s.Y.Padding = 0
	s.X.Padding = 0
}

// picture draws the sheet.
func (s *sheet) picture(title, says string) Picture {
	area := draw.NewCanvas(s.svg, vg.Length(s.width-s.right), vg.Length(s.height-s.top))
	s.Draw(area)
	s.svg.flush()
	role := "img"
	if s.linked {
		role = "group" // an image's links would be hidden from screen readers
	}
	out := &canvas{}
	w, h := number(s.width), number(s.height)
	name := escape(title, maxTitle)
	out.raw(`<svg class="plot" xmlns="http://www.w3.org/2000/svg" width="`, w, `" height="`, h, `" viewBox="0 0 `, w, ` `, h,
		`" role="`, role, `" aria-label="`, name, `"><title>`, name, `</title><desc>`, escape(says, 1000), `</desc>`)
	out.out.Write(s.svg.out.Bytes())
	out.raw(`</svg>`)
	return Picture{Title: title, Text: says, SVG: out.out.Bytes()}
}

// nothing is a Ticker without ticks.
type nothing struct{}

// Ticks implements plot.Ticker.
func (nothing) Ticks(float64, float64) []plot.Tick { return nil }
