package cli

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// experimenting shows the progress of an experiment or of a search, whose rounds follow each other.
type experimenting struct {
	work    *longWork
	total   int    // trials of all rounds, in the worst case
	round   string // the current one
	seen    int    // trials of the rounds before
	resumed int    // trials of all rounds that are from a journal
	last    experiment.Progress
}

func newExperimenting(work *longWork, p experiment.Plan, search bool) *experimenting {
	e := &experimenting{work: work, total: p.Trials}
	if search {
		e.total += p.SearchTrials
	}
	work.plan = "up to " + format.Plural(e.total, "trial")
	work.advice = "--plan shows what they are for"
	return e
}

// update is a function for experiment.Options.Progress.
func (e *experimenting) update(p experiment.Progress) {
	if p.Doing != e.round {
		e.seen, e.round = e.seen+e.last.Trials, p.Doing
		e.resumed += p.Resumed
	}
	e.last = p
	t := p.Trial
	e.work.list(fmt.Sprintf("%-5s %s  %s, trial %d", t.Verdict, t.Scenario, t.Variant, t.N))
	done := e.seen + p.Trials
	e.work.update(console.Work{Text: p.String(), Done: done, Total: max(done, e.total), Before: e.resumed}, "")
}
