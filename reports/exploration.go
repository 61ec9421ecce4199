package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// outcomeSymbol shows an outcome in one cell without relying on colours.
type outcomeSymbol struct {
	outcome result.Outcome
	mark    string
	means   string
	tone    doc.Tone
}

// outcomeSymbols are in the order of the table of families.
var outcomeSymbols = []outcomeSymbol{
	{result.Survived, ".", "survived", doc.Good},
	{result.Degraded, "~", "degraded", doc.Info},
	{result.Failed, "X", "failed", doc.Bad},
	{result.Unfired, "-", "could not happen", doc.Faint},
	{result.Errored, "?", "no verdict", doc.Broken},
}

// symbolOf returns the symbol of an outcome. An unknown outcome is an error, and the empty one a
// cell without a run.
func symbolOf(o result.Outcome) outcomeSymbol {
	for _, s := range outcomeSymbols {
		if s.outcome == o {
			return s
		}
	}
	if o == "" {
		return outcomeSymbol{}
	}
	return outcomeSymbols[len(outcomeSymbols)-1]
}

// Limits on the rows of a matrix and on the reasons for an outcome.
const (
	maxMatrixRows = 24
	maxReasons    = 10
)

// Place returns the place of the run with one of the given perturbations in an HTML page; empty if
// the page does not have it.
type Place func(perturb ...[]string) string

// ExplorationDocument returns an exploration as a document: the failures come first. With a place,
// which may be nil, it is a part of an HTML page: matrices are folded unless something failed, and
// their cells lead to how the runs ended.
func ExplorationDocument(r *result.Exploration, place Place) doc.Document {
	d := doc.Document{
		Marker: "<!-- rehearse:explore -->", Kind: "Exploration", Name: doc.Line(doc.Quote(r.Scenario)),
		Verdict: explorationWord(r), Tone: verdictTone(r.Verdict()),
		Summary: explorationSummary(r),
	}
	if place == nil {
		d.Body = append(d.Body, familyTable(r))
	}
	if r.Covered != "" {
		d.Body = append(d.Body, doc.Paragraph(doc.Line(doc.Quote(r.Covered))))
	}
	survival := []doc.Block{doc.Paragraph(outcomeLegend())}
	matrices := r.Matrices(maxMatrixRows)
	if place != nil {
		survival = append(survival, familyDetails(r, matrices, place)...)
	} else {
		for i := range matrices {
			survival = append(survival, matrixBlock(&matrices[i], func(int) string { return "" }))
		}
	}
	if len(survival) > 1 {
		d.Body = append(d.Body, newSection("Survival", doc.Plain, survival...))
	}
	add := func(blocks *[]doc.Block, title string, tone doc.Tone, list doc.List) {
		if len(list.Items) > 0 {
			*blocks = append(*blocks, newSection(title, tone, list))
		}
	}
	add(&d.Body, "Left out", doc.Plain, quoteList(r.Left, ""))
	add(&d.Body, "Could not happen", doc.Plain, reasonList(r, result.Unfired))
	add(&d.Body, "No verdict", doc.Broken, reasonList(r, result.Errored))
	add(&d.Lead, "Failures", doc.Bad, failureList(r, place))
	return d
}

// OutcomeLine counts the perturbed runs of explorations by outcome.
func OutcomeLine(list []result.Exploration) string {
	n, total := map[result.Outcome]int{}, 0
	for i := range list {
		total += len(list[i].Cells)
		for o, k := range list[i].Count() {
			n[o] += k
		}
	}
	judged := n[result.Survived] + n[result.Degraded] + n[result.Failed]
	parts := []string{
		format.Int(n[result.Survived]) + " survived", format.Int(n[result.Degraded]) + " degraded", format.Int(n[result.Failed]) + " failed",
	}
	if k := n[result.Unfired]; k > 0 {
		parts = append(parts, format.Int(k)+" could not happen")
	}
	if k := total - judged - n[result.Unfired]; k > 0 { // as has an outcome of a later version
		parts = append(parts, format.Int(k)+" without a verdict")
	}
	return format.Count(total, "run") + " perturbed: " + strings.Join(parts, ", ")
}

// OverallVerdict returns the verdict of a run together with the explorations whose runs it recorded.
func OverallVerdict(r *Report, explored ...result.Exploration) gate.Verdict {
	if r.Altered {
		return gate.Fail
	}
	verdicts := []gate.Verdict{r.Verdict}
	for i := range explored {
		verdicts = append(verdicts, explored[i].Verdict())
	}
	return gate.Overall(verdicts)
}

// explorationSummary describes the exploration in one sentence.
func explorationSummary(r *result.Exploration) doc.Text {
	text := OutcomeLine([]result.Exploration{*r})
	if n := r.Count(); n[result.Survived]+n[result.Degraded]+n[result.Failed] == 0 {
		text += "; nothing took effect, so nothing is shown"
	}
	if r.NotRun > 0 {
		text += "; " + format.Int(r.NotRun) + " planned and not run"
	}
	line := doc.Line(text)
	if r.Stopped != "" {
		line = doc.Line(line, " (", doc.Quote(r.Stopped), ")")
	}
	path := fmt.Sprintf(", with %s", format.Count(r.Golden.Calls.Total, "call"))
	if r.Golden.Writes > 0 {
		path += ", " + format.Count(r.Golden.Writes, "durable write")
	}
	return doc.Line(line, "; golden path ", doc.Quote(r.Golden.Status), path)
}

// explorationWord returns the verdict; a part of the plan has not passed.
func explorationWord(r *result.Exploration) string {
	verdict := r.Verdict()
	if r.NotRun > 0 && verdict == gate.Pass {
		return "no failure so far"
	}
	return string(verdict)
}

// familyTable returns a table with a row for each family.
func familyTable(r *result.Exploration) doc.Table {
	t := doc.Table{Columns: []doc.Column{{Head: doc.Line("family"), Shorten: true}, {Head: doc.Line("runs"), Right: true}}}
	for _, s := range outcomeSymbols {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(s.means), Right: true})
	}
	for _, c := range familyCounts(r) {
		row := []doc.Text{doc.Line("all"), doc.Line(c.Runs)}
		if c.Family != "" {
			row[0] = doc.Line(doc.Quote(string(c.Family)))
		}
		for _, s := range outcomeSymbols {
			row = append(row, doc.Line(strconv.Itoa(c.By[s.outcome])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// outcomeLegend explains the symbols.
func outcomeLegend() doc.Text {
	var t doc.Text
	for _, s := range outcomeSymbols {
		t = doc.Line(t, doc.Quote(s.mark).In(s.tone), " "+s.means+", ")
	}
	return doc.Line(t, "(blank) not run")
}

// familyDetails returns a folded block for each family, with its counts, its matrix and how its
// runs ended. Families with failures come first and are unfolded.
func familyDetails(r *result.Exploration, matrices []result.Matrix, place Place) []doc.Block {
	var failed, others []doc.Block
	for _, c := range familyCounts(r) {
		if c.Family == "" { // the sum
			continue
		}
		title := doc.Line(doc.Quote(string(c.Family)).In(doc.Strong), ": "+format.Count(c.Runs, "run"))
		for _, s := range outcomeSymbols {
			if n := c.By[s.outcome]; n > 0 {
				title = doc.Line(title, ", ", doc.Toned(s.tone, strconv.Itoa(n)+" "+s.means))
			}
		}
		ends, item := newRunEnds(r, c.Family)
		d := doc.Details{Title: title, Open: c.By[result.Failed]+c.By[result.Errored] > 0}
		for i := range matrices {
			if matrices[i].Family != c.Family {
				continue
			}
			d.Blocks = append(d.Blocks, matrixBlock(&matrices[i], func(run int) string {
				if c := &r.Cells[run]; c.Outcome == result.Failed {
					if to := place(c.Shrunk, c.Perturb); to != "" {
						return to
					}
				}
				return item[run]
			}))
		}
		d.Blocks = append(d.Blocks, doc.Details{Title: doc.Line("How the runs ended"), Blocks: []doc.Block{ends}})
		if d.Open {
			failed = append(failed, d)
		} else {
			others = append(others, d)
		}
	}
	return append(failed, others...)
}

// matrixBlock returns the matrix of a family. place returns the place that explains a run.
func matrixBlock(m *result.Matrix, place func(run int) string) doc.Matrix {
	caption := fmt.Sprintf(": each %s × what happens there", m.Point)
	if m.Worst {
		caption += "; each row shows the worst of several"
	}
	if m.Note != "" {
		caption += "; " + m.Note
	}
	out := doc.Matrix{Caption: doc.Line(doc.Toned(doc.Strong, string(m.Family)), caption), Corner: m.Point}
	for _, head := range m.Heads {
		out.Heads = append(out.Heads, roundDurations(head))
	}
	for _, row := range m.Rows {
		to := doc.MatrixRow{Name: matrixRowLabel(m, row)}
		for i, o := range row.Cells {
			s := symbolOf(o)
			mark := doc.Mark{Sign: s.mark, Meaning: s.means, Tone: s.tone}
			if run := row.Runs[i]; run >= 0 {
				mark.Link = place(run)
			}
			to.Cells = append(to.Cells, mark)
		}
		out.Rows = append(out.Rows, to)
	}
	return out
}

// matrixRowLabel names the places of a row, such as "question 2-9,11 (9)".
func matrixRowLabel(m *result.Matrix, row result.MatrixRow) string {
	text := m.Point + " " + row.Ranges()
	if row.Name != "" {
		text = row.Name + " " + row.Ranges()
	}
	if len(row.At) > 1 {
		text += fmt.Sprintf(" (%d)", len(row.At))
	}
	return text
}

// failureList returns the distinct failures, those of most runs first. Those with the same smallest
// perturbation probably have one cause, and share an item.
func failureList(r *result.Exploration, place Place) doc.List {
	found := r.Failures()
	slices.SortStableFunc(found, func(a, b result.Failure) int { return b.Runs - a.Runs })
	list := doc.List{Noun: "failures"}
	items := map[string]int{} // by the smallest perturbation
	for _, f := range found {
		smallest := strings.Join(f.Smallest, " and ")
		item := failureItem(&f)
		if i, ok := items[smallest]; ok && smallest != "" {
			item.Text = doc.Line("also ", item.Text)
			list.Items[i].Items = append(list.Items[i].Items, item)
			continue
		}
		items[smallest] = len(list.Items)
		add := func(parts ...any) { item.Items = append(item.Items, doc.Item{Text: doc.Line(parts...)}) }
		what := doc.Quote(smallest)
		if place != nil {
			what = what.To(place(f.Smallest))
		}
		add("smallest: ", what)
		if f.Command != "" {
			add("run again: ", doc.Command(f.Command))
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// failureItem describes a failure: its meaning, what was seen, and in how many runs.
func failureItem(f *result.Failure) doc.Item {
	message, evidence := f.Finding.Message, f.Finding.Evidence
	if message == gate.ViolationMessage { // the evidence is the invariant
		message, evidence = cmp.Or(evidence, message), ""
	}
	item := doc.Item{Text: doc.Line(doc.Quote(f.Finding.Rule), ": ", doc.Quote(message).In(doc.Strong))}
	switch {
	case f.Finding.Rule == gate.InvariantRule:
		item.Evidence = evidence
	case evidence != "":
		item.Items = append(item.Items, doc.Item{Text: doc.Line("saw ", doc.Quote(evidence))})
	}
	item.Items = append(item.Items, doc.Item{Text: doc.Line("in ", format.Count(f.Runs, "run"), ": ", doc.Quote(result.TallyText(f.By)))})
	return item
}

// reasonList returns the reasons for an outcome without a result.
func reasonList(r *result.Exploration, o result.Outcome) doc.List {
	list := doc.List{Max: maxReasons, Noun: "reasons"}
	for _, t := range r.Reasons(o) {
		list.Items = append(list.Items, doc.Item{Text: doc.Line(format.Count(t.Runs, "run"), ": ", doc.Quote(t.What))})
	}
	return list
}
