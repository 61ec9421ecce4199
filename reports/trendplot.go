package reports

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// TrendPlots returns a plot of each measure of a trend, with confidence intervals and breaks.
func TrendPlots(t *history.Trend) []doc.Block {
	var blocks []doc.Block
	for i := range t.Series {
		s := &t.Series[i]
		points := make([]plot.TrendPoint, len(s.Values))
		for k, v := range s.Values {
			run := &t.Runs[k]
			points[k] = plot.TrendPoint{
				Value: orNaN(v.Value), Lo: orNaN(v.Lo), Hi: orNaN(v.Hi), Tone: verdictTone(run.Verdict), Break: k > 0 && breaks(t, s, k),
				Name: cmp.Or(history.ShortCommit(run.Commit, run.Dirty), run.At.Format("01-02")),
			}
		}
		blocks = append(blocks, plot.Trend(s.Name, points, func(v float64) string { return amount(s, v) }))
	}
	return blocks
}
