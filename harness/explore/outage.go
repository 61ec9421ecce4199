package explore

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// lasting is the number of attempts that a lasting fault affects. Agents give up long before; an
// agent that does not must survive it.
const lasting = 20

// outages repeats the faults that one retry healed, so that they last until the agent gives up the
// call. It must then report the failure, and its work must be resumable. Of the statuses it takes
// one that means "later", with and without a time.
func (e *explorer) outages(p *plan) []item {
	if !e.wants(result.Outages) {
		return nil
	}
	singles := e.items
	if !e.wants(result.Faults) { // no results to build on
		var all plan
		all.faults(&e.path, e.budget())
		singles, p.left = all.items, append(p.left, all.left...)
	}
	return e.outagesOf(p, singles)
}

// outagesOf returns the outages of the single faults that are not known to end the path.
func (e *explorer) outagesOf(p *plan, singles []item) []item {
	healed := slices.DeleteFunc(slices.Clone(singles), func(run item) bool { return run.family != result.Faults || !e.healed(run.ps[0]) })
	if len(healed) == 0 {
		p.omit("%s: the agent repeats no call that failed", result.Outages)
	}
	if e.path.realTime && e.budget() > 0 {
		healed = e.shortOutages(p, healed)
	}
	var items []item
	for _, run := range healed {
		f := *run.ps[0].Fault
		f.Times = max(lasting, 2*e.path.points.Attempts)
		items = append(items, item{result.Outages, []perturb.Perturbation{fault(run.ps[0].N, f)}})
	}
	return items
}

// shortOutages selects the outages of an agent that may pause in real time between its attempts.
func (e *explorer) shortOutages(p *plan, healed []item) (short []item) {
	slow := p.waits(&e.path, result.Outages, len(healed) > 0, outageWait, e.budget())
	var skipped []string
	for _, run := range healed {
		switch kind := run.ps[0].Do; {
		case slices.Contains(lastingInReal, kind) && slow(run.ps[0].N):
			short = append(short, run)
		case !slices.Contains(lastingInReal, kind) && !slices.Contains(skipped, kind):
			skipped = append(skipped, kind)
		}
	}
	if len(skipped) > 0 {
		p.omit("%s of %s: skipped, because an agent may pause in real time between its attempts; --thorough includes them",
			result.Outages, strings.Join(skipped, ", "))
	}
	return short
}

// healed reports whether the agent is known to have survived a fault by a retry.
func (e *explorer) healed(p perturb.Perturbation) bool {
	if p.Fault.Kind == statusKind && p.Fault.Status != 503 && p.Fault.RetryAfter == 0 {
		return false // one status that means "later" is enough
	}
	retried, known := e.retried[p.String()]
	return !known || retried && !e.ended[p.String()]
}

// settle replaces a lasting fault by one that lasts as many attempts as the agent made, which gives
// the same run and can be repeated. It returns false if the agent tried once, or the fault cannot
// show: those runs belong to another family.
func (e *explorer) settle(run *item, cell *result.Cell, j *harness.Judged) bool {
	p := run.ps[0]
	switch {
	case cell.Fired >= p.Fault.Times || cell.Outcome != result.Unfired:
		return true
	case cell.Fired <= 1:
		return false
	}
	f := *p.Fault
	f.Times = cell.Fired
	run.ps = []perturb.Perturbation{fault(p.N, f)}
	cell.Perturb = texts(run.ps)
	cell.Findings = slices.DeleteFunc(cell.Findings, unfiredPerturbation)
	cell.Outcome = outcomeOf(slices.DeleteFunc(slices.Clone(j.Findings), unfiredPerturbation), &j.Facts, &e.golden.Facts)
	return true
}
