package explore

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// unfiredRule is the rule of findings about perturbations that did not happen.
const unfiredRule = "unfired-fault"

// The maximal lengths of the details and evidence in a cell, in characters. The run itself and the
// recording of a failed one are complete.
const maxDetails = 400

func cellOf(run item, j *harness.Judged, golden *measure.Facts) result.Cell {
	c := result.Cell{
		Family:  run.family,
		Perturb: texts(run.ps),
		Outcome: outcomeOf(j.Findings, &j.Facts, golden),
		Status:  j.Facts.Run.Status,
		Details: sanitize.Cut(j.Facts.Run.Details, maxDetails),
		Calls:   j.Facts.Calls.Total,
		Fired:   firedIn(run.ps, &j.Facts),
	}
	for _, f := range j.Findings {
		if f.Severity == gate.Info {
			continue
		}
		f.Evidence, f.Trial = sanitize.Cut(f.Evidence, maxDetails), 0
		c.Findings = append(c.Findings, f)
	}
	return c
}

// outcomeOf derives the outcome from the findings and the end of a run. An unfired perturbation
// comes first, because such a run tests nothing; errors of the harness come before failures of the
// agent.
func outcomeOf(found []gate.Finding, f, golden *measure.Facts) result.Outcome {
	if slices.ContainsFunc(found, unfiredPerturbation) {
		return result.Unfired
	}
	switch gate.VerdictOf(found) {
	case gate.Error, gate.Skip:
		return result.Errored
	case gate.Fail:
		return result.Failed
	case gate.Pass:
	}
	if f.Run.Status == golden.Run.Status && f.Run.ExitCode == golden.Run.ExitCode && answered(f) >= answered(golden) {
		return result.Survived
	}
	return result.Degraded
}

// unfiredPerturbation reports whether a finding is about a perturbation that did not happen, and not about a
// fault of the script that a perturbed run did not reach.
func unfiredPerturbation(f gate.Finding) bool {
	return f.Rule == unfiredRule && f.Severity == gate.Broken
}

// answered counts the answered calls. A run with fewer than the golden one omitted work, however it
// ended.
func answered(f *measure.Facts) int { return f.Calls.Total - f.Calls.Failed }

// firedIn counts how often the perturbations of a run took effect, without the faults that the script itself plans.
func firedIn(ps []perturb.Perturbation, f *measure.Facts) (n int) {
	for i := range ps {
		name := ps[i].String()
		n += f.Run.Struck[name] + f.Script.Perturbed[name]
	}
	return n
}

// broken returns the classes of the failing findings.
func broken(found []gate.Finding) (classes []string) {
	for _, f := range found {
		if f.Severity == gate.Failing {
			classes = append(classes, result.FindingClass(f))
		}
	}
	return classes
}
