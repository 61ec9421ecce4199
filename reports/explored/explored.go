// Package explored shows what an exploration of a golden path found: how many runs
// survived, which call suffers from what, and each distinct failure once, with the
// command that repeats it. It starts nothing.
package explored

import (
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// Verdict is what an exploration means: Error where the harness could not tell of a
// run or nothing took effect, Fail where a run broke an invariant, and Pass where
// all that took effect broke none.
func Verdict(r *result.Exploration) gate.Verdict {
	n := r.Count()
	switch told := n[result.Survived] + n[result.Degraded] + n[result.Failed]; {
	case told == 0 || told+n[result.Unfired] < len(r.Cells): // an outcome that is not known is an error, too
		return gate.Error
	case n[result.Failed] > 0:
		return gate.Fail
	}
	return gate.Pass
}
