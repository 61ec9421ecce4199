package kind

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// AuditDocument returns an audit as a document, which begins with the failed checks.
func AuditDocument(a audit.Audit) doc.Document {
	d := doc.Document{
		Static: true, Kind: "Interview", Name: doc.Line(doc.Quote(a.Session.Candidate)), Verdict: "pass", Tone: doc.Good,
		Summary: doc.Line("all checks pass; ", a.Contract.Sentence()),
		Figures: keyFigures(&a),
	}
	if a.Verdict == audit.Fail {
		d.Verdict, d.Tone = "fail", doc.Bad
		d.Summary = doc.Line("the data is inconsistent; ", a.Contract.Sentence())
	}
	if problems := problemList(a.Checks); problems.Items != nil {
		d.Lead = []doc.Block{reportSection("Failed checks", problems)}
	}
	if a.Shared {
		d.Lead = append(d.Lead, reportSection("Shared with you", sharedParagraph(a.Shares[0])))
	}
	d.Body = []doc.Block{
		reportSection("Calls by purpose", purposeTable(&a), costPlot(&a), latencyPlot(&a)),
		reportSection("Timeline", timelineBlocks(&a)...),
		reportSection("Retries and trimming", retryBlocks(&a)...),
		reportSection("By step", openDetails("Questions, and the calls of each step", stepTable(&a))),
		reportSection("Checks", openDetails("Rules for every interview", checkTable(a.Checks))),
		reportSection("Prompts, models and prices", provenance(&a)),
		reportSection("Ledger and messages",
			doc.Details{Title: doc.Line("Ledger of ", format.Count(len(a.Calls), "call")), Blocks: ledgerBlocks(&a)},
			doc.Details{Title: doc.Line(format.Count(len(a.Messages), "message")), Blocks: messageBlocks(&a), Open: a.Session.Texts}),
	}
	if len(a.Shares) > 0 && !a.Shared {
		d.Body = append(d.Body, reportSection("Links to this audit", shareTable(a.Shares)))
	}
	return d
}

func reportSection(title string, blocks ...doc.Block) doc.Section {
	return doc.Section{Title: doc.Line(title), Blocks: blocks}
}

func openDetails(title string, block doc.Block) doc.Details {
	return doc.Details{Title: doc.Line(title), Blocks: []doc.Block{block}, Open: true}
}

// stateText describes the state of the interview.
func stateText(s *audit.About) doc.Text {
	t := doc.Line("at ", stepName(s.Step), ", ", string(s.Phase), "; in ", string(s.Language), ", session ", doc.Quote(s.ID))
	if s.Failed != "" {
		t = doc.Line(t, ", failed with ", doc.Quote(s.Failed))
	}
	if s.Limit != "" {
		t = doc.Line(t, ", at its limit of ", doc.Quote(s.Limit))
	}
	return t
}

func keyFigures(a *audit.Audit) doc.Facts {
	cost := doc.Fact{Name: "cost", Value: doc.Line(costText(a.Total.Cost, string(a.Prices.Currency)))}
	if n := a.Total.Cost.Unknown; n > 0 {
		cost.Note = doc.Line("of ", format.Count(n, "call"), " unknown")
	}
	billed, o := a.Total.Tokens.Billed, a.Total.Outcomes
	return doc.Facts{
		{Name: "interview", Value: doc.Line(string(a.Session.Status)), Note: stateText(&a.Session)},
		{
			Name: "calls", Value: doc.Line(a.Total.Calls),
			Note: doc.Line(fmt.Sprintf("%d accepted, %d rejected, %d broken, %d lost; %d in a whole interview",
				o.Accepted, o.Rejected, o.Broken, o.Lost, a.Contract.Expected)),
		},
		cost,
		{Name: "mean latency", Value: doc.Line(secondsText(a.Total.Latency.Mean)), Note: doc.Line("longest ", secondsText(a.Total.Latency.Max))},
		{Name: "tokens", Value: doc.Line(billed.Input, " + ", billed.Output), Note: doc.Line("in and out, as billed")},
		{Name: "answers stored", Value: doc.Line(a.Session.Answers), Note: doc.Line("of ", format.Count(a.Session.Messages, "message"))},
		{
			Name: "time", Value: doc.Line(durationText(a.Session.Created, a.Session.Updated)),
			Note: doc.Line("from ", timeText(a.Session.Created), " to ", timeText(a.Session.Updated), " UTC"),
		},
	}
}

func problemList(list []audit.Check) doc.List {
	l := doc.List{Noun: "problems"}
	for _, c := range list {
		for _, p := range c.Problems {
			l.Items = append(l.Items, doc.Item{Text: doc.Line(doc.Toned(doc.Bad, "✗ "+c.Name), ": ", doc.Quote(p))})
		}
	}
	return l
}

// purposeTable compares the number of calls of each purpose with the number that a whole interview needs.
func purposeTable(a *audit.Audit) doc.Table {
	t := doc.Table{
		Caption: fmt.Sprintf("Tokens are those of answered calls, as billed; amounts are in %s.", a.Prices.Currency),
		Columns: doc.Columns(1, "purpose", "needed", "accepted", "calls", "in", "out", string(a.Prices.Currency), "mean",
			"rejected", "broken", "lost", "p50", "p95", "max"),
	}
	for i := 8; i < len(t.Columns); i++ {
		t.Columns[i].Optional = true
	}
	add := func(name string, needed int, g *audit.Group) {
		billed, o, l := g.Tokens.Billed, g.Outcomes, g.Latency
		t.Rows = append(t.Rows, doc.Cells(name, needed, o.Accepted, g.Calls, billed.Input, billed.Output, amountText(g.Cost.Amount),
			secondsText(l.Mean), o.Rejected, o.Broken, o.Lost, secondsText(l.P50), secondsText(l.P95), secondsText(l.Max)))
	}
	for i := range a.Purposes {
		add(a.Purposes[i].Name, a.Contract.Rows[i].Expected, &a.Purposes[i])
	}
	add("all", a.Contract.Expected, &a.Total)
	return t
}

func stepTable(a *audit.Audit) doc.Table {
	t := doc.Table{Columns: doc.Columns(1, "step", "questions", "answered", "calls", "accepted", "rejected", "broken", "lost", "in", "out",
		string(a.Prices.Currency), "began (UTC)", "time")}
	for i := range a.Steps {
		s := &a.Steps[i]
		began, took := "–", "–"
		if !s.Began.IsZero() {
			began, took = timeText(s.Began), durationText(s.Began, s.Ended)
		}
		billed, o := s.Tokens.Billed, s.Outcomes
		t.Rows = append(t.Rows, doc.Cells(stepName(s.Step), s.Questions, s.Answers, s.Calls, o.Accepted, o.Rejected, o.Broken,
			o.Lost, billed.Input, billed.Output, amountText(s.Cost.Amount), began, took))
	}
	return t
}

func checkTable(list []audit.Check) doc.Table {
	t := doc.Table{Columns: doc.Columns(2, "rule", "verdict", "checked")}
	for _, c := range list {
		verdict := doc.Toned(doc.Faint, "– nothing to check yet")
		switch c.Verdict {
		case audit.Pass:
			verdict = doc.Toned(doc.Good, "✓ pass")
		case audit.Fail:
			verdict = doc.Toned(doc.Bad, "✗ fail")
		case audit.Skip:
		}
		text := doc.Line(verdict)
		if c.Found > 0 {
			text = doc.Line(verdict, " (", c.Found, ")")
		}
		t.Rows = append(t.Rows, []doc.Text{doc.Line(c.About), text, doc.Line(c.N)})
	}
	return t
}

func retryBlocks(a *audit.Audit) []doc.Block {
	tokens := a.Total.Tokens
	facts := doc.Facts{
		{Name: "invalid replies", Value: doc.Line(rateText(a.Rejected))},
		{Name: "calls that failed in transport", Value: doc.Line(rateText(a.Broken))},
		{Name: "requests with a trimmed history", Value: doc.Line(rateText(a.Trimmed))},
		{Name: "calls repeated after a crash", Value: doc.Line(joinedOrNone(a.Repeated, func(r audit.Repeat) string {
			return fmt.Sprintf("call %d for call %d", r.Call, r.Repeats)
		}))},
		{Name: "tokens reported by the backend", Value: doc.Line(tokens.Reported.Input, " + ", tokens.Reported.Output)},
		{Name: "tokens counted by rehearse", Value: doc.Line(tokens.Counted.Input, " + ", tokens.Counted.Output)},
		{Name: "difference", Value: doc.Line(fmt.Sprintf(
			"%+d in, %+d out; %d of %s differ, %d by more than the framing of messages explains",
			tokens.Difference.Input, tokens.Difference.Output, tokens.Differ, format.Count(tokens.Compared, "call"), tokens.Unexplained,
		))},
		{Name: "fallback texts", Value: doc.Line(doc.Quote(joinedOrNone(a.Fallbacks, func(f session.Fallback) string {
			return fmt.Sprintf("%s of %s (message %d, %s in %s)",
				f.Purpose, stepName(f.Step), f.Message, f.Rule, format.Count(f.Refused, "text"))
		})))},
	}
	if n := tokens.Unreported; n > 0 {
		facts[4].Note = doc.Line(format.Count(n, "call"), " without a report")
	}
	var wasted, warned doc.List
	for _, c := range a.Calls {
		if c.Outcome == session.Accepted {
			continue
		}
		text := doc.Line(
			fmt.Sprintf("call %d, %s of %s: ", c.N, c.Purpose, stepName(c.Step)), doc.Toned(outcomeTone(c.Outcome), string(c.Outcome)))
		if c.Fault != "" {
			text = doc.Line(text, ", ", doc.Quote(c.Fault))
		}
		if c.Detail != "" {
			text = doc.Line(text, ": ", doc.Quote(c.Detail))
		}
		wasted.Items = append(wasted.Items, doc.Item{Text: text})
	}
	for _, w := range a.Warnings {
		text := doc.Line(fmt.Sprintf("call %d, %s of %s: ", w.Call, w.Purpose, stepName(w.Step)), doc.Quote(w.Text))
		warned.Items = append(warned.Items, doc.Item{Text: text})
	}
	blocks := []doc.Block{facts}
	if wasted.Items != nil {
		blocks = append(blocks, doc.Paragraph(doc.Line("Wasted calls:")), wasted)
	}
	if warned.Items != nil {
		blocks = append(blocks, doc.Paragraph(doc.Line("Warnings about used texts:")), warned)
	}
	return blocks
}

func provenance(a *audit.Audit) doc.Facts {
	name := func(u audit.Used) string { return fmt.Sprintf("%.40s in %s", u.Name, format.Count(u.Calls, "call")) }
	prices := "in " + string(a.Prices.Currency)
	if a.Prices.Date != "" {
		prices += ", table of " + a.Prices.Date
	}
	if a.Prices.EURPerUSD != 0 {
		prices += fmt.Sprintf(", %.4f EUR for one USD", a.Prices.EURPerUSD)
	}
	if a.Prices.RateDate != "" {
		prices += " on " + a.Prices.RateDate
	}
	job := "the shipped one"
	if j := a.Session.Job; j != nil {
		job = fmt.Sprintf("%s (%s, %.12s)", j.Title, j.ID, a.Session.JobHash)
	}
	return doc.Facts{
		{Name: "job", Value: doc.Line(doc.Quote(job))},
		{Name: "prompts", Value: doc.Line(doc.Quote(joinedOrNone(a.Prompts, name)))},
		{Name: "models", Value: doc.Line(doc.Quote(joinedOrNone(a.Models, name)))},
		{Name: "prices", Value: doc.Line(prices)},
		{Name: "form", Value: doc.Line(fmt.Sprintf("%s, from version %d of the session", a.Schema, a.Session.Version))},
	}
}

func ledgerBlocks(a *audit.Audit) []doc.Block {
	t := doc.Table{Noun: "calls", Columns: doc.Columns(5, "call", "at (UTC)", "for", "step", "outcome", "attempt", "in", "out",
		"counted", "reported − counted", "cost", "latency", "sent", "trimmed")}
	for _, c := range a.Calls {
		purpose, outcome, difference := string(c.Purpose), doc.Line(doc.Toned(outcomeTone(c.Outcome), string(c.Outcome))), "not reported"
		if c.Index > 0 {
			purpose += fmt.Sprint(" ", c.Index)
		}
		if c.Repeats > 0 {
			outcome = doc.Line(outcome, ", repeats ", c.Repeats)
		}
		if c.Difference != nil {
			difference = fmt.Sprintf("%+d, %+d", c.Difference.Input, c.Difference.Output)
		}
		if c.Unexplained {
			difference += "*"
		}
		t.Rows = append(t.Rows, doc.Cells(c.N, timeText(c.At), purpose, stepName(c.Step), outcome, c.Attempt, c.Billed.Input, c.Billed.Output,
			fmt.Sprintf("%d + %d", c.Counted.Input, c.Counted.Output), difference, amountText(c.Amount),
			format.Seconds(c.Latency.Seconds()), c.Sent, c.Trimmed))
	}
	note := "In and out are the tokens that determine the cost: those reported by the backend, or else our own count."
	if a.Total.Tokens.Unexplained > 0 {
		note += " * The difference is more than the framing of messages explains."
	}
	return []doc.Block{t, doc.Paragraph(doc.Line(note))}
}

func messageBlocks(a *audit.Audit) []doc.Block {
	list := doc.List{Noun: "messages"}
	for _, m := range a.Messages {
		who, what := "service", string(m.Kind)
		if m.Role == "user" {
			who, what = "candidate", "not an answer"
			if m.Kept {
				what = "answer"
			}
		}
		if m.Question >= 0 {
			what += fmt.Sprint(" ", m.Question)
		}
		text := doc.Line(doc.Toned(doc.Strong, fmt.Sprintf("%d %s", m.Seq, who)),
			fmt.Sprintf(" %s, %s, at %s, %s", stepName(m.Step), what, timeText(m.At), format.Count(m.Tokens, "token")))
		if m.Call > 0 {
			text = doc.Line(text, ", call ", m.Call)
		}
		item := doc.Item{Text: text}
		if a.Session.Texts {
			item.Blocks = []doc.Block{doc.Preformatted(m.Text)}
		}
		list.Items = append(list.Items, item)
	}
	if a.Session.Texts {
		return []doc.Block{list}
	}
	return []doc.Block{doc.Paragraph(doc.Line("This audit omits the texts of messages.")), list}
}

func joinedOrNone[T any](list []T, text func(T) string) string {
	if len(list) == 0 {
		return "none"
	}
	var parts []string
	for _, x := range list {
		parts = append(parts, text(x))
	}
	return strings.Join(parts, "; ")
}

func stepName(s session.Step) string {
	switch s {
	case session.Identity:
		return "Identity"
	case session.Tone:
		return "Tone"
	case session.Preamble:
		return "Preamble"
	case session.Matching:
		return "Matching"
	default:
		return fmt.Sprintf("Block %d%s", s.Block(), s.Part())
	}
}

// costText returns a cost as text. An unknown cost is never shown as 0.
func costText(c audit.Cost, currency string) string {
	switch {
	case c.Amount != nil:
		return format.Amount(*c.Amount, currency)
	case c.AtLeast > 0:
		return "at least " + format.Amount(c.AtLeast, currency)
	}
	return "unknown"
}

func amountText(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return format.Money(*v)
}

func secondsText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return format.Seconds(*v)
}

// rateText returns a rate with its counts and interval.
func rateText(r audit.Rate) string {
	if r.Value == nil {
		return "n/a"
	}
	text := fmt.Sprintf("%s (%d of %d)", format.Percent(*r.Value), r.Hits, r.Of)
	if in := r.Interval; in != nil {
		text += fmt.Sprintf(", 95 %% interval %s to %s", format.Percent(in.Lo), format.Percent(in.Hi))
	}
	return text
}

func durationText(from, to time.Time) string { return format.Seconds(to.Sub(from).Seconds()) }

func timeText(t time.Time) string { return t.UTC().Format(time.DateTime) }

func outcomeTone(o session.Outcome) doc.Tone {
	switch o {
	case session.Accepted:
		return doc.Good
	case session.Rejected, session.Begun:
		return doc.Unsure
	default:
		return doc.Bad
	}
}
