package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Matrix shows the runs of one family: a row for each place of the golden path, a column for
// each kind of perturbation.
type Matrix struct {
	Family Family
	// Point is the kind of the places: "call", "write" or "turn".
	Point string
	// Heads name the perturbations, in the order of the plan.
	Heads []string
	Rows  []MatrixRow
	// Worst is true if a row combines places with different outcomes: each cell then has the
	// worst outcome of its column.
	Worst bool
	// Note describes crashes that repeat in one run, which a row shows at the first one. It
	// is a clause without a full stop; empty if no crash repeats.
	Note string
}

// MatrixRow is one place, or several with the same outcomes.
type MatrixRow struct {
	// At are the numbers of the places, ascending.
	At []int
	// Name is the purpose of the calls; empty for other places.
	Name string
	// Cells has an outcome for each head; empty where nothing was run.
	Cells []Outcome
	// Runs are the indices in Exploration.Cells of the runs whose outcomes are shown, the
	// first of several; -1 where nothing was run.
	Runs []int
}

// Matrices returns a matrix for each family of single perturbations that was explored. Places
// with the same purpose and outcomes share a row. If that leaves more than limit rows, all
// places with the same purpose share a row, or neighbours do.
func (r *Exploration) Matrices(limit int) []Matrix {
	var list []Matrix
	for _, family := range Families() {
		if m := newMatrix(r, family); len(m.Rows) > 0 {
			m.fold(limit)
			list = append(list, m)
		}
	}
	return list
}

// place is a parsed perturbation: "call=7:status,times=3" injects what ("status,times=3") at place n
// (7) of a point ("call").
type place struct {
	point string
	n     int
	what  string
}

// parsePlace parses a perturbation. It accepts any kind: the file may be of a later version.
func parsePlace(perturb string) (place, bool) {
	where, what, _ := strings.Cut(perturb, ":")
	point, number, _ := strings.Cut(where, "=")
	n, err := strconv.Atoi(number)
	known := point == "call" || point == "tool" || point == "write" || point == "turn"
	return place{point, n, what}, known && err == nil && n > 0 && what != ""
}

// head returns the column of a perturbation: a status without its prefix, and a crash without
// its distance of repetition, which depends on the place.
func (p place) head() string {
	what, _, _ := strings.Cut(p.what, ",every=")
	return strings.TrimPrefix(what, "status,")
}

// every returns the distance at which the perturbation repeats; 0 if it does not.
func (p place) every() int {
	_, text, _ := strings.Cut(p.what, ",every=")
	n, _ := strconv.Atoi(text)
	return max(n, 0)
}

// repetitions counts the runs whose crash repeats.
type repetitions struct{ runs, fired, least, most int }

func (s *repetitions) add(c *Cell, every int) {
	if every == 0 {
		return
	}
	if s.runs == 0 {
		s.least = every
	}
	s.runs++
	s.fired += c.Fired
	s.least, s.most = min(s.least, every), max(s.most, every)
}

// note describes the repetitions on a path with that many writes.
func (s *repetitions) note(writes int) string {
	if s.runs == 0 {
		return ""
	}
	distance := strconv.Itoa(s.least)
	if s.least < s.most {
		distance += " to " + strconv.Itoa(s.most)
	}
	return fmt.Sprintf("perturbations repeat every %s writes from the write shown: %s fired %s on a path of %s",
		distance, format.Plural(s.runs, "run"), format.Plural(s.fired, "time"), format.Plural(writes, "write"))
}

// newMatrix returns the matrix of a family with a row for each place. Of two runs in one cell
// it shows the worse one.
func newMatrix(r *Exploration, family Family) Matrix {
	m := Matrix{Family: family}
	columns, rows := map[string]int{}, map[int]int{}
	var repeated repetitions
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Family != family || len(c.Perturb) != 1 {
			continue
		}
		at, ok := parsePlace(c.Perturb[0])
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
			m.Rows = append(m.Rows, MatrixRow{At: []int{at.n}})
		}
		m.Rows[row].widen(column + 1)
		m.Rows[row].show(column, c.Outcome, i)
		repeated.add(c, at.every())
	}
	m.Note = repeated.note(r.Golden.Writes)
	for i := range m.Rows {
		m.Rows[i].widen(len(m.Heads))
	}
	slices.SortStableFunc(m.Rows, func(a, b MatrixRow) int { return cmp.Compare(a.At[0], b.At[0]) })
	if m.Point == "call" {
		m.nameRows(r.Calls)
	}
	return m
}

// widen extends the row to at least that many columns.
func (r *MatrixRow) widen(columns int) {
	for len(r.Cells) < columns {
		r.Cells, r.Runs = append(r.Cells, ""), append(r.Runs, -1)
	}
}

// show puts the outcome of a run into a column, unless the column has a worse one.
func (r *MatrixRow) show(column int, o Outcome, run int) {
	if severityOf(o) > severityOf(r.Cells[column]) {
		r.Cells[column], r.Runs[column] = o, run
	}
}

// nameRows names the rows by the purposes of the calls.
func (m *Matrix) nameRows(calls []Call) {
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
	m.Rows = joinRows(all, func(_ int, r MatrixRow) string { return fmt.Sprintf("%q%q", r.Name, r.Cells) })
	if len(m.Rows) <= limit {
		return
	}
	m.Worst = true
	m.Rows = joinRows(all, func(_ int, r MatrixRow) string { return r.Name })
	if len(m.Rows) == 1 || len(m.Rows) > limit { // too few different names, or too many
		m.Rows = joinRows(all, func(i int, _ MatrixRow) string { return strconv.Itoa(i * limit / len(all)) })
	}
}

// joinRows combines the rows with the same key, at the position of the first.
func joinRows(rows []MatrixRow, key func(i int, r MatrixRow) string) []MatrixRow {
	places := map[string]int{}
	var joined []MatrixRow
	for i, row := range rows {
		k := key(i, row)
		at, known := places[k]
		if !known {
			places[k] = len(joined)
			joined = append(joined, MatrixRow{slices.Clone(row.At), row.Name, slices.Clone(row.Cells), slices.Clone(row.Runs)})
			continue
		}
		joined[at].add(row)
	}
	return joined
}

// add adds the places and outcomes of another row.
func (r *MatrixRow) add(other MatrixRow) {
	r.At = append(r.At, other.At...)
	if r.Name != other.Name {
		r.Name = ""
	}
	for i, o := range other.Cells {
		r.show(i, o, other.Runs[i])
	}
}

// bySeverity orders outcomes: where only one can be shown, a later one hides an earlier one.
var bySeverity = []Outcome{
	"", Survived, Unfired, Degraded, Errored, Failed,
}

// severityOf returns the position of an outcome in bySeverity; an unknown one is an error.
func severityOf(o Outcome) int {
	if i := slices.Index(bySeverity, o); i >= 0 {
		return i
	}
	return slices.Index(bySeverity, Errored)
}

// Ranges returns the numbers of the places, such as "1-3,7".
func (r MatrixRow) Ranges() string {
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
