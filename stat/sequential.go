package stat

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
)

// Spending is a function that distributes the probability of a false alarm over interim looks at
// the data (Lan and DeMets, Discrete Sequential Boundaries for Clinical Trials, Biometrika 70,
// 1983): at a share t of the data, no more has been spent than the function allows, whatever the
// number and times of the looks.
type Spending string

// The spending functions, for two-sided tests.
const (
	// OBrienFleming is 4·(1 - Φ(z/√t)), where z is the normal quantile of 1 - alpha/4. Its bounds
	// are near those of O'Brien and Fleming (Biometrics 35, 1979): almost nothing is spent early,
	// and the last look is almost a test without interim looks.
	OBrienFleming Spending = "obrien-fleming"
	// Pocock is alpha·ln(1 + (e - 1)·t), near the bounds of Pocock (Biometrika 64, 1977),
	// which are about the same at every look.
	Pocock Spending = "pocock"
)

// Spent returns how much of alpha may be spent by a share t of the data, in [0, 1].
func (s Spending) Spent(alpha, t float64) float64 {
	switch {
	case t <= 0:
		return 0
	case t >= 1:
		return alpha
	case s == Pocock:
		return alpha * math.Log(1+(math.E-1)*t)
	default:
		z := -normalQuantile(alpha / 4)
		return min(alpha, 4*normalSurvival(z/math.Sqrt(t)))
	}
}

// Sequential is a plan of interim looks. Each look makes a two-sided test, at levels that together
// raise a false alarm with a probability of at most alpha. The last look spends the rest of alpha,
// whatever its share of the data. It is safe for concurrent use.
type Sequential struct {
	spending Spending
	times    []float64
	table    func() levels
	known    sync.Map // levels by alpha
}

// NewSequential returns the plan of looks at these shares of the data, ascending and in (0, 1]. A
// last share below 1 is valid if the reason to end is unrelated to the observed differences, such
// as a cap on cost. A plan of one look is an ordinary test. It panics if the shares are invalid.
func NewSequential(spending Spending, times []float64) *Sequential {
	for i, t := range times {
		if !(t > 0 && t <= 1) || i > 0 && t <= times[i-1] {
			panic(fmt.Sprintf("stat: NewSequential: shares must ascend in (0, 1], got %v", times))
		}
	}
	if len(times) == 0 {
		panic("stat: NewSequential: at least 1 look is required")
	}
	s := &Sequential{spending: spending, times: slices.Clone(times)}
	s.table = sync.OnceValue(s.tabulate)
	return s
}

// Last reports whether a look, counted from 0, is the last one of the plan.
func (s *Sequential) Last(look int) bool { return look == len(s.times)-1 }

// Spent returns how much of alpha is spent by a look, counted from 0.
func (s *Sequential) Spent(alpha float64, look int) float64 {
	if s.Last(look) {
		return alpha
	}
	return s.spending.Spent(alpha, s.times[look])
}

// Levels returns the two-sided levels of the looks' tests: with independent increments of normal
// data they spend exactly Spent (Armitage, McPherson and Rowe, Journal of the Royal Statistical
// Society A 132, 1969; Jennison and Turnbull, Group Sequential Methods, 2000, chapter 19). For
// other tests they replace alpha, as in chapter 11 of the book.
func (s *Sequential) Levels(alpha float64) []float64 {
	if known, ok := s.known.Load(alpha); ok {
		return slices.Clone(known.([]float64))
	}
	all := s.levels(alpha)
	s.known.Store(alpha, all)
	return slices.Clone(all)
}

func (s *Sequential) levels(alpha float64) []float64 {
	if len(s.times) == 1 {
		return []float64{s.Spent(alpha, 0)}
	}
	out, walk, before := make([]float64, len(s.times)), walk{}, 0.0
	for k, t := range s.times {
		spent := s.Spent(alpha, k)
		bound := walk.bound(t, spent-before)
		out[k] = min(1, 2*normalSurvival(bound/math.Sqrt(t)))
		walk.next(t, bound, 0)
		before = spent
	}
	return out
}

// Adjust converts the p-value of one look's test to one that is valid for any number of looks: the
// smallest alpha whose plan rejects there (a repeated p-value, chapter 9 of the book). look counts
// from 0. Differences below 10⁻⁷ are ignored.
func (s *Sequential) Adjust(look int, p float64) float64 {
	if len(s.times) == 1 {
		return p
	}
	table := s.table()
	at := table.at[look]
	i := sort.SearchFloat64s(at, p) // the first level that is at least p
	switch {
	case i == 0:
		return table.alphas[0]
	case i == len(at):
		return 1
	}
	// Between two entries the relation is nearly straight in logarithms.
	share := (math.Log(p) - math.Log(at[i-1])) / (math.Log(at[i]) - math.Log(at[i-1]))
	if math.IsNaN(share) { // both underflow to 0
		share = 1
	}
	lo, hi := math.Log(table.alphas[i-1]), math.Log(table.alphas[i])
	return min(1, math.Exp(lo+share*(hi-lo)))
}

// levels contains the levels of every look for a list of alphas, ascending.
type levels struct {
	alphas []float64
	at     [][]float64 // by look
}

// tabulate runs once, because a level takes a millisecond.
func (s *Sequential) tabulate() levels {
	const perDecade, decades = 8, 7
	table := levels{at: make([][]float64, len(s.times))}
	for i := range perDecade*decades + 1 {
		alpha := math.Pow(10, float64(i)/perDecade-decades)
		table.alphas = append(table.alphas, alpha)
		for k, level := range s.levels(alpha) {
			if n := len(table.at[k]); n > 0 { // keep the order despite rounding
				level = max(level, table.at[k][n-1])
			}
			table.at[k] = append(table.at[k], level)
		}
	}
	return table
}

// Power returns the probability that the plan finds an effect by its last look, in the right
// direction. drift is the effect divided by its standard error with all of the data.
func (s *Sequential) Power(alpha, drift float64) float64 {
	found, _ := s.crossings(alpha, drift)
	return found
}

// Share returns the mean share of the data at which the plan ends, if it ends at the first
// rejection, for a drift as in Power.
func (s *Sequential) Share(alpha, drift float64) float64 {
	_, share := s.crossings(alpha, drift)
	return share
}

func (s *Sequential) crossings(alpha, drift float64) (up, share float64) {
	levels, walk, left := s.Levels(alpha), walk{}, 1.0
	for k, t := range s.times {
		bound := -normalQuantile(levels[k]/2) * math.Sqrt(t)
		above, below := walk.beyond(t, bound, drift), walk.under(t, bound, drift)
		up += above
		share += (above + below) * t
		left -= above + below
		walk.next(t, bound, drift)
	}
	return up, share + max(0, left)*s.times[len(s.times)-1]
}

// walk is a Brownian motion that has not crossed its bounds yet, represented by its density at the
// nodes of a quadrature. The zero value is at 0 at time 0.
type walk struct {
	time    float64
	at      []float64
	density []float64 // times the weight of the node
}

// beyond returns the probability of being above the bound at time t, having stayed inside before.
func (w *walk) beyond(t, bound, drift float64) (p float64) {
	sd, mean := math.Sqrt(t-w.time), drift*(t-w.time)
	if w.at == nil {
		return normalSurvival((bound - mean) / sd)
	}
	for i, x := range w.at {
		p += w.density[i] * normalSurvival((bound-x-mean)/sd)
	}
	return p
}

// under returns the probability of being below -bound.
func (w *walk) under(t, bound, drift float64) (p float64) {
	sd, mean := math.Sqrt(t-w.time), drift*(t-w.time)
	if w.at == nil {
		return normalCDF((-bound - mean) / sd)
	}
	for i, x := range w.at {
		p += w.density[i] * normalCDF((-bound-x-mean)/sd)
	}
	return p
}

// widest is the largest bound, in standard deviations: beyond it probabilities underflow.
const widest = 30

// bound returns the bound such that the probability outside ±bound at time t is outside.
func (w *walk) bound(t, outside float64) float64 {
	lo, hi := 0.0, widest*math.Sqrt(t)
	if outside <= 0 {
		return hi
	}
	for range 60 {
		mid := (lo + hi) / 2
		if 2*w.beyond(t, mid, 0) > outside {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// next advances to time t and drops the paths outside ±bound.
func (w *walk) next(t, bound, drift float64) {
	sd := math.Sqrt(t - w.time)
	mean := drift * (t - w.time)
	// Ten standard deviations contain all relevant probability.
	lo, hi := max(-bound, -10*math.Sqrt(t)+min(0, drift*t)), min(bound, 10*math.Sqrt(t)+max(0, drift*t))
	if !(lo < hi) {
		*w = walk{time: t, at: []float64{}, density: []float64{}}
		return
	}
	at, density := nodes(lo, hi, sd)
	scale := 1 / (sd * math.Sqrt(2*math.Pi))
	for i, x := range at {
		sum := 0.0
		if w.at == nil {
			sum = bell((x - mean) / sd)
		}
		for j, y := range w.at {
			sum += w.density[j] * bell((x-y-mean)/sd)
		}
		density[i] *= sum * scale
	}
	*w = walk{time: t, at: at, density: density}
}

func bell(z float64) float64 { return math.Exp(-z * z / 2) }

// nodes returns Gauss-Legendre nodes between lo and hi with their weights: enough for functions as
// smooth as a normal density with this deviation.
func nodes(lo, hi, sd float64) (at, weight []float64) {
	const step, most = 16, 256
	n := min(most, 2*step+step*int(2.5*(hi-lo)/sd/step+1))
	rule, ok := legendre.Load(n)
	if !ok {
		at, weight := make([]float64, n), make([]float64, n)
		quad.Legendre{}.FixedLocations(at, weight, -1, 1)
		rule, _ = legendre.LoadOrStore(n, [2][]float64{at, weight})
	}
	unit := rule.([2][]float64)
	at, weight = make([]float64, n), make([]float64, n)
	half := (hi - lo) / 2
	for i := range at {
		at[i], weight[i] = lo+half*(1+unit[0][i]), half*unit[1][i]
	}
	return at, weight
}

// legendre caches nodes and weights on [-1, 1] by their number.
var legendre sync.Map
