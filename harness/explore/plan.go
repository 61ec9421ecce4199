package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// familyBudget is the approximate number of calls and writes in the runs of one family. Beyond it,
// the plan skips calls or shares runs between writes. A small machine needs a minute for it, and a
// golden path of fifty calls a tenth of it.
const familyBudget = 300_000

// tick is the smallest difference between two times. Virtual time counts whole nanoseconds, and a
// limit fires at its exact instant, so a limit ± one tick is the last answer in time and the first
// one too late.
const tick = time.Nanosecond

// item is one run of a plan.
type item struct {
	family result.Family
	ps     []perturb.Perturbation
}

// plan contains the runs that can be planned from the golden path alone; pairs depend on the
// results of single faults.
type plan struct {
	items []item
	left  []string
}

// omit records why something is not in the plan.
func (p *plan) omit(format string, args ...any) {
	p.left = append(p.left, fmt.Sprintf(format, args...))
}

func (p *plan) add(family result.Family, ps ...perturb.Perturbation) {
	p.items = append(p.items, item{family, ps})
}

// planOf plans the families, in the order of the calls, writes and turns. A budget of 0 is
// unlimited.
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
		case result.Tools:
			p.tools(golden, budget)
		case result.Crashes:
			p.crashes(golden, budget)
		case result.Users:
			p.users(golden)
		case result.Outages, result.Pairs: // planned later, from the results of single faults
		}
	}
	return p
}

// faults plans each call × each fault.
func (p *plan) faults(golden *path, budget int) {
	kinds := faultsOf(golden, p)
	if len(golden.stored) > 0 {
		p.omit("%s: requests about files and batches are not perturbed (%s); `storage:` in the script has faults for them",
			result.Faults, strings.Join(golden.stored, ", "))
	}
	slow := p.waits(golden, result.Faults, slices.ContainsFunc(kinds, golden.hangs), golden.patience(), budget)
	for _, n := range p.some(result.Faults, len(golden.calls), len(kinds)*golden.work(), budget) {
		for _, f := range kinds {
			if golden.hangs(f) && !slow(n) {
				continue
			}
			p.add(result.Faults, fault(n, f))
		}
	}
}

func fault(n int, f mocks.Fault) perturb.Perturbation {
	return perturb.Perturbation{At: perturb.Call, N: n, Do: f.Kind, Fault: &f}
}

// statusKind is the kind of fault that has a variant for each status.
const statusKind = "status"

// dripKind is the kind of fault that delays each chunk by one second by default.
const dripKind = "slow-drip"

// statuses returns the statuses that a client must distinguish: rejected key, wait, wait for a
// given time, and the errors of servers and proxies.
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

// hanging lists the kinds of fault that last until a timeout.
var hanging = []string{"timeout", "hang", "hang-after-output", "ignore-sigterm"}

// faultsOf returns the faults that apply to a call of the golden path.
func faultsOf(golden *path, p *plan) []mocks.Fault {
	var all []mocks.Fault
	var waited []string
	for _, kind := range golden.points.Faults {
		switch {
		case kind == statusKind:
			all = append(all, statuses()...)
		case golden.realTime && slices.Contains(hanging, kind) && !golden.impatient():
			waited = append(waited, kind)
		case golden.realTime && kind == dripKind:
			all = append(all, mocks.Fault{Kind: kind, Delay: quantity.Duration(10 * time.Millisecond)})
		default:
			all = append(all, mocks.Fault{Kind: kind})
		}
	}
	if len(waited) > 0 {
		p.omit("%s: skipped in real time, because no time limit is at most %s; set a shorter one to include it",
			strings.Join(waited, ", "), longest)
	}
	return all
}

// latency plans each call at each limit, just below and just above it.
func (p *plan) latency(golden *path, budget int) {
	firsts := golden.latencies()
	if len(firsts) == 0 {
		p.omit("%s: the agent has no time limit", result.Latency)
		return
	}
	slow := func(int) bool { return true }
	if golden.realTime {
		slow = p.waits(golden, result.Latency, true, slices.Max(firsts), budget)
		if len(firsts) == 1 {
			p.omit("%s: above the limit: skipped in real time, because no time limit is at most %s", result.Latency, longest)
		}
	}
	for _, n := range p.some(result.Latency, len(golden.calls), len(firsts)*golden.work(), budget) {
		for _, first := range firsts {
			if slow(n) {
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

// some returns the numbers from 1 to n, or an evenly spread selection with the first and the last,
// if the budget is too small for the work of all.
func (p *plan) some(family result.Family, n, work, budget int) []int {
	keep := n
	if budget > 0 {
		keep = min(n, max(2, budget/max(1, work)))
	}
	if keep < n {
		p.omit("%s: %d of %d calls, evenly spread, because the path is long; --thorough perturbs all of them", family, keep, n)
	}
	return spread(n, keep)
}

// spread returns keep numbers from 1 to n, evenly spread.
func spread(n, keep int) []int {
	numbers := make([]int, keep)
	for i := range numbers {
		numbers[i] = 1 + i*(n-1)/max(1, keep-1)
	}
	return numbers
}

// crashes plans a crash before and after each write, and a full disk at each. On a long path
// several crashes share a run: the k-th run crashes at the k-th write and at every multiple of the
// number of runs after it, so that each write is hit once. This is the group testing of Dorfman,
// "The Detection of Defective Members of Large Populations" (1943), by arithmetic progressions,
// which a perturbation can express. Shrinking splits a failed group.
func (p *plan) crashes(golden *path, budget int) {
	switch {
	case golden.points.NoWrites != "":
		p.omit("%s: %s", result.Crashes, golden.points.NoWrites)
		return
	case golden.writes == 0:
		p.omit("%s: nothing was written", result.Crashes)
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

// leastEvery is the smallest distance of crashes in one run; closer crashes prevent any progress.
const leastEvery = 10

// groupBudgetDivisor reduces the budget of a path that is too long, because each further crash in a
// run costs a twentieth of a run.
const groupBudgetDivisor = 4

// groupsOf returns the number of runs that share the writes.
func groupsOf(writes, work, budget int) int {
	if budget == 0 || writes*work <= budget {
		return writes
	}
	return min(writes, max(leastEvery, budget/(work*groupBudgetDivisor)))
}

// users plans each turn × each action of a user.
func (p *plan) users(golden *path) {
	if golden.points.NoTurns != "" {
		p.omit("%s: %s", result.Users, golden.points.NoTurns)
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

// firstTurn returns the first turn at which an action is possible: the first turn starts the
// conversation, so nothing was answered or shown before it.
func firstTurn(kind string) int {
	switch kind {
	case perturb.Double, perturb.Restart:
		return 1
	case perturb.Stale:
		return 3
	}
	return 2
}
