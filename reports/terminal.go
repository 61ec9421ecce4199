package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// columns are the measures that tables show, in order.
var columns = []string{calls, tokens, costEUR, latencyP95, duration}

// Terminal writes a table of scenarios, the findings of those that did not pass
// and a line of totals. On a terminal names are shortened to fit its width. Control characters
// of foreign text are shown as escapes and never reach the terminal. Scenarios that
// were skipped for the same reason share one line.
func Terminal(w io.Writer, r Report, opts Options) error {
	var b strings.Builder
	t := opts.Terminal
	if r.Altered {
		terminalProblems(&b, t, r.Problems)
	}
	var shown []Scenario
	for _, s := range r.Scenarios {
		if failed(s.Verdict) || !opts.FailuresOnly {
			shown = append(shown, s)
		}
	}
	shown, alike := gather(shown)
	if len(shown) > 0 {
		b.WriteString(scenarioTable(t, shown))
		b.WriteString("\n")
	}
	for _, s := range shown {
		if failed(s.Verdict) || s.Verdict == gate.Skip {
			terminalFindings(&b, t, s)
		}
	}
	for _, s := range alike {
		s.terminal(&b, t)
	}
	if !r.Altered {
		terminalProblems(&b, t, r.Problems)
	}
	if r.Stopped != "" {
		fmt.Fprintf(&b, "\n%s\n", t.Paint(tty.Red, "stopped: "+sanitize.Line(r.Stopped, maxMessage)))
	}
	if len(r.NotRun) > 0 {
		fmt.Fprintf(&b, "\n%s\n", t.Paint(tty.Yellow, notRun(r)+":"))
	}
	for _, name := range r.NotRun {
		fmt.Fprintf(&b, "  %s\n", t.Shorten(sanitize.Line(name, maxName), t.Columns()-2))
	}
	for _, s := range Sections(r.Totals.Agents) {
		s.terminal(&b)
	}
	terminalRepeats(&b, t, shown)
	if r.Comparison != nil {
		terminalComparison(&b, t, r.Comparison)
	}
	fmt.Fprintf(&b, "\n%s: %s\n", paintWord(t, r), summary(r))
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func terminalProblems(b *strings.Builder, t tty.Terminal, problems []string) {
	for _, p := range problems {
		fmt.Fprintf(b, "\n%s\n", t.Paint(tty.Red, "recording: "+sanitize.Line(p, maxMessage)))
	}
}

// scenarioTable draws a row for each scenario. Numbers and verdicts are never
// cut; a narrow terminal shortens names and statuses in the middle.
func scenarioTable(t tty.Terminal, list []Scenario) string {
	folder := commonFolder(list)
	header := []string{"scenario", "verdict", "status", "calls", "tokens", "EUR", "p95", "time"}
	if folder != "" {
		header[0] = "in " + folder
	}
	rows := [][]string{header}
	for _, s := range list {
		row := []string{sanitize.Line(strings.TrimPrefix(s.Name, folder), maxName), s.briefly(), sanitize.Line(s.Status, maxName)}
		for _, name := range columns {
			row = append(row, brief(find(s.Measures, name)))
		}
		rows = append(rows, row)
	}
	gap := 2
	if t.Columns() < 100 {
		gap = 1
	}
	if t.Width > 0 { // names in a file stay whole
		fit(rows, t.Columns()-gap*(len(header)-1))
	}

	out := tty.Table(gap, 4, 5, 6, 7, 8)
	out.AppendHeader(tty.Row(header))
	for i, row := range rows[1:] {
		row[1] = paintVerdict(t, list[i].Verdict, row[1])
		out.AppendRow(tty.Row(row))
	}
	return out.Render()
}

// commonFolder is the folder, with its slash, that the names of two or more
// scenarios begin with; empty if there is none. A table says it once.
func commonFolder(list []Scenario) string {
	if len(list) < 2 {
		return ""
	}
	folder := list[0].Name[:strings.LastIndexByte(list[0].Name, '/')+1]
	for folder != "" && slices.ContainsFunc(list, func(s Scenario) bool { return !strings.HasPrefix(s.Name, folder) }) {
		folder = folder[:strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')+1]
	}
	return sanitize.Line(folder, maxName)
}

// briefly is the verdict for a narrow column: the trials are counted only where
// they differ.
func (s Scenario) briefly() string {
	if s.Trials.Pass == s.Trials.Total() {
		return sanitize.Line(string(s.Verdict), 10)
	}
	return s.verdict()
}

// brief is text for a narrow column: of money not more than four decimals.
func brief(v measure.Value) string {
	money := v.Unit == "EUR" || v.Unit == "USD"
	switch {
	case !money || !told(v) || *v.Value == 0 || math.Abs(*v.Value) >= 1:
		return text(v)
	case math.Abs(*v.Value) < 0.0001:
		return "<0.0001"
	default:
		return strconv.FormatFloat(*v.Value, 'f', 4, 64)
	}
}

// The columns that a name and a status should get, and get at least.
const (
	goodName, minName     = 24, 16
	goodStatus, minStatus = len("no-progress"), 8
)

// fit shortens the names (column 0) and the statuses (column 2), in turn, so that
// the cells of each row take at most width columns.
func fit(rows [][]string, width int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], tty.Width(cell))
		}
	}
	over := -width
	for _, w := range widths {
		over += w
	}
	for _, c := range []struct{ column, least int }{{0, goodName}, {2, goodStatus}, {0, minName}, {2, minStatus}} {
		cut := max(0, min(over, widths[c.column]-c.least))
		widths[c.column] -= cut
		over -= cut
	}
	for _, row := range rows {
		row[0], row[2] = tty.Middle(row[0], widths[0]), tty.Middle(row[2], widths[2])
	}
}

func terminalFindings(b *strings.Builder, t tty.Terminal, s Scenario) {
	head := paintVerdict(t, s.Verdict, s.verdict()) + " " + t.Paint(tty.Bold, sanitize.Line(s.Name, maxName))
	if s.File != "" {
		head += " " + t.Paint(tty.Faint, sanitize.Line(s.File, maxName))
	}
	fmt.Fprintf(b, "\n%s\n", head)
	for _, f := range s.effective() {
		fmt.Fprintf(b, "  %s: %s%s\n", sanitize.Line(f.Rule, maxName), s.where(f), sanitize.Line(f.Message, maxMessage))
		for _, line := range sanitize.Lines(f.Evidence, maxEvidence) {
			fmt.Fprintf(b, "    %s\n", t.Paint(tty.Faint, line))
		}
	}
	if s.MoreFindings > 0 {
		fmt.Fprintf(b, "  and %s\n", format.Plural(s.MoreFindings, "more finding"))
	}
}

func paintVerdict(t tty.Terminal, v gate.Verdict, text string) string {
	switch v {
	case gate.Pass:
		return t.Paint(tty.Green, text)
	case gate.Skip:
		return t.Paint(tty.Yellow, text)
	default:
		return t.Paint(tty.Red, text)
	}
}

// paintWord is what became of the run, in the colour of its verdict; an interruption
// alone is neither good nor bad.
func paintWord(t tty.Terminal, r Report) string {
	if Word(r) == interrupted {
		return t.Paint(tty.Yellow, interrupted)
	}
	return paintVerdict(t, r.Verdict, Word(r))
}

// summary is one line of totals.
func summary(r Report) string {
	c := r.Totals.Scenarios
	line := format.Plural(c.Total(), "scenario") + ": " + counts(c)
	if n := r.Totals.Trials.Total(); n != c.Total() {
		line += "; " + format.Plural(n, "trial") + ": " + counts(r.Totals.Trials)
	}
	if x := r.Comparison; x != nil && x.Verdict != gate.Pass {
		line += "; against the baseline: " + sanitize.Line(string(x.Verdict), 10)
	}
	if len(r.NotRun) > 0 {
		line += fmt.Sprintf("; %d %s", len(r.NotRun), notRun(r))
	}
	shown := func(name string) string { return text(find(r.Totals.Measures, name)) }
	made := shown(calls) + " calls"
	if shown(calls) == "1" {
		made = "1 call"
	}
	return fmt.Sprintf("%s; %s, %s, %s, latency p95 %s", line, made,
		atLeast(find(r.Totals.Measures, tokens), "tokens"), atLeast(find(r.Totals.Measures, costEUR), "EUR"), shown(latencyP95))
}

// atLeast is a sum with its unit; where some of it is unknown, what is known of it
// is a lower bound.
func atLeast(v measure.Value, unit string) string {
	known := v
	known.Known = true
	switch {
	case v.Value == nil || told(v):
		return text(v) + " " + unit
	case *v.Value == 0:
		return "unknown " + unit
	default:
		return "at least " + text(known) + " " + unit
	}
}

// counts is "3 pass, 1 fail"; verdicts that nobody got are left out.
func counts(c Count) string {
	var parts []string
	for _, part := range c.parts() {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.verdict))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}
