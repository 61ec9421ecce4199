package plot

import (
	"bytes"
	"html"
	"math"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// canvas draws SVG for a page. Coordinates are pixels from the upper left corner.
type canvas struct {
	out bytes.Buffer
	// line is the path data of pending strokes with the pen lineOf; they become one element.
	line   []byte
	lineOf pen
}

// pen is the style of strokes.
type pen struct {
	class string
	width float64
	dash  bool
}

// stroke draws a line through points, given as x, y, x, y, ...
func (c *canvas) stroke(class string, width float64, dash bool, points ...float64) {
	if next := (pen{class, width, dash}); next != c.lineOf {
		c.flush()
		c.lineOf = next
	}
	var lastX, lastY float64
	for i := 0; i+1 < len(points); i += 2 {
		x, y := round(points[i]), round(points[i+1])
		switch {
		case i == 0:
			c.line = appendNumber(append(c.line, 'M'), x)
			c.line = appendNumber(append(c.line, ' '), y)
		case y == lastY:
			c.line = appendNumber(append(c.line, 'H'), x)
		case x == lastX:
			c.line = appendNumber(append(c.line, 'V'), y)
		default:
			c.line = appendNumber(append(c.line, 'L'), x)
			c.line = appendNumber(append(c.line, ' '), y)
		}
		lastX, lastY = x, y
	}
}

// flush writes the pending strokes.
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

// rect draws a filled rectangle; title is shown on hover.
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

// text draws text; anchor is "", "middle" or "end".
func (c *canvas) text(x, y float64, anchor, class, text string) {
	c.raw(`<text`, attribute("class", class), position(x, y), attribute("text-anchor", anchor), `>`, escape(text, maxTitle), `</text>`)
}

// rotated draws a text that is read from below, with its middle at x, y.
func (c *canvas) rotated(x, y float64, class, text string) {
	c.raw(`<text`, attribute("class", class), ` transform="translate(`, number(x), ` `, number(y), `) rotate(-90)" text-anchor="middle">`,
		escape(text, maxTitle), `</text>`)
}

// link begins a link to an anchor of the page. It reports false and does nothing for any other
// address.
func (c *canvas) link(to string) bool {
	if !strings.HasPrefix(to, "#") {
		return false
	}
	c.raw(`<a href="`, escape(to, 0), `">`)
	return true
}

// maxTitle limits a text of a plot, in characters.
const maxTitle = 300

func escape(text string, limit int) string { return html.EscapeString(sanitize.Line(text, limit)) }

// attribute returns an attribute whose value is markup; an empty value has none.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return ` ` + name + `="` + value + `"`
}

func position(x, y float64) string { return ` x="` + number(x) + `" y="` + number(y) + `"` }

// round rounds to a tenth of a pixel. Values that are not finite become 0.
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
