// Package check is the vocabulary of the checks that a supervisor makes before it
// stops: their names and weights, and what a probe says.
package check

import (
	"context"
	"slices"
	"time"
)

// Name is a check's name.
type Name string

// The checks, in the order in which they are reported.
const (
	Todos        Name = "todos"         // todos that are pending or under way
	Compile      Name = "compile"       // compile errors
	Tests        Name = "tests"         // failing tests
	Features     Name = "features"      // unfinished features
	Problems     Name = "problems"      // open problems
	Validation   Name = "validation"    // the full validation
	Pending      Name = "pending-tasks" // tasks that wait
	Dependencies Name = "dependencies"  // tasks whose dependencies cannot be met
	Checkpoints  Name = "checkpoints"   // a checkpoint that is due
	Corrections  Name = "corrections"   // corrections under way
	ToolCalls    Name = "tool-calls"    // tool calls of the segment below the hard limit
	SoftLimit    Name = "soft-limit"    // past the soft limit there is a checkpoint
	StopGuard    Name = "stop-guard"    // no answer announces what is not done
)

// Criticality says in which order failed checks are seen to.
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
	// Own says that the supervisor answers it from its own state where the plan
	// gives no probe.
	Own bool
	// Meaning is what passes, for a person.
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

// Verdict is what a probe says.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	// Unknown is a probe that could not be made: neither green nor a reason to go on.
	Unknown Verdict = "unknown"
	// None is a check without a probe.
	None Verdict = "none"
)

// Result is what a check found.
type Result struct {
	Name    Name    `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Own says that the supervisor answered it from its own state.
	Own bool `json:"own,omitempty"`
	// Details says, for a person, what was found or why it is unknown.
	Details string `json:"details,omitempty"`
	// Items are the single findings, such as open todos; at most MaxItems.
	Items []string `json:"items,omitempty"`
	// Output is the end of what a command printed.
	Output string `json:"output,omitempty"`
	// Took is the time it took; not part of what makes two results equal.
	Took time.Duration `json:"took_ns,omitempty"`
}

// MaxItems is how many findings a Result names.
const MaxItems = 20

// Probe answers one check. It never panics and honours ctx. The supervisor sets
// Name and Took.
type Probe func(ctx context.Context) Result
