package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// marker is the hidden first line of the Markdown report, by which a later run finds its own
// comment on a pull request.
const marker = "<!-- rehearse:report -->"

// Document returns the report as a document. Scenarios that did not pass come first, and
// scenarios that were skipped for the same reason share an item. failuresOnly leaves out passing
// and skipped scenarios.
func Document(r Report, failuresOnly bool) doc.Document {
	d := head(r, true)
	listed, found := chosen(r, failuresOnly)
	listed, _ = gather(listed)
	if len(listed) > 0 {
		d.Body = append(d.Body, scenarioTable(listed))
	}
	d.Body = append(d.Body, agentSections(r)...)
	d.Body = append(d.Body, repeatedTrials(listed)...)
	found, alike := gather(found)
	items := findingItems(found)
	for _, s := range alike {
		items = append(items, s.item(maxSkipped))
	}
	d.Body = append(d.Body, findingList(items)...)
	d.Body = append(d.Body, advice(listed)...)
	d.Body = append(d.Body, notRunList(r, 0)...)
	if facts := r.Run.Facts(); len(facts) > 0 {
		d.Body = append(d.Body, facts)
	}
	return d
}

// head returns a document with the verdict of the report and what decides it; with all of the comparison, or only
// with what a reader must see.
func head(r Report, all bool) doc.Document {
	d := doc.Document{Marker: marker, Kind: "Rehearsal", Verdict: Word(r), Tone: wordTone(r), Summary: doc.Line(summary(r))}
	d.Lead = problems(r)
	if r.Comparison != nil {
		d.Lead = append(d.Lead, comparisonDocument(r.Comparison, nil, all || r.Comparison.Verdict != gate.Pass).Section())
	}
	return d
}

// chosen returns the scenarios to list, and those whose findings are shown, by urgency.
func chosen(r Report, failuresOnly bool) (listed, found []Scenario) {
	for _, s := range ByUrgency(r.Scenarios) {
		if failed(s.Verdict) || !failuresOnly {
			listed = append(listed, s)
		}
		if failed(s.Verdict) || s.Verdict == gate.Skip && !failuresOnly {
			found = append(found, s)
		}
	}
	return listed, found
}

func agentSections(r Report) (blocks []doc.Block) {
	for _, s := range Sections(r.Totals.Agents) {
		blocks = append(blocks, s)
	}
	return blocks
}

func findingList(items []doc.Item) []doc.Block {
	if len(items) == 0 {
		return nil
	}
	return []doc.Block{newSection("Findings", doc.Plain, doc.List{Items: items, Noun: "scenarios with findings", Spaced: true})}
}

func notRunList(r Report, most int) []doc.Block {
	if len(r.NotRun) == 0 {
		return nil
	}
	title, list := notRun(r), quoteList(r.NotRun, "scenarios that were not run")
	list.Max = most
	return []doc.Block{newSection("N"+title[1:], doc.Unsure, list)}
}

// problems returns the problems of the run as a whole.
func problems(r Report) (blocks []doc.Block) {
	if len(r.Problems) > 0 {
		blocks = append(blocks, newSection("Problems of the recording", doc.Bad, quoteList(r.Problems, "problems of the recording")))
	}
	if r.Stopped != "" {
		blocks = append(blocks, doc.Section{Title: doc.Line("Stopped: ", doc.Quote(r.Stopped)), Tone: doc.Bad})
	}
	return blocks
}

func newSection(title string, tone doc.Tone, blocks ...doc.Block) doc.Section {
	return doc.Section{Title: doc.Line(title), Tone: tone, Blocks: blocks}
}

// quoteList returns a list of foreign texts.
func quoteList(list []string, noun string) doc.List {
	l := doc.List{Noun: noun}
	for _, text := range list {
		l.Items = append(l.Items, doc.Item{Text: doc.Line(doc.Quote(text))})
	}
	return l
}

// verdictTone returns the colour of a verdict.
func verdictTone(v gate.Verdict) doc.Tone {
	switch v {
	case gate.Pass:
		return doc.Good
	case gate.Skip:
		return doc.Unsure
	case gate.Fail:
		return doc.Bad
	default:
		return doc.Broken
	}
}

// wordTone returns the colour of Word; an interruption alone is neither good nor bad.
func wordTone(r Report) doc.Tone {
	if Word(r) == interrupted {
		return doc.Unsure
	}
	return verdictTone(r.Verdict)
}

// columns are the measures of the table of scenarios.
var columns = []string{calls, tokens, costEUR, latencyP95, duration}

// scenarioTable returns a table with a row for each scenario.
func scenarioTable(list []Scenario) doc.Table {
	folder := commonFolder(list)
	first := doc.Line("scenario")
	if folder != "" {
		first = doc.Line("in ", doc.Quote(folder))
	}
	t := doc.Table{Noun: "scenarios", Columns: []doc.Column{
		{Head: first, Shorten: true}, {Head: doc.Line("verdict")}, {Head: doc.Line("status"), Shorten: true},
	}}
	for _, name := range []string{"calls", "tokens", "EUR", "p95", "time"} {
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(name), Right: true, Spare: true})
	}
	for _, s := range list {
		verdict := s.verdict()
		if s.Trials.Pass == s.Trials.Total() {
			verdict = string(s.Verdict)
		}
		row := []doc.Text{
			doc.Line(doc.Quote(strings.TrimPrefix(s.Name, folder))), doc.Line(doc.Toned(verdictTone(s.Verdict), verdict)),
			doc.Line(doc.Quote(s.Status)),
		}
		for _, name := range columns {
			row = append(row, doc.Line(Brief(Find(s.Measures, name))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// commonFolder returns the folder, with its slash, that the names of all scenarios begin with;
// empty for one scenario.
func commonFolder(list []Scenario) string {
	if len(list) < 2 {
		return ""
	}
	folder := list[0].Name[:strings.LastIndexByte(list[0].Name, '/')+1]
	for folder != "" && slices.ContainsFunc(list, func(s Scenario) bool { return !strings.HasPrefix(s.Name, folder) }) {
		folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
	}
	return folder
}

// skips are scenarios that were skipped for the same reason: a machine without a program skips
// dozens.
type skips struct {
	reason string
	list   []Scenario
}

// gather separates scenarios that share a reason for being skipped. The reasons are in the order
// of their first scenarios.
func gather(list []Scenario) (alone []Scenario, alike []skips) {
	of := map[string][]Scenario{}
	var reasons []string
	for _, s := range list {
		reason := s.skippedFor()
		if reason == "" {
			continue
		}
		if of[reason] == nil {
			reasons = append(reasons, reason)
		}
		of[reason] = append(of[reason], s)
	}
	for _, s := range list {
		if reason := s.skippedFor(); reason == "" || len(of[reason]) == 1 {
			alone = append(alone, s)
		}
	}
	for _, reason := range reasons {
		if len(of[reason]) > 1 {
			alike = append(alike, skips{reason, of[reason]})
		}
	}
	return alone, alike
}

// skippedFor returns the reason if all trials were skipped for the same one.
func (s Scenario) skippedFor() string {
	if s.Verdict != gate.Skip || s.MoreFindings > 0 {
		return ""
	}
	reason := ""
	for _, f := range s.effective() {
		if f.Severity != gate.Skipped || f.Evidence == "" || (reason != "" && f.Evidence != reason) {
			return ""
		}
		reason = f.Evidence
	}
	return reason
}

// maxSkipped limits the scenarios that are named for one reason.
const maxSkipped = 10

// item names at most that many of the scenarios.
func (s skips) item(most int) doc.Item {
	item := doc.Item{Text: doc.Line(doc.Toned(doc.Unsure, fmt.Sprintf("skipped %d scenarios", len(s.list))), ": ", doc.Quote(s.reason))}
	if most == 0 {
		return item
	}
	folder := commonFolder(s.list)
	var named doc.Text
	if folder != "" {
		named = doc.Line("in ", doc.Quote(folder), ": ")
	}
	for i, sc := range s.list[:min(len(s.list), most)] {
		if i > 0 {
			named = append(named, doc.Line(", ")...)
		}
		named = append(named, doc.Quote(strings.TrimPrefix(sc.Name, folder)))
	}
	if more := len(s.list) - most; more > 0 {
		named = append(named, doc.Line(fmt.Sprintf(" and %d more", more))...)
	}
	item.Items = []doc.Item{{Text: named}}
	return item
}

// summary returns the totals on one line.
func summary(r Report) string {
	c := r.Totals.Scenarios
	line := format.Count(c.Total(), "scenario") + ": " + c.String()
	if n := r.Totals.Trials.Total(); n != c.Total() {
		line += "; " + format.Count(n, "trial") + ": " + r.Totals.Trials.String()
	}
	if why := ComparisonReason(r.Comparison); why != "" {
		if c.Verdict() == gate.Pass {
			line = why + "; " + line
		} else {
			line += "; " + why
		}
	}
	if len(r.NotRun) > 0 {
		line += fmt.Sprintf("; %d %s", len(r.NotRun), notRun(r))
	}
	shown := func(name string) string { return Text(Find(r.Totals.Measures, name)) }
	made := shown(calls) + " calls"
	if shown(calls) == "1" {
		made = "1 call"
	}
	return fmt.Sprintf("%s; %s, %s, %s, latency p95 %s", line, made,
		atLeast(Find(r.Totals.Measures, tokens), "tokens"), atLeast(Find(r.Totals.Measures, costEUR), "EUR"), shown(latencyP95))
}

// atLeast returns a sum with its unit; a partly unknown one is a lower bound.
func atLeast(v measure.Value, unit string) string {
	known := v
	known.Known = true
	switch {
	case v.Value == nil || hasNumber(v):
		return Text(v) + " " + unit
	case *v.Value == 0:
		return "unknown " + unit
	default:
		return "at least " + Text(known) + " " + unit
	}
}

// String returns a text such as "3 pass, 1 fail".
func (c Count) String() string {
	var parts []string
	for _, part := range c.parts() {
		if part.n > 0 {
			parts = append(parts, format.Int(part.n)+" "+string(part.verdict))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
