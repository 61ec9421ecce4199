package plot

import (
	"bytes"
	"html"
	"image"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// ink is a class of the style sheet that stands for a colour. gonum/plot carries
// it along as a color.Color until the canvas writes it.
type ink string

// RGBA implements color.Color; nobody looks at it.
func (ink) RGBA() (r, g, b, a uint32) { return 0, 0, 0, 0xffff }

// canvas draws SVG for a page. It is the canvas that gonum/plot draws on, and the
// package's own marks are drawn on it directly. The library's own SVG canvas has
// fixed colours and fonts, sizes in points and no place for titles and links.
//
// The methods of vg.Canvas take points from the lower left corner; those with
// lower-case names take pixels from the upper left one. There are no
// transformations, as nothing here asks for any.
type canvas struct {
	out    bytes.Buffer
	height float64
	pen    pen
	saved  []pen
	// line is the path data of strokes that are not written yet, and of lineOf:
	// those of one pen become one element.
	line   []byte
	lineOf pen
}

// pen is how strokes look.
type pen struct {
	class string
	width vg.Length
	dash  bool
}

var _ vg.Canvas = (*canvas)(nil)

// SetLineWidth implements vg.Canvas.
func (c *canvas) SetLineWidth(w vg.Length) { c.pen.width = w }

// SetLineDash implements vg.Canvas: there is one kind of dashes.
func (c *canvas) SetLineDash(pattern []vg.Length, _ vg.Length) { c.pen.dash = len(pattern) > 0 }

// SetColor implements vg.Canvas.
func (c *canvas) SetColor(clr color.Color) {
	i, _ := clr.(ink)
	c.pen.class = string(i)
}

// Rotate implements vg.Canvas.
func (c *canvas) Rotate(float64) { panic("plot: the canvas has no transformations") }

// Translate implements vg.Canvas.
func (c *canvas) Translate(vg.Point) { panic("plot: the canvas has no transformations") }

// Scale implements vg.Canvas.
func (c *canvas) Scale(float64, float64) { panic("plot: the canvas has no transformations") }

// Push implements vg.Canvas.
func (c *canvas) Push() { c.saved = append(c.saved, c.pen) }

// Pop implements vg.Canvas.
func (c *canvas) Pop() {
	last := len(c.saved) - 1
	c.pen, c.saved = c.saved[last], c.saved[:last]
}

// Stroke implements vg.Canvas.
func (c *canvas) Stroke(path vg.Path) {
	if c.pen.width <= 0 || len(path) == 0 {
		return
	}
	if c.pen != c.lineOf {
		c.flush()
		c.lineOf = c.pen
	}
	c.line = c.appendPath(c.line, path)
}

// Fill implements vg.Canvas.
func (c *canvas) Fill(path vg.Path) {
	c.raw(`<path class="fill `, c.pen.class, `" d="`, string(c.appendPath(nil, path)), `"/>`)
}

// FillString implements vg.Canvas. Text comes through words instead.
func (c *canvas) FillString(_ font.Face, at vg.Point, text string) {
	c.text(at.X.Points(), c.height-at.Y.Points(), "", c.pen.class, text)
}

// DrawImage implements vg.Canvas: there are no images.
func (c *canvas) DrawImage(vg.Rectangle, image.Image) {}

// appendPath appends the data of a path of straight lines.
func (c *canvas) appendPath(b []byte, path vg.Path) []byte {
	var lastX, lastY float64
	for _, p := range path {
		x, y := round(p.Pos.X.Points()), round(c.height-p.Pos.Y.Points())
		switch {
		case p.Type == vg.CloseComp:
			b = append(b, 'Z')
			continue
		case p.Type == vg.MoveComp:
			b = appendNumber(append(b, 'M'), x)
			b = appendNumber(append(b, ' '), y)
		case y == lastY:
			b = appendNumber(append(b, 'H'), x)
		case x == lastX:
			b = appendNumber(append(b, 'V'), y)
		default:
			b = appendNumber(append(b, 'L'), x)
			b = appendNumber(append(b, ' '), y)
		}
		lastX, lastY = x, y
	}
	return b
}

// flush writes the strokes that are due.
func (c *canvas) flush() {
	if len(c.line) == 0 {
		return
	}
	class := c.lineOf.class
	if c.lineOf.width >= 2 {
		class += " thick"
	}
	if c.lineOf.dash {
		class += " dash"
	}
	c.out.WriteString(`<path` + attribute("class", class) + ` d="`)
	c.out.Write(c.line)
	c.out.WriteString(`"/>`)
	c.line = c.line[:0]
}

// raw writes markup.
func (c *canvas) raw(parts ...string) {
	c.flush()
	for _, p := range parts {
		c.out.WriteString(p)
	}
}

// rect draws a filled rectangle; title, if there is any, is shown when it is
// pointed at.
func (c *canvas) rect(x, y, width, height float64, class, title string) {
	c.raw(`<rect`, attribute("class", class), position(x, y), ` width="`, number(width), `" height="`, number(height), `"`)
	c.close("rect", title)
}

// circle draws a filled circle.
func (c *canvas) circle(x, y, radius float64, class, title string) {
	c.raw(`<circle`, attribute("class", class), ` cx="`, number(x), `" cy="`, number(y), `" r="`, number(radius), `"`)
	c.close("circle", title)
}

// close ends a start tag and its element.
func (c *canvas) close(name, title string) {
	if title == "" {
		c.raw(`/>`)
		return
	}
	c.raw(`><title>`, escape(title, maxTitle), `</title></`, name, `>`)
}

// stroke draws a line through points, given as x, y, x, y, ...
func (c *canvas) stroke(class string, width float64, dash bool, points ...float64) {
	c.pen = pen{class: class, width: vg.Length(width), dash: dash}
	var path vg.Path
	for i := 0; i+1 < len(points); i += 2 {
		at := vg.Point{X: vg.Length(points[i]), Y: vg.Length(c.height - points[i+1])}
		if i == 0 {
			path.Move(at)
		} else {
			path.Line(at)
		}
	}
	c.Stroke(path)
}

// text draws text; anchor is "", "middle" or "end".
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.raw(`<text`, attribute("class", class), position(x, y), attribute("text-anchor", anchor), `>`, escape(text, maxTitle), `</text>`)
}

// rotated draws a text that is read from below, with its middle at x, y.
func (c *canvas) rotated(x, y float64, class, text string) {
	c.raw(`<text`, attribute("class", class), ` transform="translate(`, number(x), ` `, number(y), `) rotate(-90)" text-anchor="middle">`,
		escape(text, maxTitle), `</text>`)
}

// link begins an element that leads to an anchor of the page. It reports false,
// and does nothing, for any other address.
func (c *canvas) link(to string) bool {
	if !strings.HasPrefix(to, "#") {
		return false
	}
	c.raw(`<a href="`, escape(to, 0), `">`)
	return true
}

// maxTitle bounds a text of a picture, in characters.
const maxTitle = 300

func escape(text string, limit int) string { return html.EscapeString(sanitize.Line(text, limit)) }

// attribute is empty for an empty value; the value is markup already.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return ` ` + name + `="` + value + `"`
}

func position(x, y float64) string { return ` x="` + number(x) + `" y="` + number(y) + `"` }

// round rounds to a tenth of a pixel. What is not a number lands at 0.
func round(v float64) float64 {
	if !finite(v) {
		return 0
	}
	return math.Round(v*10) / 10
}

func number(v float64) string { return string(appendNumber(nil, round(v))) }

func appendNumber(b []byte, v float64) []byte {
	return strconv.AppendFloat(b, v+0, 'f', -1, 64) // -0 + 0 is 0
}
