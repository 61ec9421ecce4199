package loop

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// checkpoint saves or restores the agent's files after an iteration. It returns the ending of the run: end,
// or an error if the files could not be kept.
func (r *runner) checkpoint(n int, callErr error, end *run.Ending) *run.Ending {
	failure := r.unconfirmed
	if r.dep.Checkpoint == nil || end != nil && end.Status == StatusInterrupted {
		return end
	}
	if callErr != nil {
		failure = callErr.Error()
	}
	e, restored, err := r.dep.Checkpoint(n, failure)
	if restored {
		r.dialogue.restored()
	}
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

// restored tells an agent that remembers its last turn that its changes were undone.
func (d *dialogue) restored() {
	note := "The changes that you made to files in your last turn were undone: the files are as they were before it."
	if d.language == French {
		note = "Les changements de fichiers de ton dernier tour ont été annulés : les fichiers sont comme avant."
	}
	if d.turn != "" {
		d.turn = paragraphs(note, d.turn)
	}
	if !d.fresh {
		d.sent = slices.Clone(d.sent)
		last := &d.sent[len(d.sent)-1]
		last.Content = paragraphs(note, last.Content)
	}
}
