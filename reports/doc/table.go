package doc

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/console"
)

// leastWidth is the least width of a shortened column.
const leastWidth = 8

// maxHead limits the width of the head of a column of figures.
const maxHead = 24

// table draws the columns that fit.
func (v *terminal) table(t Table) {
	if t.Caption != "" {
		v.wrap(0, 2, t.Caption)
	}
	n, note := shown(len(t.Rows), t.Max, t.Noun)
	columns, widths, gap := v.fit(t, t.Rows[:n])
	var right []int
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = v.head(t.Columns[c].Head, widths[c])
		if t.Columns[c].Right {
			right = append(right, i+1)
		}
	}
	out := console.Table(gap, right...)
	out.AppendHeader(console.Row(header))
	for _, row := range t.Rows[:n] {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i] = v.cell(row[c], widths[c])
		}
		out.AppendRow(console.Row(cells))
	}
	v.line(out.Render())
	v.note(note)
}

// head returns a painted head; one that is too wide loses its middle and its colours.
func (v *terminal) head(t Text, width int) string {
	if plain := t.String(); console.Width(plain) > width {
		return console.Middle(plain, width)
	}
	return v.paint(t, Plain)
}

// cell returns a painted cell; one that is too wide continues in the next line.
func (v *terminal) cell(t Text, width int) string {
	painted := v.paint(t, Plain)
	if console.Width(t.String()) > width {
		painted = strings.Join(console.Fold(painted, width, true), "\n")
	}
	return painted
}

// fit chooses the shown columns, their widths, and the gap between them. In a file no cell is
// cut, so names can be searched for and copied.
func (v *terminal) fit(t Table, rows [][]Text) (columns, widths []int, gap int) {
	const wide, narrow = 2, 1
	over := -v.t.Columns()
	for i, c := range t.Columns {
		width := console.Width(c.Head.String())
		if v.t.Width > 0 && !c.Shorten {
			width = min(width, maxHead)
		}
		for _, row := range rows {
			width = max(width, console.Width(row[i].String()))
		}
		columns, widths = append(columns, i), append(widths, width)
		over += width
	}
	for _, spare := range []bool{true, false} {
		for i := len(columns) - 1; i > 0 && over+wide*(len(columns)-1) > 0; i-- {
			if c := t.Columns[columns[i]]; c.Optional && c.Spare == spare {
				over -= widths[columns[i]]
				columns = slices.Delete(columns, i, i+1)
			}
		}
	}
	gap = wide
	if over+wide*(len(columns)-1) > 0 {
		gap = narrow
	}
	if v.t.Width == 0 {
		return columns, widths, gap
	}
	over += gap * (len(columns) - 1)
	if over = v.shorten(t, columns, widths, over); over <= 0 {
		return columns, widths, gap
	}
	for i := len(columns) - 1; i > 0 && over > 0; i-- {
		if t.Columns[columns[i]].Spare {
			over -= widths[columns[i]] + gap
			columns = append(columns[:i], columns[i+1:]...)
		}
	}
	return columns, widths, gap
}

// shorten takes columns from the widest names, and returns how many are still too many.
func (v *terminal) shorten(t Table, columns, widths []int, over int) int {
	for ; over > 0; over-- {
		widest := -1
		for _, c := range columns {
			if t.Columns[c].Shorten && widths[c] > leastWidth && (widest < 0 || widths[c] > widths[widest]) {
				widest = c
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return over
}
