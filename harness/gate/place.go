package gate

import (
	"strings"

	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// expectationOf returns the key of the expectation that f is about, as used in
// record.Scenario.Where, or "".
func expectationOf(f *Finding) string {
	switch f.Rule {
	case "status", "exit_code", "calls", "retries", "early_retries", "iterations", "tokens", "cost",
		"latency", "latency.mean", "latency.p50", "latency.p95", "latency.max", "duration":
		return "expect." + f.Rule
	case SnapshotRule:
		return "expect.snapshot"
	case expect.MisjudgedStop:
		return "expect.stops"
	}
	return ""
}

// LineOf returns the line of a key in a scenario file, given the lines of record.Scenario.Where: that of
// the key itself, or else of the nearest key that contains it. It returns 0 if there is none.
func LineOf(where map[string]int, key string) int {
	for key != "" {
		if line := where[key]; line > 0 {
			return line
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return 0
}
