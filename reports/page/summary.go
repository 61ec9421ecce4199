package page

import (
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/htmlpage"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// summary is the page above the list of scenarios.
type summary struct {
	Frame     htmlpage.Frame
	Verdict   verdict
	Word      string // the result of the run
	Headline  string
	Run       []fact
	Origin    doc.Origin
	Numbers   []numbered
	Recorded  string // the scope of the numbers, if they do not cover all runs
	Attention []attention
	Changes   template.HTML
	Before    string
	Explored  template.HTML
	Detectors template.HTML
	Plots     template.HTML
	Agents    template.HTML
}

// numbered is a number with its name and a note.
type numbered struct{ Name, Value, Note string }

// attention is a list of problems.
type attention struct {
	Title string
	Items []pointer
	More  int
}

// pointer is a text that may be a link.
type pointer struct {
	Link       template.URL
	Text, Note string
	// Rule, Evidence and Diff are those of the finding that is the likely cause.
	Rule, Evidence string
	Diff           template.HTML
	Command        string // which runs the scenario again
}

// maxItems limits the lists of the summary.
const maxItems = 50

func (b *Builder) summary(in Input) summary {
	r := in.Report
	s := summary{
		Verdict: newVerdict(reports.OverallVerdict(&in.Report, in.Explored...)), Word: word(in), Headline: headline(in),
		Run: about(r.Run), Origin: in.Origin.Facts(),
		Numbers: numbers(r, b.realTime), Attention: b.attention(in), Agents: agents(r.Totals.Agents),
	}
	if r.Comparison != nil {
		s.Changes, s.Before = doc.Fragment(b.changes(r.Comparison), 3), line(r.Comparison.Before, 200)
	}
	var explorations []doc.Block
	for i := range in.Explored {
		explorations = append(explorations, b.exploration(&in.Explored[i]))
	}
	s.Explored = doc.Fragment(explorations, 3)
	if len(in.Explored) == 0 {
		s.Plots = doc.Fragment(b.plots.blocks(r), 3)
	} else {
		s.Numbers = append(driven(in), s.Numbers[2:]...)
		s.Recorded = "An exploration records the golden path and the smallest run of each failure. " +
			"Calls, tokens, cost and times are those of the recorded runs."
	}
	if in.Detection != nil {
		s.Detectors = doc.Fragment(detectors(in.Detection), 3)
	}
	s.Frame = s.frame(r.Run.Tool)
	return s
}

// frame returns the frame of the page; its navigation has the existing parts.
func (s *summary) frame(tool string) htmlpage.Frame {
	f := htmlpage.SelfContained(s.Verdict.Sign+" "+s.Headline+" · rehearse", style, htmlpage.Common+script)
	f.Steps = true
	f.Skip, f.Tool = htmlpage.Anchor{ID: "scenarios", Name: "the scenarios"}, line(tool, 100)
	for _, part := range []struct {
		shown bool
		id    string
		name  string
	}{
		{true, "summary", "Summary"},
		{s.Attention != nil, "attention", "Attention"},
		{s.Changes != "", "changes", "Changes"},
		{s.Explored != "", "survival", "Survival"},
		{s.Detectors != "", "detectors", "Detectors"},
		{true, "scenarios", "Scenarios"},
		{s.Plots != "", "plots", "Plots"},
		{s.Agents != "", "agents", "By kind of agent"},
	} {
		if part.shown {
			f.Nav = append(f.Nav, htmlpage.Anchor{ID: part.id, Name: part.name})
		}
	}
	return f
}

// agents returns the folded sections of the kinds of agents.
func agents(m measure.AgentMetrics) template.HTML {
	var blocks []doc.Block
	for _, s := range reports.Sections(m) {
		blocks = append(blocks, doc.Details{Title: s.Title, Blocks: s.Blocks})
	}
	return doc.Fragment(blocks, 3)
}

// word returns the result of the run or the explorations in one or two words.
func word(in Input) string {
	if verdict := reports.OverallVerdict(&in.Report, in.Explored...); verdict != in.Report.Verdict {
		return newVerdict(verdict).Name
	}
	return reports.Word(in.Report)
}

// headline returns the result of the run or the explorations in a sentence.
func headline(in Input) string {
	if in.Report.Altered {
		return "This recording was altered after the run"
	}
	if len(in.Explored) > 0 {
		return reports.OutcomeLine(in.Explored)
	}
	line := scenarioLine(in)
	switch why := reports.ComparisonReason(in.Report.Comparison); {
	case why == "":
		return line
	case in.Report.Totals.Scenarios.Verdict() == gate.Pass:
		return strings.ToUpper(why[:1]) + why[1:] + ". " + line
	default:
		return line + "; " + why
	}
}

// scenarioLine counts the scenarios by verdict.
func scenarioLine(in Input) string {
	n := in.Report.Totals.Scenarios
	total := format.Count(n.Total(), "scenario")
	switch {
	case n.Total() == 0:
		return "No scenario was judged"
	case in.Report.Interrupted:
		// below: a part of the plan is not the whole
	case n.Total() == 1 && n.Pass == 1:
		return "The scenario passed"
	case n.Pass == n.Total():
		return "All " + total + " passed"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{n.Fail, "failed"}, {n.Error, "without a verdict"}, {n.Pass, "passed"}, {n.Skip, "skipped"}} {
		if p.n > 0 {
			parts = append(parts, format.Int(p.n)+" "+p.text)
		}
	}
	text := fmt.Sprintf("%s: %s", total, strings.Join(parts, ", "))
	if left := len(in.Report.NotRun); in.Report.Interrupted && left > 0 {
		text += "; " + format.Count(left, "other") + " not completed"
	}
	return text
}

func about(r reports.Run) []fact {
	list := []fact{{"run", line(r.ID, 20)}, {"with", line(r.Tool, 100)}}
	for _, f := range r.Facts() {
		list = append(list, fact{f.Name, line(f.Value.String(), 100)})
	}
	for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
		list = append(list, fact{line(key, 60), line(r.Labels[key], 120)})
	}
	return slices.DeleteFunc(list, func(f fact) bool { return f.Value == "" })
}

// numbers returns the most important totals. With realTime, a trial of the run was in real time.
func numbers(r reports.Report, realTime bool) []numbered {
	duration := "simulated time"
	if realTime {
		duration = "time of all trials"
	}
	trials := r.Totals.Trials
	list := []numbered{
		{Name: "scenarios", Value: format.Number(float64(r.Totals.Scenarios.Total()))},
		{Name: "trials", Value: format.Number(float64(trials.Total()))},
	}
	if trials.Pass < trials.Total() {
		list[1].Note = format.Number(float64(trials.Pass)) + " passed"
	}
	for _, m := range []struct{ name, of string }{
		{"calls", "calls"},
		{"tokens", "tokens"},
		{"cost", "cost_eur"},
		{"median latency", "latency_p50"},
		{"p95 latency", "latency_p95"},
		{duration, "duration"},
	} {
		v := reports.Find(r.Totals.Measures, m.of)
		n := numbered{Name: m.name, Value: strings.TrimSuffix(amount(v), " EUR")}
		if v.Value != nil {
			n.Note = strings.TrimPrefix(v.Unit, "s")
		}
		if m.of == "cost_eur" && v.Value != nil {
			n.Note = "EUR at list prices"
			if v.Known {
				n.Value = reports.Brief(v)
			}
		}
		if rest, atLeast := strings.CutPrefix(n.Value, "at least "); atLeast {
			n.Value = "≥ " + rest
		}
		if !v.Known && v.Value != nil {
			n.Note = strings.TrimPrefix(n.Note+", not all is known", ", ")
		}
		list = append(list, n)
	}
	if failed := reports.Find(r.Totals.Measures, "failed_calls"); failed.Value != nil && *failed.Value > 0 {
		list[2].Note = format.Number(*failed.Value) + " failed"
	}
	return list
}

// driven returns the totals of explorations, most of whose runs are not recorded.
func driven(in Input) []numbered {
	total := 0
	for i := range in.Explored {
		total += len(in.Explored[i].Cells)
	}
	return []numbered{
		{Name: "perturbed runs", Value: format.Number(float64(total)), Note: "driven"},
		{Name: "trials", Value: format.Number(float64(in.Report.Totals.Trials.Total())), Note: "recorded"},
	}
}

// attention lists the problems of the run and the scenarios that did not pass. Failures of
// explorations are shown there.
func (b *Builder) attention(in Input) []attention {
	r := in.Report
	var list []attention
	add := func(title string, n int, item func(i int) pointer) {
		if n == 0 {
			return
		}
		a := attention{Title: title, More: n - min(n, maxItems)}
		for i := range min(n, maxItems) {
			a.Items = append(a.Items, item(i))
		}
		list = append(list, a)
	}
	add("Problems of the recording", len(r.Problems), func(i int) pointer { return pointer{Text: line(r.Problems[i], 0)} })
	if r.Interrupted {
		add("The run was stopped before its plan was done", 1, func(int) pointer {
			return pointer{Text: "This report has the trials that were judged by then."}
		})
	}
	if r.Stopped != "" {
		add("The run was stopped before its plan was done", 1, func(int) pointer { return pointer{Text: line(r.Stopped, 0)} })
	}
	add("Not run", len(r.NotRun), func(i int) pointer { return pointer{Text: line(r.NotRun[i], 200)} })
	urgent := reports.ByUrgency(r.Scenarios)
	urgent = urgent[:min(r.Totals.Scenarios.Error+r.Totals.Scenarios.Fail, len(urgent))]
	urgent = slices.DeleteFunc(urgent, func(s reports.Scenario) bool { return b.isOff(s, in.Explored) })
	add("Did not pass", len(urgent), func(i int) pointer { return b.pointerTo(urgent[i], i) })
	return list
}

// isOff reports whether s is a perturbed run of an exploration.
func (b *Builder) isOff(s reports.Scenario, list []result.Exploration) bool {
	return len(b.scenario(s.Name).perturb) > 0 &&
		slices.ContainsFunc(list, func(r result.Exploration) bool { return r.Scenario == goldenOf(s.Name) })
}

// pointerTo links to a scenario, with its likely cause. Evidence is shown for the first ones.
func (b *Builder) pointerTo(s reports.Scenario, i int) pointer {
	p := pointer{Link: link(b.scenario(s.Name).id), Text: line(s.Name, 200)}
	if i < maxCauses {
		p.Command = line(reports.Rerun(s), 2000)
	}
	cause, ok := s.Cause()
	if !ok {
		return p
	}
	if cause.Message == gate.ViolationMessage && cause.Evidence != "" { // the evidence is the invariant
		cause.Message, cause.Evidence = cause.Evidence, ""
	}
	f := newFinding(cause)
	p.Note, p.Rule, p.Diff = f.Message, f.Rule, f.Diff
	if i < maxCauses && p.Diff == "" {
		p.Evidence = strings.Join(sanitize.Excerpt(strings.Split(f.Evidence, "\n"), causeLines), "\n")
	}
	return p
}

// The limits of evidence above the list: its scenarios, and the lines of each.
const (
	maxCauses  = 10
	causeLines = 9
)
