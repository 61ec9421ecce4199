package page

import (
	"math"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// changes returns the comparison with a baseline or an earlier run, and a plot of it.
func (b *Builder) changes(c *compare.Result) []doc.Block {
	s := reports.ComparisonDocument(c, b.linkTo).Section()
	if p := effects(c); p.SVG != nil {
		s.Blocks = append(s.Blocks, p)
	}
	return append([]doc.Block{doc.Paragraph(s.Title)}, s.Blocks...)
}

// linkTo returns the place of a scenario; empty if it has no trials here.
func (b *Builder) linkTo(name string) string {
	if sc := b.scenarios[name]; sc != nil {
		return sc.id
	}
	return ""
}

// effects draws relative changes.
func effects(c *compare.Result) doc.Plot {
	var rows []plot.Difference
	for i := range c.Comparisons {
		m := &c.Comparisons[i]
		if m.Effect == nil || m.Effect.Value == nil || m.Before.Value == nil || *m.Before.Value == 0 {
			continue
		}
		row := plot.Difference{
			Name: m.Scenario + " " + words(m.Measure), Verdict: string(m.Verdict),
			Value: *m.Effect.Value / *m.Before.Value, Lo: math.NaN(), Hi: math.NaN(),
		}
		if in := m.Effect.Interval; in != nil {
			row.Lo, row.Hi = in.Lo / *m.Before.Value, in.Hi / *m.Before.Value
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return doc.Plot{}
	}
	return plot.Changes("Change since "+c.Before, rows)
}

// detectors returns the scores of detectors, with their plots.
func detectors(r *reports.Detection) []doc.Block {
	items := 0
	for _, c := range r.Corpora {
		items += c.Items
	}
	t := doc.Table{
		Caption: "Scores on " + format.Count(items, "message") + " of " + format.Count(len(r.Corpora), "corpus file") + ", with 95 % intervals.",
		Columns: []doc.Column{{Head: doc.Line("detector")}, {Head: doc.Line("scored"), Right: true}},
	}
	if r.Interrupted {
		t.Caption += " Not all of them was read."
	}
	for _, name := range []string{"precision", "recall", "F1", "false positives"} {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(name)})
	}
	list := r.Detectors[:min(len(r.Detectors), maxItems)]
	for i := range list {
		d := &list[i]
		row := []doc.Text{doc.Line(doc.Quote(d.Detector)), doc.Line(format.Number(float64(d.Scored)))}
		for _, v := range []detect.Value{d.Overall.Precision, d.Overall.Recall, d.Overall.F1, d.Overall.FPR} {
			row = append(row, doc.Line(share(measure.Value{Known: true, Value: v.Value, Interval: v.Interval})))
		}
		t.Rows = append(t.Rows, row)
	}
	blocks := []doc.Block{t}
	for _, p := range reports.DetectionPlots(list) {
		blocks = append(blocks, p)
	}
	return blocks
}
