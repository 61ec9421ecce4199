package experiment

import (
	"fmt"
	"strings"

	wrap "github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// maxPlanned limits the variants and scenarios shown in a plan.
const maxPlanned = 50

// Text formats the plan for a person, in lines of at most width columns.
func (p *Plan) Text(width int) string {
	var b strings.Builder
	line := func(s string) {
		text := strings.TrimLeft(s, " ")
		indent := len(s) - len(text)
		for wrapped := range strings.Lines(wrap.WrapSoft(sanitize.Line(text, 0), width-indent)) {
			b.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(wrapped, " \n") + "\n")
		}
	}
	line(p.Name)
	if p.About != "" {
		line(p.About)
	}
	b.WriteString("\n")
	line(format.Plural(len(p.Variants), "variant") + ":")
	for _, v := range p.Variants[:min(len(p.Variants), maxPlanned)] {
		line("  " + strings.TrimSpace(v.Name+"  "+v.About))
		for _, s := range v.Settings {
			line("    " + s.Path + ": " + setTo(s))
		}
	}
	line(format.Plural(len(p.Scenarios), "scenario") + ":")
	for i, s := range p.Scenarios {
		if i == maxPlanned {
			line(fmt.Sprintf("  and %d more", len(p.Scenarios)-i))
			break
		}
		line("  " + s.Name)
	}
	b.WriteString("\n")
	for _, f := range p.facts() {
		line(f)
	}
	return b.String()
}

// setTo formats the value of a setting, shortened.
func setTo(s result.Setting) string {
	if s.File != "" {
		return fmt.Sprintf("the text of %s (%d bytes)", s.File, len(s.Value))
	}
	return sanitize.Line(s.Value, 200)
}

// facts returns sentences about the figures of a plan.
func (p *Plan) facts() []string {
	d := &p.Design
	list := []string{
		fmt.Sprintf("trials: %d of each variant in each scenario, %d in all", d.Trials, p.Trials),
		fmt.Sprintf("primary measure: %s, %s is better; %s at alpha %g with Holm's correction",
			sanitize.Line(d.Primary.Name, 60), d.Primary.Better, format.Plural(p.Comparisons, "comparison"), d.Alpha),
	}
	switch {
	case p.Needed == 0:
		list = append(list, fmt.Sprintf("for a power of %.0f %%: unknown in advance, because %s", 100*d.Power, p.Why))
	case p.Needed <= d.Trials:
		list = append(list, fmt.Sprintf("for a power of %.0f %%: %s of each variant in each scenario are enough, in %s",
			100*d.Power, format.Plural(p.Needed, "trial"), p.Why))
	default:
		list = append(list, fmt.Sprintf("for a power of %.0f %%: %s of each variant in each scenario are needed, in %s; "+
			"only %d are planned, so some comparisons may stay undecided",
			100*d.Power, format.Plural(p.Needed, "trial"), p.Why, d.Trials))
	}
	if m := &d.Primary; m.Smallest > 0 && !m.Share && m.Range == nil {
		list = append(list, fmt.Sprintf("equivalent, and not-worse: cannot be shown, because %s is unbounded; "+
			"declare its range: [least, greatest]",
			sanitize.Line(m.Name, 60)))
	}
	if p.Search != "" {
		list = append(list, fmt.Sprintf("rehearse tune searches first, %s: at most %s on %s",
			p.Search, format.Plural(p.SearchTrials, "trial"), format.Plural(len(p.Training), "training scenario")))
	}
	if d.Looks > 1 {
		list = append(list, fmt.Sprintf("it may stop early, at one of %d interim analyses, with %s alpha spending",
			d.Looks, sanitize.Line(d.Spending, 40)))
	}
	return append(list, "maximum cost: "+p.worst())
}

// worst describes the maximum cost of the experiment.
func (p *Plan) worst() string {
	var caps []string
	if p.Design.MaxCost != "" {
		caps = append(caps, p.Design.MaxCost+" plus the cost of the last calls")
	}
	if p.Design.MaxCalls > 0 {
		caps = append(caps, format.Plural(p.Design.MaxCalls, "call"))
	}
	switch {
	case len(p.Live) == 0:
		return "nothing is paid, because no variant calls a live model"
	case len(caps) == 0:
		return "unlimited; set --max-cost or --max-calls, or write caps: in the file"
	}
	return strings.Join(caps, ", at most ") + fmt.Sprintf(" (live models are called by %s)", sanitize.Line(strings.Join(p.Live, ", "), 200))
}
