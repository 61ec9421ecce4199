package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Schema names the JSON form of a Result.
const Schema = "rehearse.fit/1"

// maxName limits the names of groups in a table, in characters.
const maxName = 80

func writeJSON(w io.Writer, r Result) error {
	return format.JSON(w, struct {
		Schema string `json:"schema"`
		Result
	}{Schema, r})
}

// writeTables writes the weights, and their scores on unseen repositories beside those of
// the shipped weights.
func writeTables(w io.Writer, r Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "weights from %s of %s\n", format.Plural(r.Items, "item"), format.Plural(r.Groups, "group"))
	fmt.Fprintf(&b, "intercept %+g, threshold %g, penalty λ = %g\n\n", r.Model.Intercept, r.Model.Threshold, r.Model.Lambda)
	b.WriteString(weightTable(r.Table) + "\n\n")
	fmt.Fprintf(&b, "cross-validated in %s, no group judged by weights that saw it\n", format.Plural(len(r.Folds), "fold"))
	b.WriteString(scoreTable(&r) + "\n")
	b.WriteString("shipped weights set with an eye on these items look better than they are\n\n")
	b.WriteString(differenceTable(r.Paired) + "\n\n")
	b.WriteString(foldTable(r.Folds) + "\n")
	for _, warning := range r.Warnings {
		b.WriteString(sanitize.Line(warning, 300) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// renderTable draws rows under a header; all but the first column are aligned to the right.
func renderTable(rows [][]string) string {
	var right []int
	for i := 1; i < len(rows[0]); i++ {
		right = append(right, i+1)
	}
	t := console.Table(2, right...)
	t.AppendHeader(console.Row(rows[0]))
	for _, row := range rows[1:] {
		t.AppendRow(console.Row(row))
	}
	return t.Render()
}

func weightTable(weights []Weight) string {
	rows := [][]string{{"signal", "weight", "over folds", "deviation", "items", "positive", "note"}}
	for _, x := range weights {
		var notes []string
		if x.Bound {
			notes = append(notes, "bound")
		}
		if x.Rare {
			notes = append(notes, "rare")
		}
		rows = append(rows, []string{
			sanitize.Line(x.Signal, maxName), logOdds(x.Weight), logOdds(x.Lowest) + " to " + logOdds(x.Highest),
			number(x.Deviation), strconv.Itoa(x.Items), strconv.Itoa(x.Positives), strings.Join(notes, ", "),
		})
	}
	return renderTable(rows)
}

// scoreTable compares the shipped weights with the fitted ones: on all items, by language
// and on items of high confidence.
func scoreTable(r *Result) string {
	rows := [][]string{{"", "TP", "FP", "FN", "TN", "precision", "recall", "F1"}}
	add := func(name string, s detect.Scores) {
		rows = append(rows, []string{
			name, strconv.Itoa(s.TP), strconv.Itoa(s.FP), strconv.Itoa(s.FN), strconv.Itoa(s.TN),
			share(s.Precision), share(s.Recall), share(s.F1),
		})
	}
	for _, side := range []struct {
		name string
		of   *detect.Evaluation
	}{{"shipped", &r.Shipped}, {"fitted", &r.Fitted}} {
		add(side.name, side.of.Overall)
		for _, d := range side.of.Groups {
			for _, g := range d.Groups {
				if d.By == "language" || d.By == "confidence" && g.Name == "high" {
					add("  "+sanitize.Line(g.Name, maxName), g.Scores)
				}
			}
		}
	}
	add("fitted, seen", r.Seen)
	return renderTable(rows)
}

func differenceTable(c detect.Comparison) string {
	rows := [][]string{{"fitted - shipped", "value", "95 % interval"}}
	for _, d := range []struct {
		name  string
		value detect.Value
	}{{"precision", c.Precision}, {"recall", c.Recall}, {"F1", c.F1}} {
		row := []string{d.name, "n/a", ""}
		if d.value.Value != nil {
			row[1] = fmt.Sprintf("%+.3f", *d.value.Value)
		}
		if i := d.value.Interval; i != nil {
			row[2] = fmt.Sprintf("%+.3f to %+.3f", i.Lo, i.Hi)
		}
		rows = append(rows, row)
	}
	return renderTable(rows)
}

func foldTable(folds []Fold) string {
	rows := [][]string{{"left out", "items", "λ", "threshold"}}
	for _, f := range folds {
		groups := sanitize.Line(strings.Join(f.Groups, ", "), maxName)
		rows = append(rows, []string{groups, strconv.Itoa(f.Items), number(f.Lambda), number(f.Threshold)})
	}
	return renderTable(rows)
}

// logOdds formats a weight with its sign.
func logOdds(x float64) string {
	if x == 0 {
		return "0"
	}
	return fmt.Sprintf("%+g", x)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// share formats a share with its interval.
func share(v detect.Value) string {
	if v.Value == nil {
		return "n/a"
	}
	text := fmt.Sprintf("%.2f", *v.Value)
	if v.Interval != nil {
		text += fmt.Sprintf(" (%.2f-%.2f)", v.Interval.Lo, v.Interval.Hi)
	}
	return text
}
