package reports_test

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// faultKinds are faults in number and names as the real ones are.
var faultKinds = []string{
	"status,status=401", "status,status=429", "status,status=500", "status,status=502", "status,status=503", "status,status=529",
	"timeout", "reset-before-headers", "reset-after-headers", "reset-mid-stream", "truncated-body", "missing-done",
	"malformed-json", "wrong-content-type", "empty-choices", "empty-text", "finish-length", "content-filter", "refusal",
	"slow-drip", "duplicate-chunk", "wrong-usage", "not-utf8",
}

// sampleExploration is an exploration of an interview of 30 calls, with cells of all outcomes.
func sampleExploration() result.Exploration {
	r := result.Exploration{
		Schema: result.ExplorationSchema, Tool: "rehearse test", Scenario: "interview/golden", Digest: "sha256:0123", Seed: 1, Agent: "interview",
		Golden:     measure.Golden{Status: "finished", Calls: measure.CallFacts{Total: 30}, Writes: 12},
		Invariants: []string{"// answers-kept: no answer is lost\ninterview.lost == 0"},
		Covered:    "each fault is in at least 8 pairs",
		Left:       []string{"latency of call_timeout: the scenario sets none"},
	}
	for n := 1; n <= 30; n++ {
		purpose := "question"
		if n%10 == 0 {
			purpose = "validation"
		}
		r.Calls = append(r.Calls, result.Call{N: n, Purpose: purpose})
		for _, kind := range faultKinds {
			r.Cells = append(r.Cells, cellOf(n, kind))
		}
	}
	for n := 1; n <= 12; n++ {
		for _, do := range []string{"crash-before", "crash-after", "disk-full"} {
			r.Cells = append(r.Cells, result.Cell{
				Family: result.Crashes, Perturb: []string{fmt.Sprintf("write=%d:%s", n, do)}, Outcome: result.Survived, Fired: 1,
			})
		}
	}
	r.Cells = append(r.Cells, pairCell())
	return r
}

// cellOf returns the cell of a fault at call n.
func cellOf(n int, kind string) result.Cell {
	text := fmt.Sprintf("call=%d:%s", n, kind)
	c := result.Cell{Family: result.Faults, Perturb: []string{text}, Outcome: result.Survived, Status: "finished", Calls: 31, Fired: 1}
	switch {
	case kind == "status,status=401" || kind == "status,status=429" && n > 25:
		c.Outcome, c.Status, c.Details = result.Degraded, "error", "the key was refused"
	case kind == "missing-done" && n%10 == 0:
		c.Outcome, c.Fired, c.Findings = result.Unfired, 0, []gate.Finding{{
			Severity: gate.Broken, Rule: "unfired-fault", Message: "a planned fault never fired",
			Evidence: text + ": it cannot show in that answer",
		}}
	case kind == "not-utf8" && n == 17:
		c.Outcome, c.Findings = result.Errored, []gate.Finding{{
			Severity: gate.Broken, Rule: "harness", Message: "the harness could not run the trial", Evidence: "the agent panicked",
		}}
	case kind == "empty-text" && n%10 == 0, kind == "refusal" && n == 20:
		c.Outcome, c.Shrunk = result.Failed, c.Perturb
		c.Command = "rehearse run interview/golden --perturb " + text
		c.Findings = []gate.Finding{lostAnswer(n), {
			Severity: gate.Failing, Rule: "promise", Message: gate.ViolationMessage,
			Evidence: fmt.Sprintf("answer %d is stored twice", n),
		}}
	}
	return c
}

func lostAnswer(n int) gate.Finding {
	return gate.Finding{
		Severity: gate.Failing, Rule: "invariant", Message: "answers-kept: no answer is lost",
		Evidence: fmt.Sprintf("interview.lost == 0; interview.lost = %d", n),
	}
}

// pairCell is a cell that needs both of its faults.
func pairCell() result.Cell {
	both := []string{"call=3:timeout", "call=7:empty-text,times=2"}
	return result.Cell{
		Family: result.Pairs, Perturb: both, Outcome: result.Failed, Status: "finished", Fired: 3, Shrunk: both,
		Command: "rehearse run interview/golden --perturb call=3:timeout --perturb call=7:empty-text,times=2",
		Findings: []gate.Finding{{
			Severity: gate.Failing, Rule: "invariant", Message: "bounded-calls: at most 10 calls more than on the golden path",
			Evidence: "does not hold: calls.total <= golden.calls.total + 10; calls.total = 44; golden.calls.total = 30",
		}},
	}
}
