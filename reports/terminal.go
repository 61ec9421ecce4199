package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Detail is how much a terminal shows of a run.
type Detail int

// The details. Normal lists the scenarios of a small run, and the folders of a large one; Quiet
// shows only what did not pass, and Verbose each scenario.
const (
	Normal Detail = iota
	Quiet
	Verbose
)

// The limits of Normal.
const (
	maxListed = 8  // scenarios with a line for each
	maxBlocks = 20 // scenarios whose findings are shown
	maxNotRun = 10 // names of scenarios that were not run
)

// TerminalDocument is Document for a terminal, with a line for each folder of a large run.
func TerminalDocument(r Report, detail Detail, failuresOnly bool) doc.Document {
	if detail == Verbose {
		return Document(r, failuresOnly)
	}
	d := head(r, false)
	large := len(r.Scenarios) > maxListed
	listed, found := chosen(r, failuresOnly || detail == Quiet)
	alone, _ := gather(listed)
	switch {
	case detail == Quiet:
	case large && failuresOnly:
	case large:
		d.Body = append(d.Body, folderTable(r.Scenarios))
	default:
		if len(alone) > 0 {
			d.Body = append(d.Body, scenarioTable(alone))
		}
		d.Body = append(d.Body, agentSections(r)...)
	}
	if large || detail == Quiet { // only scenarios whose trials differ are of interest
		alone = slices.DeleteFunc(alone, func(s Scenario) bool { return !s.Flaky })
	}
	d.Body = append(d.Body, repeatedTrials(alone)...)
	bad := slices.DeleteFunc(slices.Clone(listed), func(s Scenario) bool { return !failed(s.Verdict) })
	if len(bad) > maxBlocks {
		d.Body = append(d.Body, scenarioTable(bad))
	}
	d.Body = append(d.Body, shortFindings(found, large)...)
	d.Body = append(d.Body, advice(listed)...)
	d.Body = append(d.Body, notRunList(r, maxNotRun)...)
	return d
}

// shortFindings returns the findings of the first scenarios that did not pass, and the reasons why
// others were skipped. In a large run a reason is one item, which names only a single scenario.
func shortFindings(found []Scenario, large bool) []doc.Block {
	alone, alike := gather(found)
	var items []doc.Item
	title, bad := "Skipped", 0
	for _, s := range alone {
		switch reason := s.skippedFor(); {
		case failed(s.Verdict):
			title = "Findings"
			if bad++; bad <= maxBlocks { // a table names them all
				items = append(items, s.findingItem())
			}
		case large && reason != "":
			items = append(items, doc.Item{Text: doc.Line(doc.Toned(doc.Unsure, "skipped"), " ", doc.Quote(s.Name), ": ", doc.Quote(reason))})
		default:
			items = append(items, s.findingItem())
		}
	}
	most := maxSkipped
	if large {
		most = 0
	}
	for _, s := range alike {
		items = append(items, s.item(most))
	}
	if items == nil {
		return nil
	}
	return []doc.Block{newSection(title, doc.Plain, doc.List{Items: items, Spaced: true})}
}

// folder sums up the scenarios of a folder.
type folder struct {
	name  string
	count Count
}

// folderTable returns a table with a row for each folder, and a column for each verdict of a scenario.
func folderTable(list []Scenario) doc.Table {
	var folders []*folder
	of := map[string]*folder{}
	var all Count
	for _, s := range list {
		name := folderOf(s)
		f := of[name]
		if f == nil {
			f = &folder{name: name}
			of[name], folders = f, append(folders, f)
		}
		f.count.Add(s.Verdict)
		all.Add(s.Verdict)
	}
	slices.SortFunc(folders, func(a, b *folder) int { return cmp.Compare(a.name, b.name) })
	t := doc.Table{Noun: "folders", Columns: []doc.Column{
		{Head: doc.Line("folder"), Shorten: true}, {Head: doc.Line("verdict")}, {Head: doc.Line("scenarios"), Right: true},
	}}
	var kinds []gate.Verdict
	for _, part := range all.parts() {
		if part.n > 0 {
			kinds = append(kinds, part.verdict)
			t.Columns = append(t.Columns, doc.Column{Head: doc.Line(string(part.verdict)), Right: true})
		}
	}
	for _, f := range folders {
		verdict := f.count.Verdict()
		row := []doc.Text{
			doc.Line(doc.Quote(f.name)), doc.Line(doc.Toned(verdictTone(verdict), string(verdict))), doc.Line(f.count.Total()),
		}
		for _, part := range f.count.parts() {
			if !slices.Contains(kinds, part.verdict) {
				continue
			}
			n := doc.Line("")
			if part.n > 0 {
				n = doc.Line(strconv.Itoa(part.n))
			}
			row = append(row, n)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// folderOf returns the folder of a scenario's file, or of its name if it is shipped.
func folderOf(s Scenario) string {
	path := s.File
	if path == "" || strings.HasPrefix(path, shippedPrefix) {
		path = s.Name
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i+1]
	}
	return "./"
}
