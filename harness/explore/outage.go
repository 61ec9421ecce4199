package explore

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// lasting is how many attempts a fault strikes that is to last. Agents give up long
// before; one that does not must come through.
const lasting = 20

// outages plans the faults that a retry healed once more, to last until the agent
// gives the call up: there it must end honestly and so that it can go on later. Of
// statuses it takes one that means "later", with and without a time.
func (e *explorer) outages() []item {
	if !e.wants(survival.Outages) {
		return nil
	}
	var items []item
	for _, run := range e.items {
		p := run.ps[0]
		if run.family != survival.Faults || !e.healed(p) {
			continue
		}
		f := *p.Fault
		f.Times = max(lasting, 2*e.path.points.Attempts)
		items = append(items, item{survival.Outages, []perturb.Perturbation{fault(p.N, f)}})
	}
	return items
}

// healed reports whether the agent came through a fault by asking again.
func (e *explorer) healed(p perturb.Perturbation) bool {
	switch {
	case e.ended[p.String()], !e.retried[p.String()], p.Fault.Kind == statusKind && p.Fault.Status != 503 && p.Fault.RetryAfter == 0:
		return false
	}
	return !e.path.realTime || !slices.Contains(hanging, p.Fault.Kind)
}

// settle makes of a fault that was to last one that lasts exactly as long as the
// agent tried, which is the same run and can be repeated. It reports false if the
// agent tried once: that run is known.
func (e *explorer) settle(run *item, cell *survival.Cell, j *harness.Judged) bool {
	p := run.ps[0]
	if cell.Fired == 0 || cell.Fired >= p.Fault.Times {
		return true
	}
	if cell.Fired == 1 {
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
