package plot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// The size of a heat map.
const (
	maxColumns = 56
	maxHeads   = 40
	cellHeight = 18
)

// shade draws an outcome by colour and by sign, so it can be distinguished in print and without
// colours.
type shade struct {
	outcome              result.Outcome
	class, sign, meaning string
}

// shades are ordered: a later one is shown if a cell represents several runs.
var shades = []shade{
	{result.Survived, "pass soft", "·", "survived"},
	{result.Unfired, "skip soft", "–", "could not happen"},
	{result.Degraded, "info", "~", "degraded"},
	{result.Errored, "error", "!", "no verdict"},
	{result.Failed, "fail", "×", "failed"},
}

func shadeOf(o result.Outcome) int {
	for i, s := range shades {
		if s.outcome == o {
			return i
		}
	}
	return slices.IndexFunc(shades, func(s shade) bool { return s.outcome == result.Errored })
}

// column is one place of the path, or neighbours that share a column.
type column struct {
	from, to int
	cells    []int // index of a shade, or -1, for each head
	runs     []int // index of the run in the result
}

// Survival draws a heat map for each family of single perturbations: places of the path from
// left to right, perturbations from top to bottom. If there are more places than columns,
// neighbours share one, which shows their worst outcome.
func Survival(r *result.Exploration) []doc.Plot {
	var list []doc.Plot
	for _, m := range r.Matrices(len(r.Cells) + 1) {
		list = append(list, heatMap(r, m))
	}
	return list
}

func heatMap(r *result.Exploration, m result.Matrix) doc.Plot {
	heads := m.Heads[:min(len(m.Heads), maxHeads)]
	columns, size := columnsOf(m, len(heads))
	s := newSheet(wide, float64(len(heads))*cellHeight+legendRow+40)
	s.top = legendRow + 8
	s.rows(heads)
	s.x.min, s.x.max = -0.5, max(float64(len(columns)), 24)-0.5
	s.x.label = m.Point
	s.x.ticks = numbers(columns)
	s.x.line, s.y.line = false, false
	s.mark(func(x, y func(float64) float64) {
		s.cells(columns, len(heads), x, y)
		s.failures(r, columns, x, y)
		left := 8.0
		for _, sh := range shades {
			s.svg.rect(left, 4, 12, 12, sh.class, "")
			s.svg.text(left+6, 14, "", sh.signClass(), sh.sign)
			s.svg.text(left+18, 14, "", "", sh.meaning)
			left += widthOf(sh.meaning) + 34
		}
	})
	title := fmt.Sprintf("%s: survival by %s and %s", sanitize.Line(r.Scenario, 60), m.Point, sanitize.Line(string(m.Family), maxLabel))
	return s.picture(title, matrixText(m, size))
}

// columnsOf returns a column for each place, or for each group of size neighbours.
func columnsOf(m result.Matrix, heads int) (columns []column, size int) {
	var all []column
	for _, row := range m.Rows {
		for _, at := range row.At {
			c := column{from: at, to: at}
			for i := range heads {
				c.cells, c.runs = append(c.cells, -1), append(c.runs, row.Runs[i])
				if row.Cells[i] != "" {
					c.cells[i] = shadeOf(row.Cells[i])
				}
			}
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b column) int { return a.from - b.from })
	size = (len(all) + maxColumns - 1) / maxColumns
	for i, c := range all {
		if i%size == 0 {
			columns = append(columns, c)
			continue
		}
		columns[len(columns)-1].join(c)
	}
	return columns, size
}

// join adds the worse outcomes of another column.
func (c *column) join(other column) {
	c.to = other.to
	for i, o := range other.cells {
		if o > c.cells[i] {
			c.cells[i], c.runs[i] = o, other.runs[i]
		}
	}
}

// numbers labels as many columns as fit.
func numbers(columns []column) []tick {
	list := []tick{}
	longest := widthOf(strconv.Itoa(columns[len(columns)-1].from))
	room := int(560 / (longest + 8)) // 560 pixels are left beside the names of rows
	every := (len(columns) + room - 1) / room
	for i, c := range columns {
		if i%every == 0 {
			list = append(list, tick{float64(i), strconv.Itoa(c.from)})
		}
	}
	return list
}

// cells draws all cells of an outcome as one shape, and their signs by row.
func (s *sheet) cells(columns []column, heads int, x, y func(float64) float64) {
	half := (x(1)-x(0))/2 - 0.5
	for k, sh := range shades {
		var shape strings.Builder
		type signs struct {
			at, text string
			y        float64
		}
		var rows []signs
		for head := range heads {
			row := signs{y: y(-float64(head)) + 4}
			for i, c := range columns {
				if c.cells[head] != k {
					continue
				}
				middle := x(float64(i))
				fmt.Fprintf(&shape, "M%s %sh%sv%dh-%sz", number(middle-half), number(y(-float64(head))-cellHeight/2+0.5), number(2*half),
					cellHeight-1, number(2*half))
				row.at, row.text = row.at+" "+number(middle), row.text+sh.sign
			}
			if row.text != "" {
				rows = append(rows, row)
			}
		}
		if shape.Len() == 0 {
			continue
		}
		s.svg.raw(`<path class="fill `, sh.class, `" d="`, shape.String(), `"/>`)
		for _, row := range rows {
			s.svg.raw(`<text class="`, sh.signClass(), `" y="`, number(row.y), `" x="`, row.at[1:], `">`, row.text, `</text>`)
		}
	}
}

// signClass returns the class of a sign: its colour on a soft ground, else that of the paper.
func (s shade) signClass() string {
	if class, soft := strings.CutSuffix(s.class, " soft"); soft {
		return "mark " + class
	}
	return "on"
}

// maxTooltips limits the cells with a finding on hover.
const maxTooltips = 200

// failures adds the finding of failed cells on hover.
func (s *sheet) failures(r *result.Exploration, columns []column, x, y func(float64) float64) {
	half := (x(1)-x(0))/2 - 0.5
	tooltips := 0
	for i, c := range columns {
		for head, k := range c.cells {
			run := c.runs[head]
			if k < shadeOf(result.Errored) || run < 0 || run >= len(r.Cells) || tooltips >= maxTooltips {
				continue
			}
			tooltips++
			cell := &r.Cells[run]
			why := string(cell.Outcome)
			if len(cell.Findings) > 0 {
				why = sanitize.Line(cell.Findings[0].Message, 120)
			}
			s.svg.rect(x(float64(i))-half, y(-float64(head))-cellHeight/2+0.5, 2*half, cellHeight-1, "over",
				fmt.Sprintf("%s: %s", sanitize.Line(strings.Join(cell.Perturb, " "), 80), why))
		}
	}
}

func matrixText(m result.Matrix, size int) string {
	count := make([]int, len(shades))
	for _, row := range m.Rows {
		for _, o := range row.Cells {
			if o != "" {
				count[shadeOf(o)] += len(row.At)
			}
		}
	}
	var parts []string
	for i, sh := range shades {
		if count[i] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[i], sh.meaning))
		}
	}
	text := strings.Join(parts, ", ") + "."
	if size > 1 {
		text += fmt.Sprintf(" Each column stands for up to %d %ss and shows their worst outcome.", size, m.Point)
	}
	if more := len(m.Heads) - maxHeads; more > 0 {
		text += " " + format.Plural(more, "more row") + " not shown."
	}
	return text
}
