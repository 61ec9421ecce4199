package loop

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// checkpoint saves or restores the agent's files after an iteration. It returns the ending of the run: end,
// or an error if the files could not be kept.
func (r *runner) checkpoint(n int, callErr error, end *run.Ending) *run.Ending {
	if r.dep.Checkpoint == nil || end != nil && end.Status == StatusInterrupted {
		return end
	}
	failure := ""
	if callErr != nil {
		failure = callErr.Error()
	}
	e, err := r.dep.Checkpoint(n, failure)
	switch {
	case err == nil && e.Kind != "":
		e.N = n
		r.dep.Sink.Emit(e)
	case err != nil && end == nil:
		return run.Failed(err)
	case err != nil:
		end.Details = fmt.Sprintf("%s; %s", end.Details, err)
	}
	return end
}
