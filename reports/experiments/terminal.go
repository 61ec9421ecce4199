package experiments

import (
	"fmt"
	"io"
	"slices"
	"strings"

	wrap "github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// maxShown is how many items of a kind a terminal gets; the other formats have more.
const maxShown = 40

var colors = map[tone]tty.Color{good: tty.Green, bad: tty.Red, same: tty.Bold, unclear: tty.Yellow}

// Terminal writes the result for a person, at most t.Columns() wide. Control characters
// of foreign text are shown as escapes and never reach the terminal.
func Terminal(w io.Writer, r result.Result, t tty.Terminal) error {
	v := view{t: t, r: &r}
	v.variants()
	for _, group := range byMeasure(&r) {
		v.group(group)
	}
	v.pareto()
	v.tune()
	for _, f := range facts(&r) {
		v.fact(f)
	}
	v.list("warnings", tty.Yellow, r.Warnings)
	tone, said := headline(&r)
	v.line("")
	v.line(v.t.Paint(colors[tone], v.wrapped(0, name(r.Name)+": "+said)))
	if _, err := io.WriteString(w, strings.TrimPrefix(v.String(), "\n")); err != nil {
		return fmt.Errorf("write the result of the experiment: %w", err)
	}
	return nil
}

// view is what is being drawn.
type view struct {
	strings.Builder
	t tty.Terminal
	r *result.Result
}

func (v *view) line(text string) { v.WriteString(text + "\n") }

// wrapped is text, indented, in lines that fit.
func (v *view) wrapped(indent int, s string) string {
	var b strings.Builder
	for line := range strings.Lines(wrap.WrapSoft(sanitize.Line(s, 0), v.t.Columns()-indent)) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(line, " \n"))
	}
	return b.String()
}

// fact writes a name and its value.
func (v *view) fact(f fact) {
	v.line(strings.Replace(v.wrapped(0, f.Name+": "+f.Value), f.Name, v.t.Paint(tty.Faint, f.Name), 1))
}

// title begins a section.
func (v *view) title(text string) { v.line("\n" + v.t.Paint(tty.Bold, v.wrapped(0, text))) }

func (v *view) list(title string, color tty.Color, texts []string) {
	if len(texts) == 0 {
		return
	}
	v.line("\n" + v.t.Paint(color, title))
	for _, s := range texts[:min(len(texts), maxShown)] {
		v.line(v.wrapped(2, text(s)))
	}
	v.more(len(texts))
}

func (v *view) more(n int) {
	if n > maxShown {
		v.line(fmt.Sprintf("  and %d more", n-maxShown))
	}
}

// variants is a table: the measures that find room, the first of them with its interval.
func (v *view) variants() {
	if len(v.r.Variants) == 0 {
		return
	}
	measures := shown(v.r)
	columns := [][]string{{"variant"}, {"trials"}}
	for i, m := range measures {
		columns = append(columns, []string{head(m)})
		if i == 0 {
			columns = append(columns, []string{"interval"})
		}
	}
	for _, x := range v.r.Variants[:min(len(v.r.Variants), maxShown)] {
		columns[0] = append(columns[0], name(x.Name))
		columns[1] = append(columns[1], fmt.Sprint(x.Trials.Pass+x.Trials.Fail+x.Trials.Error))
		at := 2
		for i, m := range measures {
			u, value := unitsOf(v.r, m), find(x.Measures, m)
			columns[at] = append(columns[at], strings.TrimSuffix(u.value(value), " "+u.unit))
			at++
			if i == 0 {
				columns[at] = append(columns[at], u.interval(value, u.amount))
				at++
			}
		}
	}
	v.table(columns)
	v.more(len(v.r.Variants))
}

const gap = 2

// table draws columns, of which those that find no room are left out; the first takes
// what the others leave over.
func (v *view) table(columns [][]string) {
	const least = 12 // of the first
	left := v.t.Columns() - least
	kept := [][]string{columns[0]}
	for _, c := range columns[1:] {
		if width := widest(c) + gap; width <= left {
			left -= width
			kept = append(kept, c)
		}
	}
	var right []int
	for i := range kept[1:] {
		right = append(right, i+2)
	}
	t := tty.Table(gap, right...)
	for row := range columns[0] {
		cells := make([]string, len(kept))
		for i, c := range kept {
			cells[i] = c[row]
		}
		cells[0] = tty.Middle(cells[0], least+left)
		if row == 0 {
			t.AppendHeader(tty.Row(cells))
		} else {
			t.AppendRow(tty.Row(cells))
		}
	}
	v.line(t.Render())
}

func widest(cells []string) int {
	w := 0
	for _, c := range cells {
		w = max(w, tty.Width(c))
	}
	return w
}

// group writes the comparisons by one measure.
func (v *view) group(list []*result.Comparison) {
	title := "by " + name(list[0].Measure)
	if list[0].Role == result.Secondary {
		title += ", which explains and does not decide"
	}
	v.title(title)
	for _, c := range list[:min(len(list), maxShown)] {
		verdict := string(known(c.Verdict))
		line := v.wrapped(2, fmt.Sprintf("%s %s: %s, not %s: %s", signs[known(c.Verdict)], verdict, name(c.Variant), name(c.Against), effect(v.r, c)))
		v.line(strings.Replace(line, verdict, v.t.Paint(colors[toneFor(c.Verdict)], verdict), 1))
		v.line(v.wrapped(4, surely(v.r, c)))
		for _, s := range notes(c) {
			v.line(v.t.Paint(tty.Faint, v.wrapped(4, text(s))))
		}
	}
	v.more(len(list))
}

func (v *view) pareto() {
	if len(v.r.Pareto) < 2 {
		v.line("")
		return
	}
	v.title("cost and quality")
	columns := [][]string{{"variant"}, {"EUR a trial"}, {head(v.r.Pareto[0].Quality.Name)}, {""}}
	for i := range v.r.Pareto[:min(len(v.r.Pareto), maxShown)] {
		p := &v.r.Pareto[i]
		u := unitsOf(v.r, p.Quality.Name)
		columns[0] = append(columns[0], name(p.Variant))
		columns[1] = append(columns[1], strings.TrimSuffix(units{unit: "EUR"}.value(p.Cost), " EUR"))
		columns[2] = append(columns[2], u.value(p.Quality))
		columns[3] = append(columns[3], tty.Middle(front(p), 30))
	}
	v.table(columns)
	v.line("")
}

func (v *view) tune() {
	t := v.r.Tune
	if t == nil {
		return
	}
	v.line(v.t.Paint(tty.Bold, v.wrapped(0, fmt.Sprintf("the search (%s), on %s", sanitize.Line(t.Search, 20), format.Plural(len(t.Training), "training scenario")))))
	u := unitsOf(v.r, v.r.Design.Primary.Name)
	for i := range t.Rounds[:min(len(t.Rounds), maxShown)] {
		round := &t.Rounds[i]
		v.line(v.wrapped(2, text(round.About)))
		for _, c := range round.Candidates[:min(len(round.Candidates), maxShown)] {
			mark := " "
			if slices.Contains(round.Kept, c.Name) {
				mark = "✓"
			}
			v.line(v.wrapped(4, fmt.Sprintf("%s %s: %s %s", mark, name(c.Name), u.value(c.Score), u.interval(c.Score, u.amount))))
		}
		v.more(len(round.Candidates))
	}
	v.line(v.wrapped(2, text(t.Why)))
	v.line(v.wrapped(2, "the search used "+used(t.Used)))
	v.line("")
}
