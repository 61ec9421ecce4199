package explored

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// symbol is an outcome in one cell, told apart without colours.
type symbol struct {
	outcome survival.Outcome
	mark    string
	means   string
	color   tty.Color
}

// symbols are in the order in which outcomes are counted.
var symbols = []symbol{
	{survival.Survived, ".", "survived", tty.Green},
	{survival.Degraded, "~", "degraded", tty.Yellow},
	{survival.Failed, "X", "failed", tty.Red},
	{survival.Unfired, "-", "could not happen", tty.Faint},
	{survival.Errored, "?", "no verdict", tty.Red},
}

func symbolOf(o survival.Outcome) symbol {
	for _, s := range symbols {
		if s.outcome == o {
			return s
		}
	}
	if o == "" {
		return symbol{mark: " "}
	}
	return symbols[len(symbols)-1]
}

// maxRows is how many rows of a matrix a terminal shows.
const maxRows = 24

// heads name columns; those that need more get another band of the matrix.
const heads = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Terminal writes the matrices, the counts and each failure once. No line but one
// with a command is wider than t.Columns(). Control characters of foreign text are
// shown as escapes and never reach the terminal.
func Terminal(w io.Writer, r *survival.Result, t tty.Terminal) error {
	v := view{t: t, r: r}
	v.title()
	matrices := Matrices(r, maxRows)
	for i := range matrices {
		v.matrix(&matrices[i])
	}
	if len(matrices) > 0 {
		v.symbols()
	}
	v.counts()
	v.failures()
	v.reasons("no verdict", survival.Errored)
	v.reasons("could not happen", survival.Unfired)
	if len(r.Left) > 0 {
		v.line("\n" + t.Paint(tty.Bold, "left out"))
	}
	for _, left := range r.Left {
		v.block(2, 4, sanitize.Line(left, maxMessage))
	}
	v.verdict()
	if _, err := io.WriteString(w, v.String()); err != nil {
		return fmt.Errorf("write the exploration: %w", err)
	}
	return nil
}

// view is what is being drawn.
type view struct {
	strings.Builder
	t tty.Terminal
	r *survival.Result
}

func (v *view) line(text string) { v.WriteString(strings.TrimRight(text, " ") + "\n") }

// block writes text of any length: its first line is indented by first columns, the
// others by rest.
func (v *view) block(first, rest int, s string) {
	indent := first
	for line := range strings.SplitSeq(text.WrapSoft(s, v.t.Columns()-rest), "\n") {
		v.line(strings.Repeat(" ", indent) + strings.TrimSpace(line))
		indent = rest
	}
}

func (v *view) title() {
	golden := v.r.Golden
	v.block(0, 2, fmt.Sprintf("%s: golden path %s, %s", sanitize.Line(v.r.Scenario, maxName),
		sanitize.Line(golden.Status, maxName), extent(v.r)))
}

// extent is how long the golden path is.
func extent(r *survival.Result) string {
	text := format.Plural(r.Golden.Calls.Total, "call")
	if r.Golden.Writes > 0 {
		text += ", " + format.Plural(r.Golden.Writes, "durable write")
	}
	return text
}

// matrix draws one family, in as many bands as its columns need.
func (v *view) matrix(m *Matrix) {
	v.line("")
	v.block(0, 2, v.t.Paint(tty.Bold, string(m.Family))+": "+headline(m))
	label := 0
	for _, row := range m.Rows {
		label = max(label, tty.Width(rowLabel(m, row)))
	}
	const gap = 2
	width := 2 // of a column
	if len(m.Heads)*width > v.t.Columns()*2/3 {
		width = 1
	}
	label = min(label, max(v.t.Columns()/3, v.t.Columns()-gap-len(m.Heads)*width))
	room := v.t.Columns() - label - gap
	for from := 0; from < len(m.Heads); {
		to := min(from+min((room+width-1)/width, len(heads)), len(m.Heads))
		v.band(m, from, to, label, width)
		from = to
	}
}

// headline says what the rows and columns of a matrix are.
func headline(m *Matrix) string {
	text := fmt.Sprintf("each %s × what happens there", m.Point)
	if m.Worst {
		text += "; each row shows the worst of several"
	}
	if m.Note != "" {
		text += "; " + m.Note
	}
	return text
}

// band draws the columns from from to before to, under letters that are explained
// below.
func (v *view) band(m *Matrix, from, to, label, width int) {
	cells := func(mark func(i int) string) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			if i > from && width > 1 {
				b.WriteString(" ")
			}
			b.WriteString(mark(i))
		}
		return b.String()
	}
	v.line(strings.Repeat(" ", label+2) + cells(func(i int) string { return heads[i-from : i-from+1] }))
	for _, row := range m.Rows {
		name := tty.Middle(rowLabel(m, row), label)
		v.line(name + strings.Repeat(" ", label+2-tty.Width(name)) + cells(func(i int) string {
			s := symbolOf(row.Cells[i])
			return v.t.Paint(s.color, s.mark)
		}))
	}
	var legend []string
	for i := from; i < to; i++ {
		legend = append(legend, heads[i-from:i-from+1]+" "+sanitize.Line(m.Heads[i], maxName))
	}
	v.list(2, legend)
}

// rowLabel names the places of a row: "call 2-9,11 question ×9".
func rowLabel(m *Matrix, row Row) string {
	text := m.Point + " " + row.Ranges()
	if row.Name != "" {
		text = sanitize.Line(row.Name, maxName) + " " + row.Ranges()
	}
	if len(row.At) > 1 {
		text += fmt.Sprintf(" (%d)", len(row.At))
	}
	return text
}

// list writes items two blanks apart, and none of them over two lines.
func (v *view) list(indent int, items []string) {
	line := ""
	for _, item := range items {
		if line != "" && indent+tty.Width(line)+2+tty.Width(item) > v.t.Columns() {
			v.line(strings.Repeat(" ", indent) + line)
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += tty.Middle(item, v.t.Columns()-indent)
	}
	v.line(strings.Repeat(" ", indent) + line)
}

// symbols explains the marks.
func (v *view) symbols() {
	var legend []string
	for _, s := range symbols {
		legend = append(legend, v.t.Paint(s.color, s.mark)+" "+s.means)
	}
	v.line("")
	v.list(0, append(legend, "(blank) not run"))
}

// counts draws a row for each family.
func (v *view) counts() {
	header := []string{"family", "runs"}
	for _, s := range symbols {
		header = append(header, s.means)
	}
	out := tty.Table(2, 2, 3, 4, 5, 6, 7)
	out.AppendHeader(tty.Row(header))
	rows := Counts(v.r)
	for _, row := range rows {
		out.AppendRow(tty.Row(row.cells()))
	}
	v.line("\n" + out.Render())
	if v.r.Covered != "" {
		v.block(0, 2, sanitize.Line(v.r.Covered, maxMessage))
	}
}

// failures writes each failure once.
func (v *view) failures() {
	for i, f := range Failures(v.r) {
		v.line("")
		v.block(0, 2, fmt.Sprintf("%s %s", v.t.Paint(tty.Red, fmt.Sprintf("failure %d:", i+1)), sanitize.Line(f.Finding.Message, maxMessage)))
		if f.Finding.Evidence != "" {
			v.block(2, 4, "saw "+sanitize.Line(f.Finding.Evidence, maxMessage))
		}
		v.block(2, 4, fmt.Sprintf("broken by %s: %s", format.Plural(f.Runs, "run"), tallies(f.By)))
		v.block(2, 4, "smallest: "+sanitize.Line(strings.Join(f.Smallest, " and "), maxMessage))
		if f.Command != "" {
			v.line("  again: " + sanitize.Line(f.Command, 0))
		}
	}
}

// tallies is "reset-mid-stream (12), empty-text (1)".
func tallies(list []Tally) string {
	const most = 8
	var parts []string
	for i, t := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more kinds", len(list)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", sanitize.Line(t.What, maxName), t.Runs))
	}
	return strings.Join(parts, ", ")
}

// reasons says why runs had an outcome that shows nothing.
func (v *view) reasons(title string, o survival.Outcome) {
	const most = 10
	list := Reasons(v.r, o)
	if len(list) > 0 {
		v.line("\n" + v.t.Paint(tty.Bold, title))
	}
	for i, reason := range list {
		if i == most {
			v.line(fmt.Sprintf("  and %s; the JSON has all", format.Plural(len(list)-most, "more reason")))
			break
		}
		v.block(2, 4, fmt.Sprintf("%s: %s", format.Plural(reason.Runs, "run"), sanitize.Line(reason.What, maxMessage)))
	}
}

func (v *view) verdict() {
	color := tty.Red
	if Verdict(v.r) == gate.Pass {
		color = tty.Green
	}
	v.line("")
	v.block(0, 2, v.t.Paint(color, verdictWord(v.r))+": "+summary(v.r))
}

// verdictWord is the verdict; of a part of the plan it is no pass.
func verdictWord(r *survival.Result) string {
	verdict := Verdict(r)
	if r.NotRun > 0 && verdict == gate.Pass {
		return "no failure so far"
	}
	return string(verdict)
}

// summary is one sentence on the whole.
func summary(r *survival.Result) string {
	n := r.Count()
	text := fmt.Sprintf("%s perturbed: %d survived, %d degraded, %d failed", format.Plural(len(r.Cells), "run"),
		n[survival.Survived], n[survival.Degraded], n[survival.Failed])
	if k := n[survival.Unfired]; k > 0 {
		text += fmt.Sprintf(", %d could not happen", k)
	}
	if k := len(r.Cells) - n[survival.Survived] - n[survival.Degraded] - n[survival.Failed] - n[survival.Unfired]; k > 0 {
		text += fmt.Sprintf(", %d without a verdict", k)
	}
	if n[survival.Survived]+n[survival.Degraded]+n[survival.Failed] == 0 {
		text += "; nothing took effect, so nothing is shown"
	}
	if r.NotRun > 0 {
		text += fmt.Sprintf("; %d planned and not run", r.NotRun)
	}
	if r.Stopped != "" {
		text += " (" + sanitize.Line(r.Stopped, maxName) + ")"
	}
	return text
}
