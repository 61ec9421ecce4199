package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

// Amend replaces the stored plan of a run that has begun by the plan of the job. It calls show with the
// differences before it records them. If it returns an error, nothing was recorded.
func (j *Job) Amend(term console.Terminal, r *redact.Redactor, show func(text string)) (err error) {
	store, err := j.openBegun()
	if err != nil {
		return fmt.Errorf("amend the plan: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	a, err := persist.PrepareAmendment(j.Plan, store)
	if errors.Is(err, persist.ErrUnchanged) {
		return fmt.Errorf("%w; edit the tasks in %s first (limits, checks and workers need no amendment)", err, j.File)
	}
	if err != nil {
		return j.explain(err)
	}
	show(r.Text(j.describeAmendment(term, a)))
	if err := a.Record(); err != nil {
		return stateError(err)
	}
	return nil
}

// describeAmendment returns a line for each difference.
func (j *Job) describeAmendment(term console.Terminal, a *persist.Amendment) string {
	p := report{console.Page{Term: term}}
	p.Line("changes of the plan %s:", j.Plan.Name)
	if a.Changes.Goal {
		p.Block(4, "  the goal: ", sanitize.Line(j.Plan.Goal, console.MaxText))
	}
	for _, t := range j.Plan.Tasks {
		text := t.Do
		var what string
		switch {
		case slices.Contains(a.Changes.Added, t.ID):
			if what = "added"; t.Skip != "" {
				what, text = "added and skipped", t.Skip
			}
		case slices.Contains(a.Skipped, t.ID):
			what, text = "skipped", t.Skip
		case slices.Contains(a.Restored, t.ID):
			what = "not skipped any more"
		case slices.Contains(a.Changes.Changed, t.ID):
			what = "changed"
		default:
			continue
		}
		if len(t.After) > 0 && t.Skip == "" {
			text += " (after " + strings.Join(t.After, ", ") + ")"
		}
		p.Block(4, fmt.Sprintf("  %s %s: ", what, t.ID), sanitize.Line(text, console.MaxText))
	}
	for _, id := range a.Changes.Removed {
		p.Line("  removed %s", id)
	}
	if a.Changes.Order {
		p.Line("  the order of the tasks changed")
	}
	return p.String()
}
