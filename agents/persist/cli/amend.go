package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/redact"
)

// Amend replaces the stored plan of a run that has begun by the plan of the job. It calls show with the
// differences before it records them. If it returns an error, nothing was recorded.
func (j *Job) Amend(term console.Terminal, r *redact.Redactor, show func(text string)) (to Recorded, err error) {
	store, err := j.openBegun()
	if errors.Is(err, journal.ErrBusy) {
		return j.amendRunning(term, r, show)
	}
	if err != nil {
		return Stored, fmt.Errorf("amend the plan: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	a, err := persist.PrepareAmendment(j.Plan, store)
	if err != nil {
		return Stored, j.explainAmendment(err)
	}
	show(r.Text(j.describeAmendment(term, a)))
	if err := a.Record(); err != nil {
		return Stored, stateError(err)
	}
	return Stored, nil
}

func (j *Job) explainAmendment(err error) error {
	if errors.Is(err, persist.ErrUnchanged) {
		return fmt.Errorf("%w; edit the tasks in %s first (limits, checks and workers need no amendment)", err, j.File)
	}
	return j.explain(err)
}

// amendRunning asks the process that works on the plan for the amendment.
func (j *Job) amendRunning(term console.Terminal, r *redact.Redactor, show func(text string)) (Recorded, error) {
	data, err := input.ReadFile("plan", j.File, yamlsrc.MaxBytes)
	if err != nil {
		return Waiting, err
	}
	a, err := j.preview()
	if err != nil {
		return Waiting, j.explainAmendment(err)
	}
	show(r.Text(j.describeAmendment(term, a)))
	return j.ask(request{Plan: string(data)})
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
