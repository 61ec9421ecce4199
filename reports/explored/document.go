package explored

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Marker is the hidden first line of the Markdown, by which a later run finds its own
// comment on a pull request and replaces it.
const Marker = "<!-- rehearse:explore -->"

// symbol is an outcome in one cell, told apart without colours.
type symbol struct {
	outcome result.Outcome
	mark    string
	means   string
	tone    doc.Tone
}

// symbols are in the order in which outcomes are counted.
var symbols = []symbol{
	{result.Survived, ".", "survived", doc.Good},
	{result.Degraded, "~", "degraded", doc.Info},
	{result.Failed, "X", "failed", doc.Bad},
	{result.Unfired, "-", "could not happen", doc.Faint},
	{result.Errored, "?", "no verdict", doc.Broken},
}

// symbolOf takes an outcome that is not known for an error; the empty one is a cell in
// which nothing was run.
func symbolOf(o result.Outcome) symbol {
	for _, s := range symbols {
		if s.outcome == o {
			return s
		}
	}
	if o == "" {
		return symbol{}
	}
	return symbols[len(symbols)-1]
}

// maxRows is how many rows of a matrix are shown, and maxReasons how many reasons.
const (
	maxRows    = 24
	maxReasons = 10
)

// Document returns what the exploration found: the failures lead. place returns where in
// an HTML page the run with one of the given perturbations is; it may be nil.
func Document(r *result.Exploration, place func(perturb ...[]string) string) doc.Document {
	if place == nil {
		place = func(...[]string) string { return "" }
	}
	d := doc.Document{
		Marker: Marker, Kind: "Exploration", Name: doc.Line(doc.Quote(r.Scenario)), Verdict: verdictWord(r), Tone: doc.Broken,
		Summary: summary(r), Body: []doc.Block{counts(r)},
	}
	switch Verdict(r) {
	case gate.Pass:
		d.Tone = doc.Good
	case gate.Fail:
		d.Tone = doc.Bad
	}
	if r.Covered != "" {
		d.Body = append(d.Body, doc.Paragraph(doc.Line(doc.Quote(r.Covered))))
	}
	if matrices := Matrices(r, maxRows); len(matrices) > 0 {
		blocks := []doc.Block{doc.Paragraph(legend())}
		for i := range matrices {
			blocks = append(blocks, matrixBlock(r, &matrices[i], place))
		}
		d.Body = append(d.Body, doc.Section{Title: doc.Line("Survival"), Blocks: blocks})
	}
	add := func(blocks *[]doc.Block, title string, tone doc.Tone, list doc.List) {
		if len(list.Items) > 0 {
			*blocks = append(*blocks, doc.Section{Title: doc.Line(title), Tone: tone, Blocks: []doc.Block{list}})
		}
	}
	var left doc.List
	for _, l := range r.Left {
		left.Items = append(left.Items, doc.Item{Text: doc.Line(doc.Quote(l))})
	}
	add(&d.Body, "Left out", doc.Plain, left)
	add(&d.Body, "Could not happen", doc.Plain, reasons(r, result.Unfired))
	add(&d.Body, "No verdict", doc.Broken, reasons(r, result.Errored))
	add(&d.Lead, "Failures", doc.Bad, failures(r, place))
	return d
}

// summary is one sentence on the whole.
func summary(r *result.Exploration) doc.Text {
	n := r.Count()
	text := fmt.Sprintf("%s perturbed: %d survived, %d degraded, %d failed", format.Plural(len(r.Cells), "run"),
		n[result.Survived], n[result.Degraded], n[result.Failed])
	if k := n[result.Unfired]; k > 0 {
		text += fmt.Sprintf(", %d could not happen", k)
	}
	if k := len(r.Cells) - n[result.Survived] - n[result.Degraded] - n[result.Failed] - n[result.Unfired]; k > 0 {
		text += fmt.Sprintf(", %d without a verdict", k)
	}
	if n[result.Survived]+n[result.Degraded]+n[result.Failed] == 0 {
		text += "; nothing took effect, so nothing is shown"
	}
	if r.NotRun > 0 {
		text += fmt.Sprintf("; %d planned and not run", r.NotRun)
	}
	line := doc.Line(text)
	if r.Stopped != "" {
		line = doc.Line(line, " (", doc.Quote(r.Stopped), ")")
	}
	path := fmt.Sprintf(", with %s", format.Plural(r.Golden.Calls.Total, "call"))
	if r.Golden.Writes > 0 {
		path += ", " + format.Plural(r.Golden.Writes, "durable write")
	}
	return doc.Line(line, "; golden path ", doc.Quote(r.Golden.Status), path)
}

// verdictWord is the verdict; a part of the plan has not passed.
func verdictWord(r *result.Exploration) string {
	verdict := Verdict(r)
	if r.NotRun > 0 && verdict == gate.Pass {
		return "no failure so far"
	}
	return string(verdict)
}

// counts has a row for each family.
func counts(r *result.Exploration) doc.Table {
	t := doc.Table{Columns: []doc.Column{{Head: doc.Line("family"), Shorten: true}, {Head: doc.Line("runs"), Right: true}}}
	for _, s := range symbols {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(s.means), Right: true})
	}
	for _, c := range Counts(r) {
		row := []doc.Text{doc.Line("all"), doc.Line(c.Runs)}
		if c.Family != "" {
			row[0] = doc.Line(doc.Quote(string(c.Family)))
		}
		for _, s := range symbols {
			row = append(row, doc.Line(strconv.Itoa(c.By[s.outcome])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// legend explains the marks.
func legend() doc.Text {
	var t doc.Text
	for _, s := range symbols {
		t = doc.Line(t, doc.Quote(s.mark).In(s.tone), " "+s.means+", ")
	}
	return doc.Line(t, "(blank) not run")
}

func matrixBlock(r *result.Exploration, m *Matrix, place func(...[]string) string) doc.Matrix {
	caption := fmt.Sprintf(": each %s × what happens there", m.Point)
	if m.Worst {
		caption += "; each row shows the worst of several"
	}
	if m.Note != "" {
		caption += "; " + m.Note
	}
	out := doc.Matrix{Caption: doc.Line(doc.Toned(doc.Strong, string(m.Family)), caption), Corner: m.Point, Heads: m.Heads}
	for _, row := range m.Rows {
		to := doc.MatrixRow{Name: rowLabel(m, row)}
		for i, o := range row.Cells {
			s := symbolOf(o)
			mark := doc.Mark{Sign: s.mark, Meaning: s.means, Tone: s.tone}
			if run := row.Runs[i]; o == result.Failed && run >= 0 {
				mark.Link = place(r.Cells[run].Shrunk, r.Cells[run].Perturb)
			}
			to.Cells = append(to.Cells, mark)
		}
		out.Rows = append(out.Rows, to)
	}
	return out
}

// rowLabel names the places of a row: "question 2-9,11 (9)".
func rowLabel(m *Matrix, row Row) string {
	text := m.Point + " " + row.Ranges()
	if row.Name != "" {
		text = row.Name + " " + row.Ranges()
	}
	if len(row.At) > 1 {
		text += fmt.Sprintf(" (%d)", len(row.At))
	}
	return text
}

// failures has each failure once; the one that broke most runs comes first.
func failures(r *result.Exploration, place func(...[]string) string) doc.List {
	found := Failures(r)
	slices.SortStableFunc(found, func(a, b Failure) int { return b.Runs - a.Runs })
	list := doc.List{Noun: "failures"}
	for _, f := range found {
		message, evidence := f.Finding.Message, f.Finding.Evidence
		if message == gate.ViolationMessage && evidence != "" { // the evidence is what was promised
			message, evidence = evidence, ""
		}
		item := doc.Item{Text: doc.Line(doc.Quote(f.Finding.Rule), ": ", doc.Quote(message).In(doc.Strong))}
		add := func(parts ...any) { item.Items = append(item.Items, doc.Item{Text: doc.Line(parts...)}) }
		if evidence != "" {
			add("saw ", doc.Quote(evidence))
		}
		add("broken by ", format.Plural(f.Runs, "run"), ": ", doc.Quote(tallies(f.By)))
		add("smallest: ", doc.Quote(strings.Join(f.Smallest, " and ")).To(place(f.Smallest)))
		if f.Command != "" {
			add("again: ", doc.Command(f.Command))
		}
		list.Items = append(list.Items, item)
	}
	return list
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
		parts = append(parts, fmt.Sprintf("%s (%d)", t.What, t.Runs))
	}
	return strings.Join(parts, ", ")
}

// reasons are why runs had an outcome that shows nothing.
func reasons(r *result.Exploration, o result.Outcome) doc.List {
	list := doc.List{Max: maxReasons, Noun: "reasons"}
	for _, t := range Reasons(r, o) {
		list.Items = append(list.Items, doc.Item{Text: doc.Line(format.Plural(t.Runs, "run"), ": ", doc.Quote(t.What))})
	}
	return list
}
