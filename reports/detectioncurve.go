package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// curveSteps is the number of thresholds in the chart of a terminal.
const curveSteps = 50

// curveBlocks returns precision, recall and F1 by threshold as a plot and a table.
func curveBlocks(c *detect.Curve) []doc.Block {
	ruler := []rune(strings.Repeat(" ", curveSteps+3))
	for i := range 6 {
		copy(ruler[i*curveSteps/5:], []rune(fmt.Sprintf("%.1f", float64(i)/5)))
	}
	chart := []string{"threshold  " + string(ruler)}
	for _, line := range []struct {
		name string
		of   func(detect.Point) *float64
	}{
		{"precision", func(p detect.Point) *float64 { return p.Precision }},
		{"recall", func(p detect.Point) *float64 { return p.Recall }},
		{"F1", func(p detect.Point) *float64 { return p.F1 }},
	} {
		chart = append(chart, fmt.Sprintf("%-9s  %s", line.name, sparkline(c, line.of)))
	}
	t := plainTable(0, "threshold", "precision", "recall", "F1", "FPR")
	const rows = 20
	for i := range rows + 1 {
		p := pointAt(c, float64(i)/rows)
		t.Rows = append(t.Rows, doc.Cells(fmt.Sprintf("%.2f", float64(i)/rows), scoreText(p.Precision), scoreText(p.Recall), scoreText(p.F1),
			scoreText(p.FPR)))
	}
	picture := plot.Thresholds("Thresholds", plotCurve(c))
	picture.Chart = chart
	return []doc.Block{
		picture,
		doc.Paragraph(doc.Line(curveSummary(c))),
		recallTable(c),
		doc.Details{Title: doc.Line("Scores by threshold"), Blocks: []doc.Block{t}},
	}
}

// leastRecalls are the rows of the table of precision by recall.
var leastRecalls = []float64{1, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5}

// recallTable returns the precision-recall curve as a table: the threshold with the highest
// precision for each least recall. It is empty without items to find.
func recallTable(c *detect.Curve) doc.Table {
	t := plainTable(1, "recall of at least", "from threshold", "precision", "recall", "F1")
	for _, least := range leastRecalls {
		var best *detect.Point
		for i, p := range c.Points {
			if p.Recall != nil && *p.Recall >= least && (best == nil || *p.Precision >= *best.Precision) {
				best = &c.Points[i]
			}
		}
		if best != nil {
			t.Rows = append(t.Rows, doc.Cells(fmt.Sprintf("%.2f", least), scoreText(&best.Threshold), scoreText(best.Precision),
				scoreText(best.Recall), scoreText(best.F1)))
		}
	}
	return t
}

// calibrationBlocks returns the reliability of scores as a plot and a table.
func calibrationBlocks(d *detect.Evaluation) []doc.Block {
	c := d.Calibration
	t := plainTable(1, "score", "items", "mean score", "to find", intervalHead)
	for _, b := range c.Bins {
		t.Rows = append(t.Rows, doc.Cells(fmt.Sprintf("%.1f to %.1f", b.Lo, b.Hi), b.N, scoreText(&b.Score),
			scoreText(b.Share.Value), scoreInterval(b.Share, scoreText)))
	}
	note := "expected calibration error " + scoreText(c.Error.Value)
	if c.Error.Interval != nil {
		note += ", " + intervalHead + " " + scoreInterval(c.Error, scoreText)
	}
	return []doc.Block{plot.Reliability("Reliability of scores", []plot.Calibration{plotCalibration(d)}), t, doc.Paragraph(doc.Line(note))}
}

// sparks represent shares from 0 to 1 in eighths.
var sparks = []rune("▁▂▃▄▅▆▇█")

// sparkline returns a share by threshold, with a dot for 0 of 0.
func sparkline(c *detect.Curve, of func(detect.Point) *float64) string {
	var b strings.Builder
	for i := range curveSteps + 1 {
		share := of(pointAt(c, float64(i)/curveSteps))
		if share == nil {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(sparks[min(len(sparks)-1, int(*share*float64(len(sparks))))])
	}
	return b.String()
}

// curveSummary describes the curve in one sentence.
func curveSummary(c *detect.Curve) string {
	text := fmt.Sprintf("average precision %s", scoreText(c.AveragePrecision))
	if c.Best != nil {
		text += fmt.Sprintf("; best F1 %s from threshold %s on", scoreText(c.Best.F1), scoreText(&c.Best.Threshold))
	}
	if c.Missing > 0 {
		text += fmt.Sprintf("; %d of %d without a score", c.Missing, c.Missing+c.N)
	}
	return text
}

// pointAt returns the point of a threshold: that of the lowest score at or above it. Above the
// highest score nothing is found.
func pointAt(c *detect.Curve, t float64) detect.Point {
	for _, p := range c.Points {
		if p.Threshold >= t {
			return p
		}
	}
	none := 0.0
	p := detect.Point{Threshold: t, Recall: &none, F1: &none, FPR: &none}
	if len(c.Points) > 0 { // 0 of 0 stays so
		last := c.Points[len(c.Points)-1]
		if last.Recall == nil {
			p.Recall, p.F1 = nil, nil
		}
		if last.FPR == nil {
			p.FPR = nil
		}
	}
	return p
}
