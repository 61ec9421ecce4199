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
	// Evidence is the text, value or expression that led here.
	Evidence string `json:"evidence,omitempty"`
}
