package main

import "math"

// fit chooses a penalty and a threshold by cross-validation among the rows of
// list alone, and fits the weights to all of them.
func (d *data) fit(list []int) fitted {
	parts := d.folds(list, innerFolds)
	unseen := make([][]float64, len(d.options.Lambdas)) // score of each row, for each penalty
	for l := range unseen {
		unseen[l] = make([]float64, len(d.rows))
	}
	for _, left := range parts {
		path := d.path(without(list, left))
		for l, s := range path {
			for _, i := range left {
				unseen[l][i] = logistic(d.rows[i].dot(s.weights))
			}
		}
	}
	best, least := 0, math.Inf(1)
	for l := range unseen {
		// Only a lower loss displaces a stronger penalty, which comes first.
		if loss := d.loss(list, unseen[l]); loss < least {
			best, least = l, loss
		}
	}
	path := d.path(list)
	chosen := path[best]
	for _, s := range path[:best+1] { // each started from the one before it
		chosen.converged = chosen.converged && s.converged
	}
	chosen.lambda, chosen.threshold = d.options.Lambdas[best], d.threshold(list, unseen[best])
	return chosen
}

// path fits the weights for each penalty, the strongest first, each starting from the
// weights of the one before it.
func (d *data) path(list []int) []fitted {
	p := d.problem(list)
	var path []fitted
	w := p.prior
	for _, lambda := range d.options.Lambdas {
		p.lambda = lambda
		f := fitted{weights: make([]float64, len(d.signals)+1), bound: make([]bool, len(d.signals))}
		var end point
		end, f.converged = p.minimise(w)
		w = end.w
		for c := range d.signals {
			f.weights[c] = d.rounded(d.prior[c]) // too rare to be fitted
		}
		for j, c := range p.columns {
			f.weights[c], f.bound[c] = d.rounded(w[j]), p.bound(end, j)
		}
		f.weights[len(d.signals)] = d.rounded(w[len(p.columns)])
		path = append(path, f)
	}
	return path
}

// loss returns the weighted logarithmic loss of the scores of unseen rows.
func (d *data) loss(list []int, scores []float64) float64 {
	sum := 0.0
	for _, i := range list {
		r := &d.rows[i]
		p := scores[i]
		if !r.positive {
			p = 1 - p
		}
		sum -= r.weight * math.Log(max(p, 1e-12))
	}
	return sum
}

// threshold returns the hundredth at which F1 over the rows is the highest; of several,
// the middle one.
func (d *data) threshold(list []int, scores []float64) float64 {
	var best []int
	highest := 0.0
	for t := 1; t < 100; t++ {
		var tp, wrong float64
		for _, i := range list {
			r := &d.rows[i]
			switch found := scores[i] >= float64(t)/100; {
			case found && r.positive:
				tp += r.weight
			case found != r.positive:
				wrong += r.weight
			}
		}
		f1 := 2 * tp / (2*tp + wrong)
		switch {
		case f1 > highest:
			best, highest = []int{t}, f1
		case f1 == highest:
			best = append(best, t)
		}
	}
	if highest == 0 { // nothing is ever found, whatever the threshold
		return 0.5
	}
	return float64(best[len(best)/2]) / 100
}
