package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// enough is about how many calls and writes the runs of one family may make
// together before the plan spares some: calls that are left out, writes that share
// a run. It is a minute's work of a small machine, and ten times what a golden path
// of fifty calls needs.
const enough = 300_000

// tick is the smallest difference between two times: virtual time counts whole
// nanoseconds, and a limit fires at the instant it names. A limit ± one tick is
// therefore the last answer in time and the first one too late.
const tick = time.Nanosecond

// longest is how long a call may hang where time is real.
const longest = 10 * time.Second

// item is one run of a plan.
type item struct {
	family result.Family
	ps     []perturb.Perturbation
}

// plan is what can be planned from the golden path alone; pairs rest on what
// single faults did.
type plan struct {
	items []item
	left  []string
}

// leave notes why something is not in the plan.
func (p *plan) leave(format string, args ...any) {
	p.left = append(p.left, fmt.Sprintf(format, args...))
}

func (p *plan) add(family result.Family, ps ...perturb.Perturbation) {
	p.items = append(p.items, item{family, ps})
}

// planOf plans the families, in the order of the calls, writes and turns. A budget
// of 0 has no bounds.
func planOf(golden *path, families []result.Family, budget int) plan {
	var p plan
	for _, f := range result.Families() {
		if len(families) > 0 && !slices.Contains(families, f) {
			continue
		}
		switch f {
		case result.Faults:
			p.faults(golden, budget)
		case result.Latency:
			p.latency(golden, budget)
		case result.Texts:
			p.texts(golden, budget)
		case result.Crashes:
			p.crashes(golden, budget)
		case result.Users:
			p.users(golden)
		}
	}
	return p
}

// faults plans each call × each fault.
func (p *plan) faults(golden *path, budget int) {
	kinds := faultsOf(golden, p)
	for _, n := range p.some(result.Faults, len(golden.calls), len(kinds)*golden.work(), budget) {
		for _, f := range kinds {
			p.add(result.Faults, fault(n, f))
		}
	}
}

func fault(n int, f mocks.Fault) perturb.Perturbation {
	return perturb.Perturbation{At: perturb.Call, N: n, Do: f.Kind, Fault: &f}
}

// statusKind is the kind of fault that has a variant for each status.
const statusKind = "status"

// dripKind is the kind of fault that takes a second for each chunk by default.
const dripKind = "slow-drip"

// statuses are those that a client must tell apart: its key is refused, it is to
// wait, it is to wait for a given time, and what servers and proxies say when they
// cannot.
func statuses() []mocks.Fault {
	return []mocks.Fault{
		{Kind: statusKind, Status: 401},
		{Kind: statusKind, Status: 429},
		{Kind: statusKind, Status: 429, RetryAfter: quantity.Duration(2 * time.Second)},
		{Kind: statusKind, Status: 500},
		{Kind: statusKind, Status: 502},
		{Kind: statusKind, Status: 503},
		{Kind: statusKind, Status: 529},
	}
}

// hanging are the kinds of fault that last until somebody's patience ends.
var hanging = []string{"timeout", "hang", "hang-after-output", "ignore-sigterm"}

// faultsOf are the faults that a call of the golden path can suffer.
func faultsOf(golden *path, p *plan) []mocks.Fault {
	var all []mocks.Fault
	var waited []string
	for _, kind := range golden.points.Faults {
		switch patience := golden.patience(); {
		case kind == statusKind:
			all = append(all, statuses()...)
		case golden.realTime && slices.Contains(hanging, kind) && (patience == 0 || patience > longest):
			waited = append(waited, kind)
		case golden.realTime && kind == dripKind:
			all = append(all, mocks.Fault{Kind: kind, Delay: quantity.Duration(10 * time.Millisecond)})
		default:
			all = append(all, mocks.Fault{Kind: kind})
		}
	}
	if len(waited) > 0 {
		p.leave("%s: time is real here, and no limit of the agent is shorter than %s", strings.Join(waited, ", "), longest)
	}
	return all
}

// latency plans each call as slow as each limit, a tick less and a tick more.
func (p *plan) latency(golden *path, budget int) {
	switch {
	case golden.realTime:
		p.leave("%s: time is real here, and no clock can be set to a tick", result.Latency)
		return
	case len(golden.points.Timeouts) == 0:
		p.leave("%s: the agent has no limit of time", result.Latency)
		return
	}
	limits := slices.Compact(slices.Sorted(maps.Values(golden.points.Timeouts)))
	for _, n := range p.some(result.Latency, len(golden.calls), 2*len(limits)*golden.work(), budget) {
		for _, limit := range limits {
			for _, first := range []time.Duration{limit - tick, limit + tick} {
				p.add(result.Latency, perturb.Perturbation{At: perturb.Call, N: n, Do: perturb.Latency, First: quantity.Duration(first)})
			}
		}
	}
}

// texts plans each call × each change of the answer's text.
func (p *plan) texts(golden *path, budget int) {
	kinds := []string{perturb.TextTruncated, perturb.TextReformat, perturb.TextTranslated, perturb.TextPadded}
	for _, n := range p.some(result.Texts, len(golden.calls), len(kinds)*golden.work(), budget) {
		for _, kind := range kinds {
			p.add(result.Texts, perturb.Perturbation{At: perturb.Call, N: n, Do: kind})
		}
	}
}

// some are the numbers from 1 to n, or as many of them, evenly spread and with the
// first and the last, as the budget allows at that much work for each.
func (p *plan) some(family result.Family, n, work, budget int) []int {
	keep := n
	if budget > 0 {
		keep = min(n, max(2, budget/max(1, work)))
	}
	if keep < n {
		p.leave("%s: %d of %d calls, evenly spread, as the path is long; --thorough takes them all", family, keep, n)
	}
	numbers := make([]int, keep)
	for i := range numbers {
		numbers[i] = 1 + i*(n-1)/max(1, keep-1)
	}
	return numbers
}

// crashes plans a stop before and after each write, and a full disk at each. On a
// long path several share a run: the k-th of them strikes the k-th write and each
// that comes a multiple of the number of runs after it, so that all are struck once.
// This is the group testing of Dorfman, "The Detection of Defective Members of Large
// Populations" (1943), by arithmetic progressions, which a perturbation can say; a
// group that fails is split by shrinking.
func (p *plan) crashes(golden *path, budget int) {
	switch {
	case golden.points.NoWrites != "":
		p.leave("%s: %s", result.Crashes, golden.points.NoWrites)
		return
	case golden.writes == 0:
		p.leave("%s: nothing was written", result.Crashes)
		return
	}
	kinds := []string{perturb.CrashBefore, perturb.CrashAfter, perturb.DiskFull}
	groups := groupsOf(golden.writes, len(kinds)*golden.work(), budget)
	every := 0
	if groups < golden.writes {
		every = groups
	}
	for n := range groups {
		for _, kind := range kinds {
			p.add(result.Crashes, perturb.Perturbation{At: perturb.Write, N: n + 1, Do: kind, Every: every})
		}
	}
}

// leastEvery is the least distance of crashes in one run: closer ones leave a
// process no room to get anywhere.
const leastEvery = 10

// sparing is how much less than the budget a path is granted that exceeds it: a
// crash more in a run costs a twentieth of a run more.
const sparing = 4

// groupsOf is how many runs share the writes.
func groupsOf(writes, work, budget int) int {
	if budget == 0 || writes*work <= budget {
		return writes
	}
	return min(writes, max(leastEvery, budget/(work*sparing)))
}

// users plans each turn × each thing that people do.
func (p *plan) users(golden *path) {
	if golden.points.NoTurns != "" {
		p.leave("%s: %s", result.Users, golden.points.NoTurns)
		return
	}
	kinds := golden.points.Turns
	if len(kinds) == 0 {
		kinds = perturb.Kinds(perturb.Turn)
	}
	for n := 1; n <= golden.turns; n++ {
		for _, kind := range kinds {
			if n >= firstTurn(kind) {
				p.add(result.Users, perturb.Perturbation{At: perturb.Turn, N: n, Do: kind})
			}
		}
	}
}

// firstTurn is the first turn at which people can do so: the first one starts the
// conversation, so that nothing is answered or shown before.
func firstTurn(kind string) int {
	switch kind {
	case perturb.Double, perturb.Restart:
		return 1
	case perturb.Stale:
		return 3
	}
	return 2
}
