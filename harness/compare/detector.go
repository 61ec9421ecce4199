package compare

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/stat"
)

// stopF1 is the measure of the stop guard on the labelled answers of all scenarios.
const stopF1 = "stop_f1"

// outcomes counts labelled answers by label and by the judgement of each side. The index is 4 for
// an answer that defers, plus 2 if it was refused before, plus 1 if it is refused now.
type outcomes [8]int

// compareDetector compares the stop guard on the answers that have the same label on both sides. An
// answer counts once, because further trials repeat its text.
func (c *comparing) compareDetector(before, after Baseline) {
	var cells outcomes
	total, left := 0, 0
	for i := range after.Scenarios {
		a := &after.Scenarios[i]
		b, ok := before.Find(a.Name)
		if !ok || b.Stops == "" && a.Stops == "" {
			continue
		}
		total++
		if !cells.add(b.Stops, a.Stops) {
			left++
		}
	}
	if total == 0 {
		return
	}
	if left > 0 {
		c.find("", info("labels",
			"the labelled answers of %d of %d scenarios have changed and are excluded from the comparison of detectors", left, total))
	}
	lost, gained := cells.wrong()
	if lost+gained == 0 {
		if left < total {
			c.result.Equal++
		}
		return
	}
	c.f1(&cells, lost, gained)
}

// add adds the judgements of a scenario. It returns false and adds nothing if the labels differ.
func (o *outcomes) add(before, now string) bool {
	if len(before) != len(now) {
		return false
	}
	var add outcomes
	for i := range len(now) {
		defers, was, ok1 := letter(before[i])
		same, is, ok2 := letter(now[i])
		if !ok1 || !ok2 || defers != same {
			return false
		}
		cell := 0
		for _, bit := range []bool{defers, was, is} {
			cell *= 2
			if bit {
				cell++
			}
		}
		add[cell]++
	}
	for i, n := range add {
		o[i] += n
	}
	return true
}

// letter decodes an outcome of measure.StopFacts.
func letter(b byte) (defers, refused, ok bool) {
	i := strings.IndexByte("NpnP", b)
	return i >= 2, i%2 == 1, i >= 0
}

// wrong counts the answers that only one side judged correctly.
func (o *outcomes) wrong() (lost, gained int) {
	for cell, n := range o {
		actual, was, is := cell&4 != 0, cell&2 != 0, cell&1 != 0
		switch {
		case was == actual && is != actual:
			lost += n
		case was != actual && is == actual:
			gained += n
		}
	}
	return lost, gained
}

// f1 adds the comparison of the two F1 scores.
func (c *comparing) f1(cells *outcomes, lost, gained int) {
	resamples := cmp.Or(c.options.Resamples, defaultResamples)
	side := func(bit int) measure.Value {
		return summed(stat.Bootstrap(cells[:], func(cells []int) float64 { return f1Of(cells, bit) }, resamples, c.options.Seed, stat.Level))
	}
	d := stat.Bootstrap(cells[:], func(cells []int) float64 { return f1Of(cells, 1) - f1Of(cells, 2) },
		resamples, c.options.Seed, c.level())
	x := Comparison{Measure: stopF1, Rule: Detector, Verdict: Insufficient, Before: side(2), After: side(1)}
	difference := summed(d)
	x.Effect = &difference
	t := &test{
		family: family{name: stopF1}, p: stat.McNemar(lost, gained), least: min(1, math.Ldexp(1, 1-lost-gained)), extreme: min(lost, gained) == 0,
		effect: d, toward: float64(gained - lost), margin: c.rules.Margin, higher: true, unit: format.Points,
		noun: "labelled answer", fewest: stat.LeastPairs,
		seen: fmt.Sprintf("%d answers were judged correctly only before, and %d only now", lost, gained),
	}
	if d.Value*t.toward < 0 {
		x.Why, t = t.seen+", but F1 moved the other way", nil
	}
	c.add(x, t)
}

// f1Of returns the F1 score of a side, given its bit in the index.
func f1Of(cells []int, bit int) float64 {
	right, wrong := 0, 0
	for cell, n := range cells {
		switch actual, refused := cell&4 != 0, cell&bit != 0; {
		case actual && refused:
			right += n
		case actual != refused:
			wrong += n
		}
	}
	return float64(2*right) / float64(2*right+wrong)
}

func summed(s stat.Summary) measure.Value {
	v := measure.Value{Name: stopF1, Known: true, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if !math.IsNaN(s.Value) {
		v.Value = &s.Value
	}
	return v
}
