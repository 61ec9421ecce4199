// Package logistic fits a weighted logistic regression with a quadratic penalty on its weights.
package logistic

import (
	"context"
	"math"
)

// Problem is a fit to labelled examples. It minimizes
//
//	½‖w − Prior‖² + C·Σ Weight·log(1 + exp(−y·w·x)),  y = ±1
//
// over the rows with a weight above 0. The bias is the last weight, of a column that every row
// has with the value BiasValue.
type Problem struct {
	Rows     []Row
	Positive func(i int) bool
	Weight   []float64 // of each row
	Prior    []float64 // one for each column, and that of the bias
	C        float64
}

// Row has the columns of an example that are not 0.
type Row struct {
	Columns []int32
	Values  []float32
}

// BiasValue makes the penalty on the bias small.
const BiasValue = 10

// Limits of the search.
const (
	maxIterations = 300
	memory        = 10   // pairs of steps and gradients that approximate the curvature
	tolerance     = 1e-3 // of the norm of the gradient, relative to that at the prior
	maxHalvings   = 30
)

// Solve searches from the given start with the limited-memory BFGS method (Nocedal and Wright,
// Numerical Optimization, algorithm 7.4) and a backtracking line search. It returns nil if the
// context ends.
func (p *Problem) Solve(ctx context.Context, start []float64) []float64 {
	w := append([]float64(nil), start...)
	gradient := make([]float64, len(w))
	p.gradient(p.Prior, gradient)
	target := tolerance * norm(gradient)
	loss := p.gradient(w, gradient)
	var steps, changes [][]float64
	direction, next, nextGradient := make([]float64, len(w)), make([]float64, len(w)), make([]float64, len(w))
	for range maxIterations {
		if ctx.Err() != nil {
			return nil
		}
		if norm(gradient) <= target {
			break
		}
		descend(direction, gradient, steps, changes)
		slope := dot(direction, gradient)
		size, nextLoss := 1.0, 0.0
		if len(steps) == 0 {
			size = 1 / norm(gradient)
		}
		accepted := false
		for range maxHalvings {
			for i := range w {
				next[i] = w[i] + size*direction[i]
			}
			nextLoss = p.gradient(next, nextGradient)
			if accepted = nextLoss <= loss+1e-4*size*slope; accepted {
				break
			}
			size /= 2
		}
		if !accepted {
			break // rounding hides any further progress
		}
		step, change := make([]float64, len(w)), make([]float64, len(w))
		for i := range w {
			step[i], change[i] = next[i]-w[i], nextGradient[i]-gradient[i]
		}
		if dot(step, change) > 0 {
			steps, changes = append(steps, step), append(changes, change)
			if len(steps) > memory {
				steps, changes = steps[1:], changes[1:]
			}
		}
		w, next = next, w
		gradient, nextGradient = nextGradient, gradient
		loss = nextLoss
	}
	return w
}

// descend sets direction to the negative gradient times the approximate inverse Hessian.
func descend(direction, gradient []float64, steps, changes [][]float64) {
	for i, g := range gradient {
		direction[i] = -g
	}
	alpha := make([]float64, len(steps))
	for k := len(steps) - 1; k >= 0; k-- {
		alpha[k] = dot(steps[k], direction) / dot(steps[k], changes[k])
		add(direction, -alpha[k], changes[k])
	}
	if k := len(steps) - 1; k >= 0 {
		scale := dot(steps[k], changes[k]) / dot(changes[k], changes[k])
		for i := range direction {
			direction[i] *= scale
		}
	}
	for k := range steps {
		beta := dot(changes[k], direction) / dot(steps[k], changes[k])
		add(direction, alpha[k]-beta, steps[k])
	}
}

// gradient sets g to the gradient at w and returns the loss.
func (p *Problem) gradient(w, g []float64) float64 {
	loss := 0.0
	for i := range w {
		d := w[i] - p.Prior[i]
		g[i] = d
		loss += d * d / 2
	}
	bias := len(w) - 1
	for i := range p.Rows {
		weight := p.Weight[i]
		if weight == 0 {
			continue
		}
		z := Score(&p.Rows[i], w)
		y := -1.0
		if p.Positive(i) {
			y = 1
		}
		loss += p.C * weight * softplus(-y*z)
		pull := -p.C * weight * y / (1 + math.Exp(y*z))
		r := &p.Rows[i]
		for k, column := range r.Columns {
			g[column] += pull * float64(r.Values[k])
		}
		g[bias] += pull * BiasValue
	}
	return loss
}

// Score returns w·x.
func Score(r *Row, w []float64) float64 {
	z := w[len(w)-1] * BiasValue
	for k, column := range r.Columns {
		z += w[column] * float64(r.Values[k])
	}
	return z
}

// softplus returns log(1 + exp(x)) without overflow.
func softplus(x float64) float64 {
	return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
}

// Probability returns the probability of log-odds.
func Probability(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func norm(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// add adds factor·b to a.
func add(a []float64, factor float64, b []float64) {
	for i := range a {
		a[i] += factor * b[i]
	}
}
