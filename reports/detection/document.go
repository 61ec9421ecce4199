package detection

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/stat"
)

// Marker is the hidden first line of the Markdown form, by which a later run finds
// its own comment and replaces it.
const Marker = "<!-- rehearse:detection -->"

// Limits on what is shown of each thing. JSON has all that the scores kept.
const (
	maxShown  = 3 // failures, reasons, pieces of evidence and steps of a mistake
	maxGroups = 20
)

// Document returns the scores as a document: the figures of each detector, the
// comparisons, then the mistakes. errors is how many false positives, and how many false
// negatives, of each detector are shown; 0 means all that the report has, a negative
// number none.
func Document(r Report, errors int) doc.Document {
	d := doc.Document{Marker: Marker, Kind: "Detection", Summary: corpora(r.Corpora)}
	if r.Interrupted {
		d.Verdict, d.Tone = "interrupted", doc.Unsure
		d.Summary = doc.Line("the rest was not read; ", d.Summary)
	}
	for i := range r.Detectors {
		d.Body = append(d.Body, detector(&r.Detectors[i]))
	}
	for i := range r.Comparisons {
		d.Body = append(d.Body, comparison(&r.Comparisons[i]))
	}
	for i := range r.Detectors {
		d.Body = append(d.Body, mistakes(&r.Detectors[i], errors)...)
	}
	if len(r.Problems) > 0 {
		list := doc.List{Noun: "problems"}
		for _, p := range r.Problems {
			list.Items = append(list.Items, doc.Item{Text: doc.Line(doc.Quote(p))})
		}
		d.Lead = []doc.Block{doc.Section{Title: doc.Line("Problems of the corpora"), Tone: doc.Bad, Blocks: []doc.Block{list}}}
	}
	return d
}

func corpora(list []Corpus) doc.Text {
	var t doc.Text
	for i, c := range list {
		if i > 0 {
			t = doc.Line(t, "; ")
		}
		t = doc.Line(t, doc.Quote(c.Name), ": ", format.Plural(c.Items, "item"))
		if c.Bad > 0 {
			t = doc.Line(t, ", ", doc.Toned(doc.Bad, format.Plural(c.Bad, "bad line")))
		}
	}
	return t
}

// table starts a table whose first columns are aligned to the left.
func table(left int, heads ...string) doc.Table {
	var t doc.Table
	for i, h := range heads {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(h), Right: i >= left})
	}
	return t
}

// row makes cells; a string is one of this program, other texts are spans.
func row(cells ...any) []doc.Text {
	var list []doc.Text
	for _, c := range cells {
		list = append(list, doc.Line(c))
	}
	return list
}

// positive names what the detector should find.
func positive(r *detect.Evaluation) doc.Span { return doc.Quote(strings.Join(r.Positive, " or ")) }

// interval is the head of a column of intervals.
var interval = fmt.Sprintf("%g %% interval", 100*stat.Level)

func detector(r *detect.Evaluation) doc.Section {
	judged := format.Plural(r.Scored, "item")
	if r.Failed > 0 {
		judged = fmt.Sprintf("%d of %s (%d could not be judged)", r.Scored, format.Plural(r.Items, "item"), r.Failed)
	}
	s := doc.Section{Title: doc.Line(doc.Quote(r.Detector), " on ", judged, ", to find ", positive(r))}
	var failed doc.List
	for _, f := range r.Failures[:min(len(r.Failures), maxShown)] {
		failed.Items = append(failed.Items, doc.Item{Text: doc.Line(doc.Toned(doc.Bad, "could not be judged"), ": ", doc.Quote(f.ID), " ", doc.Quote(f.Error))})
	}
	c := r.Overall.Counts
	found := table(1, "", "found", "not found")
	found.Rows = [][]doc.Text{row(positive(r), c.TP, c.FN), row("others", c.FP, c.TN)}
	rates := table(1, "", "value", interval, "of", "by")
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
		rates.Rows = append(rates.Rows, row(x.name, figure(x.v.Value), between(x.v, figure), fmt.Sprintf("%d %s", x.v.N, x.of), method(x.v)))
	}
	s.Blocks = []doc.Block{failed, found, rates}
	if r.Curve != nil {
		s.Blocks = append(s.Blocks, curve(r.Curve)...)
	}
	for _, d := range dimensions(r) {
		s.Blocks = append(s.Blocks, groups(d))
	}
	if r.Classes != nil {
		s.Blocks = append(s.Blocks, classes(r.Classes)...)
	}
	s.Blocks = append(s.Blocks, matches("steps", r.Steps)...)
	s.Blocks = append(s.Blocks, matches("spans", r.Spans)...)
	if r.Latency != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(speed(r.Latency))))
	}
	if r.Cost != nil {
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(paid(r.Cost))))
	}
	return s
}

// scoreTable is a table of scores, whose first column has head.
func scoreTable(head string) doc.Table {
	t := table(1, head, "TP", "FP", "FN", "TN", "precision", "recall", "F1", "F1 interval", "FPR")
	t.Columns[0].Shorten = true
	t.Columns[8].Optional, t.Columns[9].Optional = true, true
	return t
}

func scoreRow(name doc.Text, s detect.Scores) []doc.Text {
	return row(name, s.TP, s.FP, s.FN, s.TN, brief(s.Precision), brief(s.Recall), figure(s.F1.Value), between(s.F1, func(v *float64) string {
		return fmt.Sprintf("%.2f", *v)
	}), brief(s.FPR))
}

// groups has all groups in their order, or if they are many those with the most items
// first.
func groups(d detect.Dimension) doc.Table {
	t := scoreTable("by " + d.By)
	t.Max, t.Noun = maxGroups, "smaller groups"
	for _, g := range byWeight(d) {
		t.Rows = append(t.Rows, scoreRow(doc.Line(doc.Quote(g.Name)), g.Scores))
	}
	return t
}

func classes(c *detect.Classes) []doc.Block {
	t := doc.Table{Columns: []doc.Column{{Head: doc.Line("label, then detected"), Shorten: true}}}
	for i, label := range c.Labels {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(doc.Quote(label)), Right: true})
		cells := row(doc.Quote(label))
		for _, n := range c.Counts[i] {
			cells = append(cells, doc.Line(n))
		}
		t.Rows = append(t.Rows, cells)
	}
	note := fmt.Sprintf("agreement %s, Cohen's kappa %s", brief(c.Agreement), brief(c.Kappa))
	if c.Unknown > 0 {
		note += fmt.Sprintf("; %s of no known class left out", format.Plural(c.Unknown, "answer"))
	}
	return []doc.Block{t, doc.Paragraph(doc.Line(note))}
}

func matches(what string, list []detect.Match) []doc.Block {
	if len(list) == 0 {
		return nil
	}
	t := table(1, what, "items", "TP", "FP", "FN", "precision", "recall", "F1", "F1 interval")
	t.Columns[1].Optional, t.Columns[8].Optional = true, true
	for _, m := range list {
		for _, by := range []struct {
			name string
			detect.Found
		}{{"exact", m.Exact}, {"overlap", m.Overlap}} {
			t.Rows = append(t.Rows, row(doc.Line(doc.Quote(m.Scope), " "+by.name), m.Items, by.TP, by.FP, by.FN,
				brief(by.Precision), brief(by.Recall), figure(by.F1.Value), between(by.F1, figure)))
		}
	}
	return []doc.Block{t}
}

func comparison(c *detect.Comparison) doc.Section {
	right := table(1, "", "B right", "B wrong")
	right.Rows = [][]doc.Text{row("A right", c.Both, c.OnlyA), row("A wrong", c.OnlyB, c.Neither)}
	p := "n/a"
	if c.P != nil {
		p = format.PValue(*c.P)
	}
	t := table(1, "B - A", "value", interval, "by")
	for _, d := range []struct {
		name string
		v    detect.Value
	}{{"precision", c.Precision}, {"recall", c.Recall}, {"F1", c.F1}} {
		t.Rows = append(t.Rows, row(d.name, signed(d.v.Value), between(d.v, signed), method(d.v)))
	}
	return doc.Section{
		Title:  doc.Line("B ", doc.Quote(c.B), " against A ", doc.Quote(c.A), " on ", format.Plural(c.N, "item")),
		Blocks: []doc.Block{right, doc.Paragraph(doc.Line("exact McNemar test: p " + p)), t},
	}
}

// mistakes are a section for each of the two kinds of errors.
func mistakes(r *detect.Evaluation, errors int) (sections []doc.Block) {
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
		title := format.Plural(kind.n, kind.name)
		if len(list) < kind.n {
			title += fmt.Sprintf(", %d shown", len(list))
		}
		items := doc.List{Noun: kind.name + "s"}
		for i := range list {
			items.Items = append(items.Items, mistake(&list[i]))
		}
		sections = append(sections, doc.Section{Title: doc.Line(doc.Quote(r.Detector), ": ", title), Blocks: []doc.Block{items}})
	}
	return sections
}

func mistake(m *detect.Mistake) doc.Item {
	verdict := fmt.Sprintf("%s (%s)", m.Label, m.Confidence)
	if m.Class != "" {
		verdict += ", taken for " + m.Class
	}
	if m.Score != nil {
		verdict += ", score " + figure(m.Score)
	}
	item := doc.Item{Text: doc.Line(doc.Quote(m.ID), "  ", doc.Quote(verdict).In(doc.Faint))}
	add := func(name string, texts ...string) {
		for _, t := range texts[:min(len(texts), maxShown)] {
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
