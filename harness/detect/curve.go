package detect

import "slices"

// bins is the resolution of the curve: a score is counted in the bin of the largest threshold
// i/bins that it reaches.
const bins = 1000

// curve counts scores in bins of one thousandth.
type curve struct {
	positive, negative [bins + 1]int
	n, missing         int
}

// valid returns a copy of a score in [0, 1]; nil for any other.
func valid(score *float64) *float64 {
	if score == nil || !(*score >= 0 && *score <= 1) {
		return nil
	}
	s := *score
	return &s
}

func (c *curve) add(score *float64, actual bool) {
	if score = valid(score); score == nil {
		c.missing++
		return
	}
	c.n++
	if actual {
		c.positive[bin(*score)]++
	} else {
		c.negative[bin(*score)]++
	}
}

// bin returns the largest i with i/bins ≤ score. Rounding can raise the product to the next
// integer, but never lowers it below the threshold that a score equals.
func bin(score float64) int {
	i := int(score * bins)
	if float64(i)/bins > score {
		return i - 1
	}
	return i
}

// result computes the points for falling thresholds: scores in bins at or above the threshold are
// positive.
func (c *curve) result() *Curve {
	if c.n == 0 {
		return nil
	}
	var positives, negatives int
	for i := range c.positive {
		positives += c.positive[i]
		negatives += c.negative[i]
	}
	out := &Curve{N: c.n, Missing: c.missing}
	tp, fp := 0, 0
	area := 0.0
	for i := bins; i >= 0; i-- {
		if c.positive[i] == 0 && c.negative[i] == 0 {
			continue
		}
		tp += c.positive[i]
		fp += c.negative[i]
		area += float64(c.positive[i]) * float64(tp) / float64(tp+fp)
		p := Point{
			Threshold: float64(i) / bins,
			Precision: ratio(tp, tp+fp), Recall: ratio(tp, positives), FPR: ratio(fp, negatives),
		}
		if positives > 0 {
			p.F1 = number(f1(tp, fp, positives-tp))
			if out.Best == nil || *p.F1 > *out.Best.F1 {
				best := p
				out.Best = &best
			}
		}
		out.Points = append(out.Points, p)
	}
	slices.Reverse(out.Points)
	if positives > 0 {
		out.AveragePrecision = number(area / float64(positives))
	}
	return out
}
