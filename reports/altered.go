package reports

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// alteredNotice is the first problem of a report whose recording was altered.
const alteredNotice = "this recording was altered after the run, so nothing below can be relied on"

// maxAltered limits the altered lines in a report. One altered line can break the hashes of all
// lines after it.
const maxAltered = 5

// CheckChain adds what record.Verify found in the recording of the report: its last hash, and its problems. An
// altered recording fails the report. A missing end is not added: FromRecording reports it.
func (r *Report) CheckChain(found record.Report, rewritten ...string) {
	r.Run.Lines, r.Run.LastHash = found.Lines, found.Hash
	if !found.Altered && len(rewritten) == 0 {
		return
	}
	problems := rewritten
	shown := found.Problems[:min(len(found.Problems), maxAltered)]
	for _, p := range shown {
		problems = append(problems, limited(p.String()))
	}
	if more := len(found.Problems) - len(shown) + found.More; more > 0 {
		problems = append(problems, fmt.Sprintf("and %s; rehearse report --verify lists them", format.Count(more, "more altered line")))
	}
	r.Altered, r.Verdict = true, gate.Fail
	r.Problems = slices.Concat([]string{alteredNotice}, problems, r.Problems)
}
