package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ending closes each block of figures.
const ending = "<!-- end of figures -->"

// opening begins a block: "measured", or "simulated" with the columns of its table.
var opening = regexp.MustCompile(`^<!-- figures: (measured|simulated)((?: \S+)*); make (?:figures|simulations) -->$`)

// A block is a generated table of a page. Its header, and of its rows what the reader names, are written by hand.
type block struct {
	columns []column // of a simulated block; empty in a measured one
	rows    []row
	// first and last are the lines of the marks, counted from 0.
	first, last int
	header      []string
}

// A column shows a metric of the benchmark that its pattern gives when "*" is replaced by the key of a row.
type column struct{ pkg, pattern, unit string }

// A row of a measured block has a figure and perhaps its floor; one of a simulated block has a figure for each column.
type row struct {
	line    int
	cells   []string // as they are in the page
	figures []metric
	floor   *metric
}

// A metric is one unit of a benchmark. The folder of the package is relative to the module.
type metric struct{ pkg, bench, unit string }

// Cells of a measured row.
const (
	cellWhat = iota
	cellBench
	cellFloor
	cellFigure
	cellRatio
	cellTarget
	cellsMeasured
)

// parsePage returns the blocks of a page. Errors name the line.
func parsePage(name, text string) (lines []string, blocks []block, err error) {
	lines = strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "<!-- figures: ") {
			continue
		}
		length := slices.Index(lines[i:], ending)
		if length < 0 {
			return nil, nil, fmt.Errorf("%s:%d: the block has no end, %s", name, i+1, ending)
		}
		b, err := parseBlock(lines, i, i+length)
		if err != nil {
			return nil, nil, fmt.Errorf("%s:%w", name, err)
		}
		blocks = append(blocks, b)
		i += length
	}
	return lines, blocks, nil
}

func parseBlock(lines []string, first, last int) (block, error) {
	b := block{first: first, last: last}
	mark := opening.FindStringSubmatch(lines[first])
	if mark == nil {
		return b, fmt.Errorf("%d: a block begins with <!-- figures: measured; make figures -->, or simulated with columns", first+1)
	}
	for _, text := range strings.Fields(mark[2]) {
		c, err := parseColumn(text)
		if err != nil {
			return b, fmt.Errorf("%d: %w", first+1, err)
		}
		b.columns = append(b.columns, c)
	}
	if (mark[1] == "simulated") != (len(b.columns) > 0) {
		return b, fmt.Errorf("%d: a simulated block names columns, a measured one none", first+1)
	}
	for i := first + 1; i < last; i++ {
		switch {
		case !strings.HasPrefix(lines[i], "|"):
		case len(b.header) < 2:
			b.header = append(b.header, lines[i])
		default:
			r, err := b.parseRow(lines[i])
			if err != nil {
				return b, fmt.Errorf("%d: %w", i+1, err)
			}
			r.line = i
			b.rows = append(b.rows, r)
		}
	}
	if len(b.rows) == 0 {
		return b, fmt.Errorf("%d: the block has no table with rows", first+1)
	}
	return b, nil
}

// parseColumn reads "harness/compare:Simulation/*:power", whose unit may be missing.
func parseColumn(text string) (column, error) {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 || strings.Count(parts[1], "*") != 1 {
		return column{}, fmt.Errorf("column %q is not PACKAGE:BENCHMARK/*, or that with :UNIT", text)
	}
	c := column{pkg: parts[0], pattern: parts[1]}
	if len(parts) == 3 {
		c.unit = parts[2]
	}
	return c, nil
}

func (b *block) parseRow(line string) (row, error) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	r := row{cells: cells}
	want := cellsMeasured
	if len(b.columns) > 0 {
		want = 2 + len(b.columns)
	}
	if len(cells) != want {
		return r, fmt.Errorf("the row has %d cells instead of %d", len(cells), want)
	}
	code, ok := strings.CutPrefix(cells[cellBench], "`")
	code, closed := strings.CutSuffix(code, "`")
	if !ok || !closed {
		return r, fmt.Errorf("the second cell must name the benchmark between backticks, not %q", cells[cellBench])
	}
	if len(b.columns) == 0 {
		return r, r.parseMeasured(code)
	}
	key, unit, _ := strings.Cut(code, " ")
	for _, c := range b.columns {
		m := metric{c.pkg, strings.Replace(c.pattern, "*", key, 1), c.unit}
		if unit != "" {
			m.unit = unit
		}
		if m.unit == "" {
			return r, fmt.Errorf("neither the row nor the column %s names a unit", c.pattern)
		}
		r.figures = append(r.figures, m)
	}
	return r, nil
}

// parseMeasured reads "PACKAGE BENCHMARK [UNIT] [over [BENCHMARK] [UNIT]]". The unit is sec/op unless it is given, and
// the floor has the benchmark and unit of the figure unless it names others. A benchmark begins with a capital letter.
func (r *row) parseMeasured(code string) error {
	own, floor, hasFloor := strings.Cut(code, " over ")
	words := strings.Fields(own)
	if len(words) < 2 || len(words) > 3 {
		return fmt.Errorf("%q is not PACKAGE BENCHMARK [UNIT] [over [BENCHMARK] [UNIT]]", code)
	}
	m := metric{words[0], words[1], "sec/op"}
	if len(words) == 3 {
		m.unit = words[2]
	}
	r.figures = []metric{m}
	if !hasFloor {
		return nil
	}
	for _, word := range strings.Fields(floor) {
		if word[0] >= 'A' && word[0] <= 'Z' {
			m.bench = word
		} else {
			m.unit = word
		}
	}
	r.floor = &m
	return nil
}

// metrics returns what a row shows, its floor included.
func (r *row) metrics() []metric {
	if r.floor == nil {
		return r.figures
	}
	return append(slices.Clone(r.figures), *r.floor)
}
