package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// rank orders findings by their distance from the root cause of a failed trial; the lowest is the
// nearest.
type rank int

// The ranks. A call that the script or the API refused, or a tool call that permissions refused,
// comes before the failure of a program, which it often causes; so does a fault after which the agent did not
// try again. Events that never happened come last.
const (
	refusedCall rank = iota
	refusedTool
	gaveUp
	failedProgram
	notInjected
	consequence
	notUsed
	noted
)

// rankOf returns the rank of a finding of a trial with these facts.
func rankOf(f *Finding, facts *measure.Facts) rank {
	switch {
	case f.Severity == Info:
		return noted
	case f.Rule == expect.InvalidRequest || f.Rule == expect.UnexpectedCall:
		return refusedCall
	case f.Rule == deniedTool:
		return refusedTool
	case f.Rule == expect.UnusedLine && strings.HasSuffix(f.Message, neverDelivered):
		return gaveUp
	case f.Rule == statusRule && brokeDown(facts):
		return failedProgram
	case f.Rule == unfiredFault:
		return notInjected
	case f.Rule == expect.UnusedLine:
		return notUsed
	}
	return consequence
}

// brokeDown reports whether the agent ended before its work was done: by its own failure, a crash
// or a timeout.
func brokeDown(f *measure.Facts) bool {
	return slices.Contains([]string{"failed", "crashed", "timeout"}, f.Run.Status)
}

// rootCauseFirst sorts the findings of a trial by rank and otherwise keeps their order.
func rootCauseFirst(found []Finding, facts *measure.Facts) {
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(rankOf(&a, facts), rankOf(&b, facts)) })
}

// statusRule is the rule of a run that ended with an unexpected status.
const statusRule = "status"
