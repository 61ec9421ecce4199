package kind

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/cli"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Document returns the transcript of an agent, which was read from path, as a report.
func Document(path string, p *cli.Past) doc.Document {
	t := transcript{p}
	d := doc.Document{
		Kind: "Agent", Name: doc.Line(doc.Quote(p.Agent), " in ", doc.Quote(filepath.Base(path))), Verdict: "no end", Tone: doc.Unsure,
		Figures: t.figures(), Lead: t.lead(path), Body: t.body(),
	}
	d.Summary = doc.Line("The transcript has no end: the run was killed, or it is still running.")
	if end := p.Result; end != nil {
		d.Verdict, d.Tone = string(end.Status), doc.Bad
		if end.Status == react.StatusDone {
			d.Tone = doc.Good
		}
		d.Summary = doc.Line(doc.Quote(end.Details))
	}
	return d
}

// transcript renders the content of a transcript.
type transcript struct{ *cli.Past }

// figures returns the most important numbers.
func (t transcript) figures() doc.Facts {
	var facts doc.Facts
	facts.Add("iterations", len(t.Iterations))
	refused := 0
	for i := range t.Iterations {
		if t.Iterations[i].Refused != "" {
			refused++
		}
	}
	if refused > 0 {
		facts.Add("refused steps", refused)
	}
	replies := t.Replies()
	facts.Add("calls answered", len(replies))
	if t.Result != nil {
		facts.Add("time", format.Seconds(t.Result.Duration.Seconds()))
	}
	totals := loop.Totals{}
	for i := range replies {
		if usage := replies[i].Usage; usage != nil {
			totals.Tokens += usage.Total()
		} else {
			totals.TokensUnknown++
		}
		if usd := replies[i].ReportedUSD; usd != nil {
			totals.Cost = quantity.Money{Amount: totals.Cost.Amount + *usd, Currency: quantity.USD}
		} else {
			totals.CostUnknown++
		}
	}
	tokens, cost := totals.Describe()
	facts.Add("spent", tokens, ", ", cost)
	return facts
}

// lead describes the start and the end of the run.
func (t transcript) lead(path string) []doc.Block {
	var facts doc.Facts
	for _, f := range [][2]string{
		{"task", doc.Shorten(t.Task.Do)},
		{"agent file", t.File},
		{"in", t.Workspace},
		{"backend", strings.TrimSpace(t.Backend + " " + t.Model)},
		{"approval", string(t.Approve.Mode)},
	} {
		if f[1] != "" {
			facts.Add(f[0], doc.Quote(f[1]))
		}
	}
	if t.Processes > 1 {
		facts.Add("continued", format.Count(t.Processes-1, "time"))
	}
	facts.Add("written by", doc.Quote(t.Tool))
	blocks := []doc.Block{facts}
	if r := t.Result; r != nil {
		blocks = append(blocks, outcome(r)...)
	}
	if !t.Finished() {
		command := format.ShellLine("rehearse", "react", "--continue", path)
		if t.Waits() {
			command += ` --answer "..."`
		}
		blocks = append(blocks, doc.Paragraph(doc.Line("To continue: ", doc.Command(command))))
	}
	return blocks
}

// outcome returns the question, the missing parts and the next step of a run that is not done.
func outcome(r *react.Result) []doc.Block {
	var facts doc.Facts
	if r.Question != "" {
		facts.Add("question", doc.Quote(strings.TrimPrefix(string(r.Trigger)+": "+r.Question, ": ")))
	}
	if r.Status == react.StatusDone && r.Verification != nil && !r.Verified {
		var parts []string
		for _, p := range r.Verification.ByWord() {
			parts = append(parts, string(p))
		}
		facts.Add("by the agent's word alone", strings.Join(parts, ", "))
	}
	var blocks []doc.Block
	if len(facts) > 0 {
		blocks = append(blocks, facts)
	}
	if len(r.Missing) > 0 {
		list := doc.List{Noun: "parts"}
		for _, m := range r.Missing {
			list.Items = append(list.Items, doc.Item{Text: doc.Line("missing: ", doc.Quote(m))})
		}
		blocks = append(blocks, list)
	}
	return blocks
}

// body returns the iterations in brief, the end, and each iteration with its texts.
func (t transcript) body() []doc.Block {
	var blocks []doc.Block
	if len(t.Iterations) > 0 {
		blocks = append(blocks, t.table())
	}
	if r := t.Result; r != nil && r.Verification != nil {
		blocks = append(blocks, verification(r.Verification))
	}
	if r := t.Result; r != nil && r.Output != "" {
		blocks = append(blocks, doc.Section{Title: doc.Line("Output"), Blocks: []doc.Block{doc.Preformatted(r.Output)}})
	}
	for i := range t.Iterations {
		blocks = append(blocks, iteration(&t.Iterations[i]))
	}
	return blocks
}

func (t transcript) table() doc.Table {
	column := func(head string) doc.Column { return doc.Column{Head: doc.Line(head)} }
	n, at, action, result := column("n"), column("at"), column("action"), column("result")
	n.Right, at.Right, at.Optional, action.Shorten, result.Shorten = true, true, true, true, true
	columns := []doc.Column{n, at, action, column("decision"), result}
	delegated := slices.ContainsFunc(t.Iterations, func(e react.Entry) bool { return e.Depth > 0 })
	if delegated {
		columns = slices.Insert(columns, 1, column("agent"))
	}
	table := doc.Table{Caption: "Iterations", Noun: "iterations", Max: 100, Columns: columns}
	for i := range t.Iterations {
		e := &t.Iterations[i]
		row := []doc.Text{
			doc.Line(e.N), doc.Line(format.Seconds(e.At.Seconds())), doc.Line(doc.Excerpt(e.Action)), doc.Line(doc.Quote(e.Decision)), outcomeOf(e),
		}
		if delegated {
			row = slices.Insert(row, 1, doc.Line(doc.Quote(e.Agent)))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// outcomeOf returns the result of an iteration in brief.
func outcomeOf(e *react.Entry) doc.Text {
	if e.Refused != "" {
		return doc.Line(doc.Toned(doc.Bad, "refused: "), doc.Excerpt(e.Refused))
	}
	return doc.Line(doc.Excerpt(cmp.Or(e.Observation, e.Reason, e.Reflection)))
}

// verification returns the claims of the agent about its output, with their judgement.
func verification(v *step.Verification) doc.Section {
	table := doc.Table{Columns: []doc.Column{{Head: doc.Line("part")}, {Head: doc.Line("holds")}, {Head: doc.Line("claim"), Shorten: true}}}
	for _, c := range v.Claims {
		holds := doc.Line(doc.Toned(doc.Bad, "no"))
		switch {
		case v.Holds(c.Part) && c.Bound:
			holds = doc.Line(doc.Toned(doc.Good, "yes"))
		case v.Holds(c.Part):
			holds = doc.Line(doc.Toned(doc.Unsure, "by its word"))
		}
		claim := c.Text
		if len(c.Checks) > 0 {
			claim = strings.Join(c.Checks, "; ")
		}
		table.Rows = append(table.Rows, []doc.Text{doc.Line(doc.Quote(string(c.Part))), holds, doc.Line(doc.Excerpt(claim))})
	}
	s := doc.Section{Title: doc.Line("Verification"), Blocks: []doc.Block{table}}
	if len(v.Findings) > 0 {
		list := doc.List{Noun: "findings"}
		for _, f := range v.Findings {
			list.Items = append(list.Items, doc.Item{Text: doc.Line(string(f.Part), ": ", doc.Quote(f.Message))})
		}
		s.Blocks = append(s.Blocks, list)
	}
	return s
}

func iteration(e *react.Entry) doc.Details {
	title := doc.Line("Iteration ", e.N, ", ", doc.Quote(e.Agent))
	if what := strings.Trim(e.Action+", "+e.Decision, ", "); what != "" {
		title = doc.Line(title, ": ", doc.Quote(what))
	}
	d := doc.Details{Title: title}
	d.Quote("Thought", e.Thought)
	d.Quote("Action", strings.TrimSpace(e.Action+"\n"+e.Input))
	d.Quote("Observation", e.Observation)
	d.Quote("Reflection", e.Reflection)
	d.Quote("Refused", strings.TrimPrefix(e.Refused+": "+e.Fault, ": "))
	d.Quote("Decision", strings.TrimSuffix(e.Decision+": "+e.Reason, ": "))
	d.Quote("Answer of a person", e.Answer)
	return d
}
