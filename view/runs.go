package view

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
)

const (
	// minutes is the form of times in lists, in UTC.
	minutes = "2006-01-02 15:04"
	// runsShown is the number of runs on a page.
	runsShown = 50
)

// runRow is a run in the list.
type runRow struct {
	ID, Link, Began, Branch, Commit, Variant string
	Verdict                                  gate.Verdict
	Passed, Share, Cost, P95, Took           string
	Trials                                   int
	Note                                     string
	// What is the command and the name of what was run, unless it is an ordinary run of several scenarios.
	What string
	// Alike is true if the run can be compared with others.
	Alike bool
	// Before links to the comparison with the run before it; empty if there is none.
	Before string
}

// runsPage is the list of runs.
type runsPage struct {
	frame
	Live  []liveRow
	Rows  []runRow
	Strip []runRow // the oldest first
	// Names is true if a row has something in What.
	Names bool
	// Branch, Commit (its beginning) and Until (a day) are the filter.
	Branch, Commit, Until string
	Filtered              bool
	Branches              []string // those of the rows
	Pager                 pager
	Empty                 bool
}

func (s *Server) runs(w http.ResponseWriter, r *http.Request) error {
	p := runsPage{
		frame: s.frame("Runs"), Live: s.liveRows(),
		Branch: r.FormValue("branch"), Commit: r.FormValue("commit"), Until: r.FormValue("until"),
	}
	from := number(r, "from", 0)
	filter := history.Filter{Branch: p.Branch, Commit: strings.ToLower(p.Commit), Skip: from, Limit: runsShown + 1, All: true}
	if day, err := time.Parse(time.DateOnly, p.Until); err == nil {
		filter.Before = day.AddDate(0, 0, 1)
	}
	p.Filtered = p.Branch != "" || p.Commit != "" || !filter.Before.IsZero()
	st, err := s.past(r.Context())
	if err != nil {
		return err
	}
	var list []history.Run
	if st != nil {
		defer func() { _ = st.Close() }() // it was only read
		if list, err = st.Runs(r.Context(), filter); err != nil {
			return err
		}
	}
	p.Empty = len(list) == 0 && from == 0 && !p.Filtered
	for i := range list[:min(len(list), runsShown)] {
		row := newRunRow(&list[i])
		older := slices.IndexFunc(list[i+1:], func(r history.Run) bool { return r.Kind.HasResults() })
		if row.Alike && older >= 0 {
			row.Before = compareLink(list[i+1+older].ID, row.ID, "")
		}
		p.Rows = append(p.Rows, row)
		p.Names = p.Names || row.What != ""
		if row.Branch != "" && !slices.Contains(p.Branches, row.Branch) {
			p.Branches = append(p.Branches, row.Branch)
		}
	}
	p.Strip = slices.Clone(p.Rows)
	slices.Reverse(p.Strip)
	slices.Sort(p.Branches)
	if from > 0 {
		p.Pager.Newer = withFrom(r, max(0, from-runsShown))
	}
	if len(list) > runsShown {
		p.Pager.Older = withFrom(r, from+runsShown)
	}
	if p.Pager != (pager{}) {
		p.Pager.Text = fmt.Sprintf("runs %s to %s, the newest first", format.Int(from+1), format.Int(from+len(p.Rows)))
	}
	show(w, http.StatusOK, "runs", p)
	return nil
}

func newRunRow(r *history.Run) runRow {
	row := runRow{
		ID: r.ID, Link: runLink(r.ID), What: what(r), Alike: r.Kind.HasResults(),
		Began: r.At.UTC().Format(minutes), Branch: r.Branch, Commit: history.ShortCommit(r.Commit, r.Dirty),
		Variant: r.Variant, Verdict: r.Verdict, Cost: "unknown", Trials: r.Trials,
	}
	if r.Scenarios.Total() > 0 {
		row.Passed = fmt.Sprintf("%d/%d", r.Scenarios.Pass, r.Scenarios.Total())
	}
	if judged := r.Scenarios.Total() - r.Scenarios.Skip; judged > 0 {
		row.Share = format.Percent(float64(r.Scenarios.Pass) / float64(judged))
	}
	if r.CostEUR != nil {
		row.Cost = format.Money(*r.CostEUR)
	}
	if r.LatencyP95 != nil {
		row.P95 = format.Seconds(*r.LatencyP95)
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

// what names what was run.
func what(r *history.Run) string {
	if r.Kind == history.Plain || r.Kind == "" {
		return r.Subject
	}
	return strings.TrimSpace(string(r.Kind) + " " + r.Subject)
}

// chosen returns the runs to compare: those that are named, or those that are ticked in the list.
func chosen(query url.Values) (a, b string) {
	a, b = query.Get("a"), query.Get("b")
	if picked := query["run"]; len(picked) == 2 { // the newer run is ticked first: it is above
		a, b = picked[1], picked[0]
	}
	return a, b
}
