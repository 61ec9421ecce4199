package gate

import (
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// scriptLine matches the name of a script line at the beginning of a finding.
var scriptLine = regexp.MustCompile(`^(replies|rules)\[[0-9]+\]$`)

// expectationOf returns the key of the expectation that f is about, as used in
// record.Scenario.Where, or "".
func expectationOf(f *Finding) string {
	switch f.Rule {
	case "status", "exit_code", "calls", "retries", "iterations", "tokens", "cost",
		"latency", "latency.mean", "latency.p50", "latency.p95", "latency.max", "duration":
		return "expect." + f.Rule
	case SnapshotRule:
		return "expect.snapshot"
	case expect.MisjudgedStop:
		return "expect.stops"
	case expect.UnusedLine, unfiredFault:
		if line, _, _ := strings.Cut(f.Evidence, ":"); scriptLine.MatchString(line) {
			return "backend." + line
		}
	}
	return ""
}

// unfiredFault is the rule of a planned fault that never fired.
const unfiredFault = "unfired-fault"
