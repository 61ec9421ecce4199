package detection

import (
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/score"
)

// steps is how many thresholds a picture of the curve shows.
const steps = 50

// curve draws precision, recall and F1 over the threshold, and its best point.
func (v *view) curve(c *score.Curve) {
	if c == nil {
		return
	}
	v.line("")
	ruler := []rune(strings.Repeat(" ", steps+3))
	for _, mark := range []string{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0"} {
		var t float64
		_, _ = fmt.Sscan(mark, &t)
		copy(ruler[int(math.Round(t*steps)):], []rune(mark))
	}
	v.line("threshold  " + string(ruler))
	for _, line := range []struct {
		name string
		of   func(score.Point) *float64
	}{
		{"precision", func(p score.Point) *float64 { return p.Precision }},
		{"recall", func(p score.Point) *float64 { return p.Recall }},
		{"F1", func(p score.Point) *float64 { return p.F1 }},
	} {
		v.line(fmt.Sprintf("%-9s  %s", line.name, sparkline(c, line.of)))
	}
	v.line(summary(c))
}

// bars stand for shares from 0 to 1 in eighths.
var bars = []rune("▁▂▃▄▅▆▇█")

// sparkline draws a share over the thresholds from 0 to 1, with a dot for 0 of 0.
func sparkline(c *score.Curve, of func(score.Point) *float64) string {
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

// summary says what the curve comes to.
func summary(c *score.Curve) string {
	text := fmt.Sprintf("average precision %s", figure(c.AveragePrecision))
	if c.Best != nil {
		text += fmt.Sprintf("; best F1 %s from threshold %s on", figure(c.Best.F1), figure(&c.Best.Threshold))
	}
	if c.Missing > 0 {
		text += fmt.Sprintf("; %d of %d without a score", c.Missing, c.Missing+c.N)
	}
	return text
}
