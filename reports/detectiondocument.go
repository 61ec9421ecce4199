package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
	"github.com/rehearse-dev/rehearse/stat"
)

// Limits on the lists of the document. JSON contains all stored items.
const (
	maxDetails = 3 // failures, reasons, pieces of evidence and steps of a mistake
	maxGroups  = 20
)

// DetectionDocument returns the scores as a document: the figures of each detector, the
// comparisons, and the mistakes. errors limits the false positives and the false negatives of
// each detector; 0 means no limit, and a negative number leaves all out.
func DetectionDocument(r Detection, errors int) doc.Document {
	d := doc.Document{Marker: "<!-- rehearse:detection -->", Kind: "Detection", Summary: corporaText(r.Corpora)}
	if r.Interrupted {
		d.Verdict, d.Tone = "interrupted", doc.Unsure
		d.Summary = doc.Line("the rest was not read; ", d.Summary)
	}
	for i := range r.Detectors {
		d.Body = append(d.Body, detectorSection(&r.Detectors[i]))
	}
	for i := range r.Comparisons {
		d.Body = append(d.Body, detectorComparison(&r.Comparisons[i]))
	}
	for i := range r.Detectors {
		d.Body = append(d.Body, mistakeSections(&r.Detectors[i], errors)...)
	}
	if len(r.Problems) > 0 {
		d.Lead = []doc.Block{newSection("Problems of the corpora", doc.Bad, quoteList(r.Problems, "problems"))}
	}
	return d
}

func corporaText(list []DetectionCorpus) doc.Text {
	var t doc.Text
	for i, c := range list {
		if i > 0 {
			t = doc.Line(t, "; ")
		}
		t = doc.Line(t, doc.Quote(c.Name), ": ", format.Count(c.Items, "item"))
		if c.Bad > 0 {
			t = doc.Line(t, ", ", doc.Toned(doc.Bad, format.Count(c.Bad, "bad line")))
		}
	}
	return t
}

// plainTable returns a table whose first columns are aligned to the left.
func plainTable(left int, heads ...string) doc.Table {
	return doc.Table{Columns: doc.Columns(left, heads...)}
}

// positiveLabels returns the labels that the detector should find.
func positiveLabels(r *detect.Evaluation) doc.Span {
	return doc.Quote(strings.Join(r.Positive, " or "))
}

// intervalHead is the head of a column of intervals.
var intervalHead = fmt.Sprintf("%g %% interval", 100*stat.Level)

func detectorSection(r *detect.Evaluation) doc.Section {
	judged := format.Count(r.Scored, "item")
	if r.Failed > 0 {
		judged = fmt.Sprintf("%d of %s (%d could not be judged)", r.Scored, format.Count(r.Items, "item"), r.Failed)
	}
	s := doc.Section{Title: doc.Line(doc.Quote(r.Detector), " on ", judged, ", to find ", positiveLabels(r))}
	var failed doc.List
	for _, f := range r.Failures[:min(len(r.Failures), maxDetails)] {
		text := doc.Line(doc.Toned(doc.Bad, "could not be judged"), ": ", doc.Quote(f.ID), " ", doc.Quote(f.Error))
		failed.Items = append(failed.Items, doc.Item{Text: text})
	}
	c := r.Overall.Counts
	found := plainTable(1, "", "found", "not found")
	found.Rows = [][]doc.Text{doc.Cells(positiveLabels(r), c.TP, c.FN), doc.Cells("others", c.FP, c.TN)}
	rates := plainTable(1, "", "value", intervalHead, "of", "by")
	for _, x := range []struct {
		name string
		v    detect.Value
		of   string
	}{
		{"precision", r.Overall.Precision, "found"},
		{"recall", r.Overall.Recall, "to find"},
		{"F1", r.Overall.F1, "items"},
		{"false-positive rate", r.Overall.FPR, "not to find"},
	} {
		of := format.Int(x.v.N) + " " + x.of
		rates.Rows = append(rates.Rows, doc.Cells(x.name, scoreText(x.v.Value), scoreInterval(x.v, scoreText), of, intervalMethod(x.v)))
	}
	s.Blocks = []doc.Block{failed, found, rates}
	if r.Curve != nil {
		s.Blocks = append(s.Blocks, plot.PrecisionRecall("Precision and recall", []plot.Point{plotPoint(r)}))
		s.Blocks = append(s.Blocks, curveBlocks(r.Curve)...)
	}
	if r.Calibration != nil {
		s.Blocks = append(s.Blocks, calibrationBlocks(r)...)
	}
	for _, d := range dimensions(r) {
		s.Blocks = append(s.Blocks, groupTable(d))
	}
	if r.Classes != nil {
		s.Blocks = append(s.Blocks, classBlocks(r.Classes)...)
	}
	s.Blocks = append(s.Blocks, matchTable("steps", r.Steps)...)
	s.Blocks = append(s.Blocks, matchTable("spans", r.Spans)...)
	for _, what := range r.Unlabelled {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(what+": n/a, because no label of the corpus names any")))
	}
	if r.Latency != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(latencyLine(r.Latency))))
	}
	if r.Cost != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(costLine(r.Cost))))
	}
	return s
}

// scoreTable returns an empty table of scores, whose first column has the given head.
func scoreTable(head string) doc.Table {
	t := plainTable(1, head, "TP", "FP", "FN", "TN", "precision", "recall", "F1", "F1 interval", "FPR")
	t.Columns[0].Shorten = true
	t.Columns[8].Optional, t.Columns[9].Optional = true, true
	return t
}

func scoreRow(name doc.Text, s detect.Scores) []doc.Text {
	twoDecimals := func(v *float64) string { return fmt.Sprintf("%.2f", *v) }
	return doc.Cells(name, s.TP, s.FP, s.FN, s.TN, scoreWithInterval(s.Precision), scoreWithInterval(s.Recall),
		scoreText(s.F1.Value), scoreInterval(s.F1, twoDecimals), scoreWithInterval(s.FPR))
}

// groupTable returns a table of groups in their order, or by size if there are many.
func groupTable(d detect.Dimension) doc.Table {
	t := scoreTable("by " + d.By)
	t.Max, t.Noun = maxGroups, "smaller groups"
	for _, g := range byWeight(d) {
		t.Rows = append(t.Rows, scoreRow(doc.Line(doc.Quote(g.Name)), g.Scores))
	}
	return t
}

func classBlocks(c *detect.Classes) []doc.Block {
	t := doc.Table{Columns: []doc.Column{{Head: doc.Line("label, then detected"), Shorten: true}}}
	for i, label := range c.Labels {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(doc.Quote(label)), Right: true})
		cells := doc.Cells(doc.Quote(label))
		for _, n := range c.Counts[i] {
			cells = append(cells, doc.Line(n))
		}
		t.Rows = append(t.Rows, cells)
	}
	note := fmt.Sprintf("agreement %s, Cohen's kappa %s", scoreWithInterval(c.Agreement), scoreWithInterval(c.Kappa))
	if c.Unknown > 0 {
		note += fmt.Sprintf("; %s of no known class left out", format.Count(c.Unknown, "answer"))
	}
	return []doc.Block{t, doc.Paragraph(doc.Line(note))}
}

func matchTable(what string, list []detect.Match) []doc.Block {
	if len(list) == 0 {
		return nil
	}
	t := plainTable(1, what, "items", "TP", "FP", "FN", "precision", "recall", "F1", "F1 interval")
	t.Columns[1].Optional, t.Columns[8].Optional = true, true
	for _, m := range list {
		for _, by := range []struct {
			name string
			detect.Found
		}{{"exact", m.Exact}, {"overlap", m.Overlap}} {
			t.Rows = append(t.Rows, doc.Cells(doc.Line(doc.Quote(m.Scope), " "+by.name), m.Items, by.TP, by.FP, by.FN,
				scoreWithInterval(by.Precision), scoreWithInterval(by.Recall), scoreText(by.F1.Value), scoreInterval(by.F1, scoreText)))
		}
	}
	return []doc.Block{t}
}

func detectorComparison(c *detect.Comparison) doc.Section {
	right := plainTable(1, "", "B right", "B wrong")
	right.Rows = [][]doc.Text{doc.Cells("A right", c.Both, c.OnlyA), doc.Cells("A wrong", c.OnlyB, c.Neither)}
	p := "n/a"
	if c.P != nil {
		p = format.PValue(*c.P)
	}
	t := plainTable(1, "B - A", "value", intervalHead, "by")
	for _, d := range []struct {
		name string
		v    detect.Value
	}{{"precision", c.Precision}, {"recall", c.Recall}, {"F1", c.F1}} {
		t.Rows = append(t.Rows, doc.Cells(d.name, signedScore(d.v.Value), scoreInterval(d.v, signedScore), intervalMethod(d.v)))
	}
	return doc.Section{
		Title:  doc.Line("B ", doc.Quote(c.B), " against A ", doc.Quote(c.A), " on ", format.Count(c.N, "item")),
		Blocks: []doc.Block{right, doc.Paragraph(doc.Line("exact McNemar test: p " + p)), t},
	}
}

// mistakeSections returns a section of false positives and one of false negatives.
func mistakeSections(r *detect.Evaluation, errors int) (sections []doc.Block) {
	for _, kind := range []struct {
		name string
		n    int // all of them
		list []detect.Mistake
	}{{"false positive", r.Overall.FP, r.FalsePositives}, {"false negative", r.Overall.FN, r.FalseNegatives}} {
		list := kind.list
		if errors != 0 {
			list = list[:min(max(errors, 0), len(list))]
		}
		if len(list) == 0 {
			continue
		}
		title := format.Count(kind.n, kind.name)
		if len(list) < kind.n {
			title += fmt.Sprintf(", %d shown", len(list))
		}
		items := doc.List{Noun: kind.name + "s"}
		for i := range list {
			items.Items = append(items.Items, mistakeItem(&list[i]))
		}
		sections = append(sections, doc.Section{Title: doc.Line(doc.Quote(r.Detector), ": ", title), Blocks: []doc.Block{items}})
	}
	return sections
}

func mistakeItem(m *detect.Mistake) doc.Item {
	verdict := fmt.Sprintf("%s (%s)", m.Label, m.Confidence)
	if m.Class != "" {
		verdict += ", taken for " + m.Class
	}
	if m.Score != nil {
		verdict += ", score " + scoreText(m.Score)
	}
	item := doc.Item{Text: doc.Line(doc.Quote(m.ID), "  ", doc.Quote(verdict).In(doc.Faint))}
	add := func(name string, texts ...string) {
		for _, t := range texts[:min(len(texts), maxDetails)] {
			item.Items = append(item.Items, doc.Item{Text: doc.Line(name+": ", doc.Quote(t))})
		}
	}
	add("text", m.Excerpt)
	add("evidence", m.Evidence...)
	add("reason", m.Reasons...)
	add("detected step", m.Steps...)
	add("missed step", m.Missed...)
	if m.Note != "" {
		add("note", m.Note)
	}
	return item
}
