package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

const (
	maxText      = 160 // runes of a text
	maxSteps     = 60  // lines in the description of a trial
	maxDescribed = 5   // trials that a result describes in full
)

// String returns a line for each trial, and a full description of the first trials that did not pass.
func (r *Result) String() string {
	var b strings.Builder
	described := 0
	for _, j := range r.Trials {
		if j.Verdict == gate.Pass || described == maxDescribed {
			b.WriteString(j.headline() + "\n")
			continue
		}
		described++
		b.WriteString(j.String())
	}
	if len(r.Trials) == 0 {
		return "no trial was run\n"
	}
	if r.Recording != "" && described > 0 {
		fmt.Fprintf(&b, "recording: %s (show it with: rehearse report %[1]s)\n", r.Recording)
	}
	return b.String()
}

// String describes a trial: its verdict, its findings, and the events in order: messages of the user,
// calls, answers and the end.
func (j *Judged) String() string {
	var b strings.Builder
	b.WriteString(j.headline() + "\n")
	for i := range j.Findings {
		f := &j.Findings[i]
		if i > 0 && f.Rule == j.Findings[i-1].Rule && f.Message == j.Findings[i-1].Message {
			writeEvidence(&b, f)
			continue
		}
		j.writeFinding(&b, f)
	}
	steps := j.steps()
	if over := len(steps) - maxSteps; over > 0 {
		half := maxSteps / 2
		skipped := fmt.Sprintf("… %s more", format.Plural(over, "step"))
		steps = slices.Concat(steps[:half], []string{skipped}, steps[len(steps)-half:])
	}
	for _, step := range steps {
		b.WriteString("  " + step + "\n")
	}
	return b.String()
}

func (j *Judged) headline() string {
	name := sanitize.Line(j.Trial.Head.Scenario, maxText)
	if j.Scenario != nil && j.Scenario.Trials > 1 {
		name += fmt.Sprintf(", trial %d of %d", j.Trial.Head.N, j.Scenario.Trials)
	}
	return fmt.Sprintf("%s %s: %s", strings.ToUpper(string(j.Verdict)), name, j.totals())
}

// totals summarizes the status and use of a trial.
func (j *Judged) totals() string {
	f := &j.Facts
	parts := []string{cmp.Or(sanitize.Line(f.Run.Status, maxText), "no status"), format.Plural(f.Calls.Total, "call")}
	if f.Calls.Total > 0 {
		parts = append(parts, atLeast(f.Tokens.Known)+format.Plural(f.Tokens.Total, "token"), money(&f.Cost))
	}
	if f.Run.DurationKnown {
		parts = append(parts, format.Seconds(f.Run.Duration))
	}
	return strings.Join(parts, ", ")
}

func atLeast(known bool) string {
	if known {
		return ""
	}
	return "at least "
}

func money(c *measure.CostFacts) string {
	if !c.Known && c.USD == 0 {
		return "unknown cost"
	}
	return atLeast(c.Known) + format.Money(c.USD) + " USD"
}

// writeFinding writes a finding with the violated line of the scenario file, if there is one.
func (j *Judged) writeFinding(b *strings.Builder, f *gate.Finding) {
	where := ""
	if j.Scenario != nil && f.At != "" {
		where = f.At
		if line := gate.LineOf(j.Scenario.Where, f.At); line > 0 {
			where = fmt.Sprintf("%s:%d", j.Scenario.File, line)
		}
		where = " (" + sanitize.Line(where, maxText) + ")"
	}
	fmt.Fprintf(b, "  ✗ %s: %s%s\n", sanitize.Line(f.Rule, maxText), sanitize.Line(f.Message, 2*maxText), where)
	writeEvidence(b, f)
	if f.Accept != "" {
		fmt.Fprintf(b, "    accept with: %s\n", sanitize.Line(f.Accept, 2*maxText))
	}
}

func writeEvidence(b *strings.Builder, f *gate.Finding) {
	for _, line := range sanitize.Lines(f.Evidence, 4*maxText) {
		fmt.Fprintf(b, "    %s\n", line)
	}
}

// steps returns the events of a trial in order, one line each.
func (j *Judged) steps() []string {
	var lines []string
	reported := j.reported()
	next := 0 // of the calls
	calls := func(before func(c *record.Call) bool) {
		for ; next < len(j.Trial.Calls) && before(&j.Trial.Calls[next]); next++ {
			lines = append(lines, j.call(&j.Trial.Calls[next], reported))
		}
	}
	turns := j.Facts.Turns
	first, begun := 0, false // the turn's first call, and whether its message is written
	begin := func() {
		if !begun && len(turns) > 0 {
			lines = append(lines, label("user")+quote(turns[0].User))
			first, begun = next, true
		}
	}
	for i := range j.Trial.Events {
		e := &j.Trial.Events[i]
		if _, ok := event.Read[record.Turn](&e.Event); ok && len(turns) > 0 && e.N == turns[0].N {
			t := turns[0]
			begin()
			last := first + t.Calls
			calls(func(*record.Call) bool { return next < last })
			if t.Error == "" {
				lines = append(lines, label("answer")+quote(reported.Replace(t.Text)))
			}
			turns, begun = turns[1:], false
			continue
		}
		if c, ok := event.Read[record.ToolCall](&e.Event); ok {
			begin()
			calls(func(*record.Call) bool { return next < c.Calls })
			lines = append(lines, label("tool")+toolCall(e.Detail, &c))
			continue
		}
		if j.Scenario != nil && !j.Scenario.RealTime && len(j.Facts.Turns) == 0 {
			calls(func(c *record.Call) bool { return c.At+c.Latency <= e.At })
		}
		lines = append(lines, label(string(e.Kind))+sanitize.Line(e.Name+": "+e.Detail, maxText))
	}
	calls(func(*record.Call) bool { return true })
	end := label("end") + cmp.Or(sanitize.Line(j.Trial.End.Status, maxText), "no status")
	if why := cmp.Or(j.Trial.End.HarnessError, j.Trial.End.Skipped, j.Trial.End.Details); why != "" {
		end += ": " + sanitize.Line(reported.Replace(why), 2*maxText)
	}
	return append(lines, end)
}

// reported replaces the reasons of refused calls by a reference to the findings that contain them.
func (j *Judged) reported() *strings.Replacer {
	var pairs []string
	for i := range j.Findings {
		f := &j.Findings[i]
		_, reason, ok := strings.Cut(f.Evidence, ": ")
		if !ok || f.Rule != expect.UnexpectedCall && f.Rule != expect.InvalidRequest {
			continue
		}
		// Agents also answer with the body of the error, in which the reason is quoted.
		quoted := strconv.Quote(reason)
		pairs = append(pairs, reason, "(see above)", quoted[1:len(quoted)-1], "(see above)")
	}
	return strings.NewReplacer(pairs...)
}

func (j *Judged) call(c *record.Call, reported *strings.Replacer) string {
	line := label("call "+strconv.Itoa(c.N)) + sanitize.Line(cmp.Or(c.Purpose, c.Model, c.Backend), maxText)
	if c.Usage != nil {
		line += fmt.Sprintf(", %d + %d tokens", c.Usage.Input+c.Usage.CachedInput+c.Usage.CacheWrite, c.Usage.Output)
	}
	if c.Latency > 0 {
		line += ", " + format.Seconds(c.Latency.Seconds())
	}
	if c.Error != nil {
		return line + ": " + sanitize.Line(reported.Replace(fmt.Sprintf("%s: %s", c.Error.Kind, c.Error.Message)), maxText)
	}
	reply, _ := j.Trial.Message(c.Reply)
	var parts []string
	if reply.Content != "" {
		parts = append(parts, quote(reply.Content))
	}
	for _, tool := range reply.ToolCalls {
		parts = append(parts, sanitize.Line(tool.Name+"("+tool.Arguments+")", maxText))
	}
	return line + ": " + strings.Join(parts, ", ")
}

// toolCall describes a call of a tool at an MCP server.
func toolCall(result string, c *record.ToolCall) string {
	line := sanitize.Line(c.Server+"."+c.Tool+"("+c.Arguments+")", maxText) + ": "
	if c.Error != "" {
		return line + sanitize.Line(c.Error, maxText)
	}
	return line + quote(result)
}

func quote(s string) string { return `"` + sanitize.Line(s, maxText) + `"` }

// label returns the first column of a line.
func label(what string) string { return fmt.Sprintf("%-8s ", sanitize.Line(what, 12)) }
