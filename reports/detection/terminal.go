package detection

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// Terminal writes the scores for a person, at most opts.Terminal.Columns() wide
// but for the texts of errors, which wrap. Control characters of foreign text are
// shown as escapes and never reach the terminal.
func Terminal(w io.Writer, r Report, opts Options) error {
	v := view{t: opts.Terminal, opts: opts}
	for i := range r.Detectors {
		v.detector(r.Detectors[i])
	}
	for _, c := range r.Comparisons {
		v.comparison(c)
	}
	for i := range r.Detectors {
		v.mistakes(r.Detectors[i], len(r.Detectors) > 1)
	}
	for _, p := range r.Problems {
		v.line(v.t.Paint(tty.Red, sanitize.Line(p, maxText)))
	}
	for _, c := range r.Corpora {
		line := fmt.Sprintf("%s: %s", tty.Middle(sanitize.Line(c.Name, maxText), v.t.Columns()-40), format.Plural(c.Items, "item"))
		if c.Bad > 0 {
			line += v.t.Paint(tty.Red, fmt.Sprintf(", %s", format.Plural(c.Bad, "bad line")))
		}
		v.line(line)
	}
	if r.Interrupted {
		v.line(v.t.Paint(tty.Yellow, "interrupted: the rest was not read"))
	}
	if _, err := io.WriteString(w, v.String()); err != nil {
		return fmt.Errorf("write the scores: %w", err)
	}
	return nil
}

// gap is between columns.
const gap = 2

// view is what is being drawn.
type view struct {
	strings.Builder
	t    tty.Terminal
	opts Options
}

func (v *view) line(text string) { v.WriteString(text + "\n") }

// title begins a section.
func (v *view) title(text string) { v.line("\n" + v.t.Paint(tty.Bold, text)) }

// table draws rows under a header; all but the first column are aligned to the right.
func (v *view) table(header []string, rows [][]string) {
	var right []int
	for i := 1; i < len(header); i++ {
		right = append(right, i+1)
	}
	t := tty.Table(gap, right...)
	t.AppendHeader(tty.Row(header))
	for _, row := range rows {
		t.AppendRow(tty.Row(row))
	}
	v.line(t.Render())
}

func (v *view) detector(r score.Result) {
	v.title(fmt.Sprintf("%s on %s, to find %s", sanitize.Line(r.Detector, maxName), judged(r), positive(r)))
	for _, f := range r.Failures[:min(len(r.Failures), maxShown)] {
		v.line("  " + v.t.Paint(tty.Red, sanitize.Line(f.ID, maxName)+": "+sanitize.Line(f.Error, maxText)))
	}
	c := r.Overall.Counts
	v.table([]string{"", "found", "not found"}, [][]string{
		{positive(r), strconv.Itoa(c.TP), strconv.Itoa(c.FN)},
		{"others", strconv.Itoa(c.FP), strconv.Itoa(c.TN)},
	})
	v.line("")
	var rows [][]string
	for _, x := range rates(r.Overall) {
		rows = append(rows, []string{x.name, figure(x.value.Value), between(x.value, figure), fmt.Sprintf("%d %s", x.value.N, x.of), method(x.value)})
	}
	v.table([]string{"", "value", interval, "of", "by"}, rows)
	v.curve(r.Curve)
	for _, d := range dimensions(r) {
		v.groups(d)
	}
	if len(r.Categories) > 0 {
		v.groups(score.Dimension{By: "named category", Groups: r.Categories})
	}
	v.classes(r.Classes)
	v.matches("steps", r.Steps)
	v.matches("spans", r.Spans)
	if r.Latency != nil {
		v.line("\n" + speed(r.Latency))
	}
	if r.Cost != nil {
		v.line(paid(r.Cost))
	}
}

// groups draws a table in which the names take what the figures leave over.
func (v *view) groups(d score.Dimension) {
	groups, left := byWeight(d, 20)
	rows := [][]string{{"by " + d.By, "TP", "FP", "FN", "TN", "precision", "recall", "F1"}}
	for _, g := range groups {
		rows = append(rows, append(append([]string{sanitize.Line(g.Name, maxName)}, counts(g.Counts)...),
			brief(g.Precision), brief(g.Recall), figure(g.F1.Value)))
	}
	fitNames(rows, v.t.Columns())
	v.line("")
	v.table(rows[0], rows[1:])
	if left > 0 {
		v.line(fmt.Sprintf("and %s", format.Plural(left, "smaller group")))
	}
}

// fitNames shortens the first cells so that the rows fit into width columns, but
// never below 8: figures are not cut.
func fitNames(rows [][]string, width int) {
	for column := 1; column < len(rows[0]); column++ {
		widest := 0
		for _, row := range rows {
			widest = max(widest, tty.Width(row[column]))
		}
		width -= widest + gap
	}
	for _, row := range rows {
		row[0] = tty.Middle(row[0], max(8, width))
	}
}

func counts(c score.Counts) []string {
	return []string{strconv.Itoa(c.TP), strconv.Itoa(c.FP), strconv.Itoa(c.FN), strconv.Itoa(c.TN)}
}

func (v *view) classes(c *score.Classes) {
	if c == nil {
		return
	}
	var rows [][]string
	for i, label := range c.Labels {
		row := []string{sanitize.Line(label, maxName)}
		for _, n := range c.Counts[i] {
			row = append(row, strconv.Itoa(n))
		}
		rows = append(rows, row)
	}
	v.line("")
	v.table(append([]string{"label \\ detected"}, c.Labels...), rows)
	v.line(fmt.Sprintf("agreement %s, Cohen's kappa %s", brief(c.Agreement), brief(c.Kappa)))
	if c.Unknown > 0 {
		v.line(v.t.Paint(tty.Yellow, fmt.Sprintf("%s of no known class left out", format.Plural(c.Unknown, "answer"))))
	}
}

func (v *view) matches(what string, list []score.Match) {
	if len(list) == 0 {
		return
	}
	var rows [][]string
	for _, m := range list {
		for _, f := range both(m) {
			rows = append(rows, []string{
				m.Scope + " " + f.by, strconv.Itoa(f.TP), strconv.Itoa(f.FP), strconv.Itoa(f.FN),
				brief(f.Precision), brief(f.Recall), figure(f.F1.Value),
			})
		}
	}
	v.line("")
	v.table([]string{what, "TP", "FP", "FN", "precision", "recall", "F1"}, rows)
}

func (v *view) comparison(c score.Comparison) {
	v.title(fmt.Sprintf("B %s against A %s on %s", sanitize.Line(c.B, maxName), sanitize.Line(c.A, maxName), format.Plural(c.N, "item")))
	v.table([]string{"", "B right", "B wrong"}, [][]string{
		{"A right", strconv.Itoa(c.Both), strconv.Itoa(c.OnlyA)},
		{"A wrong", strconv.Itoa(c.OnlyB), strconv.Itoa(c.Neither)},
	})
	v.line("exact McNemar test: p " + equals(chance(c.P)))
	v.line("")
	var rows [][]string
	for _, d := range differences(c) {
		rows = append(rows, []string{d.name, signed(d.value.Value), between(d.value, signed), method(d.value)})
	}
	v.table([]string{"B - A", "value", interval, "by"}, rows)
}

func (v *view) mistakes(r score.Result, several bool) {
	for _, k := range mistakes(r) {
		list := v.opts.listed(k.list)
		if len(list) == 0 {
			continue
		}
		title := k.heading(len(list))
		if several {
			title = sanitize.Line(r.Detector, maxName) + ": " + title
		}
		v.title(title)
		for _, m := range list {
			v.line(fmt.Sprintf("%s  %s", sanitize.Line(m.ID, maxName), v.t.Paint(tty.Faint, verdicts(m))))
			for _, d := range details(m) {
				for _, text := range d.texts {
					v.line(fmt.Sprintf("  %s: %s", v.t.Paint(tty.Faint, d.name), sanitize.Line(text, maxText)))
				}
			}
		}
	}
}
