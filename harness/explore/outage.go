package explore

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// lasting is how many attempts a fault strikes that is to last. Agents give up long
// before; one that does not must come through.
const lasting = 20

// outages plans the faults that a retry healed once more, to last until the agent
// gives the call up: there it must end honestly and so that it can go on later. Of
// statuses it takes one that means "later", with and without a time.
func (e *explorer) outages(p *plan) []item {
	switch {
	case !e.wants(result.Outages):
		return nil
	case e.path.realTime:
		p.leave("%s: time is real here, and the pauses between attempts would be, too", result.Outages)
		return nil
	}
	singles := e.items
	if !e.wants(result.Faults) { // nothing is known of them
		var all plan
		all.faults(&e.path, e.budget())
		singles, p.left = all.items, append(p.left, all.left...)
	}
	var items []item
	for _, run := range singles {
		if run.family != result.Faults || !e.healed(run.ps[0]) {
			continue
		}
		f := *run.ps[0].Fault
		f.Times = max(lasting, 2*e.path.points.Attempts)
		items = append(items, item{result.Outages, []perturb.Perturbation{fault(run.ps[0].N, f)}})
	}
	return items
}

// healed reports whether the agent came through a fault by asking again, as far as
// is known.
func (e *explorer) healed(p perturb.Perturbation) bool {
	if p.Fault.Kind == statusKind && p.Fault.Status != 503 && p.Fault.RetryAfter == 0 {
		return false // one that means "later" will do
	}
	retried, known := e.retried[p.String()]
	return !known || retried && !e.ended[p.String()]
}

// settle makes of a fault that was to last one that lasts exactly as long as the
// agent tried, which is the same run and can be repeated. It reports false if the
// agent tried once, or the fault cannot show: those runs are of another family.
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
	unfired := func(f gate.Finding) bool { return f.Rule == unfiredRule }
	cell.Findings = slices.DeleteFunc(cell.Findings, unfired)
	cell.Outcome = outcomeOf(slices.DeleteFunc(slices.Clone(j.Findings), unfired), &j.Facts, &e.golden.Facts)
	return true
}
