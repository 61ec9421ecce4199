// Package gate judges measures: it turns facts and expectations into findings
// and findings into a verdict. It never says pass because something is missing.
package gate

// Verdict is the outcome of a trial, a scenario or a run.
type Verdict string

// The verdicts. Error means that the harness could not tell.
const (
	Pass  Verdict = "pass"
	Fail  Verdict = "fail"
	Error Verdict = "error"
	Skip  Verdict = "skip"
)

// Severity says what a finding does to the verdict.
type Severity string

// The severities.
const (
	Info    Severity = "info"  // noted, no effect
	Skipped Severity = "skip"  // nothing was carried out; the verdict is at best skip
	Failing Severity = "fail"  // the verdict is at best fail
	Broken  Severity = "error" // the verdict is error
)

// Finding is one located observation.
type Finding struct {
	Severity Severity `json:"severity"`
	// Rule is a stable name: "status", "calls", "unused-line", "that", ...
	Rule string `json:"rule"`
	// Message says what was expected and what was seen.
	Message string `json:"message"`
	// Trial is the trial's number; 0 for the whole scenario.
	Trial int `json:"trial,omitempty"`
	// At is the key of the scenario file that demands it, such as "expect.calls"; empty
	// where no key does.
	At string `json:"at,omitempty"`
	// Evidence is the text, value or expression that led here.
	Evidence string `json:"evidence,omitempty"`
}

// VerdictOf is the verdict that findings lead to: error if one is Broken, else
// fail if one is Failing, else skip if one is Skipped, else pass. A severity that
// is not known counts as Broken.
func VerdictOf(findings []Finding) Verdict {
	verdict := Pass
	for _, f := range findings {
		switch f.Severity {
		case Info:
		case Skipped:
			if verdict == Pass {
				verdict = Skip
			}
		case Failing:
			verdict = Fail
		default:
			return Error
		}
	}
	return verdict
}

// Overall is the verdict over several: the worst one of error, fail and pass. It
// is skip if nothing but skips are given, or nothing at all: a run in which
// nothing was judged has not passed.
func Overall(verdicts []Verdict) Verdict {
	overall := Skip
	for _, v := range verdicts {
		switch {
		case v == Skip:
		case v == Fail:
			overall = Fail
		case v == Pass && overall == Skip:
			overall = Pass
		case v != Pass:
			return Error
		}
	}
	return overall
}

// The exit codes of the harness, beside 130 for an interrupted run.
const (
	ExitPass      = 0
	ExitFail      = 1
	ExitUsage     = 2 // bad usage or configuration, also: nothing selected
	ExitNoVerdict = 3 // the harness could not tell
)

// ExitCode is the exit code of a run with these verdicts. An error outranks a
// fail: who reads 1 as "the agent got worse" must be able to trust it, and a
// harness that broke in one trial cannot vouch for the others. Skips alone are no
// verdict, and no verdicts at all mean that nothing was selected.
func ExitCode(verdicts []Verdict) int {
	if len(verdicts) == 0 {
		return ExitUsage
	}
	switch Overall(verdicts) {
	case Pass:
		return ExitPass
	case Fail:
		return ExitFail
	default:
		return ExitNoVerdict
	}
}
