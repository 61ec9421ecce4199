package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// smaller returns the perturbations that are one step smaller than ps, the smallest first. The
// caller repeats this with the first one that fails in the same way until there is none: greedy,
// like the delta debugging of Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
// Input" (2002), but over the parts of a perturbation. writes is the number of writes of the golden
// path.
func smaller(ps []perturb.Perturbation, writes int) [][]perturb.Perturbation {
	if len(ps) > 1 {
		var fewer [][]perturb.Perturbation
		for i := range ps {
			fewer = append(fewer, slices.Delete(slices.Clone(ps), i, i+1))
		}
		return fewer
	}
	var all [][]perturb.Perturbation
	for _, p := range ps {
		for _, q := range smallerOne(p, writes) {
			all = append(all, []perturb.Perturbation{q})
		}
	}
	return all
}

func smallerOne(p perturb.Perturbation, writes int) []perturb.Perturbation {
	switch {
	case p.Fault != nil:
		return withoutOption(p)
	case p.Do == perturb.Latency:
		return faster(p)
	case p.Every > 0:
		return halves(p, writes)
	}
	return nil
}

// withoutOption returns p without one of the options of its fault, except the status, which defines the
// fault.
func withoutOption(p perturb.Perturbation) []perturb.Perturbation {
	var all []perturb.Perturbation
	for _, drop := range []func(*mocks.Fault) bool{
		func(f *mocks.Fault) (had bool) { had, f.Times = f.Times > 1, 0; return had },
		func(f *mocks.Fault) (had bool) { had, f.RetryAfter = f.RetryAfter > 0, 0; return had },
		func(f *mocks.Fault) (had bool) { had, f.After = f.After != nil, nil; return had },
		func(f *mocks.Fault) (had bool) { had, f.Delay = f.Delay > 0, 0; return had },
		func(f *mocks.Fault) (had bool) { had, f.Message = f.Message != "", ""; return had },
	} {
		f := *p.Fault
		if drop(&f) {
			q := p
			q.Fault = &f
			all = append(all, q)
		}
	}
	return all
}

// roundLatencies are the latencies that shrinking tries.
var roundLatencies = []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}

// faster returns p with shorter latencies.
func faster(p perturb.Perturbation) []perturb.Perturbation {
	var all []perturb.Perturbation
	for _, latency := range roundLatencies {
		if latency < p.First.Std() {
			q := p
			q.First = quantity.Duration(latency)
			all = append(all, q)
		}
	}
	return all
}

// halves returns the two progressions that together hit the same writes as p, every other one each.
// A progression with a single write has no every.
func halves(p perturb.Perturbation, writes int) []perturb.Perturbation {
	first, second := p, p
	first.Every, second.Every = 2*p.Every, 2*p.Every
	second.N += p.Every
	var all []perturb.Perturbation
	for _, half := range []perturb.Perturbation{first, second} {
		if half.N > writes {
			continue // empty; the other half is p itself
		}
		if half.N+half.Every > writes {
			half.Every = 0
		}
		all = append(all, half)
	}
	return all
}

func texts(ps []perturb.Perturbation) []string {
	all := make([]string, len(ps))
	for i, p := range ps {
		all[i] = p.String()
	}
	return all
}

func key(ps []perturb.Perturbation) string { return strings.Join(texts(ps), " ") }
