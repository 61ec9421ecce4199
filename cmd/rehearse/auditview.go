package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// auditSummary prints what matters of an audit in 80 columns.
func (a *app) auditSummary(r audit.Audit) error {
	term := tty.Of(a.stdout, a.getenv)
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s at %s, session %s…\n\n", sanitize.Line(r.Session.Candidate, 30), r.Session.Language,
		r.Session.Status, r.Session.Step, r.Session.ID[:min(8, len(r.Session.ID))])
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s%s\n", name, fmt.Sprintf(format, args...))
	}
	row("checks", "%s", auditChecks(term, r))
	row("contract", "%s", r.Contract.Say())
	o := r.Total.Outcomes
	row("calls", "%d: %d accepted, %d rejected, %d broken, %d lost", r.Total.Calls, o.Accepted, o.Rejected, o.Broken, o.Lost)
	row("cost", "%s", auditCost(r))
	row("latency", "%s", auditLatency(r.Total.Latency))
	auditTokens(row, r.Total.Tokens)
	row("retries", "%s of answers were rejected, %s of calls broke", auditRate(r.Rejected), auditRate(r.Broken))
	row("trimmed", "%s of requests", auditRate(r.Trimmed))
	for _, f := range r.Fallbacks {
		row("fallback", "%s of %s, message %d: %d texts were refused (%s)", f.Purpose, f.Step, f.Message, f.Refused, sanitize.Line(f.Rule, 30))
	}
	if r.Session.Limit != "" {
		row("limit", "the session has reached its limit of %s", sanitize.Line(r.Session.Limit, 30))
	}
	b.WriteString("\n" + auditTable(r) + "\n")
	for _, c := range r.Checks {
		for _, problem := range c.Problems {
			fmt.Fprintf(&b, "%s %s: %s\n", term.Paint(tty.Red, "✗"), c.Name, sanitize.Line(problem, 200))
		}
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

// auditTokens shows both counts, and how far they are apart.
func auditTokens(row func(name, format string, args ...any), t audit.Tokens) {
	pair := func(s audit.Sums) string {
		return fmt.Sprintf("%s in, %s out", format.Number(float64(s.Input)), format.Number(float64(s.Output)))
	}
	row("tokens", "%s billed (the cost is computed from these)", pair(t.Billed))
	row("", "%s reported; %s counted here", pair(t.Reported), pair(t.Counted))
	if t.Compared > 0 {
		row("", "%+d in, %+d out; %d of %s differ, %d unexplained", t.Difference.Input, t.Difference.Output,
			t.Differ, format.Plural(t.Compared, "call"), t.Unexplained)
	}
}

// auditChecks counts the verdicts.
func auditChecks(term tty.Terminal, r audit.Audit) string {
	failed := 0
	for _, c := range r.Checks {
		if c.Verdict == audit.Fail {
			failed++
		}
	}
	if failed > 0 {
		return term.Paint(tty.Red, fmt.Sprintf("%d of %d FAIL", failed, len(r.Checks)))
	}
	return term.Paint(tty.Green, "all hold")
}

func auditCost(r audit.Audit) string {
	c := r.Total.Cost
	if c.Amount != nil {
		return fmt.Sprintf("%s %s", format.Money(*c.Amount), r.Prices.Currency)
	}
	return fmt.Sprintf("unknown: at least %s %s, and %s", format.Money(c.AtLeast), r.Prices.Currency, format.Plural(c.Unknown, "call"))
}

func auditLatency(l audit.Latency) string {
	if l.N == 0 {
		return "n/a"
	}
	return fmt.Sprintf("mean %s, p50 %s, p95 %s, max %s", format.Seconds(*l.Mean), format.Seconds(*l.P50), format.Seconds(*l.P95), format.Seconds(*l.Max))
}

func auditRate(r audit.Rate) string {
	if r.Value == nil {
		return "n/a"
	}
	return fmt.Sprintf("%.1f %% (%d of %d)", 100**r.Value, r.Hits, r.Of)
}

// auditTable has a row for each purpose.
func auditTable(r audit.Audit) string {
	w := tty.Table(2, 2, 3, 4, 5, 6, 7, 8)
	w.AppendHeader(table.Row{"purpose", "needed", "accepted", "calls", "in", "out", r.Prices.Currency, "mean"})
	for i, g := range r.Purposes {
		cost, mean := "unknown", "n/a"
		if g.Cost.Amount != nil {
			cost = format.Money(*g.Cost.Amount)
		}
		if g.Latency.Mean != nil {
			mean = format.Seconds(*g.Latency.Mean)
		}
		w.AppendRow(table.Row{
			g.Name, strconv.Itoa(r.Contract.Rows[i].Expected), g.Outcomes.Accepted, g.Calls,
			g.Tokens.Billed.Input, g.Tokens.Billed.Output, cost, mean,
		})
	}
	return w.Render()
}
