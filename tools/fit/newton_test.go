package main

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// At the minimum no weight can move to a lower value: the slope of a free weight
// is 0, and that of one at its bound presses against it (Karush, Kuhn, Tucker).
// The problem is strictly convex, so this is the one minimum.
func TestMinimiseSatisfiesTheConditionsOfAMinimum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		columns := rapid.IntRange(1, 6).Draw(rt, "columns")
		p := &problem{lambda: rapid.SampledFrom([]float64{0.01, 0.3, 5, 100}).Draw(rt, "lambda")}
		for j := range columns + 1 {
			lo, hi := math.Inf(-1), math.Inf(1)
			if j < columns {
				p.columns = append(p.columns, j)
				switch rapid.IntRange(-1, 1).Draw(rt, "sign") {
				case 1:
					lo = 0
				case -1:
					hi = 0
				}
			}
			p.lo, p.hi = append(p.lo, lo), append(p.hi, hi)
			p.prior = append(p.prior, min(max(rapid.Float64Range(-2, 2).Draw(rt, "prior"), lo), hi))
		}
		for range rapid.IntRange(1, 40).Draw(rt, "rows") {
			r := row{positive: rapid.Bool().Draw(rt, "positive"), weight: rapid.Float64Range(0.1, 3).Draw(rt, "weight")}
			for j := range columns {
				if rapid.Bool().Draw(rt, "seen") {
					r.columns, r.values = append(r.columns, j), append(r.values, rapid.Float64Range(-3, 3).Draw(rt, "value"))
				}
			}
			p.rows = append(p.rows, r)
		}
		end, settled := p.minimise(p.prior)
		w := end.w
		if !settled {
			rt.Fatalf("did not settle at %v", w)
		}
		for j, g := range end.gradient {
			switch {
			case w[j] < p.lo[j] || w[j] > p.hi[j]:
				rt.Fatalf("weight %d is %g, out of bounds", j, w[j])
			case w[j] == p.lo[j] && g >= 0, w[j] == p.hi[j] && g <= 0:
			case math.Abs(g) > 1e-4:
				rt.Fatalf("weight %d = %g still has the slope %g", j, w[j], g)
			}
		}
	})
}

// The derivatives agree with differences of the value.
func TestDerivativesAgreeWithDifferences(t *testing.T) {
	p := &problem{
		columns: []int{0, 1}, lambda: 0.7,
		lo: []float64{-9, -9, -9}, hi: []float64{9, 9, 9}, prior: []float64{0.5, 0, -1},
		rows: []row{
			{columns: []int{0, 1}, values: []float64{1.5, -2}, positive: true, weight: 1},
			{columns: []int{1}, values: []float64{0.5}, weight: 2},
			{positive: true, weight: 0.5},
		},
	}
	w := []float64{0.3, -0.4, 0.1}
	here := p.at(w)
	const h = 1e-5
	moved := func(j int, by float64) []float64 {
		v := append([]float64{}, w...)
		v[j] += by
		return v
	}
	for j := range w {
		if slope := (p.at(moved(j, h)).value - p.at(moved(j, -h)).value) / (2 * h); math.Abs(slope-here.gradient[j]) > 1e-8 {
			t.Errorf("slope %d is %g, not %g", j, slope, here.gradient[j])
		}
		up, down := p.at(moved(j, h)).gradient, p.at(moved(j, -h)).gradient
		for k := range w {
			if bend := (up[k] - down[k]) / (2 * h); math.Abs(bend-here.hessian.At(j, k)) > 1e-8 {
				t.Errorf("curvature %d %d is %g, not %g", j, k, bend, here.hessian.At(j, k))
			}
		}
	}
}
