package view

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
)

const (
	// minutes is the form of times in lists, in UTC.
	minutes = "2006-01-02 15:04"
	// runsShown is the number of runs on a page, and strip that of the newest runs whose verdicts are shown.
	runsShown = 50
	strip     = 60
)

// runRow is a run in the list.
type runRow struct {
	ID, Link, Began, Branch, Commit, Variant string
	Verdict                                  gate.Verdict
	Passed, Share, Cost, Took                string
	Trials                                   int
	Note                                     string
	// Before links to the comparison with the run before it; empty if there is none.
	Before string
}

// runsPage is the list of runs.
type runsPage struct {
	frame
	Live     []liveRow
	Rows     []runRow
	Strip    []runRow // the oldest first
	Branch   string
	Branches []string
	Pager    pager
	Empty    bool
}

func (s *Server) runs(w http.ResponseWriter, r *http.Request) error {
	p := runsPage{frame: s.frame("Runs"), Branch: r.FormValue("branch"), Live: s.liveRows()}
	st, err := s.past(r.Context())
	if err != nil {
		return err
	}
	if st == nil {
		p.Empty = true
		show(w, http.StatusOK, "runs", p)
		return nil
	}
	defer func() { _ = st.Close() }() // it was only read
	from := number(r, "from", 0)
	list, err := st.Runs(r.Context(), history.Filter{Branch: p.Branch, Skip: from, Limit: runsShown + 1})
	if err != nil {
		return err
	}
	newest := list
	if from > 0 {
		newest = nil
	}
	if len(newest) <= runsShown {
		newest, err = st.Runs(r.Context(), history.Filter{Branch: p.Branch, Limit: strip})
		if err != nil {
			return err
		}
	}
	p.Empty = len(list) == 0 && from == 0 && p.Branch == ""
	for i := range list[:min(len(list), runsShown)] {
		row := newRunRow(&list[i])
		if i+1 < len(list) {
			row.Before = compareLink(list[i+1].ID, list[i].ID, "")
		}
		p.Rows = append(p.Rows, row)
	}
	for i := range newest[:min(len(newest), strip)] {
		p.Strip = append(p.Strip, newRunRow(&newest[i]))
		if b := newest[i].Branch; b != "" && !slices.Contains(p.Branches, b) {
			p.Branches = append(p.Branches, b)
		}
	}
	slices.Reverse(p.Strip)
	slices.Sort(p.Branches)
	if from > 0 {
		p.Pager.Newer = withFrom(r, max(0, from-runsShown))
	}
	if len(list) > runsShown {
		p.Pager.Older = withFrom(r, from+runsShown)
	}
	if len(p.Rows) > 0 && (from > 0 || p.Pager.Older != "") {
		p.Pager.Text = fmt.Sprintf("runs %d to %d, the newest first", from+1, from+len(p.Rows))
	}
	show(w, http.StatusOK, "runs", p)
	return nil
}

func newRunRow(r *history.Run) runRow {
	row := runRow{
		ID: r.ID, Link: runLink(r.ID), Began: r.At.UTC().Format(minutes), Branch: r.Branch, Commit: shortCommit(&r.Origin),
		Variant: r.Variant, Verdict: r.Verdict, Passed: fmt.Sprintf("%d/%d", r.Scenarios.Pass, r.Scenarios.Total()),
		Cost: "unknown", Trials: r.Trials,
	}
	if judged := r.Scenarios.Total() - r.Scenarios.Skip; judged > 0 {
		row.Share = format.Percent(float64(r.Scenarios.Pass) / float64(judged))
	}
	if r.CostEUR != nil {
		row.Cost = format.Money(*r.CostEUR)
	}
	if r.Ended.After(r.Began) && !r.Began.IsZero() {
		row.Took = format.Seconds(r.Ended.Sub(r.Began).Seconds())
	}
	switch {
	case r.Interrupted:
		row.Note = "interrupted"
	case r.Stopped != "":
		row.Note = "stopped: " + r.Stopped
	case len(r.Problems) > 0:
		row.Note = "damaged"
	}
	return row
}

// shortCommit returns the start of a commit, with a + if files differed from it.
func shortCommit(o *history.Origin) string {
	const length = 7
	commit := o.Commit[:min(len(o.Commit), length)]
	if o.Dirty && commit != "" {
		commit += "+"
	}
	return commit
}

// Chosen returns the address that compares two chosen runs, for the form of the list.
func chosen(query url.Values) (a, b string) {
	a, b = query.Get("a"), query.Get("b")
	if picked := query["run"]; len(picked) == 2 { // the newer run is ticked first: it is above
		a, b = picked[1], picked[0]
	}
	return a, b
}
