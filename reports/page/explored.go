package page

import (
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// exploration returns an exploration.
func (b *Builder) exploration(r *result.Exploration) doc.Section {
	d := reports.ExplorationDocument(r, func(perturb ...[]string) string { return b.runOf(r.Scenario, perturb...) })
	d.Name = doc.Line(doc.Quote(r.Scenario).To(b.linkTo(r.Scenario)))
	return d.Section()
}

// runOf returns the place of the first recorded run with one of the perturbations; empty
// without one.
func (b *Builder) runOf(golden string, lists ...[]string) string {
	for _, perturb := range lists {
		if id, ok := b.perturbed[key(golden, perturb)]; ok && len(perturb) > 0 {
			return id
		}
	}
	return ""
}
