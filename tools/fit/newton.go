package main

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// problem is a logistic regression over some rows and those columns that enough
// of them have:
//
//	f(w) = Σ s·log(1 + exp(-y·x·w)) + λ/2·Σ (w - prior)²
//
// with s the weight of a row, y its class as ±1, and the bounds lo ≤ w ≤ hi. The
// intercept is the last weight; its penalty is negligible.
type problem struct {
	rows    []row // with columns of this problem
	columns []int // of data, ascending
	lo, hi  []float64
	prior   []float64 // within the bounds
	lambda  float64
}

func (d *data) problem(list []int) *problem {
	p := &problem{}
	items, _ := d.support(list)
	to := make([]int, len(d.signals))
	for c, n := range items {
		to[c] = -1
		if n >= d.options.MinSupport {
			to[c] = len(p.columns)
			p.columns = append(p.columns, c)
			p.lo, p.hi, p.prior = append(p.lo, d.lo[c]), append(p.hi, d.hi[c]), append(p.prior, d.prior[c])
		}
	}
	p.lo, p.hi = append(p.lo, math.Inf(-1)), append(p.hi, math.Inf(1))
	p.prior = append(p.prior, d.prior[len(d.signals)])
	for _, i := range list {
		from := &d.rows[i]
		if from.weight == 0 {
			continue
		}
		r := row{positive: from.positive, weight: from.weight}
		for k, c := range from.columns {
			if to[c] >= 0 {
				r.columns, r.values = append(r.columns, to[c]), append(r.values, from.values[k])
			}
		}
		p.rows = append(p.rows, r)
	}
	return p
}

// dot returns the log-odds of a row.
func (r *row) dot(w []float64) float64 {
	x := w[len(w)-1]
	for k, c := range r.columns {
		x += w[c] * r.values[k]
	}
	return x
}

// ridge returns the penalty of weight j. That of the intercept only makes it finite if all
// rows are of one class.
func (p *problem) ridge(j int) float64 {
	if j == len(p.columns) {
		return 1e-6
	}
	return p.lambda
}

// point is a vector of weights with the value there and its derivatives.
type point struct {
	w, gradient []float64
	hessian     *mat.SymDense
	value       float64
}

// at evaluates the function in one pass over the rows.
func (p *problem) at(w []float64) point {
	n := len(w)
	gradient, hessian := make([]float64, n), make([]float64, n*n) // only its upper triangle
	value := 0.0
	for i := range p.rows {
		r := &p.rows[i]
		x := r.dot(w)
		e := math.Exp(-math.Abs(x)) // in (0, 1]: nothing below overflows
		share := 1 / (1 + e)
		if x < 0 {
			share = e * share
		}
		value += r.weight * (max(x, 0) + math.Log1p(e))
		slope, curvature := r.weight*share, r.weight*share*(1-share)
		if r.positive {
			value -= r.weight * x // log(1+exp(x)) - x = log(1+exp(-x))
			slope -= r.weight
		}
		gradient[n-1] += slope
		hessian[n*n-1] += curvature
		for k, c := range r.columns {
			v := r.values[k]
			gradient[c] += slope * v
			line := hessian[c*n : (c+1)*n]
			line[n-1] += curvature * v
			for m := k; m < len(r.columns); m++ {
				line[r.columns[m]] += curvature * v * r.values[m]
			}
		}
	}
	for j, v := range w {
		away := v - p.prior[j]
		value += p.ridge(j) / 2 * away * away
		gradient[j] += p.ridge(j) * away
		hessian[j*n+j] += p.ridge(j)
	}
	return point{w, gradient, mat.NewSymDense(n, hessian), value}
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// minimise returns the only minimum, starting from w, and whether it converged. It is
// Newton's method on the free weights, with the others at their bounds, and steps that are
// halved until the value falls enough (projected Newton; Bertsekas, SIAM Journal on Control
// and Optimization 20, 1982).
func (p *problem) minimise(w []float64) (point, bool) {
	const (
		rounds    = 100
		tolerance = 1e-5 // of the slope; weights are rounded to far less
	)
	start := make([]float64, len(w))
	for j := range w {
		start[j] = p.within(j, w[j])
	}
	here := p.at(start)
	for range rounds {
		free, steepest := p.free(here)
		if steepest <= tolerance {
			return here, true
		}
		direction, ok := newton(here, free)
		if !ok {
			return here, false
		}
		next, ok := p.step(here, direction)
		if !ok {
			// No step lowers the value: the slope is only rounding.
			return here, steepest <= 1e-3
		}
		here = next
	}
	return here, false
}

// free returns the weights that are not blocked by a bound, and the steepest slope among
// them.
func (p *problem) free(at point) (free []int, steepest float64) {
	for j, g := range at.gradient {
		if !p.bound(at, j) {
			free = append(free, j)
			steepest = max(steepest, math.Abs(g))
		}
	}
	return free, steepest
}

// bound reports whether a bound blocks a weight.
func (p *problem) bound(at point, j int) bool {
	return at.w[j] <= p.lo[j] && at.gradient[j] > 0 || at.w[j] >= p.hi[j] && at.gradient[j] < 0
}

// within limits weight j to its bounds. A weight very near a bound is moved onto it: no
// step from there could be long enough to lower the value.
func (p *problem) within(j int, v float64) float64 {
	const near = 1e-9
	switch {
	case v < p.lo[j]+near:
		return p.lo[j]
	case v > p.hi[j]-near:
		return p.hi[j]
	}
	return v
}

// newton solves for the step of the free weights.
func newton(at point, free []int) ([]float64, bool) {
	part := mat.NewSymDense(len(free), nil)
	slope := mat.NewVecDense(len(free), nil)
	for i, a := range free {
		slope.SetVec(i, -at.gradient[a])
		for j := i; j < len(free); j++ {
			part.SetSym(i, j, at.hessian.At(a, free[j]))
		}
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(part) {
		return nil, false
	}
	var solved mat.VecDense
	if err := cholesky.SolveVecTo(&solved, slope); err != nil {
		return nil, false // nearly singular
	}
	direction := make([]float64, len(at.w))
	for i, a := range free {
		direction[a] = solved.AtVec(i)
	}
	return direction, true
}

// step returns a point along the direction, within the bounds, whose value is lower by
// enough (Armijo's rule).
func (p *problem) step(from point, direction []float64) (point, bool) {
	for size := 1.0; size > 1e-12; size /= 2 {
		w := make([]float64, len(from.w))
		promised := 0.0
		for j := range w {
			w[j] = p.within(j, from.w[j]+size*direction[j])
			promised += from.gradient[j] * (w[j] - from.w[j])
		}
		if promised >= 0 {
			continue
		}
		if next := p.at(w); next.value <= from.value+1e-4*promised {
			return next, true
		}
	}
	return point{}, false
}
