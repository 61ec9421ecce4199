package view

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// scenariosShown is the number of scenarios on a page.
const scenariosShown = 200

// choices are the parts of a run that a filter shows.
var choices = []choice{
	{"", "all"},
	{"failed", "failed"},
	{"flaky", "flaky"},
	{"new", "new"},
	{"slower", "slower"},
	{"dearer", "more expensive"},
}

type choice struct{ Value, Name string }

// shownMeasures are the measures of the table of scenarios.
var shownMeasures = []string{"calls", "tokens", "cost_eur", "latency_p95"}

// scenarioRow is a scenario of a run.
type scenarioRow struct {
	Name, Link, Trend string
	Verdict           gate.Verdict
	Status, Passed    string
	Values            []string // of shownMeasures
	Finding           string   // the first one
}

// runPage is a run of the history.
type runPage struct {
	frame
	ID      string
	Verdict gate.Verdict
	Line    string
	Facts   template.HTML
	// Results is true if there are results of scenarios; those of other kinds of runs are in Folder.
	Results bool
	Folder  string
	Lead    template.HTML
	Rows    []scenarioRow
	Show    string
	Search  string
	Choices []choice
	// Against is the run that new, slower and dearer refer to.
	Against, Compare string
	Pager            pager
	Found            int
}

// run shows a run of the history, or one in progress.
func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	if folder := s.liveFolder(id); folder != "" {
		return s.liveRun(w, r, id, folder)
	}
	st, e, err := s.entry(r.Context(), id)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // it was only read
	d := reports.EntryDocument(&e)
	p := runPage{
		frame: s.frame("Run "+e.ID, crumb{"/", "Runs"}), ID: e.ID, Verdict: e.Verdict, Choices: choices,
		Show: r.FormValue("show"), Search: r.FormValue("q"),
		Line:  fmt.Sprintf("%d of %s passed", e.Scenarios.Pass, format.Plural(e.Scenarios.Total(), "scenario")),
		Facts: doc.Fragment([]doc.Block{d.Figures}, 2), Lead: doc.Fragment(d.Lead, 2),
	}
	if p.Results = e.Kind.HasResults(); !p.Results {
		p.Line, p.Folder = fmt.Sprintf("%s: %s", what(&e.Run), format.Count(e.Trials, "run")), e.Folder
		show(w, http.StatusOK, "run", p)
		return nil
	}
	before, err := s.before(r.Context(), st, &e.Run)
	if err != nil {
		return err
	}
	if before != "" {
		p.Against, p.Compare = before, compareLink(before, e.ID, "")
	}
	wanted, err := chooser(r.Context(), st, &e, p.Show, before)
	if err != nil {
		return err
	}
	var results []*history.Result
	for i := range e.Results {
		if x := &e.Results[i]; wanted(x) && strings.Contains(strings.ToLower(x.Name), strings.ToLower(p.Search)) {
			results = append(results, x)
		}
	}
	slices.SortStableFunc(results, func(a, b *history.Result) int { return urgency(a.Verdict) - urgency(b.Verdict) })
	p.Found = len(results)
	var from, to int
	from, to, p.Pager = paging(r, len(results), scenariosShown, "scenarios")
	for _, x := range results[from:to] {
		p.Rows = append(p.Rows, newScenarioRow(&e.Run, x))
	}
	show(w, http.StatusOK, "run", p)
	return nil
}

// entry reads a run of the history, which the caller closes.
func (s *Server) entry(ctx context.Context, id string) (History, history.Entry, error) {
	st, err := s.past(ctx)
	if err != nil {
		return nil, history.Entry{}, err
	}
	if st == nil {
		return nil, history.Entry{}, notFound("there is no run %.100q: there is no history", id)
	}
	run, err := findRun(ctx, st, id)
	var e history.Entry
	if err == nil {
		e, err = st.Entry(ctx, run.ID)
	}
	if errors.Is(err, store.ErrNotFound) {
		err = notFound("the history has no run %.100q; it may have been pruned", id)
	}
	if err != nil {
		_ = st.Close() // it was only read
		return nil, e, err
	}
	return st, e, nil
}

// findRun returns the run with an id or another name, such as latest.
func findRun(ctx context.Context, st History, id string) (*history.Run, error) {
	ref, err := history.ParseRef(id)
	if err != nil {
		return nil, notFound("there is no run %.100q", id)
	}
	runs, err := st.Runs(ctx, history.Filter{ID: ref.ID, Commit: ref.Commit, Branch: ref.Branch, Skip: ref.Back, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, notFound("the history has no run %.100q; it may have been pruned", id)
	}
	return &runs[0], nil
}

// before returns the id of the run before another one, of the same branch and variant; empty if there is none.
func (s *Server) before(ctx context.Context, st History, run *history.Run) (string, error) {
	const looked = 20
	runs, err := st.Runs(ctx, history.Filter{Before: run.At, Branch: run.Branch, Limit: looked})
	if err != nil {
		return "", err
	}
	for i := range runs {
		if runs[i].Variant == run.Variant && runs[i].ID != run.ID {
			return runs[i].ID, nil
		}
	}
	return "", nil
}

// chooser returns which results a filter shows. Those that refer to an earlier run show nothing without one.
func chooser(ctx context.Context, st History, e *history.Entry, choice, before string) (func(*history.Result) bool, error) {
	switch choice {
	case "failed":
		return func(x *history.Result) bool { return x.Verdict != gate.Pass && x.Verdict != gate.Skip }, nil
	case "flaky":
		return func(x *history.Result) bool { return x.Trials.Pass > 0 && x.Trials.Fail+x.Trials.Error > 0 }, nil
	case "new", "slower", "dearer":
	default:
		return func(*history.Result) bool { return true }, nil
	}
	names := map[string]bool{}
	if before != "" {
		earlier, err := st.Entry(ctx, before)
		if err != nil {
			return nil, err
		}
		names = changed(rundir.Compare(rundir.SideOf(before, &earlier), rundir.SideOf(e.ID, e)), choice)
	}
	return func(x *history.Result) bool { return names[x.Name] }, nil
}

// changed returns the scenarios of a comparison that are new, slower or dearer.
func changed(c compare.Result, choice string) map[string]bool {
	names := map[string]bool{}
	if choice == "new" {
		for _, name := range c.New {
			names[name] = true
		}
		return names
	}
	for _, x := range c.Comparisons {
		slower := x.Measure == "duration" || strings.HasPrefix(x.Measure, "latency")
		dearer := strings.HasPrefix(x.Measure, "cost")
		if x.Verdict == compare.Worse && (choice == "slower" && slower || choice == "dearer" && dearer) {
			names[x.Scenario] = true
		}
	}
	return names
}

// urgency orders verdicts, the worst first.
func urgency(v gate.Verdict) int {
	return slices.Index([]gate.Verdict{gate.Fail, gate.Error, gate.Skip, gate.Pass}, v)
}

func newScenarioRow(run *history.Run, x *history.Result) scenarioRow {
	row := scenarioRow{
		Name: x.Name, Link: scenarioLink(run.ID, x.Name), Trend: trendLink(x.Name, run.Variant), Verdict: x.Verdict, Status: x.Status,
		Passed: fmt.Sprintf("%d/%d", x.Trials.Pass, x.Trials.Planned),
	}
	for _, name := range shownMeasures {
		text := "n/a"
		if m, ok := x.Measure(name); ok {
			text = reports.Text(measure.Value{Name: m.Name, Unit: m.Unit, Known: m.Known, Value: m.Value, N: m.N})
		}
		row.Values = append(row.Values, text)
	}
	if len(x.Findings) > 0 {
		row.Finding = x.Findings[0].Rule + ": " + x.Findings[0].Message
	}
	return row
}
