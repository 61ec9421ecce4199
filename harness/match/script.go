package match

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Pass matches if every trial meets the expectations of its scenario. A trial that was skipped or
// could not be carried out does not match.
func Pass() types.GomegaMatcher {
	return &trials{want: "that the trial passes", broken: true, inspect: func(j *harness.Judged) (observation, error) {
		saw := fmt.Sprintf("the verdict %s", j.Verdict)
		if n := len(j.Findings); n > 0 {
			saw += " with " + format.Plural(n, "finding")
		}
		return observation{ok: j.Verdict == gate.Pass, saw: saw}, nil
	}}
}

// FaultFired matches if a kind of fault, such as "status" or "reset-mid-stream", took effect at
// least once.
func FaultFired(kind string) types.GomegaMatcher {
	return &trials{want: "that the fault " + quote(kind) + " fired", inspect: func(j *harness.Judged) (observation, error) {
		fired := j.Facts.Script.Fired
		saw := "no fault at all"
		if len(fired) > 0 {
			saw = "only " + strings.Join(slices.Sorted(maps.Keys(fired)), ", ")
		}
		if fired[kind] > 0 {
			saw = fmt.Sprintf("it fired %s", times(fired[kind]))
		}
		return observation{ok: fired[kind] > 0, saw: saw}, nil
	}}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// NoUnexpectedCalls matches if the script answered every call.
func NoUnexpectedCalls() types.GomegaMatcher {
	return &trials{want: "no call that the script does not answer", inspect: func(j *harness.Judged) (observation, error) {
		calls := j.Facts.Script.Unexpected
		saw := "none"
		if len(calls) > 0 {
			saw = fmt.Sprintf("%d, the first of which is %s", len(calls), sanitize.Line(calls[0], 600))
		}
		return observation{ok: len(calls) == 0, saw: saw}, nil
	}}
}
