package explore

import (
	"maps"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// An agent in another process runs in real time: an answer that takes a minute takes a minute. The
// plan of such an agent contains fewer waits, and bounds their sum.
const (
	// longest is the longest time that a call may hang in real time.
	longest = 10 * time.Second
	// slowAnswer is the latency of an answer that an agent with a longer time limit must wait for.
	slowAnswer = 5 * time.Second
	// realMargin is the distance of a latency above a limit in real time.
	realMargin = time.Second
	// waitBudget limits the sum of the waits in the runs of one family.
	waitBudget = 2 * time.Minute
	// outageWait is the approximate time for which a client repeats a call that keeps failing. The
	// libraries of OpenAI and Anthropic give up after about two seconds by default.
	outageWait = 5 * time.Second
)

// lastingInReal lists the outages of an agent in real time, one of each sort: a status, a
// connection that breaks, no answer at all, a program that fails, and an answer that cannot be used.
var lastingInReal = []string{statusKind, "reset-before-headers", "timeout", "exit", "invalid-tool-arguments"}

// impatient reports whether the agent gives up a hanging call soon enough to wait for it.
func (p *path) impatient() bool {
	patience := p.patience()
	return patience > 0 && patience <= longest
}

// hangs reports whether a run with this fault waits in real time until a limit.
func (p *path) hangs(f mocks.Fault) bool {
	return p.realTime && slices.Contains(hanging, f.Kind)
}

// latencies returns the latencies to try: in virtual time one tick below and above each limit; in
// real time an answer well within the shortest limit, and one beyond it if that is short.
func (p *path) latencies() (firsts []time.Duration) {
	if p.realTime {
		limit := p.patience()
		if limit == 0 {
			return nil
		}
		firsts = []time.Duration{min(limit/2, slowAnswer)}
		if p.impatient() {
			firsts = append(firsts, limit+realMargin)
		}
		return firsts
	}
	for _, limit := range slices.Compact(slices.Sorted(maps.Values(p.points.Timeouts))) {
		firsts = append(firsts, limit-tick, limit+tick)
	}
	return firsts
}

// waits returns whether the runs of a family that wait that long in real time are planned at call n:
// at all calls, or at an evenly spread selection if the sum of the waits is too long.
func (p *plan) waits(golden *path, family result.Family, waiting bool, each time.Duration, budget int) func(n int) bool {
	calls := len(golden.calls)
	keep := calls
	if waiting && golden.realTime && budget > 0 && each > 0 {
		keep = min(calls, max(2, int(waitBudget/each)))
	}
	if keep == calls {
		return func(int) bool { return true }
	}
	p.omit("%s: runs that wait up to %s: at %d of %d calls, because they take real time; --thorough perturbs all of them",
		family, each, keep, calls)
	chosen := spread(calls, keep)
	return func(n int) bool { return slices.Contains(chosen, n) }
}

// forecast returns how many runs there are at most, and how long they wait.
func (e *explorer) forecast(p *plan) Forecast {
	var later []item
	if e.wants(result.Outages) {
		var all plan
		all.faults(&e.path, e.budget())
		later = e.outagesOf(&plan{}, all.items)
	}
	later = append(later, e.pairs(&plan{}).items...)
	f := Forecast{Runs: len(p.items), Later: len(later), RealTime: e.path.realTime}
	if e.opts.MaxRuns > 0 {
		f.Runs = min(f.Runs, e.opts.MaxRuns)
		f.Later = min(f.Later, e.opts.MaxRuns-f.Runs)
	}
	for _, run := range slices.Concat(p.items, later) {
		f.Wait += e.path.wait(run)
	}
	return f
}

// wait returns how long a run waits in real time because of its perturbations, if the agent waits for
// the whole Retry-After or until its own timeout.
func (p *path) wait(run item) (all time.Duration) {
	if !p.realTime {
		return 0
	}
	for i := range run.ps {
		switch one := &run.ps[i]; {
		case run.family == result.Outages:
			all += outageWait
		case one.First > 0:
			all += min(one.First.Std(), p.patience())
		case one.At == perturb.Tool && (one.Do == "hang" || one.Do == "malformed"):
			all += p.patience()
		case one.Fault != nil && p.hangs(*one.Fault):
			all += p.patience()
		case one.Fault != nil:
			all += one.Fault.RetryAfter.Std()
		}
	}
	return all
}
