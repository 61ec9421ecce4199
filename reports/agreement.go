package reports

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// agreementSchema names the JSON form of an Agreement.
const agreementSchema = "rehearse.agreement/1"

// Agreement is a report on two annotators of the same messages.
type Agreement struct {
	Schema string `json:"schema"`
	// Tool is the program's name and version.
	Tool string `json:"tool,omitempty"`
	// First and Second are the files of the labels.
	First  string `json:"first"`
	Second string `json:"second"`
	detect.Agreement
}

// MarshalJSON implements json.Marshaler.
func (a Agreement) MarshalJSON() ([]byte, error) {
	type fields Agreement // without this method
	a.Schema = agreementSchema
	return format.Marshal(fields(a))
}

// AgreementText returns the share of equal labels and kappa, with their intervals.
func AgreementText(c *detect.Classes) string {
	return fmt.Sprintf("agreement %s, Cohen's kappa %s", agreementValue(c.Agreement), agreementValue(c.Kappa))
}

// agreementValue returns a value with its interval, which may be negative.
func agreementValue(v detect.Value) string {
	if v.Value == nil {
		return "n/a"
	}
	twoDecimals := func(v *float64) string { return fmt.Sprintf("%.2f", *v) }
	text := twoDecimals(v.Value)
	if v.Interval != nil {
		text += " (" + scoreInterval(v, twoDecimals) + ")"
	}
	return text
}

// AgreementDocument returns the agreement as a document: the table of labels, kappa, and the
// messages with different labels.
func AgreementDocument(a *Agreement) doc.Document {
	d := doc.Document{
		Kind: "Agreement", Name: doc.Line(doc.Quote(a.First), " and ", doc.Quote(a.Second)),
		Summary: doc.Line(format.Count(a.Agreement.Agreement.N, "message"), ", ", AgreementText(&a.Classes)),
	}
	t := doc.Table{
		Caption: "Labels of the first annotator, then of the second",
		Columns: []doc.Column{{Head: doc.Line("")}},
	}
	for i, label := range a.Labels {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(label), Right: true})
		row := doc.Cells(label)
		for _, n := range a.Counts[i] {
			row = append(row, doc.Line(n))
		}
		t.Rows = append(t.Rows, row)
	}
	d.Body = append(d.Body, t, doc.Paragraph(doc.Line(a.Positive.Labels[0], " against all others: ", AgreementText(&a.Positive))))
	for _, left := range []struct {
		n    int
		what string
	}{
		{a.OnlyFirst, "only the first annotator labelled"},
		{a.OnlySecond, "only the second annotator labelled"},
		{a.Changed, "has another text in each file and is not compared"},
	} {
		if left.n > 0 {
			d.Body = append(d.Body, doc.Paragraph(doc.Line(format.Count(left.n, "message"), ": ", left.what)))
		}
	}
	list := doc.List{Noun: "differences"}
	for _, x := range a.Differences {
		text := fmt.Sprintf("%s (%s), %s (%s)", x.First, x.FirstConfidence, x.Second, x.SecondConfidence)
		list.Items = append(list.Items, doc.Item{
			Text:  doc.Line(doc.Quote(x.ID), "  ", doc.Quote(text).In(doc.Faint)),
			Items: []doc.Item{{Text: doc.Line("text: ", doc.Quote(x.Excerpt))}},
		})
	}
	if list.Items != nil {
		d.Body = append(d.Body, doc.Section{Title: doc.Line("Different labels"), Blocks: []doc.Block{list}})
	}
	return d
}
