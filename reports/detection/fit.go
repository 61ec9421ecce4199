package detection

import (
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/fit"
	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// FitSchema names the JSON form of fitted weights.
const FitSchema = "rehearse.fit/1"

// FitJSON writes fitted weights with all that is known about them, indented.
func FitJSON(w io.Writer, r fit.Result) error {
	named := struct {
		Schema string `json:"schema"`
		fit.Result
	}{FitSchema, r}
	if err := format.JSON(w, named); err != nil {
		return fmt.Errorf("write the weights as JSON: %w", err)
	}
	return nil
}

// FitDocument returns the table of fitted weights, and what they are worth on repositories
// that they have not seen, beside the shipped ones.
func FitDocument(r fit.Result) doc.Document {
	d := doc.Document{Kind: "Weights", Body: []doc.Block{
		doc.Section{
			Title: doc.Line(fmt.Sprintf("weights from %s of %s", format.Plural(r.Items, "item"), format.Plural(r.Groups, "group"))),
			Blocks: []doc.Block{
				doc.Paragraph(doc.Line(fmt.Sprintf("intercept %+g, threshold %g, penalty λ = %g", r.Model.Intercept, r.Model.Threshold, r.Model.Lambda))),
				weights(r.Table),
			},
		},
		doc.Section{
			Title: doc.Line(fmt.Sprintf("cross-validated in %s, no group judged by weights that saw it", format.Plural(len(r.Folds), "fold"))),
			Blocks: []doc.Block{
				sides(r), doc.Paragraph(doc.Line(doc.Toned(doc.Faint, "shipped weights set with an eye on these items look better than they are"))),
			},
		},
		comparison(&r.Paired), folds(r.Folds),
	}}
	for _, warning := range r.Warnings {
		d.Lead = append(d.Lead, doc.Paragraph(doc.Line(doc.Quote(warning).In(doc.Unsure))))
	}
	return d
}

func weights(list []fit.Weight) doc.Table {
	t := table(1, "signal", "weight", "over folds", "deviation", "items", "positive", "note")
	t.Columns[0].Shorten = true
	for _, x := range list {
		var notes []string
		if x.Bound {
			notes = append(notes, "bound")
		}
		if x.Rare {
			notes = append(notes, "rare")
		}
		t.Rows = append(t.Rows, row(doc.Quote(x.Signal), logOdds(x.Weight), logOdds(x.Lowest)+" to "+logOdds(x.Highest),
			x.Deviation, x.Items, x.Positives, strings.Join(notes, ", ")))
	}
	return t
}

// logOdds has a sign, unless it is 0.
func logOdds(x float64) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("%+g", x)
}

// sides are the two sets of weights, one above the other, on all items and on
// those of high confidence.
func sides(r fit.Result) doc.Table {
	t := scoreTable("")
	for _, side := range []struct {
		name string
		score.Result
	}{{"shipped", r.Shipped}, {"fitted", r.Fitted}} {
		t.Rows = append(t.Rows, scoreRow(doc.Line(side.name), side.Overall))
		for _, d := range side.Groups {
			for _, g := range d.Groups {
				if d.By == "language" || d.By == "confidence" && g.Name == "high" {
					t.Rows = append(t.Rows, scoreRow(doc.Line("  ", doc.Quote(g.Name)), g.Scores))
				}
			}
		}
	}
	t.Rows = append(t.Rows, scoreRow(doc.Line("fitted, seen"), r.Seen))
	return t
}

func folds(list []fit.Fold) doc.Table {
	t := table(1, "left out", "items", "λ", "threshold")
	t.Columns[0].Shorten = true
	for _, f := range list {
		t.Rows = append(t.Rows, row(doc.Quote(strings.Join(f.Groups, ", ")), f.Items, f.Lambda, f.Threshold))
	}
	return t
}
