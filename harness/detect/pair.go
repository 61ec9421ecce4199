package detect

import (
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// Pair compares two detectors on the same items in constant memory. It is not safe for concurrent
// use.
type Pair struct {
	options ScoreOptions
	names   [2]string
	items   int
	cells   outcomes
}

// outcomes counts items by label and by both predictions, at index 4·actual + 2·a + b.
type outcomes [8]int

// NewPair returns an empty comparison of the detectors named a and b. It uses the options Kind,
// Positive, Resamples and Seed, and panics if they are invalid.
func NewPair(a, b string, o ScoreOptions) *Pair {
	if err := o.Validate(); err != nil {
		panic(err)
	}
	return &Pair{options: o.filled(), names: [2]string{a, b}}
}

// Add adds an item. It ignores an item without a label, or on which either detector failed.
func (p *Pair) Add(item Item, a, b Prediction, errA, errB error) {
	p.items++
	if errA != nil || errB != nil || !slices.Contains(p.options.Kind.Labels(), item.Label) {
		return
	}
	cell := 0
	for _, yes := range []bool{p.options.positive(item), a.Positive, b.Positive} {
		cell *= 2
		if yes {
			cell++
		}
	}
	p.cells[cell]++
}

// Comparison compares detector B with detector A on the same items.
type Comparison struct {
	A string `json:"a"`
	B string `json:"b"`
	// Items were added; N of them were judged by both.
	Items int `json:"items"`
	N     int `json:"n"`
	// Both, OnlyA, OnlyB and Neither count the items that were judged correctly.
	Both    int `json:"both_right"`
	OnlyA   int `json:"only_a_right"`
	OnlyB   int `json:"only_b_right"`
	Neither int `json:"neither_right"`
	// P is the exact two-sided p-value of McNemar's test of equal error rates; nil without items.
	P *float64 `json:"mcnemar_p"`
	// The differences are B minus A, with the interval of a paired bootstrap.
	Precision Value `json:"precision_difference"`
	Recall    Value `json:"recall_difference"`
	F1        Value `json:"f1_difference"`
}

// Result returns the comparison so far. It may be called repeatedly.
func (p *Pair) Result() Comparison {
	c := Comparison{A: p.names[0], B: p.names[1], Items: p.items}
	for cell, n := range p.cells {
		actual, a, b := cell&4 != 0, cell&2 != 0, cell&1 != 0
		switch {
		case a == actual && b == actual:
			c.Both += n
		case a == actual:
			c.OnlyA += n
		case b == actual:
			c.OnlyB += n
		default:
			c.Neither += n
		}
		c.N += n
	}
	if c.N > 0 {
		c.P = number(stat.McNemar(c.OnlyA, c.OnlyB))
	}
	difference := func(score func(Counts) float64) Value {
		return valueOf(stat.Bootstrap(p.cells[:], func(cells []int) float64 {
			a, b := sides(cells)
			return score(b) - score(a)
		}, p.options.Resamples, p.options.Seed, stat.Level))
	}
	c.Precision = difference(func(c Counts) float64 { return share(c.TP, c.TP+c.FP) })
	c.Recall = difference(func(c Counts) float64 { return share(c.TP, c.TP+c.FN) })
	c.F1 = difference(func(c Counts) float64 { return f1(c.TP, c.FP, c.FN) })
	return c
}

// share returns k/n, NaN for 0 of 0.
func share(k, n int) float64 {
	if n == 0 {
		return math.NaN()
	}
	return float64(k) / float64(n)
}

// sides returns the confusion matrix of each detector.
func sides(cells []int) (a, b Counts) {
	of := func(bit int) Counts {
		var c Counts
		for cell, n := range cells {
			switch actual, found := cell&4 != 0, cell&bit != 0; {
			case actual && found:
				c.TP += n
			case found:
				c.FP += n
			case actual:
				c.FN += n
			default:
				c.TN += n
			}
		}
		return c
	}
	return of(2), of(1)
}
