package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// report builds the text of Job.Report.
type report struct{ console.Page }

// Report returns the report on a result for a terminal: the end of the run and the next step. A full
// report also has the checks and the open tasks.
func (j *Job) Report(term console.Terminal, r persist.Result, full bool) string {
	p := report{console.Page{Term: term}}
	if full {
		p.checks(r.Checks)
		p.open(r.Tasks, j.seen.running)
	}
	p.end(r)
	p.whole("state: " + j.State)
	if next := j.nextStep(r); next != "" {
		p.Block(6, "next:", next)
	}
	return p.String()
}

// whole writes a line without cutting it.
func (p *report) whole(line string) { p.WriteString(line + "\n") }

func paintVerdict(term console.Terminal, v plan.Verdict) string {
	switch v {
	case plan.Pass:
		return term.Paint(console.Green, string(v))
	case plan.Fail:
		return term.Paint(console.Red, string(v))
	default:
		return term.Paint(console.Yellow, string(v))
	}
}

// checks writes the last full check: a table of the checks, the names of checks without a probe,
// and the findings of checks that do not pass.
func (p *report) checks(checks []plan.CheckResult) {
	if len(checks) == 0 {
		return
	}
	table := console.Table(2)
	table.AppendHeader(console.Row([]string{"check", "verdict", "details"}))
	var none []string
	for _, c := range checks {
		if c.Verdict == plan.None {
			none = append(none, string(c.Name))
			continue
		}
		table.AppendRow(console.Row([]string{
			string(c.Name), paintVerdict(p.Term, c.Verdict), console.Cut(sanitize.Line(c.Details, console.MaxText), p.Term.Columns()-detailsColumn),
		}))
	}
	if table.Length() > 0 {
		p.whole(table.Render())
	}
	if len(none) > 0 {
		p.Block(13, "not checked:", strings.Join(none, ", ")+" (the plan has no probe for them)")
	}
	for _, c := range checks {
		if c.Verdict == plan.Fail || c.Verdict == plan.Unknown {
			p.evidence(c)
		}
	}
	p.Line("")
}

// detailsColumn is the width of the columns before the details: the longest name and verdict, and
// the gaps.
const detailsColumn = len("pending-tasks") + len("verdict") + 4

// evidence writes the findings of a check that do not fit into the table.
func (p *report) evidence(c plan.CheckResult) {
	details := sanitize.Line(c.Details, maxEvidence)
	cutOff := console.Width(details) > p.Term.Columns()-detailsColumn
	if !cutOff && len(c.Items) == 0 && c.Output == "" {
		return
	}
	p.Line("\n%s: %s", c.Name, paintVerdict(p.Term, c.Verdict))
	if cutOff {
		p.Block(2, "", details)
	}
	for _, item := range c.Items {
		p.Block(4, "  -", sanitize.Line(item, console.MaxText))
	}
	if len(c.Items) > 0 { // they summarise the output
		return
	}
	for line := range strings.Lines(tail(c.Output, outputLines)) {
		p.Line("  | %s", sanitize.Line(line, console.MaxText))
	}
}

const (
	maxEvidence = 1000 // characters of a check's details
	outputLines = 15   // of a command's output
)

// tail returns the last n lines of a text.
func tail(text string, n int) string {
	lines := strings.SplitAfter(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// describeCurrent describes the attempt without a recorded outcome.
func describeCurrent(c *persist.Current, running bool) string {
	switch {
	case c == nil:
		return ""
	case c.Grade != "":
		return fmt.Sprintf(", attempt %d ended (%s) and is not recorded yet", c.Attempt, c.Grade)
	case running:
		return fmt.Sprintf(", attempt %d in progress", c.Attempt)
	}
	return fmt.Sprintf(", attempt %d was cut off", c.Attempt)
}

// open lists the tasks that are not done. Running is true if a process works on them.
func (p *report) open(tasks []persist.Task, running bool) {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t persist.Task) bool { return t.State == string(persist.Done) })
	if len(tasks) == 0 {
		return
	}
	p.Line("not done:")
	for _, t := range tasks {
		line := fmt.Sprintf("  %s  %s", p.Term.Paint(console.Yellow, fmt.Sprintf("%-9s", t.State)), sanitize.Line(t.ID, 64))
		if t.Attempts > 0 {
			line += ", " + format.Plural(t.Attempts, "attempt")
		}
		if t.From != "" {
			line += ", from " + sanitize.Line(t.From, 64)
		}
		if used := DescribeUsed(t.Used); used != "" {
			line += ", " + used
		}
		p.whole(line + describeCurrent(t.Current, running))
		if t.Details != "" {
			p.Block(13, "", sanitize.Line(t.Details, maxEvidence))
		}
		if t.Transcript != "" {
			p.whole("             transcript: " + t.Transcript)
		}
	}
	p.Line("")
}

// end writes the end of the run.
func (p *report) end(r persist.Result) {
	status := string(r.Status)
	color := console.Yellow
	switch r.Status {
	case persist.StatusComplete:
		color = console.Green
	case persist.StatusError:
		color = console.Red
	case "":
		status = "not ended"
	default: // yellow
	}
	line := fmt.Sprintf("%s: %d of %s done, %s", p.Term.Paint(color, status),
		doneOf(r.Tasks), format.Plural(len(r.Tasks), "task"), format.Plural(r.Counts.Attempts, "attempt"))
	if n := skippedOf(r.Tasks); n > 0 {
		line += fmt.Sprintf(", %d skipped", n)
	}
	if r.Duration > 0 {
		line += fmt.Sprintf(", %s", r.Duration.Round(time.Millisecond))
	}
	if used := DescribeUsed(r.Used); used != "" {
		line += ", " + used
	}
	p.whole(line)
	details := sanitize.Line(r.Details, maxEvidence)
	if r.Guard != "" {
		details = console.Joined(r.Guard, details)
	}
	if details != "" {
		p.Block(2, "", details)
	}
}

// DescribeUsed returns the calls, tokens and cost; empty if no call was made. JSON has the reasons why an
// amount is unknown.
func DescribeUsed(u persist.Used) string {
	if u.Calls == 0 {
		return ""
	}
	tokens := lowerBound(format.Plural(u.Tokens, "token"), u.Tokens > 0, u.TokensUnknown, "tokens unknown")
	cost := lowerBound(format.Money(u.Cost)+" "+u.Currency, u.Cost > 0, u.CostUnknown, "unknown")
	return format.Plural(u.Calls, "call") + ", " + tokens + ", cost " + cost
}

// lowerBound describes a sum. missing is why a part of it is unknown; none replaces a sum of which nothing is known.
func lowerBound(sum string, some bool, missing, none string) string {
	switch {
	case missing == "":
		return sum
	case some:
		return "at least " + sum
	}
	return none
}

// skippedOf counts the tasks that the plan skips.
func skippedOf(tasks []persist.Task) (n int) {
	for _, t := range tasks {
		if t.State == "skipped" {
			n++
		}
	}
	return n
}

func doneOf(tasks []persist.Task) (n int) {
	for _, t := range tasks {
		if t.State == "done" {
			n++
		}
	}
	return n
}

// on ends the advice for a run that is not complete.
const on = "start it again: it continues from here"

// nextStep returns advice for the user, or "" if the run is complete.
func (j *Job) nextStep(r persist.Result) string {
	switch r.Status {
	case persist.StatusComplete:
		return ""
	case "":
		switch {
		case j.seen.running:
			return ""
		case !j.seen.begun:
			return "start it: " + j.command()
		}
		return on
	case persist.StatusInterrupted:
		return on
	case persist.StatusBudget:
		return "raise the limit in the plan or by its flag, then " + on
	case persist.StatusCapped:
		return "fix what the checks report, or change their fix: in " + j.File + ", then " + on
	case persist.StatusBlocked:
		return "remove the obstacle, then " + on
	case persist.StatusEscalated:
		return j.nextForPerson(r)
	default:
		return "fix the error above, then " + on + "; --fresh begins again"
	}
}

// nextForPerson returns advice for a run that needs a person.
func (j *Job) nextForPerson(r persist.Result) string {
	if r.Guard == "unverified" {
		return "review the work; give the plan a check with a command, then start it again, or take an agent with tools and --fresh"
	}
	const most = 3
	var answers []string
	waiting := false // as a person has answered
	for _, t := range r.Tasks {
		waiting = waiting || t.State == "waiting"
		if t.State == string(persist.Escalated) && len(answers) < most {
			answers = append(answers, j.command("--answer", t.ID)+" \"...\"")
		}
	}
	switch {
	case len(answers) > 0:
		return "answer with " + strings.Join(answers, " or ") + ", or permit what was refused (--access, --agent-arg), then " + on
	case waiting:
		return on
	}
	return "review the work, make the unknown checks answerable, then " + on
}

// command returns the command line of supervise for this plan with further arguments.
func (j *Job) command(args ...string) string {
	words := []string{"rehearse", "supervise", j.File}
	if !j.beside {
		words = append(words, "--state", j.State)
	}
	return format.ShellLine(append(words, args...)...)
}
