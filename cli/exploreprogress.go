package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// exploreProgress tells a person how far an exploration is.
type exploreProgress struct {
	status *tty.StatusLine
	failed int
}

func newExploreProgress(out io.Writer, term tty.Terminal, now func() time.Time) *exploreProgress {
	return &exploreProgress{status: tty.NewStatusLine(out, term, now)}
}

// tell is explore.Options.Progress.
func (p *exploreProgress) tell(e explore.Progress) {
	if e.Cell != nil && e.Cell.Outcome == result.Failed {
		p.failed++
	}
	p.status.Update(func() (text, detail string) {
		text = fmt.Sprintf("%s: %d/%d", e.Doing, e.Done, e.Planned)
		if p.failed > 0 {
			text += fmt.Sprintf(", %d failed", p.failed)
		}
		if e.Cell != nil && len(e.Cell.Perturb) > 0 {
			detail = "  " + e.Cell.Perturb[0]
		}
		return text, detail
	})
}
