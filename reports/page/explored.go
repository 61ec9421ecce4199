package page

import (
	"fmt"
	"strings"

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

// explorationLine counts the perturbed runs by outcome.
func explorationLine(list []result.Exploration) string {
	counts, total := map[result.Outcome]int{}, 0
	for i := range list {
		total += len(list[i].Cells)
		for o, n := range list[i].Count() {
			counts[o] += n
		}
	}
	judged := counts[result.Survived] + counts[result.Degraded] + counts[result.Failed] + counts[result.Unfired]
	var parts []string
	add := func(n int, words string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	add(counts[result.Survived], "survived")
	add(counts[result.Degraded], "degraded")
	parts = append(parts, fmt.Sprintf("%d failed", counts[result.Failed]))
	add(counts[result.Unfired], "could not happen")
	add(total-judged, "no verdict") // as has an outcome of a later version
	return "Off the golden path " + count(total, "run") + ": " + strings.Join(parts, ", ")
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
