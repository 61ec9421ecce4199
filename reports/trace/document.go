package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// maxProofs limits the proofs of a requirement in a document for people; CSV and JSON have all.
const maxProofs = 20

// maxRows limits the rows of each status on a terminal.
const maxRows = 100

// tones has the colours of the statuses, in the order of urgency.
var tones = []struct {
	status Status
	tone   doc.Tone
}{
	{Failing, doc.Bad}, {NoVerdict, doc.Broken}, {Uncovered, doc.Unsure}, {Skipped, doc.Unsure}, {Unknown, doc.Unsure}, {Proven, doc.Good},
}

// Document returns the table as a document. of describes what was run; it may be empty.
func (t *Table) Document(of ...any) doc.Document {
	d := doc.Document{Kind: "Requirements", Name: doc.Line(append([]any{doc.Quote(t.File)}, of...)...), Summary: doc.Line(t.summary())}
	d.Verdict, d.Tone = t.word()
	for _, s := range tones {
		rows := t.Unknown
		if s.status != Unknown {
			rows = slices.DeleteFunc(slices.Clone(t.Requirements), func(r Row) bool { return r.Status != s.status })
		}
		if len(rows) == 0 {
			continue
		}
		section := doc.Section{Title: doc.Line(title(s.status)), Tone: s.tone, Blocks: []doc.Block{listing(rows)}}
		if s.status == Proven {
			d.Body = append(d.Body, section)
		} else {
			d.Lead = append(d.Lead, section)
		}
	}
	return d
}

// Incomplete is the verdict of a table of which nothing failed, and not all is proven.
const Incomplete = "incomplete"

// word returns the verdict of the table with its colour.
func (t *Table) word() (string, doc.Tone) {
	switch {
	case t.Totals[Failing] > 0:
		return string(Failing), doc.Bad
	case t.Totals[NoVerdict] > 0:
		return string(NoVerdict), doc.Broken
	case t.Covered():
		return string(Proven), doc.Good
	}
	return Incomplete, doc.Unsure
}

func title(s Status) string {
	if s == Unknown {
		return "Unknown ids"
	}
	return strings.ToUpper(string(s[:1])) + string(s[1:])
}

// summary counts the requirements by status.
func (t *Table) summary() string {
	parts := []string{fmt.Sprintf("%s of %s proven", format.Int(t.Totals[Proven]), format.Count(len(t.Requirements), "requirement"))}
	for _, s := range []Status{Failing, NoVerdict, Uncovered, Skipped} {
		if n := t.Totals[s]; n > 0 {
			parts = append(parts, format.Int(n)+" "+string(s))
		}
	}
	if n := len(t.Unknown); n > 0 {
		parts = append(parts, format.Count(n, "unknown id"))
	}
	return strings.Join(parts, ", ")
}

// listing returns a table of rows, with the columns that they have.
func listing(rows []Row) doc.Table {
	hasText := slices.ContainsFunc(rows, func(r Row) bool { return r.Text != "" })
	hasLink := slices.ContainsFunc(rows, func(r Row) bool { return r.Link != "" })
	hasProof := slices.ContainsFunc(rows, func(r Row) bool { return len(r.Proofs) > 0 })
	t := doc.Table{Columns: []doc.Column{{Head: doc.Line("id")}}, Max: maxRows, Whole: true, Noun: "requirements"}
	column := func(given bool, c doc.Column) {
		if given {
			t.Columns = append(t.Columns, c)
		}
	}
	column(hasText, doc.Column{Head: doc.Line("requirement"), Shorten: true})
	column(hasProof, doc.Column{Head: doc.Line("proven by"), Shorten: true})
	column(hasLink, doc.Column{Head: doc.Line("source"), Optional: true, Shorten: true})
	for _, r := range rows {
		cells := []any{doc.Quote(r.ID)}
		if hasText {
			cells = append(cells, doc.Quote(r.Text))
		}
		if hasProof {
			cells = append(cells, proofs(r.Proofs))
		}
		if hasLink {
			cells = append(cells, doc.Quote(r.Link).ToWeb())
		}
		t.Rows = append(t.Rows, doc.Cells(cells...))
	}
	return t
}

// proofs returns the names of proofs, with the verdicts of those that did not pass.
func proofs(list []Proof) doc.Text {
	var parts []any
	for i, p := range list[:min(len(list), maxProofs)] {
		if i > 0 {
			parts = append(parts, ", ")
		}
		parts = append(parts, doc.Quote(p.Name))
		if p.Verdict != gate.Pass {
			parts = append(parts, " (", doc.Quote(string(p.Verdict)).In(verdictTone(p.Verdict)), ")")
		}
	}
	if more := len(list) - maxProofs; more > 0 {
		parts = append(parts, fmt.Sprintf(" and %d more", more))
	}
	return doc.Line(parts...)
}

func verdictTone(v gate.Verdict) doc.Tone {
	switch v {
	case gate.Skip:
		return doc.Unsure
	case gate.Fail:
		return doc.Bad
	default:
		return doc.Broken
	}
}
