package view

import (
	"context"
	"html/template"
	"net/http"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// trendRuns is the number of the newest runs of a trend.
const trendRuns = 100

// trendPage is the development of a scenario.
type trendPage struct {
	frame
	Name, Variant, Branch string
	Content               template.HTML
	// Runs are those of the trend, the oldest first, with the breaks between them.
	Runs    []trendRun
	Renamed []crumb
}

// trendRun is a run of a trend.
type trendRun struct {
	Link, Began, Commit string
	Verdict             gate.Verdict
	// Break is true if the content of the scenario changed with this run.
	Break bool
}

func (s *Server) trend(w http.ResponseWriter, r *http.Request) error {
	of := history.Identity{Scenario: r.PathValue("name"), Variant: r.FormValue("variant")}
	p := trendPage{
		frame: s.frame("Trend of "+of.String(), crumb{"/", "Runs"}), Name: of.Scenario, Variant: of.Variant, Branch: r.FormValue("branch"),
	}
	t, err := s.readTrend(r.Context(), of, p.Branch)
	if err != nil {
		return err
	}
	breaks := map[int]bool{}
	for _, b := range t.Breaks {
		breaks[b.Index] = breaks[b.Index] || b.Why == history.ContentBreak
	}
	for i := range t.Runs {
		x := &t.Runs[i]
		p.Runs = append(p.Runs, trendRun{
			Link: scenarioLink(x.ID, of.Scenario), Began: x.At.UTC().Format(minutes),
			Commit: history.ShortCommit(x.Commit, x.Dirty), Verdict: x.Verdict, Break: breaks[i],
		})
	}
	for _, other := range t.Renamed {
		p.Renamed = append(p.Renamed, crumb{trendLink(other.Scenario, other.Variant), other.String()})
	}
	t.Renamed = nil // the page has links
	d := reports.TrendDocument(&t, true, func(run string) string { return scenarioLink(run, of.Scenario) })
	blocks := append([]doc.Block{doc.Paragraph(d.Summary)}, reports.TrendPlots(&t)...)
	p.Content = doc.Fragment(append(append(blocks, d.Lead...), d.Body...), 2)
	show(w, http.StatusOK, "trend", p)
	return nil
}

func (s *Server) readTrend(ctx context.Context, of history.Identity, branch string) (t history.Trend, err error) {
	st, err := s.past(ctx)
	if err != nil {
		return t, err
	}
	if st == nil {
		return t, notFound("there is no history")
	}
	defer func() { _ = st.Close() }() // it was only read
	points, err := st.Trend(ctx, of, history.Filter{Branch: branch, Limit: trendRuns}, history.DefaultMeasures()...)
	if err != nil {
		return t, err
	}
	if len(points) == 0 {
		return t, notFound("the history has no scenario %.200q", of.String())
	}
	t = history.NewTrend(of, points, nil)
	t.Renamed, err = st.Renamed(ctx, of)
	return t, err
}
