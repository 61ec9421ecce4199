package session_test

import (
	"fmt"
	"html"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// The measures of the picture, in its own units.
const (
	margin, titles  = 20, 130 // titles is the width of the column of titles
	boxW, boxH      = 128, 46
	gapX, gapY      = 92, 58
	perRow          = 4
	pitchX, pitchY  = boxW + gapX, boxH + gapY
	pictureW        = margin + titles + perRow*pitchX + margin
	firstX          = margin + titles
	headroom        = 62 // above the first row
	legendY, legend = 22, 120
)

var fills = map[session.Phase][2]string{ // fill, stroke
	session.Owing:      {"#fff3d6", "#b7791f"},
	session.Asking:     {"#e3effc", "#2b6cb0"},
	session.Reflecting: {"#e2f5f1", "#237a6b"},
	session.Waiting:    {"#f0eafa", "#6b46a8"},
	session.Finished:   {"#e5f4e3", "#2f7a2f"},
}

// canvas draws boxes in rows, of which each step begins a new one.
type canvas struct {
	strings.Builder
	boxes map[place][2]int // column and row
	rows  int
}

// svg draws the graph.
func svg(groups []group) string {
	c := &canvas{boxes: map[place][2]int{}}
	for _, g := range groups {
		c.group(g)
	}
	for i, g := range groups {
		c.edges(g)
		if i+1 < len(groups) {
			c.wrap(g.exitPlace(), groups[i+1].nodes[0].place, g.exit.label())
		}
	}
	height := headroom + c.rows*pitchY
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="The flow of an interview" font-family="system-ui, sans-serif" font-size="13">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#4a5568"/></marker></defs>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%s%s</svg>
`, pictureW, height, key(), c.String())
}

// key explains the colours.
func key() string {
	var b strings.Builder
	for i, p := range []session.Phase{session.Asking, session.Reflecting, session.Waiting, session.Finished, session.Owing} {
		name := string(p)
		if p == session.Owing {
			name = "call: the service owes the next message"
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="16" height="16" rx="4" fill="%s" stroke="%s"/><text x="%d" y="%d" fill="#1a202c">%s</text>`+"\n",
			margin+i*legend, legendY, fills[p][0], fills[p][1], margin+i*legend+24, legendY+13, html.EscapeString(name))
	}
	return b.String()
}

// exitPlace returns where the group is left, by the names of its first step.
func (g group) exitPlace() place {
	from := g.exit.from
	from.step = g.steps[0]
	return from
}

// xy returns the upper left corner of a box.
func (c *canvas) xy(p place) (x, y int) {
	at := c.boxes[p]
	return firstX + at[0]*pitchX, headroom + at[1]*pitchY
}

func (c *canvas) group(g group) {
	top := headroom + c.rows*pitchY
	fmt.Fprintf(c, `<text x="%d" y="%d" font-size="15" font-weight="600" fill="#1a202c">%s</text>`+"\n", margin, top+boxH/2, g.title())
	calls := ""
	switch n := g.calls(); {
	case n == 1:
		calls = "1 call"
	case n > 1:
		calls = fmt.Sprintf("%d calls", n)
	}
	fmt.Fprintf(c, `<text x="%d" y="%d" fill="#5a6472">%s</text>`+"\n", margin, top+boxH/2+18, calls)
	for i, n := range g.nodes {
		c.boxes[n.place] = [2]int{i % perRow, c.rows + i/perRow}
		x, y := c.xy(n.place)
		fmt.Fprintf(c, `<rect x="%d" y="%d" width="%d" height="%d" rx="9" fill="%s" stroke="%s" stroke-width="1.4"/>`+"\n",
			x, y, boxW, boxH, fills[n.phase][0], fills[n.phase][1])
		fmt.Fprintf(c, `<text x="%d" y="%d" text-anchor="middle" font-weight="600" fill="#1a202c">%s</text>`+"\n", x+boxW/2, y+20, html.EscapeString(n.name))
		fmt.Fprintf(c, `<text x="%d" y="%d" text-anchor="middle" font-size="12" fill="%s">%s</text>`+"\n", x+boxW/2, y+36, fills[n.phase][1], n.what())
	}
	c.rows += (len(g.nodes) + perRow - 1) / perRow
}

// edges draws the edges within a step, and the way back of a group of steps.
func (c *canvas) edges(g group) {
	for _, e := range g.inner {
		x, y := c.xy(e.from)
		toX, toY := c.xy(e.to)
		switch {
		case e.from == e.to:
			c.loop(x, y, e.label(), e.heard)
		case y == toY:
			c.line(fmt.Sprintf("M%d %dH%d", x+boxW, y+boxH/2, toX-1), false)
			c.text(x+boxW+gapX/2-2, y+boxH/2-6, "middle", e.label())
		default:
			c.wrap(e.from, e.to, e.label())
		}
	}
	if len(g.steps) > 1 {
		x, y := c.xy(g.exitPlace())
		toX, _ := c.xy(g.nodes[0].place)
		c.line(fmt.Sprintf("M%d %dv14H%dv-13", x+boxW/2-24, y+boxH, toX+boxW/2), false)
		c.text((x+toX+boxW)/2, y+boxH+11, "middle", "to the next block")
	}
}

// loop draws an edge from a box to itself.
func (c *canvas) loop(x, y int, label string, dashed bool) {
	c.line(fmt.Sprintf("M%d %dc-8 -26 44 -26 36 -1", x+boxW-52, y), dashed)
	c.text(x+boxW-10, y-10, "start", label)
}

// wrap draws an edge to the first box of a later row.
func (c *canvas) wrap(from, to place, label string) {
	x, y := c.xy(from)
	toX, toY := c.xy(to)
	lane := toY - 24
	if c.boxes[from][0] == 0 && c.boxes[to][0] == 0 { // straight down
		c.line(fmt.Sprintf("M%d %dV%d", x+boxW/2, y+boxH, toY-1), false)
		c.text(x+boxW/2+8, y+boxH+20, "start", label)
		return
	}
	c.line(fmt.Sprintf("M%d %dV%dH%dV%d", x+boxW/2, y+boxH, lane, toX+boxW/2, toY-1), false)
	c.text(x+boxW/2+8, y+boxH+20, "start", label)
}

func (c *canvas) line(path string, dashed bool) {
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(c, `<path d="%s" fill="none" stroke="#4a5568" stroke-width="1.3" stroke-linejoin="round" marker-end="url(#tip)"%s/>`+"\n", path, dash)
}

func (c *canvas) text(x, y int, anchor, s string) {
	fmt.Fprintf(c, `<text x="%d" y="%d" text-anchor="%s" font-size="12" fill="#1a202c">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
}
