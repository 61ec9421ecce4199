package explore

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// unfiredRule is the rule of findings about perturbations that did not happen.
const unfiredRule = "unfired-fault"

// The longest details and evidence that a cell keeps, in characters. The run itself
// has all, and so has the recording of a failed one.
const maxDetails = 400

// cellOf says what a perturbed run shows.
func cellOf(run item, j *harness.Judged, golden *measure.Facts) result.Cell {
	c := result.Cell{
		Family:  run.family,
		Perturb: texts(run.ps),
		Outcome: outcomeOf(j.Findings, &j.Facts, golden),
		Status:  j.Facts.Run.Status,
		Details: clip(j.Facts.Run.Details),
		Calls:   j.Facts.Calls.Total,
		Fired:   firedIn(&j.Facts, golden),
	}
	for _, f := range j.Findings {
		if f.Severity == gate.Info {
			continue
		}
		f.Evidence, f.Trial = clip(f.Evidence), 0
		c.Findings = append(c.Findings, f)
	}
	return c
}

// outcomeOf is what findings and ending say. That nothing happened comes first: such
// a run shows nothing, whatever else was found. What the harness could not do comes
// before what the agent did wrong.
func outcomeOf(found []gate.Finding, f, golden *measure.Facts) result.Outcome {
	if slices.ContainsFunc(found, func(f gate.Finding) bool { return f.Rule == unfiredRule }) {
		return result.Unfired
	}
	switch gate.VerdictOf(found) {
	case gate.Error, gate.Skip:
		return result.Errored
	case gate.Fail:
		return result.Failed
	}
	if f.Run.Status == golden.Run.Status && f.Run.ExitCode == golden.Run.ExitCode && answered(f) >= answered(golden) {
		return result.Survived
	}
	return result.Degraded
}

// answered counts the calls that were. A run with fewer than the golden one left
// something out, however it ended.
func answered(f *measure.Facts) int { return f.Calls.Total - f.Calls.Failed }

// firedIn counts what happened beyond the faults that the script itself plans.
func firedIn(f, golden *measure.Facts) int {
	return max(0, f.Run.Perturbed-golden.Run.Perturbed)
}

// broken are the classes of what a run broke.
func broken(found []gate.Finding) (classes []string) {
	for _, f := range found {
		if f.Severity == gate.Failing {
			classes = append(classes, result.FindingClass(f))
		}
	}
	return classes
}

func clip(s string) string {
	if r := []rune(s); len(r) > maxDetails {
		return string(r[:maxDetails]) + "…"
	}
	return s
}
