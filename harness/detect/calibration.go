package detect

import (
	"math"

	"github.com/rehearse-dev/rehearse/stat"
)

// calibrationBins is the number of bins of equal width.
const calibrationBins = 10

// unitsPerScore makes scores whole, so that the order of their sum does not matter.
const unitsPerScore = 1e9

// calibration counts items by bin of their score.
type calibration [calibrationBins]struct {
	negative, positive cell
}

type cell struct {
	n   int
	sum int64 // of the scores, in units
}

func (c *cell) mean() float64 {
	if c.n == 0 {
		return 0
	}
	return float64(c.sum) / unitsPerScore / float64(c.n)
}

func (c *calibration) add(score *float64, actual bool) {
	if score = valid(score); score == nil {
		return
	}
	bin := &c[min(int(*score*calibrationBins), calibrationBins-1)]
	at := &bin.negative
	if actual {
		at = &bin.positive
	}
	at.n++
	at.sum += int64(math.Round(*score * unitsPerScore))
}

// result returns nil without scores.
func (c *calibration) result(resamples int, seed uint64) *Calibration {
	out := &Calibration{}
	var counts []int // negative and positive items of each bin
	for i := range c {
		negative, positive := c[i].negative, c[i].positive
		counts = append(counts, negative.n, positive.n)
		n := negative.n + positive.n
		if n == 0 {
			continue
		}
		out.Bins = append(out.Bins, CalibrationBin{
			Lo: float64(i) / calibrationBins, Hi: float64(i+1) / calibrationBins, N: n,
			Score: float64(negative.sum+positive.sum) / unitsPerScore / float64(n), Share: proportion(positive.n, n),
		})
	}
	if out.Bins == nil {
		return nil
	}
	out.Error = valueOf(stat.Bootstrap(counts, c.expectedError, resamples, seed, stat.Level))
	return out
}

// expectedError returns the expected calibration error of resampled counts. Each resampled item
// has the mean score of its bin and label, so a resample costs as little as its counts.
func (c *calibration) expectedError(counts []int) float64 {
	distance, total := 0.0, 0
	for i := range c {
		negatives, positives := counts[2*i], counts[2*i+1]
		expected := float64(negatives)*c[i].negative.mean() + float64(positives)*c[i].positive.mean()
		distance += math.Abs(expected - float64(positives))
		total += negatives + positives
	}
	return distance / float64(total)
}
