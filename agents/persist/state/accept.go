package state

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Accepted returns the outcome of an attempt at t that reported its task as done, after its acceptance
// commands ran with results. The task is done only if each of them passed. A command whose result is
// unknown in two attempts in a row needs a person, because another attempt is unlikely to change it.
func Accepted(t Task, reported Outcome, results []plan.CheckResult) Outcome {
	o := reported
	o.Accept = results
	var bad plan.CheckResult
	switch bad = results[len(results)-1]; {
	case bad.Verdict == plan.Pass:
		return o
	case bad.Verdict == plan.Unknown && t.Accepted == plan.Unknown:
		o.Grade = gradeEscalated
	default:
		o.Grade = gradeFailed
	}
	o.Details = "not accepted: " + bad.Details
	o.Carry = refusal(bad)
	o.Inert = false
	return o
}

// refusal is the note to the next attempt about a command that did not accept the work.
func refusal(bad plan.CheckResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The task was reported as done and not accepted: %s.\n", bad.Details)
	if bad.Output != "" {
		b.WriteString("The end of its output:\n" + clip(bad.Output, maxCarry/2) + "\n")
	}
	return b.String()
}

// lastVerdict returns the verdict that decided about the acceptance; empty without results.
func lastVerdict(results []plan.CheckResult) plan.Verdict {
	if len(results) == 0 {
		return ""
	}
	return results[len(results)-1].Verdict
}
