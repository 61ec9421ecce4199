package explored

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Matrix is what became of the runs of one family: a row for each place at which the
// path was left, a column for each thing that happened there.
type Matrix struct {
	Family result.Family
	// Point is what places are counted in: "call", "write" or "turn".
	Point string
	// Heads say what happened, in the order of the plan.
	Heads []string
	Rows  []Row
	// Worst is true where there were so many places that a row shows, of several that
	// fared differently, the worst outcome of each column.
	Worst bool
	// Note says what else the runs did than the rows show, where several crashes share
	// one: a clause without a full stop. It is empty where a run does what its row says.
	Note string
}

// Row is one place, or several that fared alike.
type Row struct {
	// At are the numbers of the places, ascending.
	At []int
	// Name says what calls they are; empty for other places.
	Name string
	// Cells has an outcome for each head; empty where nothing was run.
	Cells []result.Outcome
	// Runs are the indices in Result.Cells of the runs whose outcomes are shown, of
	// several the first that came out so; -1 where nothing was run.
	Runs []int
}

// Matrices returns a matrix for each family of single perturbations that was
// explored. Places of one purpose that fared alike share a row; where these are more
// than limit rows, all of one purpose do, and then neighbours.
func Matrices(r *result.Exploration, limit int) []Matrix {
	var list []Matrix
	for _, family := range result.Families() {
		if m := matrix(r, family); len(m.Rows) > 0 {
			m.fold(limit)
			list = append(list, m)
		}
	}
	return list
}

// place is the text form of a perturbation, taken apart: "call=7:status,times=3" is
// what happens ("status,times=3") at place 7 of its point ("call").
type place struct {
	point string
	n     int
	what  string
}

// placeOf does not judge what happens: the file may be that of a later version.
func placeOf(perturb string) (place, bool) {
	where, what, _ := strings.Cut(perturb, ":")
	point, number, _ := strings.Cut(where, "=")
	n, err := strconv.Atoi(number)
	known := point == "call" || point == "write" || point == "turn"
	return place{point, n, what}, known && err == nil && n > 0 && what != ""
}

// head is what happened, as the head of a column: a status stands for itself, and how
// often a crash is repeated depends on where it begins, so that it would make a column
// for each.
func (p place) head() string {
	what, _, _ := strings.Cut(p.what, ",every=")
	return strings.TrimPrefix(what, "status,")
}

// every is how many places after the first one it happens again; 0 if it does not.
func (p place) every() int {
	_, text, _ := strings.Cut(p.what, ",every=")
	n, _ := strconv.Atoi(text)
	return max(n, 0)
}

// sharing counts the runs in which several strikes share one.
type sharing struct{ runs, struck, least, most int }

func (s *sharing) add(c *result.Cell, every int) {
	if every == 0 {
		return
	}
	if s.runs == 0 {
		s.least = every
	}
	s.runs++
	s.struck += c.Fired
	s.least, s.most = min(s.least, every), max(s.most, every)
}

// note tells of them on a path of so many writes.
func (s *sharing) note(writes int) string {
	if s.runs == 0 {
		return ""
	}
	distance := strconv.Itoa(s.least)
	if s.least < s.most {
		distance += " to " + strconv.Itoa(s.most)
	}
	return fmt.Sprintf("runs strike at the write shown and every %s writes from there on: %s struck %s on a path of %s",
		distance, format.Plural(s.runs, "run"), format.Plural(s.struck, "time"), format.Plural(writes, "write"))
}

// matrix has a row for each place. Of two runs in one cell the worse one is shown.
func matrix(r *result.Exploration, family result.Family) Matrix {
	m := Matrix{Family: family}
	columns, rows := map[string]int{}, map[int]int{}
	var shared sharing
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Family != family || len(c.Perturb) != 1 {
			continue
		}
		at, ok := placeOf(c.Perturb[0])
		if !ok || m.Point != "" && at.point != m.Point {
			continue
		}
		m.Point = at.point
		column, known := columns[at.head()]
		if !known {
			column = len(m.Heads)
			columns[at.head()] = column
			m.Heads = append(m.Heads, at.head())
		}
		row, known := rows[at.n]
		if !known {
			row = len(m.Rows)
			rows[at.n] = row
			m.Rows = append(m.Rows, Row{At: []int{at.n}})
		}
		m.Rows[row].widen(column + 1)
		m.Rows[row].show(column, c.Outcome, i)
		shared.add(c, at.every())
	}
	m.Note = shared.note(r.Golden.Writes)
	for i := range m.Rows {
		m.Rows[i].widen(len(m.Heads))
	}
	slices.SortStableFunc(m.Rows, func(a, b Row) int { return cmp.Compare(a.At[0], b.At[0]) })
	if m.Point == "call" {
		m.name(r.Calls)
	}
	return m
}

// widen gives the row at least that many columns.
func (r *Row) widen(columns int) {
	for len(r.Cells) < columns {
		r.Cells, r.Runs = append(r.Cells, ""), append(r.Runs, -1)
	}
}

// show shows the outcome of a run in a column, unless a worse one is there.
func (r *Row) show(column int, o result.Outcome, run int) {
	if rank(o) > rank(r.Cells[column]) {
		r.Cells[column], r.Runs[column] = o, run
	}
}

// name gives calls their purposes.
func (m *Matrix) name(calls []result.Call) {
	purposes := map[int]string{}
	for _, c := range calls {
		purposes[c.N] = c.Purpose
	}
	for i := range m.Rows {
		m.Rows[i].Name = purposes[m.Rows[i].At[0]]
	}
}

// fold joins rows until there are at most limit.
func (m *Matrix) fold(limit int) {
	all := m.Rows
	m.Rows = join(all, func(_ int, r Row) string { return fmt.Sprintf("%q%q", r.Name, r.Cells) })
	if len(m.Rows) <= limit {
		return
	}
	m.Worst = true
	m.Rows = join(all, func(_ int, r Row) string { return r.Name })
	if len(m.Rows) == 1 || len(m.Rows) > limit { // names tell too little, or too much
		m.Rows = join(all, func(i int, _ Row) string { return strconv.Itoa(i * limit / len(all)) })
	}
}

// join makes one row of those with the same key, in the place of the first.
func join(rows []Row, key func(i int, r Row) string) []Row {
	places := map[string]int{}
	var joined []Row
	for i, row := range rows {
		k := key(i, row)
		at, known := places[k]
		if !known {
			places[k] = len(joined)
			joined = append(joined, Row{slices.Clone(row.At), row.Name, slices.Clone(row.Cells), slices.Clone(row.Runs)})
			continue
		}
		joined[at].add(row)
	}
	return joined
}

// add joins another row to r.
func (r *Row) add(other Row) {
	r.At = append(r.At, other.At...)
	if r.Name != other.Name {
		r.Name = ""
	}
	for i, o := range other.Cells {
		r.show(i, o, other.Runs[i])
	}
}

// outcomes are in the order in which one hides another where only one can be shown.
var outcomes = []result.Outcome{
	"", result.Survived, result.Unfired, result.Degraded, result.Errored, result.Failed,
}

// rank is how little an outcome may be hidden; one that is not known is an error.
func rank(o result.Outcome) int {
	if i := slices.Index(outcomes, o); i >= 0 {
		return i
	}
	return slices.Index(outcomes, result.Errored)
}

// Ranges writes ascending numbers briefly: "1-3,7".
func (r Row) Ranges() string {
	var parts []string
	for i := 0; i < len(r.At); {
		j := i
		for j+1 < len(r.At) && r.At[j+1] == r.At[j]+1 {
			j++
		}
		part := strconv.Itoa(r.At[i])
		if j > i {
			part += "-" + strconv.Itoa(r.At[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
