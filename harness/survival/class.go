package survival

import (
	"regexp"

	"github.com/rehearse-dev/rehearse/harness/gate"
)

// Families lists all families in the order in which they are shown.
func Families() []Family {
	return []Family{Faults, Outages, Latency, Texts, Crashes, Users, Pairs}
}

// Outcomes lists all outcomes, from best to worst.
func Outcomes() []Outcome {
	return []Outcome{Survived, Degraded, Failed, Unfired, Errored}
}

var digits = regexp.MustCompile(`[0-9]+`)

// violationRule is the rule of findings whose message is always the same, and whose
// evidence names the violated invariant.
const violationRule = "promise"

// Class returns a key that two findings share if they report the same of two runs: only
// the observed values differ, and the numbers in them.
func Class(f gate.Finding) string {
	class := f.Rule + "\x00" + f.Message
	if f.Rule == violationRule {
		class += "\x00" + digits.ReplaceAllString(f.Evidence, "#")
	}
	return class
}
