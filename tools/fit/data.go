package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// row is a sample as numbers. Signals that are 0 are left out, as most are.
type row struct {
	columns  []int // ascending
	values   []float64
	positive bool
	weight   float64
	group    string
}

// data is the samples in the order in which they were given.
type data struct {
	options Options
	signals []string // sorted; the column is the index
	rows    []row
	lo, hi  []float64 // bounds of each weight
	prior   []float64 // of each weight, and of the intercept at last
}

func newData(samples []Sample, o Options) (*data, error) {
	names := map[string]bool{}
	for _, s := range samples {
		for name := range s.Prediction.Signals {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return nil, errors.New("fit: no item has a signal; the detector must report them")
	}
	d := &data{options: o, signals: slices.Sorted(maps.Keys(names))}
	column := map[string]int{}
	for i, name := range d.signals {
		column[name] = i
		lo, hi := math.Inf(-1), math.Inf(1)
		if sign := o.Signs[name]; sign > 0 {
			lo = 0
		} else if sign < 0 {
			hi = 0
		}
		d.lo, d.hi = append(d.lo, lo), append(d.hi, hi)
		d.prior = append(d.prior, min(max(o.Prior.Weights[name], lo), hi))
	}
	d.prior = append(d.prior, o.Prior.Intercept)
	positives := 0
	for _, s := range samples {
		r, err := newRow(s, column, o)
		if err != nil {
			return nil, err
		}
		if r.positive {
			positives++
		}
		d.rows = append(d.rows, r)
	}
	if positives == 0 || positives == len(d.rows) {
		return nil, fmt.Errorf("fit: %d of %d items have a label to find (%q); both kinds are needed", positives, len(d.rows), o.Positive)
	}
	return d, nil
}

func newRow(s Sample, column map[string]int, o Options) (row, error) {
	if labels := detect.Messages.Labels(); !slices.Contains(labels, s.Item.Label) {
		return row{}, fmt.Errorf("fit: item %q has the label %q; choose from %q", s.Item.ID, s.Item.Label, labels)
	}
	r := row{positive: slices.Contains(o.Positive, s.Item.Label), weight: 1, group: s.Item.Repo}
	if r.group == "" {
		r.group = "item " + s.Item.ID
	}
	if o.Weight != nil {
		r.weight = o.Weight(s.Item)
	}
	if !(r.weight >= 0) || math.IsInf(r.weight, 0) {
		return row{}, fmt.Errorf("fit: item %q has the weight %g, which is not finite and at least 0", s.Item.ID, r.weight)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Prediction.Signals)) {
		v := s.Prediction.Signals[name]
		if math.IsNaN(v) || math.Abs(v) > 1e6 {
			return row{}, fmt.Errorf("fit: signal %q of item %q is %g, which is not within ±1e6", name, s.Item.ID, v)
		}
		if v != 0 {
			r.columns = append(r.columns, column[name])
			r.values = append(r.values, v)
		}
	}
	return r, nil
}

// all returns the indexes of all rows.
func (d *data) all() []int {
	list := make([]int, len(d.rows))
	for i := range list {
		list[i] = i
	}
	return list
}

// without returns the indexes of list that are not in left; both are sorted.
func without(list, left []int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(i int) bool {
		_, found := slices.BinarySearch(left, i)
		return found
	})
}

// folds divides the rows of list into n parts of whole groups: the largest group first,
// each into the part with the fewest rows. n = 0 means a part for each group, or someFolds
// if there are many. A group is never on both sides of a fold.
func (d *data) folds(list []int, n int) [][]int {
	groups := map[string][]int{}
	for _, i := range list {
		groups[d.rows[i].group] = append(groups[d.rows[i].group], i)
	}
	if n == 0 {
		if n = len(groups); n > manyGroups {
			n = someFolds
		}
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[b]), len(groups[a])), cmp.Compare(a, b))
	})
	parts := make([][]int, min(n, len(groups)))
	for _, name := range names {
		least := 0
		for i := range parts {
			if len(parts[i]) < len(parts[least]) {
				least = i
			}
		}
		parts[least] = append(parts[least], groups[name]...)
	}
	for _, part := range parts {
		slices.Sort(part)
	}
	return parts
}

// groups returns the number of groups of the rows of list.
func (d *data) groups(list []int) int { return len(d.groupSet(list)) }

func (d *data) groupSet(list []int) map[string]bool {
	set := map[string]bool{}
	for _, i := range list {
		set[d.rows[i].group] = true
	}
	return set
}

// names returns at most five names of groups, sorted.
func (d *data) names(list []int) []string {
	names := slices.Sorted(maps.Keys(d.groupSet(list)))
	return names[:min(len(names), 5)]
}

// support returns the number of rows of list, and of positive ones, with each signal.
func (d *data) support(list []int) (items, positives []int) {
	items, positives = make([]int, len(d.signals)), make([]int, len(d.signals))
	for _, i := range list {
		for _, c := range d.rows[i].columns {
			items[c]++
			if d.rows[i].positive {
				positives[c]++
			}
		}
	}
	return items, positives
}

// model returns the weights to ship.
func (d *data) model(f fitted) Model {
	m := Model{Intercept: f.weights[len(d.signals)], Threshold: f.threshold, Lambda: f.lambda, Weights: map[string]float64{}}
	for i, name := range d.signals {
		if f.weights[i] != 0 {
			m.Weights[name] = f.weights[i]
		}
	}
	return m
}

// table lists the signals with the spread of their weights over the folds.
func (d *data) table(final fitted, folds []fitted) []Weight {
	items, positives := d.support(d.all())
	var list []Weight
	for i, name := range d.signals {
		w := Weight{
			Signal: name, Weight: final.weights[i], Items: items[i], Positives: positives[i],
			Bound: final.bound[i], Rare: items[i] < d.options.MinSupport,
			Lowest: math.Inf(1), Highest: math.Inf(-1),
		}
		sum, squares := 0.0, 0.0
		for _, f := range folds {
			w.Lowest, w.Highest = min(w.Lowest, f.weights[i]), max(w.Highest, f.weights[i])
			sum += f.weights[i]
		}
		mean := sum / float64(len(folds))
		for _, f := range folds {
			squares += (f.weights[i] - mean) * (f.weights[i] - mean)
		}
		w.Deviation = d.rounded(math.Sqrt(squares / float64(len(folds))))
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b Weight) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Weight), math.Abs(a.Weight)), cmp.Compare(a.Signal, b.Signal))
	})
	return list
}

// rounded rounds a weight to its decimals; it never returns -0.
func (d *data) rounded(x float64) float64 {
	scale := math.Pow10(d.options.Digits)
	return math.Round(x*scale)/scale + 0
}

// fitted is a model over the columns of data.
type fitted struct {
	weights           []float64 // rounded; the intercept is the last
	bound             []bool
	lambda, threshold float64
	converged         bool
}

func (f *fitted) predict(r *row) detect.Prediction {
	s := logistic(r.dot(f.weights))
	return detect.Prediction{Positive: s >= f.threshold, Score: &s}
}
