package detection

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// steps is how many thresholds a picture of the curve shows.
const steps = 50

// curve draws precision, recall and F1 over the threshold, and has them in a table.
func curve(c *detect.Curve) []doc.Block {
	ruler := []rune(strings.Repeat(" ", steps+3))
	for i := range 6 {
		copy(ruler[i*steps/5:], []rune(fmt.Sprintf("%.1f", float64(i)/5)))
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
	t := table(0, "threshold", "precision", "recall", "F1", "FPR")
	const rows = 20
	for i := range rows + 1 {
		p := at(c, float64(i)/rows)
		t.Rows = append(t.Rows, row(fmt.Sprintf("%.2f", float64(i)/rows), figure(p.Precision), figure(p.Recall), figure(p.F1), figure(p.FPR)))
	}
	picture := plot.Thresholds("Thresholds", drawn(c))
	return []doc.Block{
		doc.Plot{Title: picture.Title, Text: picture.Text, SVG: picture.SVG, Chart: chart},
		doc.Paragraph(doc.Line(summary(c))),
		doc.Details{Title: doc.Line("Scores by threshold"), Blocks: []doc.Block{t}},
	}
}

// bars stand for shares from 0 to 1 in eighths.
var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a share over the thresholds from 0 to 1, with a dot for 0 of 0.
func sparkline(c *detect.Curve, of func(detect.Point) *float64) string {
	var b strings.Builder
	for i := range steps + 1 {
		share := of(at(c, float64(i)/steps))
		if share == nil {
			b.WriteRune('·')
			continue
		}
		b.WriteRune(bars[min(len(bars)-1, int(*share*float64(len(bars))))])
	}
	return b.String()
}

// summary is the curve in a sentence.
func summary(c *detect.Curve) string {
	text := fmt.Sprintf("average precision %s", figure(c.AveragePrecision))
	if c.Best != nil {
		text += fmt.Sprintf("; best F1 %s from threshold %s on", figure(c.Best.F1), figure(&c.Best.Threshold))
	}
	if c.Missing > 0 {
		text += fmt.Sprintf("; %d of %d without a score", c.Missing, c.Missing+c.N)
	}
	return text
}

// at returns what the threshold t gives: the point of the least threshold that
// some score reaches, from t on. Above the highest score nothing is found.
func at(c *detect.Curve, t float64) detect.Point {
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
