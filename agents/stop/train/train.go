// Package train fits the weights of the stop guard to labelled messages: a logistic regression
// for each class over stop.Features, validated on groups of messages that the weights have not
// seen.
package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/learned"
	"github.com/rehearse-dev/rehearse/internal/logistic"
)

// Example is a labelled message.
type Example struct {
	Message string
	// Request is the user's request; empty if unknown.
	Request string
	Class   stop.Class
	// Group is the repository or team that the message comes from. Validation leaves out whole
	// groups.
	Group string
	// Weight is at least 0: lower for a doubtful label.
	Weight float64
	// Clear is true if any careful person would agree with the label. The threshold of the
	// strict policy is chosen on such examples.
	Clear bool
	// Must is true for an example that is not validated, but has to be judged right: its weight
	// grows until it is.
	Must bool
}

// Options configures a fit. The zero value has the documented defaults.
type Options struct {
	// C is the weight of the examples against the penalty on large weights, above 0; 0 means 1.
	C float64
	// MinGroups is the number of groups that must have a run of words for it to get a weight; 0
	// means 3. Weights thus do not depend on the phrases of one author.
	MinGroups int
	// Without is the weight, relative to the example, of a copy of each example without its
	// request; negative means none, 0 means 0.5. It teaches the weights what to do when the
	// request is unknown.
	Without float64
	// Groups are the groups of features that get weights; all if empty.
	Groups []stop.FeatureGroup
	// Prior are weights to start from; the penalty is on the difference. nil means 0.
	Prior *stop.Weights
	// Workers is the number of fits at once; 0 means one for each CPU.
	Workers int
}

func (o Options) filled() (Options, error) {
	if o.C == 0 {
		o.C = 1
	}
	if !(o.C > 0) || math.IsInf(o.C, 0) {
		return o, fmt.Errorf("fit: c must be above 0, got %g", o.C)
	}
	if o.MinGroups == 0 {
		o.MinGroups = 3
	}
	if o.Without == 0 {
		o.Without = 0.5
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return o, nil
}

// Set is a set of examples, ready to be fitted.
type Set struct {
	options  Options
	examples []Example
	rows     []logistic.Row
	owner    []int  // the example of each row
	full     []bool // the row has the request that its example has
	weight   []float64
	named    map[string]int32
	hashed   map[uint32]int32
	priors   [learned.Classes][]float64
}

// classes are the classes in the order of the weights.
var classes = [learned.Classes]stop.Class{stop.Defers, stop.Asks, stop.Suggests, stop.Clean}

// provisional is the threshold before one is chosen; margin is how far beyond it an example
// that must be judged right has to be. Each of up to rounds fits doubles the weights of those
// that are not.
const (
	provisional = 0.42
	margin      = 0.1
	rounds      = 8
)

// NewSet computes the features of examples. It is an error if a label is unknown, or if there
// are fewer than two groups or no message that defers.
func NewSet(examples []Example, o Options) (*Set, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	s := &Set{options: o, examples: examples, named: map[string]int32{}, hashed: map[uint32]int32{}}
	if err := s.check(); err != nil {
		return nil, err
	}
	type variant struct {
		owner int
		full  bool
	}
	var variants []variant
	for i := range examples {
		variants = append(variants, variant{i, true})
	}
	if o.Without > 0 {
		for i, e := range examples {
			if e.Request != "" {
				variants = append(variants, variant{i, false})
			}
		}
	}
	features := make([][]stop.Feature, len(variants))
	parallel(o.Workers, len(variants), func(n int) {
		e := examples[variants[n].owner]
		if !variants[n].full {
			e.Request = ""
		}
		features[n] = slices.DeleteFunc(stop.Features(e.Message, e.Request), func(f stop.Feature) bool {
			return len(o.Groups) > 0 && !slices.Contains(o.Groups, f.Group)
		})
	})
	s.columns(features[:len(examples)])
	for n, v := range variants {
		e := examples[v.owner]
		weight := e.Weight
		if !v.full {
			weight *= o.Without
		}
		s.rows = append(s.rows, s.newRow(features[n]))
		s.owner, s.full, s.weight = append(s.owner, v.owner), append(s.full, v.full), append(s.weight, weight)
	}
	s.setPriors()
	return s, nil
}

func (s *Set) check() error {
	groups, found := map[string]bool{}, map[stop.Class]int{}
	for i, e := range s.examples {
		if !slices.Contains(classes[:], e.Class) {
			return fmt.Errorf("fit: example %d has the label %q; choose from %q", i+1, e.Class, classes)
		}
		if !(e.Weight >= 0) || math.IsInf(e.Weight, 0) {
			return fmt.Errorf("fit: example %d has the weight %g, which is not finite and at least 0", i+1, e.Weight)
		}
		if !e.Must {
			groups[e.Group] = true
			found[e.Class]++
		}
	}
	if len(groups) < 2 {
		return errors.New("fit: at least two groups of messages are needed, to measure how the weights generalize")
	}
	if n := found[stop.Defers]; n == 0 || n == len(s.examples) {
		return errors.New("fit: both messages that defer and others are needed")
	}
	return nil
}

// columns gives a column to each feature with a name, and to each hashed one that enough groups have.
func (s *Set) columns(features [][]stop.Feature) {
	groups := map[uint32]map[string]bool{}
	names := map[string]bool{}
	for i, list := range features {
		e := &s.examples[i]
		for _, f := range list {
			switch {
			case f.Name != "":
				names[f.Name] = true
			case !e.Must:
				if groups[f.Hash] == nil {
					groups[f.Hash] = map[string]bool{}
				}
				if len(groups[f.Hash]) < s.options.MinGroups {
					groups[f.Hash][e.Group] = true
				}
			}
		}
	}
	for hash, in := range groups {
		if len(in) < s.options.MinGroups {
			delete(groups, hash)
		}
	}
	if s.options.Prior != nil {
		for _, hash := range s.options.Prior.Keys() {
			groups[hash] = nil
		}
		for name := range s.options.Prior.Named {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		s.named[name] = int32(len(s.named))
	}
	for _, hash := range slices.Sorted(maps.Keys(groups)) {
		s.hashed[hash] = int32(len(s.named) + len(s.hashed))
	}
}

func (s *Set) newRow(features []stop.Feature) logistic.Row {
	var r logistic.Row
	for _, f := range features {
		column, ok := s.named[f.Name]
		if f.Name == "" {
			column, ok = s.hashed[f.Hash]
		}
		if ok && f.Value != 0 {
			r.Columns, r.Values = append(r.Columns, column), append(r.Values, float32(f.Value))
		}
	}
	return r
}

// width is the number of weights of a class.
func (s *Set) width() int { return len(s.named) + len(s.hashed) + 1 }

func (s *Set) setPriors() {
	for c := range s.priors {
		s.priors[c] = make([]float64, s.width())
	}
	prior := s.options.Prior
	if prior == nil {
		return
	}
	for c := range s.priors {
		for name, column := range s.named {
			s.priors[c][column] = prior.Named[name][c]
		}
		for hash, column := range s.hashed {
			weights, _ := prior.Hashed(hash)
			s.priors[c][column] = weights[c]
		}
		s.priors[c][s.width()-1] = prior.Bias[c] / logistic.BiasValue
	}
}

// model has the weights of each class; nil for a class that was not fitted.
type model [learned.Classes][]float64

// fit fits the first n classes to the examples that are not in the group left out, which is
// nil for none. It returns false if the context ends. The search starts at the prior: from the
// weights of all examples it would end before it has forgotten the group.
func (s *Set) fit(ctx context.Context, n int, left *string) (model, bool) {
	var m model
	for c := range n {
		p := logistic.Problem{
			Rows: s.rows, Weight: slices.Clone(s.weight), Prior: s.priors[c], C: s.options.C,
			Positive: func(i int) bool { return s.examples[s.owner[i]].Class == classes[c] },
		}
		for i := range p.Weight {
			if e := s.examples[s.owner[i]]; left != nil && !e.Must && e.Group == *left {
				p.Weight[i] = 0
			}
		}
		m[c] = s.insist(ctx, &p, c == 0)
		if m[c] == nil {
			return m, false
		}
	}
	return m, true
}

// insist solves the problem, again with doubled weights of the examples that must be judged
// right and are not.
func (s *Set) insist(ctx context.Context, p *logistic.Problem, insist bool) []float64 {
	w := p.Solve(ctx, p.Prior)
	for range rounds {
		if w == nil || !insist {
			return w
		}
		wrong := false
		for i := range s.rows {
			if !s.examples[s.owner[i]].Must {
				continue
			}
			probability := logistic.Probability(logistic.Score(&s.rows[i], w))
			if p.Positive(i) && probability < provisional+margin || !p.Positive(i) && probability > provisional-margin {
				p.Weight[i] *= 2
				wrong = true
			}
		}
		if !wrong {
			return w
		}
		w = p.Solve(ctx, w)
	}
	return w
}

// parallel calls do for 0 to n-1, by several workers.
func parallel(workers, n int, do func(int)) {
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
}
