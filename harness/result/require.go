package result

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The requirements that a result can be checked against.
const (
	RequireBetter   = "better"    // every variant is better
	RequireNotWorse = "not-worse" // every variant is shown not to be worse
	RequireDecided  = "decided"   // no comparison is undecided
)

// Requirements returns the names of the requirements.
func Requirements() []string { return []string{RequireBetter, RequireNotWorse, RequireDecided} }

// Judge returns the verdict on a result: Fail if a variant is worse than the design's Against or
// violates the requirement, which may be empty; Error if the experiment is incomplete or compared
// nothing. unmet explains each violation of the requirement.
func (r *Experiment) Judge(require string) (verdict gate.Verdict, unmet []string) {
	if r.Stopped.As == Interrupted || r.Stopped.As == Capped || !r.compared() {
		return gate.Error, nil
	}
	verdict = gate.Pass
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Role != Primary {
			continue
		}
		judged, why := r.judge(c, require)
		if judged == gate.Fail || verdict == gate.Pass { // a failure outranks an undecided comparison
			verdict = judged
		}
		if why != "" {
			unmet = append(unmet, why)
		}
	}
	return verdict, unmet
}

// compared reports whether anything was compared by the primary measure.
func (r *Experiment) compared() bool {
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Role == Primary && c.Pairs > 0 {
			return true
		}
	}
	return false
}

// judge returns the verdict on one comparison, and how it violates the requirement.
func (r *Experiment) judge(c *Comparison, require string) (verdict gate.Verdict, unmet string) {
	pair := func(word string) string {
		return fmt.Sprintf("%s is %s than %s by %s",
			sanitize.Line(c.Variant, 60), word, sanitize.Line(c.Against, 60), sanitize.Line(c.Measure, 60))
	}
	var met bool
	switch require {
	case RequireBetter:
		met, unmet = c.Verdict == Better, "it is not shown that "+pair("better")
	case RequireNotWorse:
		switch {
		case c.Verdict == Worse:
			return gate.Fail, pair("worse")
		case !c.NotWorse(r.Design.Alpha):
			return gate.Error, fmt.Sprintf("cannot be decided: whether %s; %s", pair("worse"), r.enough(c))
		}
		met = true
	case RequireDecided:
		met, unmet = c.Verdict != Undecided, "it is undecided whether "+pair("better")
	default:
		met = c.Verdict != Worse || r.Design.Against == ""
	}
	if met {
		return gate.Pass, ""
	}
	return gate.Fail, unmet
}

// enough describes the data that would decide whether a variant is not worse.
func (r *Experiment) enough(c *Comparison) string {
	n, does := c.NeededNotWorse, "would show that it is not"
	if n == 0 {
		n, does = c.Needed, "would decide"
	}
	switch {
	case n == 0:
		return "no sample size is known that would settle this"
	case r.Design.Scope == Alike:
		return fmt.Sprintf("about %s %s, if the results stay alike", format.Plural(n, "scenario"), does)
	}
	return fmt.Sprintf("about %s of each variant in each scenario %s, if the results stay alike", format.Plural(n, "trial"), does)
}

// JudgeSearch returns the verdict on a search: Pass if a text was promoted.
func (r *Experiment) JudgeSearch() gate.Verdict {
	switch {
	case r.Stopped.As == Interrupted || r.Stopped.As == Capped || r.Tune == nil:
		return gate.Error
	case r.Tune.Promoted:
		return gate.Pass
	}
	return gate.Fail
}
