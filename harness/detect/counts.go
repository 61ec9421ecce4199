package detect

import (
	"math"

	"github.com/rehearse-dev/rehearse/stat"
)

// Total returns the number of items.
func (c Counts) Total() int { return c.TP + c.FP + c.FN + c.TN }

func (c *Counts) add(actual, detected bool) {
	switch {
	case actual && detected:
		c.TP++
	case detected:
		c.FP++
	case actual:
		c.FN++
	default:
		c.TN++
	}
}

func (c Counts) scores(resamples int, seed uint64) Scores {
	cells := []int{c.TP, c.FP, c.FN, c.TN}
	return Scores{
		Counts:    c,
		Precision: proportion(c.TP, c.TP+c.FP),
		Recall:    proportion(c.TP, c.TP+c.FN),
		FPR:       proportion(c.FP, c.FP+c.TN),
		F1:        valueOf(stat.Bootstrap(cells, cellsF1, resamples, seed, stat.Level)),
	}
}

// cellsF1 returns the F1 score of the counts TP, FP and FN; further counts are ignored.
func cellsF1(cells []int) float64 { return f1(cells[0], cells[1], cells[2]) }

// f1 returns the harmonic mean of precision and recall, computed without either. It is NaN only if
// there was nothing to find and nothing was found.
func f1(tp, fp, fn int) float64 { return float64(2*tp) / float64(2*tp+fp+fn) }

func proportion(k, n int) Value { return valueOf(stat.Proportion(k, n, stat.Level)) }

// valueOf converts a summary to its JSON form.
func valueOf(s stat.Summary) Value {
	v := Value{N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	v.Value = number(s.Value)
	return v
}

// number returns nil for NaN and infinities.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// ratio returns k/n, or nil for 0 of 0.
func ratio(k, n int) *float64 { return number(float64(k) / float64(n)) }
