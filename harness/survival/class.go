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

// promiseRule is the rule of findings of which the evidence says what is broken;
// the message is always the same.
const promiseRule = "promise"

// Class is what two findings share if they say the same of two runs: only the
// values that were seen differ, and the numbers in them.
func Class(f gate.Finding) string {
	class := f.Rule + "\x00" + f.Message
	if f.Rule == promiseRule {
		class += "\x00" + digits.ReplaceAllString(f.Evidence, "#")
	}
	return class
}
