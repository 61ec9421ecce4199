// Package check defines the checks that a supervisor makes before it stops: their names, how
// critical they are, and the results of probes.
package check

import (
	"context"
	"slices"
	"time"
)

// Name is the name of a check.
type Name string

// The checks, in the order in which they are reported.
const (
	Todos        Name = "todos"         // pending todos
	Compile      Name = "compile"       // compile errors
	Tests        Name = "tests"         // failing tests
	Features     Name = "features"      // unfinished features
	Problems     Name = "problems"      // open problems
	Validation   Name = "validation"    // the full validation
	Pending      Name = "pending-tasks" // waiting tasks
	Dependencies Name = "dependencies"  // tasks whose dependencies cannot be met
	Checkpoints  Name = "checkpoints"   // a checkpoint that is due
	Corrections  Name = "corrections"   // corrections in progress
	ToolCalls    Name = "tool-calls"    // tool calls of the segment below the hard limit
	SoftLimit    Name = "soft-limit"    // a checkpoint past the soft limit
	StopGuard    Name = "stop-guard"    // work that an answer announces and does not do
)

// Criticality orders the work on failed checks.
type Criticality string

// The criticalities, most critical first.
const (
	critical Criticality = "critical"
	high     Criticality = "high"
	medium   Criticality = "medium"
	low      Criticality = "low"
)

// Rank returns 0 for the most critical checks, 1 for the next, and so on.
func (c Criticality) Rank() int {
	return slices.Index([]Criticality{critical, high, medium, low}, c)
}

// Info describes a check.
type Info struct {
	Name        Name
	Criticality Criticality
	// Own is true for a check that the supervisor answers from its own state if the plan has
	// no probe for it.
	Own bool
	// Meaning describes, for a person, when the check passes.
	Meaning string
}

// All lists every check in the order of reports.
func All() []Info {
	return []Info{
		{Todos, medium, true, "no todo is pending or under way"},
		{Compile, critical, false, "the code compiles"},
		{Tests, critical, false, "the tests pass"},
		{Features, high, false, "nothing is left unfinished"},
		{Problems, high, true, "no problem that came up is open"},
		{Validation, critical, false, "the full validation passes"},
		{Pending, high, true, "no task waits"},
		{Dependencies, high, true, "what each task depends on is done"},
		{Checkpoints, low, true, "no checkpoint is due"},
		{Corrections, medium, true, "no correction is under way"},
		{ToolCalls, low, true, "the segment's tool calls are below the hard limit"},
		{SoftLimit, low, true, "past the soft limit a checkpoint was made"},
		{StopGuard, high, true, "no answer announces what is not done"},
	}
}

// Verdict is the result of a probe.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	// Unknown is the verdict of a probe that could not decide: neither a pass nor a reason to
	// continue.
	Unknown Verdict = "unknown"
	// None is the verdict of a check without a probe.
	None Verdict = "none"
)

// Result is the result of a check.
type Result struct {
	Name    Name    `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Own is true if the supervisor answered the check from its own state.
	Own bool `json:"own,omitempty"`
	// Details describe, for a person, what was found or why the verdict is unknown.
	Details string `json:"details,omitempty"`
	// Items are the findings, such as open todos; at most MaxItems.
	Items []string `json:"items,omitempty"`
	// Output is the end of what a command printed.
	Output string `json:"output,omitempty"`
	// Took is how long the check took.
	Took time.Duration `json:"took_ns,omitempty"`
}

// MaxItems is the largest number of findings in a Result.
const MaxItems = 20

// Probe answers one check. It ends when ctx does. The supervisor sets Name and Took.
type Probe func(ctx context.Context) Result
