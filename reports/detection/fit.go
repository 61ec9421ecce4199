package detection

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/fit"
	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// FitSchema names the JSON form of fitted weights.
const FitSchema = "rehearse.fit/1"

// FitJSON writes fitted weights with all that is known about them, indented.
func FitJSON(w io.Writer, r fit.Result, _ Options) error {
	named := struct {
		Schema string `json:"schema"`
		fit.Result
	}{FitSchema, r}
	if err := format.JSON(w, named); err != nil {
		return fmt.Errorf("write the weights as JSON: %w", err)
	}
	return nil
}

// FitTerminal writes the table of fitted weights for a person, and what they are
// worth on repositories that they have not seen, beside the shipped ones.
func FitTerminal(w io.Writer, r fit.Result, opts Options) error {
	v := view{t: opts.Terminal, opts: opts}
	v.title(fmt.Sprintf("weights from %s of %s", format.Plural(r.Items, "item"), format.Plural(r.Groups, "group")))
	v.line(fmt.Sprintf("intercept %+g, threshold %g, penalty λ = %g", r.Model.Intercept, r.Model.Threshold, r.Model.Lambda))
	v.line("")
	v.weights(r.Table)
	v.title(fmt.Sprintf("cross-validated in %s, no group judged by weights that saw it", format.Plural(len(r.Folds), "fold")))
	v.sides(r)
	v.line(v.t.Paint(tty.Faint, "shipped weights set with an eye on these items look better than they are"))
	v.comparison(r.Paired)
	v.line("")
	v.folds(r.Folds)
	for _, warning := range r.Warnings {
		v.line(v.t.Paint(tty.Yellow, sanitize.Line(warning, maxText)))
	}
	if _, err := io.WriteString(w, v.String()); err != nil {
		return fmt.Errorf("write the weights: %w", err)
	}
	return nil
}

func (v *view) weights(table []fit.Weight) {
	rows := [][]string{{"signal", "weight", "over folds", "deviation", "items", "positive", "note"}}
	for _, x := range table {
		var notes []string
		if x.Bound {
			notes = append(notes, "bound")
		}
		if x.Rare {
			notes = append(notes, "rare")
		}
		rows = append(rows, []string{
			sanitize.Line(x.Signal, maxName), logOdds(x.Weight),
			logOdds(x.Lowest) + " to " + logOdds(x.Highest), strconv.FormatFloat(x.Deviation, 'g', -1, 64),
			strconv.Itoa(x.Items), strconv.Itoa(x.Positives), strings.Join(notes, ", "),
		})
	}
	fitNames(rows, v.t.Columns())
	v.table(rows[0], rows[1:])
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
func (v *view) sides(r fit.Result) {
	rows := [][]string{{"", "TP", "FP", "FN", "TN", "precision", "recall", "F1"}}
	add := func(name string, s score.Scores) {
		rows = append(rows, append(append([]string{name}, counts(s.Counts)...), brief(s.Precision), brief(s.Recall), figure(s.F1.Value)))
	}
	for _, side := range []struct {
		name string
		score.Result
	}{{"shipped", r.Shipped}, {"fitted", r.Fitted}} {
		add(side.name, side.Overall)
		for _, d := range side.Groups {
			for _, g := range d.Groups {
				if d.By == "language" || d.By == "confidence" && g.Name == "high" {
					add("  "+sanitize.Line(g.Name, maxName), g.Scores)
				}
			}
		}
	}
	add("fitted, seen", r.Seen)
	fitNames(rows, v.t.Columns())
	v.table(rows[0], rows[1:])
}

func (v *view) folds(folds []fit.Fold) {
	rows := [][]string{{"left out", "items", "λ", "threshold"}}
	for _, f := range folds {
		rows = append(rows, []string{
			sanitize.Line(strings.Join(f.Groups, ", "), maxName), strconv.Itoa(f.Items),
			strconv.FormatFloat(f.Lambda, 'g', -1, 64), strconv.FormatFloat(f.Threshold, 'g', -1, 64),
		})
	}
	fitNames(rows, v.t.Columns())
	v.table(rows[0], rows[1:])
}
