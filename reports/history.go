package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// minutes is the form of times in lists, in UTC.
const minutes = "2006-01-02 15:04"

// timeForm returns the form of the times of runs: with seconds if two are in the same minute.
func timeForm(runs []history.Run) string {
	seen := map[string]bool{}
	for i := range runs {
		at := runs[i].At.Format(minutes)
		if seen[at] {
			return time.DateTime
		}
		seen[at] = true
	}
	return minutes
}

// RunsDocument returns a list of runs, the newest first, as a document. total is the number of runs
// that the history has.
func RunsDocument(runs []history.Run, total int) doc.Document {
	d := doc.Document{Kind: "History", Summary: doc.Line(format.Count(total, "run"))}
	if len(runs) < total {
		d.Summary = doc.Line(fmt.Sprintf("the newest %d of ", len(runs)), format.Count(total, "run"))
	}
	t := doc.Table{Columns: []doc.Column{
		{Head: doc.Line("run")},
		{Head: doc.Line("began (UTC)")},
		{Head: doc.Line("kind")},
		{Head: doc.Line("name"), Shorten: true},
		{Head: doc.Line("branch"), Shorten: true},
		{Head: doc.Line("commit"), Spare: true},
		{Head: doc.Line("variant"), Shorten: true, Optional: true},
		{Head: doc.Line("verdict")},
		{Head: doc.Line("passed"), Right: true},
		{Head: doc.Line("EUR"), Right: true, Spare: true},
	}}
	form := timeForm(runs)
	var kinds, names, branches, commits, variants bool
	for i := range runs {
		r := &runs[i]
		cost := "unknown"
		if r.CostEUR != nil {
			cost = Brief(measure.Value{Unit: "EUR", Known: true, Value: r.CostEUR})
		}
		kinds, names, branches = kinds || r.Kind != history.Plain, names || r.Subject != "", branches || r.Branch != ""
		commits, variants = commits || r.Commit != "", variants || r.Variant != ""
		passed := "n/a"
		if r.Scenarios.Total() > 0 || r.Kind.HasResults() {
			passed = fmt.Sprintf("%d/%d", r.Scenarios.Pass, r.Scenarios.Total())
		}
		t.Rows = append(t.Rows, []doc.Text{
			doc.Line(r.ID), doc.Line(r.At.Format(form)), doc.Line(string(r.Kind)), doc.Line(doc.Quote(r.Subject)),
			doc.Line(doc.Quote(r.Branch)), doc.Line(doc.Quote(history.ShortCommit(r.Commit, r.Dirty))),
			doc.Line(doc.Quote(r.Variant)), doc.Line(doc.Toned(verdictTone(r.Verdict), string(r.Verdict))),
			doc.Line(passed), doc.Line(cost),
		})
	}
	for _, c := range []struct { // from the right
		shown  bool
		column int
	}{{variants, 6}, {commits, 5}, {branches, 4}, {names, 3}, {kinds, 2}} {
		if !c.shown {
			t = without(t, c.column)
		}
	}
	if len(runs) > 0 {
		d.Body = []doc.Block{t}
	}
	return d
}

// without returns a table without a column.
func without(t doc.Table, column int) doc.Table {
	t.Columns = append(t.Columns[:column:column], t.Columns[column+1:]...)
	for i, row := range t.Rows {
		t.Rows[i] = append(row[:column:column], row[column+1:]...)
	}
	return t
}

// EntryDocument returns a run of the history as a document.
func EntryDocument(e *history.Entry) doc.Document {
	d := doc.Document{
		Kind: "Run", Name: doc.Line(e.ID), Verdict: strings.ToUpper(string(e.Verdict)), Tone: verdictTone(e.Verdict),
		Summary: doc.Line(fmt.Sprintf("%d of %s passed", e.Scenarios.Pass, format.Count(e.Scenarios.Total(), "scenario"))),
	}
	if !e.Kind.HasResults() {
		d.Summary = doc.Line(string(e.Kind), " ", doc.Quote(e.Subject), ": ", format.Count(e.Trials, "run"))
	}
	fact := func(name, value string) {
		if value != "" {
			d.Figures = append(d.Figures, doc.Fact{Name: name, Value: doc.Line(doc.Quote(value))})
		}
	}
	began := e.At.Format(time.RFC3339)
	if !e.Began.IsZero() && e.Began.Sub(e.At).Abs() > time.Second {
		began += " (" + e.Began.Format(time.RFC3339) + " by the clock of its machine)"
	}
	fact("began", began)
	if e.Ended.After(e.Began) {
		fact("took", format.Seconds(e.Ended.Sub(e.Began).Seconds()))
	}
	commit := e.Commit
	if e.Dirty {
		commit += ", with changed files"
	}
	fact("commit", commit)
	fact("branch", e.Branch)
	fact("variant", e.Variant)
	fact("ci", e.CI)
	fact("command", e.Command)
	fact("folder", e.Folder)
	fact("tool", e.Tool)
	if e.CostEUR != nil {
		fact("cost", format.Money(*e.CostEUR)+" EUR")
	}
	if e.LatencyP95 != nil {
		fact("latency p95", format.Seconds(*e.LatencyP95))
	}
	if e.Interrupted {
		fact("interrupted", "before its plan was done")
	}
	fact("stopped", e.Stopped)
	if len(e.Problems) > 0 {
		d.Lead = append(d.Lead, newSection("Problems of the recording", doc.Bad, quoteList(e.Problems, "problems")))
	}
	if len(e.NotRun) > 0 {
		d.Lead = append(d.Lead, newSection("Not run", doc.Unsure, quoteList(e.NotRun, "scenarios")))
	}
	if e.Kind.HasResults() {
		d.Body = entryBlocks(e)
	}
	return d
}

// entryBlocks returns the table of scenarios, those that did not pass first, and their findings.
func entryBlocks(e *history.Entry) []doc.Block {
	t := doc.Table{Noun: "scenarios", Columns: []doc.Column{
		{Head: doc.Line("scenario"), Shorten: true},
		{Head: doc.Line("verdict")},
		{Head: doc.Line("passed"), Right: true},
		{Head: doc.Line("calls"), Right: true},
		{Head: doc.Line("tokens"), Right: true},
		{Head: doc.Line("EUR"), Right: true},
		{Head: doc.Line("p95"), Right: true},
	}}
	l := doc.List{Noun: "scenarios with findings"}
	for _, passed := range []bool{false, true} {
		for i := range e.Results {
			r := &e.Results[i]
			if (r.Verdict == gate.Pass) != passed {
				continue
			}
			row := []doc.Text{
				doc.Line(doc.Quote(r.Name)), doc.Line(doc.Toned(verdictTone(r.Verdict), string(r.Verdict))),
				doc.Line(fmt.Sprintf("%d/%d", r.Trials.Pass, r.Trials.Planned)),
			}
			for _, name := range []string{calls, tokens, costEUR, latencyP95} {
				text := "n/a"
				if m, ok := r.Measure(name); ok {
					text = Brief(valueOf(&m))
				}
				row = append(row, doc.Line(text))
			}
			t.Rows = append(t.Rows, row)
			if len(r.Findings) > 0 && !passed {
				item := doc.Item{Text: doc.Line(doc.Toned(verdictTone(r.Verdict), string(r.Verdict)), " ", doc.Quote(r.Name).In(doc.Strong))}
				for _, f := range r.Findings {
					item.Items = append(item.Items, doc.Item{Text: doc.Line(doc.Quote(f.Rule), ": ", doc.Quote(f.Message)), Evidence: f.Evidence})
				}
				l.Items = append(l.Items, item)
			}
		}
	}
	blocks := []doc.Block{t}
	if len(l.Items) > 0 {
		blocks = append(blocks, newSection("Findings", doc.Plain, l))
	}
	return blocks
}
