package main

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The values of --require.
const (
	requireBetter   = "better"
	requireNotWorse = "not-worse"
	requireDecided  = "decided"
)

func requirements() []string { return []string{requireBetter, requireNotWorse, requireDecided} }

// judgeExperiment returns the exit code of a result, and the unmet demands of require.
func judgeExperiment(r *result.Result, require string) (code int, unmet []string) {
	if code, over := ended(r); over {
		return code, nil
	}
	code = exitPass
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if c.Role != result.Primary {
			continue
		}
		judged, why := judgeComparison(r, c, require)
		if judged == exitFail || code == exitPass { // what failed is worse than what is not known
			code = judged
		}
		if why != "" {
			unmet = append(unmet, why)
		}
	}
	return code, unmet
}

// judgeComparison returns the exit code of one comparison, and what is not as require
// demands.
func judgeComparison(r *result.Result, c *result.Comparison, require string) (code int, unmet string) {
	pair := fmt.Sprintf("%s is %%s than %s by %s", sanitize.Line(c.Variant, 60), sanitize.Line(c.Against, 60), sanitize.Line(c.Measure, 60))
	var met bool
	switch require {
	case requireBetter:
		met, unmet = c.Verdict == result.Better, "it is not shown that "+fmt.Sprintf(pair, "better")
	case requireNotWorse:
		switch {
		case c.Verdict == result.Worse:
			return exitFail, fmt.Sprintf(pair, "worse")
		case !c.NotWorse(r.Design.Alpha):
			return exitNoVerdict, fmt.Sprintf("cannot be decided: whether "+pair+"; %s", "worse", enough(r, c))
		}
		met = true
	case requireDecided:
		met, unmet = c.Verdict != result.Undecided, "it is undecided whether "+fmt.Sprintf(pair, "better")
	default:
		met = c.Verdict != result.Worse || r.Design.Against == ""
	}
	if met {
		return exitPass, ""
	}
	return exitFail, unmet
}

// enough says how much would decide whether a variant is not worse.
func enough(r *result.Result, c *result.Comparison) string {
	n, does := c.NeededNotWorse, "would show that it is not"
	if n == 0 {
		n, does = c.Needed, "would decide"
	}
	switch {
	case n == 0:
		return "no number of trials is known that would decide"
	case r.Design.Scope == result.Alike:
		return fmt.Sprintf("about %s %s, if all stays as it is", plural(n, "scenario"), does)
	}
	return fmt.Sprintf("about %s of each variant in each scenario %s, if all stays as it is", plural(n, "trial"), does)
}

// ended is the exit code of what did not come to its end, or of which nothing is known.
func ended(r *result.Result) (code int, over bool) {
	switch r.Stopped.As {
	case result.Interrupted:
		return exitInterrupted, true
	case result.Capped:
		return exitNoVerdict, true
	}
	for i := range r.Comparisons {
		if c := &r.Comparisons[i]; c.Role == result.Primary && c.Pairs > 0 {
			return exitPass, false
		}
	}
	return exitNoVerdict, true
}
