package explore

import (
	"math/rand/v2"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Pairs of faults are chosen by a covering design. A path of twenty calls has a hundred thousand
// pairs of faults, so the design only covers each pair of kinds and each pair of calls: a defect
// that needs two faults seldom depends on both. A run covers one pair of kinds and one pair of
// calls, so the larger of the two numbers of pairs is the minimal number of runs, and pairing the
// two shuffled lists reaches it.

// pairing is a design with its coverage.
type pairing struct {
	items []item
	// kinds and calls count the covered pairs of each, plannedKinds and plannedCalls all of them.
	kinds, calls               int
	plannedKinds, plannedCalls int
}

// pairsOf chooses at most limit pairs of single faults. continues reports whether the path continued
// after a fault, so that a second one can happen; nil means unknown.
func pairsOf(kinds []mocks.Fault, calls, limit int, seed uint64, continues func(perturb.Perturbation) bool) pairing {
	random := rand.New(rand.NewPCG(seed, uint64(calls)))
	kindPairs := productOf(len(kinds))
	callPairs := orderedOf(calls)
	random.Shuffle(len(kindPairs), func(i, j int) { kindPairs[i], kindPairs[j] = kindPairs[j], kindPairs[i] })
	random.Shuffle(len(callPairs), func(i, j int) { callPairs[i], callPairs[j] = callPairs[j], callPairs[i] })
	d := pairing{plannedKinds: len(kindPairs), plannedCalls: len(callPairs)}
	if len(callPairs) == 0 || len(kindPairs) == 0 {
		return d
	}
	open := newQueue(callPairs)
	for _, k := range kindPairs {
		if len(d.items) == limit {
			break
		}
		at, ok := open.take(func(calls [2]int) bool {
			return continues == nil || continues(fault(calls[0], kinds[k[0]]))
		})
		if !ok {
			continue // no call continues after the first of these kinds
		}
		d.kinds++
		d.add(fault(at[0], kinds[k[0]]), fault(at[1], kinds[k[1]]))
	}
	d.rest(kindPairs, kinds, limit, open, continues)
	d.calls = open.taken
	return d
}

// rest covers the pairs of calls that remain after all pairs of kinds are covered.
func (d *pairing) rest(kindPairs [][2]int, kinds []mocks.Fault, limit int, open *queue, continues func(perturb.Perturbation) bool) {
	for i := 0; i < len(open.fresh) && len(d.items) < limit; {
		at := open.fresh[i]
		k := slices.IndexFunc(kindPairs, func(k [2]int) bool {
			return continues == nil || continues(fault(at[0], kinds[k[0]]))
		})
		if k < 0 {
			i++
			continue
		}
		d.add(fault(at[0], kinds[kindPairs[k][0]]), fault(at[1], kinds[kindPairs[k][1]]))
		kindPairs = append(append(slices.Clone(kindPairs[:k]), kindPairs[k+1:]...), kindPairs[k]) // the others first
		open.fresh = slices.Delete(open.fresh, i, i+1)
		open.taken++
	}
}

// attemptPairsOf chooses at most limit pairs of faults of a path's only call: the first fails it, and the
// second hits the next attempt. Each fault is the first once if it can be, and the second once.
func attemptPairsOf(firsts, seconds []mocks.Fault, limit int, seed uint64) pairing {
	d := pairing{plannedKinds: len(firsts) * len(seconds), plannedCalls: 1}
	if len(firsts) == 0 || len(seconds) == 0 {
		return d
	}
	random := rand.New(rand.NewPCG(seed, 1))
	firsts, seconds = slices.Clone(firsts), slices.Clone(seconds)
	random.Shuffle(len(firsts), func(i, j int) { firsts[i], firsts[j] = firsts[j], firsts[i] })
	random.Shuffle(len(seconds), func(i, j int) { seconds[i], seconds[j] = seconds[j], seconds[i] })
	for i := range min(limit, max(len(firsts), len(seconds))) {
		d.add(fault(1, firsts[i%len(firsts)]), fault(1, seconds[i%len(seconds)]))
	}
	d.kinds, d.calls = len(d.items), 1
	return d
}

func (d *pairing) add(first, second perturb.Perturbation) {
	d.items = append(d.items, item{result.Pairs, []perturb.Perturbation{first, second}})
}

// productOf returns all pairs of n items, in both orders and with themselves.
func productOf(n int) (all [][2]int) {
	for i := range n {
		for j := range n {
			all = append(all, [2]int{i, j})
		}
	}
	return all
}

// orderedOf returns all pairs of calls in which the first precedes the second.
func orderedOf(calls int) (all [][2]int) {
	for i := 1; i <= calls; i++ {
		for j := i + 1; j <= calls; j++ {
			all = append(all, [2]int{i, j})
		}
	}
	return all
}

// queue returns pairs of calls: first each unused one, then each again.
type queue struct {
	fresh, used [][2]int
	taken       int // fresh ones that were
}

func newQueue(all [][2]int) *queue { return &queue{fresh: slices.Clone(all)} }

// take returns the first suitable pair.
func (q *queue) take(suits func([2]int) bool) ([2]int, bool) {
	if i := slices.IndexFunc(q.fresh, suits); i >= 0 {
		pair := q.fresh[i]
		q.fresh = slices.Delete(q.fresh, i, i+1)
		q.used = append(q.used, pair)
		q.taken++
		return pair, true
	}
	if i := slices.IndexFunc(q.used, suits); i >= 0 {
		pair := q.used[i]
		q.used = append(slices.Delete(q.used, i, i+1), pair)
		return pair, true
	}
	return [2]int{}, false
}
