package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// superviseReport says where a plan stands.
type superviseReport struct{ page }

// report is the whole of it: the checks, what is not done and why, how it ended,
// and what to do next. Without full it is only the last two.
func (p *superviseReport) report(r persist.Result, s site, full bool) string {
	if full {
		p.checks(r.Checks)
		p.open(r.Tasks)
	}
	p.end(r)
	p.whole("state: " + s.state)
	if next := nextStep(r, s); next != "" {
		p.block(6, "next:", next)
	}
	return p.b.String()
}

// whole writes a line that must not be cut.
func (p *superviseReport) whole(line string) { p.b.WriteString(line + "\n") }

func paintVerdict(term tty.Terminal, v check.Verdict) string {
	switch v {
	case check.Pass:
		return term.Paint(tty.Green, string(v))
	case check.Fail:
		return term.Paint(tty.Red, string(v))
	}
	return term.Paint(tty.Yellow, string(v))
}

// checks draws the last full check: a row for each that was made, the names of
// those without a probe, and what those that do not pass found.
func (p *superviseReport) checks(checks []check.Result) {
	if len(checks) == 0 {
		return
	}
	table := tty.Table(2)
	table.AppendHeader(tty.Row([]string{"check", "verdict", "details"}))
	var none []string
	for _, c := range checks {
		if c.Verdict == check.None {
			none = append(none, string(c.Name))
			continue
		}
		table.AppendRow(tty.Row([]string{
			string(c.Name), paintVerdict(p.term, c.Verdict), tty.Cut(sanitize.Line(c.Details, maxShown), p.term.Columns()-detailsColumn),
		}))
	}
	if table.Length() > 0 {
		p.whole(table.Render())
	}
	if len(none) > 0 {
		p.block(13, "not checked:", strings.Join(none, ", ")+" (the plan has no probe for them)")
	}
	for _, c := range checks {
		if c.Verdict == check.Fail || c.Verdict == check.Unknown {
			p.evidence(c)
		}
	}
	p.line("")
}

// detailsColumn is how many columns stand before the details in the table: the
// longest name and verdict, and the gaps.
const detailsColumn = len("pending-tasks") + len("verdict") + 4

// evidence writes what a check found that the table has no room for.
func (p *superviseReport) evidence(c check.Result) {
	details := sanitize.Line(c.Details, maxEvidence)
	cutOff := tty.Width(details) > p.term.Columns()-detailsColumn
	if !cutOff && len(c.Items) == 0 && c.Output == "" {
		return
	}
	p.line("\n%s: %s", c.Name, paintVerdict(p.term, c.Verdict))
	if cutOff {
		p.block(2, "", details)
	}
	for _, item := range c.Items {
		p.block(4, "  -", sanitize.Line(item, maxShown))
	}
	if len(c.Items) > 0 { // which are what matters of the output
		return
	}
	for line := range strings.Lines(tail(c.Output, outputLines)) {
		p.line("  | %s", sanitize.Line(line, maxShown))
	}
}

const (
	maxEvidence = 1000 // characters of a check's details
	outputLines = 15   // of a command's output
)

// tail is the last n lines of a text.
func tail(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// open lists the tasks that are not done.
func (p *superviseReport) open(tasks []persist.Task) {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t persist.Task) bool { return t.State == "done" })
	if len(tasks) == 0 {
		return
	}
	p.line("not done:")
	for _, t := range tasks {
		line := fmt.Sprintf("  %s  %s", p.term.Paint(tty.Yellow, fmt.Sprintf("%-9s", t.State)), sanitize.Line(t.ID, 64))
		if t.Attempts > 0 {
			line += ", " + plural(t.Attempts, "attempt")
		}
		if t.From != "" {
			line += ", from " + sanitize.Line(t.From, 64)
		}
		p.whole(line)
		if t.Details != "" {
			p.block(13, "", sanitize.Line(t.Details, maxEvidence))
		}
	}
	p.line("")
}

// end says how the run ended, or that it did not.
func (p *superviseReport) end(r persist.Result) {
	status := string(r.Status)
	color := tty.Yellow
	switch r.Status {
	case persist.StatusComplete:
		color = tty.Green
	case persist.StatusError:
		color = tty.Red
	case "":
		status = "not ended"
	}
	line := fmt.Sprintf("%s: %d of %s done, %s", p.term.Paint(color, status),
		doneOf(r.Tasks), plural(len(r.Tasks), "task"), plural(r.Counts.Attempts, "attempt"))
	if r.Duration > 0 {
		line += fmt.Sprintf(", %s", r.Duration.Round(time.Millisecond))
	}
	p.whole(line)
	details := sanitize.Line(r.Details, maxEvidence)
	if r.Guard != "" {
		details = joined(r.Guard, details)
	}
	if details != "" {
		p.block(2, "", details)
	}
}

// doneOf counts the tasks that are done.
func doneOf(tasks []persist.Task) (n int) {
	for _, t := range tasks {
		if t.State == "done" {
			n++
		}
	}
	return n
}

// nextStep is what the user may do next; empty if nothing is left.
func nextStep(r persist.Result, s site) string {
	const on = "start it again, and it goes on from here"
	switch r.Status {
	case persist.StatusComplete:
		return ""
	case persist.StatusInterrupted, "":
		return on
	case persist.StatusBudget:
		return "raise the limit in the plan or by its flag, then " + on
	case persist.StatusCapped:
		return "mend what the checks name, or change their fix: in " + s.file + ", then " + on
	case persist.StatusBlocked:
		return "mend what is in the way, then " + on
	case persist.StatusEscalated:
		if r.Guard == "unverified" {
			return "look at what was made; give the plan a check with a command, then " + on + ", or take an agent with tools and --fresh"
		}
		return "decide what is asked and write it where the agent finds it, or permit what was refused (--access, --agent-arg), then " + on
	}
	return "mend what is said above, then " + on + "; --fresh begins anew"
}
