package reports

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// alteredNotice stands at the top of each format of a report whose recording was altered.
const alteredNotice = "this recording was altered after the run, so nothing below can be relied on"

// maxAltered bounds the altered lines that a report names. One altered line can break
// the numbers of all after it.
const maxAltered = 5

// CheckChain adds what record.Verify found in the recording that r was built from. An
// altered recording fails the report, whatever its scenarios say. A missing end is not
// added: FromRecording has reported it.
func (r *Report) CheckChain(found record.Report) {
	if !found.Altered {
		return
	}
	var problems []string
	for _, p := range found.Problems[:min(len(found.Problems), maxAltered)] {
		problems = append(problems, kept(p.String()))
	}
	if more := len(found.Problems) - len(problems) + found.More; more > 0 {
		problems = append(problems, fmt.Sprintf("and %s; rehearse report --verify lists them", format.Plural(more, "more altered line")))
	}
	r.Altered, r.Verdict = true, gate.Fail
	r.Problems = slices.Concat([]string{alteredNotice}, problems, r.Problems)
}
