package plan

import (
	"slices"
	"time"
)

// Check is the name of a check that a supervisor runs before it stops.
type Check string

// The checks, in the order of reports.
const (
	CheckTodos        Check = "todos"         // pending todos
	CheckCompile      Check = "compile"       // compile errors
	CheckTests        Check = "tests"         // failing tests
	CheckFeatures     Check = "features"      // unfinished features
	CheckProblems     Check = "problems"      // open problems
	CheckValidation   Check = "validation"    // the full validation
	CheckPending      Check = "pending-tasks" // waiting tasks
	CheckDependencies Check = "dependencies"  // tasks whose dependencies cannot be met
	CheckCheckpoints  Check = "checkpoints"   // a checkpoint that is due
	CheckCorrections  Check = "corrections"   // corrections in progress
	CheckToolCalls    Check = "tool-calls"    // tool calls of the segment below the hard limit
	CheckSoftLimit    Check = "soft-limit"    // a checkpoint past the soft limit
	CheckStopGuard    Check = "stop-guard"    // announced work that is not done
)

// criticalities orders the work on failed checks.
var criticalities = []string{critical, high, medium, low}

const (
	critical = "critical"
	high     = "high"
	medium   = "medium"
	low      = "low"
)

// CheckInfo describes a check.
type CheckInfo struct {
	Name        Check
	Criticality string // critical, high, medium or low
	// Own is true if the supervisor answers the check from its own state unless the plan has a
	// probe for it.
	Own bool
	// Meaning describes, for a person, when the check passes.
	Meaning string
}

// Rank returns 0 for the most critical checks, 1 for the next, and so on.
func (c CheckInfo) Rank() int { return slices.Index(criticalities, c.Criticality) }

// Checks lists every check in the order of reports.
func Checks() []CheckInfo {
	return []CheckInfo{
		{CheckTodos, medium, true, "no todo is pending or under way"},
		{CheckCompile, critical, false, "the code compiles"},
		{CheckTests, critical, false, "the tests pass"},
		{CheckFeatures, high, false, "nothing is left unfinished"},
		{CheckProblems, high, true, "no problem that came up is open"},
		{CheckValidation, critical, false, "the full validation passes"},
		{CheckPending, high, true, "no task waits"},
		{CheckDependencies, high, true, "what each task depends on is done"},
		{CheckCheckpoints, low, true, "no checkpoint is due"},
		{CheckCorrections, medium, true, "no correction is under way"},
		{CheckToolCalls, low, true, "the segment's tool calls are below the hard limit"},
		{CheckSoftLimit, low, true, "past the soft limit a checkpoint was made"},
		{CheckStopGuard, high, true, "no answer announces what is not done"},
	}
}

// CheckNames returns the names of all checks.
func CheckNames() []string {
	all := Checks()
	names := make([]string, len(all))
	for i, info := range all {
		names[i] = string(info.Name)
	}
	return names
}

// Verdict is the verdict of a check.
type Verdict string

// The verdicts.
const (
	Pass    Verdict = "pass"
	Fail    Verdict = "fail"
	Unknown Verdict = "unknown" // the probe could not decide: neither a pass nor a reason to continue
	None    Verdict = "none"    // the check has no probe
)

// CheckResult is the result of a check.
type CheckResult struct {
	Name    Check   `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Own is true if the supervisor answered the check from its own state.
	Own bool `json:"own,omitempty"`
	// Details describe, for a person, the findings or why the verdict is unknown.
	Details string `json:"details,omitempty"`
	// Items are the findings, such as open todos; at most MaxFindings.
	Items []string `json:"items,omitempty"`
	// Output is the end of a command's output.
	Output string `json:"output,omitempty"`
	// Took is the duration of the check.
	Took time.Duration `json:"took_ns,omitempty"`
}

// MaxFindings is the largest number of findings in a CheckResult.
const MaxFindings = 20
