package kind

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/loop/cli"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Document returns the transcript of a loop as a report.
func Document(r *cli.Record) doc.Document {
	t := transcript{r}
	d := doc.Document{
		Kind: "Loop", Name: doc.Line(doc.Quote(filepath.Base(r.Path))), Verdict: "no end", Tone: doc.Unsure,
		Figures: t.figures(), Lead: t.lead(), Body: t.body(),
	}
	d.Summary = doc.Line("The transcript has no end: the run was killed, or it is still running.")
	if end := r.Result; end != nil {
		d.Verdict, d.Tone = string(end.Status), doc.Bad
		if end.Status == loop.StatusDone {
			d.Tone = doc.Good
		}
		d.Summary = doc.Line(doc.Quote(end.Details), ".")
	}
	return d
}

// transcript renders a record.
type transcript struct{ *cli.Record }

// figures returns the most important numbers.
func (t transcript) figures() doc.Facts {
	refused := 0
	elapsed := time.Duration(0)
	for _, e := range t.Entries {
		refused += len(e.Denials)
		elapsed = e.At + e.Duration
	}
	if t.Result != nil {
		elapsed = t.Result.Duration
	}
	var facts doc.Facts
	facts.Add("iterations", len(t.Entries), " of ", t.Settings.MaxIterations)
	facts.Add("time", format.Seconds(elapsed.Seconds()))
	tokens, cost := t.Totals().Describe()
	facts.Add("spent", tokens, ", ", cost)
	if refused > 0 {
		facts.Add("tool calls refused", refused)
	}
	return facts
}

// lead returns how the run was started, and how it ended.
func (t transcript) lead() []doc.Block {
	s := t.Settings
	var facts doc.Facts
	facts.Add("began", format.Time(t.At))
	facts.Add("in", doc.Quote(t.Job.Dir))
	facts.Add("backend", doc.Quote(strings.TrimSpace(s.Backend+" "+s.Model)))
	if t.Job.Access != "" {
		facts.Add("access", doc.Quote(t.Job.Access))
	}
	if t.Job.PromptFile != "" {
		facts.Add("prompt file", doc.Quote(t.Job.PromptFile))
	}
	if t.Processes > 1 {
		facts.Add("continued", format.Count(t.Processes-1, "time"))
	}
	facts.Add("written by", doc.Quote(t.Tool))
	blocks := []doc.Block{facts}
	if t.Result == nil || t.Result.Status != loop.StatusDone {
		blocks = append(blocks, doc.Paragraph(doc.Line("To continue: ", doc.Command(format.ShellLine("rehearse", "loop", "--continue", t.Path)))))
	}
	return blocks
}

// body returns the iterations in brief, and each with its texts.
func (t transcript) body() []doc.Block {
	var blocks []doc.Block
	if len(t.Entries) > 0 {
		blocks = append(blocks, t.table())
	}
	if notes := t.notes(); len(notes.Items) > 0 {
		blocks = append(blocks, doc.Section{Title: doc.Line("Decisions"), Blocks: []doc.Block{notes}})
	}
	if refused := t.refused(); len(refused.Items) > 0 {
		blocks = append(blocks, doc.Section{Title: doc.Line("Refused tool calls"), Blocks: []doc.Block{refused}})
	}
	for i := range t.Entries {
		blocks = append(blocks, t.iteration(&t.Entries[i]))
	}
	return blocks
}

func (t transcript) table() doc.Table {
	table := doc.Table{
		Caption: "Iterations", Noun: "iterations", Max: 100,
		Columns: []doc.Column{
			{Head: doc.Line("n"), Right: true},
			{Head: doc.Line("time"), Right: true},
			{Head: doc.Line("session"), Optional: true},
			{Head: doc.Line("changes")},
			{Head: doc.Line("tokens"), Right: true},
			{Head: doc.Line("cost"), Right: true, Optional: true},
			{Head: doc.Line("answer"), Shorten: true},
		},
	}
	for i := range t.Entries {
		e := &t.Entries[i]
		tokens, cost := "unknown", "unknown"
		if e.Usage != nil {
			tokens = format.Number(float64(e.Usage.Total()))
		}
		if e.Cost != nil {
			cost = format.Amount(e.Cost.Amount, string(e.Cost.Currency))
		}
		table.Rows = append(table.Rows, []doc.Text{
			doc.Line(e.N), doc.Line(format.Seconds(e.Duration.Seconds())), doc.Line(sessionOf(e)), doc.Line(changesOf(e)),
			doc.Line(tokens), doc.Line(cost), answerOf(e),
		})
	}
	return table
}

// answerOf returns the beginning of an answer, or why it is missing.
func answerOf(e *loop.Entry) doc.Text {
	switch {
	case e.Error != "":
		return doc.Line(doc.Toned(doc.Bad, "failed: "), doc.Excerpt(e.Error))
	case strings.TrimSpace(e.Answer) == "":
		return doc.Line(cmp.Or(e.Stopped(), "no answer"))
	}
	return doc.Line(doc.Excerpt(e.Answer))
}

// sessionOf returns whether an iteration continued the session of the agent.
func sessionOf(e *loop.Entry) string {
	switch {
	case e.Continued:
		return "continued"
	case e.Session != nil:
		return "new"
	}
	return "none"
}

func changesOf(e *loop.Entry) string {
	if e.Changes == nil {
		return "unknown"
	}
	return e.Changes.String()
}

// notes returns the events other than refused tool calls.
func (t transcript) notes() doc.List {
	list := doc.List{Noun: "decisions"}
	for i := range t.Events {
		e := &t.Events[i]
		if e.Name == "check" { // has a line of its own
			continue
		}
		what := doc.Line("iteration ", e.N, ", ", doc.Quote(nameOf(e)))
		if e.Detail != "" {
			what = doc.Line(what, ": ", doc.Quote(doc.Shorten(e.Detail)))
		}
		list.Items = append(list.Items, doc.Item{Text: what})
	}
	for _, c := range t.Checks {
		tone := doc.Bad
		if c.Verdict == loop.CheckPass {
			tone = doc.Good
		}
		text := doc.Line("iteration ", c.N, ", check ", doc.Command(doc.Shorten(c.Command)), ": ", doc.Toned(tone, string(c.Verdict)))
		if c.Details != "" {
			text = doc.Line(text, ", ", doc.Quote(doc.Shorten(c.Details)))
		}
		list.Items = append(list.Items, doc.Item{Text: text, Evidence: c.Output})
	}
	return list
}

func nameOf(e *event.Event) string {
	j, judged := event.Read[stop.Judgement](e)
	switch {
	case judged && j.Allow:
		return "the stop guard agrees"
	case judged:
		return "the stop guard refuses"
	case e.Kind == event.Guard:
		return "limit " + e.Name
	case e.Kind == event.HandOver:
		return "handed over to a " + e.Name
	}
	return e.Name
}

func (t transcript) refused() doc.List {
	list := doc.List{Noun: "calls"}
	for i := range t.Entries {
		for _, d := range t.Entries[i].Denials {
			list.Items = append(list.Items, doc.Item{Text: doc.Line("iteration ", t.Entries[i].N, ": ", doc.Quote(d.String()))})
		}
	}
	return list
}

func (t transcript) iteration(e *loop.Entry) doc.Details {
	d := doc.Details{Title: doc.Line("Iteration ", e.N, ": ", answerOf(e))}
	d.Quote("Prompt", e.Prompt)
	d.Quote("Answer", e.Answer)
	d.Quote("Error", e.Error)
	if e.Changes != nil && e.Changes.Count > 0 {
		d.Blocks = append(d.Blocks, changedFiles(e.Changes))
	}
	return d
}

func changedFiles(c *loop.Changes) doc.Table {
	table := doc.Table{
		Caption: c.String(), Noun: "files", Max: 50,
		Columns: []doc.Column{
			{Head: doc.Line("file"), Shorten: true},
			{Head: doc.Line("change")},
			{Head: doc.Line("added"), Right: true},
			{Head: doc.Line("deleted"), Right: true},
		},
	}
	for _, f := range c.Files {
		table.Rows = append(table.Rows, []doc.Text{
			doc.Line(doc.Quote(f.Path)), doc.Line(string(f.Kind)), doc.Line(f.Added), doc.Line(f.Deleted),
		})
	}
	return table
}
