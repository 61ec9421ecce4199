package train

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/learned"
	"github.com/rehearse-dev/rehearse/internal/logistic"
)

// Result is a fit and its validation.
type Result struct {
	// Weights are fitted to all examples.
	Weights *stop.Weights
	// Unseen has for each group the weights that were fitted without it. Their thresholds were
	// chosen on the messages of the other groups.
	Unseen map[string]*stop.Weights
}

// Fit fits weights to all examples, and without each group. progress is called after each fit
// with the number of fits done and of all; it may be nil. The context's error is returned if it
// ends.
func (s *Set) Fit(ctx context.Context, progress func(done, all int)) (Result, error) {
	groups := s.groups()
	fits := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		done := 0
		for range fits {
			if done++; progress != nil {
				progress(done, len(groups)+1)
			}
		}
	}()
	all, ok := s.fit(ctx, learned.Classes, nil)
	var models []model
	if ok {
		fits <- struct{}{}
		models = make([]model, len(groups))
		parallel(s.options.Workers, len(groups), func(i int) {
			models[i], _ = s.fit(ctx, learned.Classes, &groups[i])
			fits <- struct{}{}
		})
	}
	close(fits)
	<-finished
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	scores := s.unseen(groups, models)
	r := Result{Weights: s.weights(all), Unseen: map[string]*stop.Weights{}}
	r.Weights.Thresholds = s.thresholds(scores, nil)
	for i, group := range groups {
		w := s.weights(models[i])
		w.Thresholds = s.thresholds(scores, &groups[i])
		r.Unseen[group] = w
	}
	return r, nil
}

// groups returns the groups that are validated, sorted.
func (s *Set) groups() []string {
	found := map[string]bool{}
	for _, e := range s.examples {
		if !e.Must {
			found[e.Group] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// scored is an example with its probability of deferring, by weights that have not seen its group.
type scored struct {
	example *Example
	score   float64
}

// unseen scores the validated examples, each with its request.
func (s *Set) unseen(groups []string, models []model) []scored {
	var all []scored
	for i := range s.rows {
		e := &s.examples[s.owner[i]]
		if e.Must || !s.full[i] {
			continue
		}
		g, _ := slices.BinarySearch(groups, e.Group)
		all = append(all, scored{e, logistic.Probability(logistic.Score(&s.rows[i], models[g][0]))})
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	return all
}

// weights returns a model in the form in which it is stored.
func (s *Set) weights(m model) *stop.Weights {
	w := &stop.Weights{Items: len(s.groupedExamples()), Named: map[string]learned.Row{}}
	rowOf := func(column int32) (r learned.Row) {
		for c := range m {
			r[c] = m[c][column]
		}
		return r
	}
	for name, column := range s.named {
		w.Named[name] = rowOf(column)
	}
	hashed := make(map[uint32]learned.Row, len(s.hashed))
	for hash, column := range s.hashed {
		hashed[hash] = rowOf(column)
	}
	w.SetHashed(hashed)
	for c := range m {
		w.Bias[c] = m[c][s.width()-1] * logistic.BiasValue
	}
	return w
}

func (s *Set) groupedExamples() []Example {
	return slices.DeleteFunc(slices.Clone(s.examples), func(e Example) bool { return e.Must })
}

// The aims of the policies.
const (
	strictRecall     = 0.97
	carefulPrecision = 0.95
	// minPositive is the number of messages that clearly defer from which thresholds are chosen
	// anew; with fewer, those of the prior are kept.
	minPositive = 30
)

// thresholds chooses the thresholds of the policies on the scored examples, without those of
// the group left out. Scores are sorted, the highest first.
func (s *Set) thresholds(all []scored, left *string) learned.Thresholds {
	if left != nil {
		all = slices.DeleteFunc(slices.Clone(all), func(x scored) bool { return x.example.Group == *left })
	}
	positive := 0
	for _, x := range all {
		if x.example.Class == stop.Defers && x.example.Clear {
			positive++
		}
	}
	if prior := s.options.Prior; prior != nil && positive < minPositive {
		return prior.Thresholds
	}
	return learned.Thresholds{Balanced: balanced(all), Strict: strict(all), Careful: careful(all)}
}

// balanced returns the threshold with the best F1 that is to be expected: half of that F1 (Lipton,
// Elkan, Naryanaswamy 2014, theorem 1), which a few messages move less than the best threshold
// itself.
func balanced(all []scored) float64 {
	positive := 0.0
	for _, x := range all {
		if x.example.Class == stop.Defers {
			positive++
		}
	}
	best, right := 0.0, 0.0
	for i, x := range all {
		if x.example.Class == stop.Defers {
			right++
		}
		best = max(best, 2*right/(float64(i+1)+positive))
	}
	return roundThreshold(best / 2)
}

// strict returns the highest threshold that finds enough of the messages that clearly defer.
func strict(all []scored) float64 {
	clear, found := 0, 0
	for _, x := range all {
		if x.example.Clear && x.example.Class == stop.Defers {
			clear++
		}
	}
	for _, x := range all {
		if x.example.Clear && x.example.Class == stop.Defers {
			found++
		}
		if float64(found) >= strictRecall*float64(clear) {
			return roundThreshold(x.score)
		}
	}
	return provisional
}

// careful returns the lowest threshold that refuses precisely enough.
func careful(all []scored) float64 {
	best, right := 1.0, 0
	for i, x := range all {
		if x.example.Class == stop.Defers {
			right++
		}
		if float64(right) >= carefulPrecision*float64(i+1) {
			best = x.score
		}
	}
	return roundThreshold(best)
}

// roundThreshold rounds down to thousandths.
func roundThreshold(t float64) float64 { return max(0.001, float64(int(t*1000))/1000) }
