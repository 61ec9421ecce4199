// Package gate judges measures: it turns facts and expectations into findings, and
// findings into a verdict. It never passes a trial because something is missing.
package gate

// Verdict is the outcome of a trial, a scenario or a run.
type Verdict string

// The verdicts. Error means that the harness could not judge.
const (
	Pass  Verdict = "pass"
	Fail  Verdict = "fail"
	Error Verdict = "error"
	Skip  Verdict = "skip"
)

// Severity is the effect of a finding on the verdict.
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
	// Message describes what was expected and what happened.
	Message string `json:"message"`
	// Trial is the trial's number; 0 for the whole scenario.
	Trial int `json:"trial,omitempty"`
	// At is the key of the expectation in the scenario file, such as "expect.calls"; may be
	// empty.
	At string `json:"at,omitempty"`
	// Evidence is the text, value or expression on which the finding rests.
	Evidence string `json:"evidence,omitempty"`
	// Expected and Actual are the two sides of a comparison that does not hold, if they are texts
	// or JSON; both are empty for other findings.
	Expected string `json:"expected,omitempty"`
	Actual   string `json:"actual,omitempty"`
	// Accept is the command that makes the actual value the expected one; may be empty.
	Accept string `json:"accept,omitempty"`
}

// VerdictOf returns the verdict of findings: error if one is Broken, else fail if one is
// Failing, else skip if one is Skipped, else pass. An unknown severity counts as Broken.
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

// Overall returns the worst of several verdicts: error, fail or pass. It returns skip if
// there are only skips, or no verdicts: a run in which nothing was judged has not passed.
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
	exitPass      = 0
	exitFail      = 1
	exitUsage     = 2 // bad usage or configuration, also: nothing selected
	exitNoVerdict = 3 // the harness could not judge
)

// ExitCode returns the exit code of a run with these verdicts. An error outranks a fail:
// 1 must reliably mean that the agent got worse, and a harness that failed in one trial
// cannot be trusted in the others. Skips alone give no verdict, and no verdicts mean that
// nothing was selected.
func ExitCode(verdicts []Verdict) int {
	if len(verdicts) == 0 {
		return exitUsage
	}
	switch Overall(verdicts) {
	case Pass:
		return exitPass
	case Fail:
		return exitFail
	default:
		return exitNoVerdict
	}
}
