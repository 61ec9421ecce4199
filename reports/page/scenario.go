package page

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// verdict is a verdict with its sign, which is shown beside the colour.
type verdict struct{ Name, Sign string }

var signs = map[gate.Verdict]string{gate.Pass: "✓", gate.Fail: "✗", gate.Error: "!", gate.Skip: "–"}

// newVerdict returns a verdict; an unknown one is an error.
func newVerdict(v gate.Verdict) verdict {
	sign, ok := signs[v]
	if !ok {
		v, sign = gate.Error, signs[gate.Error]
	}
	return verdict{string(v), sign}
}

// finding is a rendered finding.
type finding struct {
	Severity, Sign, Rule, Message, Evidence, At string
	// Diff shows the expected and the actual value side by side.
	Diff template.HTML
	// Where links to its trial.
	Where *reference
}

// newFindings prepares findings; trial returns the link to a trial and may be nil.
func newFindings(list []gate.Finding, trial func(n int) *reference) []finding {
	var out []finding
	for _, f := range list {
		shown := newFinding(f)
		if trial != nil && f.Trial > 0 {
			shown.Where = trial(f.Trial)
		}
		out = append(out, shown)
	}
	return out
}

func newFinding(f gate.Finding) finding {
	shown := finding{
		Severity: line(string(f.Severity), 20), Rule: line(f.Rule, 60), Message: line(f.Message, 2000),
		Evidence: strings.Join(sanitize.Lines(f.Evidence, 1000), "\n"), At: line(f.At, 80),
	}
	if d := doc.NewDiff("expected", "actual", f.Expected, f.Actual); len(d.Lines) > 0 {
		shown.Evidence, shown.Diff = "", doc.Fragment([]doc.Block{d}, 3)
	}
	if f.Accept != "" {
		shown.Message += "; accept with: " + line(f.Accept, 2000)
	}
	switch f.Severity {
	case gate.Info:
		shown.Sign = "i"
	case gate.Skipped:
		shown.Severity, shown.Sign = string(gate.Skip), signs[gate.Skip]
	case gate.Failing:
		shown.Sign = signs[gate.Fail]
	default:
		shown.Severity, shown.Sign = string(gate.Error), signs[gate.Error]
	}
	return shown
}

// row is the folded line of a scenario, with the values to filter and sort by.
type row struct {
	ID          string
	Link        template.URL
	Order       int
	Name, About string
	Agent       string
	Tags        string
	Verdict     verdict
	// Note is the number of passed trials, if there are several.
	Note                         string
	Status                       string
	Calls, Tokens, Cost, Latency cell
	Open                         bool
	// Found is the text of findings and answers, to search in.
	Found  string
	Inside folded
}

// cell is a measure as text, and as a number to sort by.
type cell struct {
	Text string
	Sort string
}

func newCell(list []measure.Value, name string) cell {
	v := reports.Find(list, name)
	c := cell{Text: reports.Text(v), Sort: "-1"}
	if v.Value != nil {
		c.Sort = strconv.FormatFloat(*v.Value, 'g', 8, 64)
	}
	return c
}

func (b *Builder) row(s reports.Scenario, order int) row {
	id := b.scenario(s.Name).id
	r := row{
		ID: id, Link: link(id), Order: order, Name: line(s.Name, 300), About: line(s.About, 300), Agent: line(s.Agent, 40),
		Verdict: newVerdict(s.Verdict), Status: line(s.Status, 60),
		Calls: newCell(s.Measures, "calls"), Tokens: newCell(s.Measures, "tokens"),
		Cost: newCell(s.Measures, "cost_eur"), Latency: newCell(s.Measures, "latency_p95"),
	}
	var tags []string
	for _, t := range s.Tags {
		tags = append(tags, line(t, 60))
	}
	r.Tags = strings.Join(tags, "\n")
	for _, f := range s.Findings[:min(len(s.Findings), 5)] {
		r.Found += line(f.Rule+": "+f.Message+" "+f.Evidence, maxFound) + "\n"
	}
	r.Found += b.scenario(s.Name).text
	if n := s.Trials.Total(); n > 1 && s.Trials.Pass < n {
		r.Note = fmt.Sprintf("%d of %d trials passed", s.Trials.Pass, n)
	}
	if s.Flaky {
		r.Note = "flaky: " + r.Note
	}
	return r
}

// section is the content of a scenario above its trials.
type section struct {
	row
	Where    string // the file
	Command  string
	Facts    []fact
	Proves   []string
	Labels   []string
	Findings []finding
	More     int // findings beyond those shown
	Measures []measured
	Over     string
	Several  bool // trials
	Agents   template.HTML
}

// measured is a row of a table of measures.
type measured struct{ Name, Value, Interval, N, Notes string }

func (b *Builder) section(s reports.Scenario, r row) section {
	sc := b.scenario(s.Name)
	out := section{
		row: r, Where: line(s.File, 300), Command: line(reports.Rerun(s), 2000),
		More: s.MoreFindings, Measures: newMeasures(s.Measures), Agents: agents(s.Agents),
		Over:  "Means over " + format.Count(s.Trials.Total(), "trial") + "; latencies over all calls.",
		Facts: []fact{{"status", line(s.Status, 60)}, {"agent", line(s.Agent, 60)}, {"backend", line(s.Backend, 60)}},
	}
	out.Several = s.Trials.Total() > 1
	if s.Trials.Total() == 1 {
		out.Over = "One trial; latencies over all of its calls."
	}
	if s.Model != "" {
		out.Facts = append(out.Facts, fact{"model", line(s.Model, 80)})
	}
	out.Facts = append(out.Facts, fact{"seed", strconv.FormatUint(s.Seed, 10)}, fact{"digest", line(s.Digest, 24)})
	if s.Trials.Total() > 1 {
		out.Facts = append(out.Facts, fact{"pass rate", share(s.PassRate)})
	}
	for _, r := range s.Repeats[:min(len(s.Repeats), maxRepeats)] {
		out.Facts = append(out.Facts, fact{fmt.Sprintf("pass@%d", r.K), share(r.PassAt)}, fact{fmt.Sprintf("pass^%d", r.K), share(r.PassAll)})
	}
	for _, id := range s.Proves {
		out.Proves = append(out.Proves, line(id, 64))
	}
	for _, t := range s.Tags {
		out.Labels = append(out.Labels, line(t, 60))
	}
	for _, p := range sc.perturb {
		out.Facts = append(out.Facts, fact{"perturbed by", line(p, 300)})
	}
	out.Findings = newFindings(s.Findings, func(n int) *reference {
		if s.Planned <= 1 {
			return nil
		}
		return &reference{link(trialID(sc.id, n)), fmt.Sprintf("trial %d", n)}
	})
	for i, f := range s.Findings {
		if at := gate.LineOf(s.Where, f.At); at > 0 {
			out.Findings[i].At += fmt.Sprintf(", line %d", at)
		}
	}
	return out
}

// maxRepeats limits the shown numbers of trials for pass@k.
const maxRepeats = 4

// share returns a rate with its interval, in per cent.
func share(v measure.Value) string {
	if v.Value == nil {
		return reports.Text(v)
	}
	text := fmt.Sprintf("%.4g %%", *v.Value*100)
	if in := v.Interval; in != nil {
		text += fmt.Sprintf(" [%.3g, %.3g]", in.Lo*100, in.Hi*100)
	}
	return text
}

// notNegative are the measures whose interval ends at 0: a mean minus its error may be below.
var notNegative = []string{"calls", "failed_calls", "retries", "tokens", "cost_eur", "cost_usd", "duration", "latency_p50", "latency_p95"}

func newMeasures(list []measure.Value) []measured {
	var out []measured
	for _, v := range list {
		m := measured{Name: words(v.Name), Value: amount(v), N: strconv.Itoa(v.N)}
		if in := v.Interval; in != nil {
			lo, hi := v, v
			if v.Value != nil && *v.Value >= 0 && in.Lo < 0 && slices.Contains(notNegative, v.Name) {
				clipped := *in
				clipped.Lo = 0
				in = &clipped
			}
			lo.Value, hi.Value, lo.Known, hi.Known = &in.Lo, &in.Hi, true, true
			m.Interval = fmt.Sprintf("%s to %s", reports.Text(lo), reports.Text(hi))
		}
		var notes []string
		for _, w := range v.Warnings {
			notes = append(notes, line(w, 200))
		}
		m.Notes = strings.Join(notes, "; ")
		out = append(out, m)
	}
	return out
}

// amount returns a measure with its unit, and "at least" for a lower bound. Partly unknown times
// are not a bound.
func amount(v measure.Value) string {
	text := reports.Text(v)
	if !v.Known && v.Value != nil {
		known := v
		known.Known = true
		if text = reports.Text(known); v.Unit != "s" {
			text = "at least " + text
		}
	}
	if v.Value != nil && (v.Unit == "EUR" || v.Unit == "USD") {
		text += " " + v.Unit
	}
	return text
}

// without counts the trials without details, by verdict.
func without(c reports.Count) string {
	if c.Total() == 0 {
		return ""
	}
	return format.Count(c.Total(), "trial") + " without details here (" + c.String() + ")"
}
