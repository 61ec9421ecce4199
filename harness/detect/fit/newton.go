package fit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// problem is a logistic regression over some rows and those columns that enough
// of them have:
//
//	f(w) = Σ s·log(1 + exp(-y·x·w)) + λ/2·Σ w²
//
// with s the weight of a row, y its class as ±1, and the bounds lo ≤ w ≤ hi. The
// intercept is the last weight and as good as not penalised.
type problem struct {
	rows    []row // with columns of this problem
	columns []int // of data, rising
	lo, hi  []float64
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
			p.lo, p.hi = append(p.lo, d.lo[c]), append(p.hi, d.hi[c])
		}
	}
	p.lo, p.hi = append(p.lo, math.Inf(-1)), append(p.hi, math.Inf(1))
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

// start is where to begin: no weights at all.
func (p *problem) start() []float64 { return make([]float64, len(p.columns)+1) }

// dot is the log-odds of a row.
func (r *row) dot(w []float64) float64 {
	x := w[len(w)-1]
	for k, c := range r.columns {
		x += w[c] * r.values[k]
	}
	return x
}

// ridge is the penalty of weight j. The intercept has one that only keeps it
// finite where all rows are of one class.
func (p *problem) ridge(j int) float64 {
	if j == len(p.columns) {
		return 1e-6
	}
	return p.lambda
}

func (p *problem) value(w []float64) float64 {
	sum := 0.0
	for i := range p.rows {
		r := &p.rows[i]
		x := r.dot(w)
		if r.positive {
			x = -x
		}
		sum += r.weight * softplus(x)
	}
	for j, v := range w {
		sum += p.ridge(j) / 2 * v * v
	}
	return sum
}

// softplus is log(1 + exp(x)) without overflow.
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// derivatives are the gradient, and the Hessian in its upper triangle.
func (p *problem) derivatives(w []float64) ([]float64, *mat.SymDense) {
	n := len(w)
	gradient := make([]float64, n)
	hessian := make([]float64, n*n)
	for i := range p.rows {
		r := &p.rows[i]
		at := logistic(r.dot(w))
		error, curvature := r.weight*at, r.weight*at*(1-at)
		if r.positive {
			error -= r.weight
		}
		gradient[n-1] += error
		hessian[n*n-1] += curvature
		for k, c := range r.columns {
			v := r.values[k]
			gradient[c] += error * v
			line := hessian[c*n : (c+1)*n]
			line[n-1] += curvature * v
			for m := k; m < len(r.columns); m++ {
				line[r.columns[m]] += curvature * v * r.values[m]
			}
		}
	}
	for j := range w {
		gradient[j] += p.ridge(j) * w[j]
		hessian[j*n+j] += p.ridge(j)
	}
	return gradient, mat.NewSymDense(n, hessian)
}

// minimise moves w to the minimum, which is the only one, and says whether it got
// there. It is Newton's method on the weights that are free, with the others held
// at their bounds, and a step that is halved until it pays (projected Newton;
// Bertsekas, SIAM Journal on Control and Optimization 20, 1982).
func (p *problem) minimise(w []float64) bool {
	const (
		rounds    = 100
		tolerance = 1e-7 // of the gradient, in rows
	)
	value := p.value(w)
	for range rounds {
		gradient, hessian := p.derivatives(w)
		free, steepest := p.free(w, gradient)
		if steepest <= tolerance {
			return true
		}
		direction, ok := newton(gradient, hessian, free)
		if !ok {
			return false
		}
		next, lower, ok := p.step(w, value, gradient, direction)
		if !ok {
			// No step pays any more: rounding is all that is left of the slope.
			return steepest <= 1e-4
		}
		copy(w, next)
		value = lower
	}
	return false
}

// free lists the weights that may move, and the steepest slope among them: all
// but those that press against a bound.
func (p *problem) free(w, gradient []float64) (free []int, steepest float64) {
	for j, g := range gradient {
		if w[j] <= p.lo[j] && g > 0 || w[j] >= p.hi[j] && g < 0 {
			continue
		}
		free = append(free, j)
		steepest = max(steepest, math.Abs(g))
	}
	return free, steepest
}

// bound says which weights press against a bound.
func (p *problem) bound(w []float64) []bool {
	gradient, _ := p.derivatives(w)
	bound := make([]bool, len(p.columns))
	for j := range bound {
		bound[j] = w[j] <= p.lo[j] && gradient[j] > 0 || w[j] >= p.hi[j] && gradient[j] < 0
	}
	return bound
}

// newton solves for the step of the free weights; the others stay.
func newton(gradient []float64, hessian *mat.SymDense, free []int) ([]float64, bool) {
	part := mat.NewSymDense(len(free), nil)
	slope := mat.NewVecDense(len(free), nil)
	for i, a := range free {
		slope.SetVec(i, -gradient[a])
		for j := i; j < len(free); j++ {
			part.SetSym(i, j, hessian.At(a, free[j]))
		}
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(part) {
		return nil, false
	}
	var solved mat.VecDense
	if err := cholesky.SolveVecTo(&solved, slope); err != nil {
		return nil, false // too close to singular to be trusted
	}
	direction := make([]float64, len(gradient))
	for i, a := range free {
		direction[a] = solved.AtVec(i)
	}
	return direction, true
}

// step walks along the direction, kept within the bounds, until the value falls
// as much as the slope promises (Armijo's rule). It returns where it got to and
// the value there.
func (p *problem) step(w []float64, value float64, gradient, direction []float64) (next []float64, lower float64, ok bool) {
	next = make([]float64, len(w))
	for size := 1.0; size > 1e-12; size /= 2 {
		promised := 0.0
		for j := range w {
			next[j] = min(max(w[j]+size*direction[j], p.lo[j]), p.hi[j])
			promised += gradient[j] * (next[j] - w[j])
		}
		if promised >= 0 {
			continue
		}
		if lower = p.value(next); lower <= value+1e-4*promised {
			return next, lower, true
		}
	}
	return nil, 0, false
}
