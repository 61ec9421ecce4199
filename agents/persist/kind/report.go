package kind

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Document returns the transcript of an attempt as a report.
func Document(a *cli.Attempt) doc.Document {
	t := transcript{a}
	d := doc.Document{
		Kind: "Attempt", Name: doc.Line(doc.Quote(strings.TrimSuffix(filepath.Base(a.Path), ".jsonl"))),
		Verdict: "no end", Tone: doc.Unsure, Figures: t.figures(), Body: t.body(),
	}
	d.Summary = doc.Line("The transcript has no end: the attempt was killed, or it is still running.")
	if end := a.End(); end != nil {
		d.Verdict, d.Tone = end.Name, doc.Bad
		if end.Name == string(persist.Done) {
			d.Tone = doc.Good
		}
		d.Summary = doc.Line(doc.Excerpt(end.Details))
	}
	return d
}

// transcript renders the transcript of an attempt.
type transcript struct{ *cli.Attempt }

// figures returns the most important numbers.
func (t transcript) figures() doc.Facts {
	var facts doc.Facts
	first := t.Entries[0]
	facts.Add("worker", doc.Quote(first.Name))
	facts.Add("began", format.Time(first.At))
	facts.Add("time", format.Seconds(t.Entries[len(t.Entries)-1].At.Sub(first.At).Seconds()))
	if n := t.count("tool"); n > 0 {
		facts.Add("tool calls", n)
	}
	if n := t.count("begin"); n > 1 {
		facts.Add("continued", format.Count(n-1, "time"))
	}
	spent := format.Count(t.count("call"), "call")
	if end := t.End(); end != nil && end.Used != nil {
		if used := cli.DescribeUsed(*end.Used); used != "" {
			spent = used
		}
	}
	facts.Add("spent", spent)
	return facts
}

func (t transcript) count(kind string) (n int) {
	for i := range t.Entries {
		if t.Entries[i].Kind == kind {
			n++
		}
	}
	return n
}

// body returns the answer, the entries in brief, and each entry with its texts.
func (t transcript) body() []doc.Block {
	table := doc.Table{
		Caption: "Entries", Noun: "entries", Max: 100,
		Columns: []doc.Column{
			{Head: doc.Line("n"), Right: true},
			{Head: doc.Line("at"), Right: true},
			{Head: doc.Line("kind")},
			{Head: doc.Line("name"), Shorten: true},
			{Head: doc.Line("text"), Shorten: true},
		},
	}
	var details []doc.Block
	refused := doc.List{Noun: "calls"}
	for i := range t.Entries {
		e := &t.Entries[i]
		at := format.Seconds(e.At.Sub(t.Entries[0].At).Seconds())
		table.Rows = append(table.Rows, []doc.Text{
			doc.Line(i + 1), doc.Line(at), doc.Line(doc.Quote(e.Kind)), doc.Line(doc.Excerpt(strings.TrimSuffix(e.Name, "/"))),
			doc.Line(doc.Excerpt(brief(e))),
		})
		for _, d := range e.Denials {
			refused.Items = append(refused.Items, doc.Item{Text: doc.Line("entry ", i+1, ": ", doc.Quote(d.String()))})
		}
		if d := texts(e); len(d.Blocks) > 0 {
			d.Title = doc.Line("Entry ", i+1, ", ", doc.Quote(strings.TrimSpace(e.Kind+" "+e.Name)), ": ", doc.Excerpt(brief(e)))
			details = append(details, d)
		}
	}
	var blocks []doc.Block
	if end := t.End(); end != nil && end.Text != "" {
		blocks = append(blocks, doc.Section{Title: doc.Line("Answer"), Blocks: []doc.Block{doc.Preformatted(end.Text)}})
	}
	blocks = append(blocks, table)
	if len(refused.Items) > 0 {
		blocks = append(blocks, doc.Section{Title: doc.Line("Refused tool calls"), Blocks: []doc.Block{refused}})
	}
	return append(blocks, details...)
}

// brief returns the text of an entry that a table shows.
func brief(e *persist.Entry) string {
	return cmp.Or(strings.TrimSpace(e.Text), strings.TrimSpace(e.Details), toolCalls(e.Tools))
}

func texts(e *persist.Entry) (d doc.Details) {
	for _, m := range e.Request {
		d.Quote("Message of "+string(m.Role), strings.TrimSpace(m.Content+"\n"+toolCalls(m.ToolCalls)))
	}
	d.Quote(cmp.Or(map[string]string{"begin": "Prompt", "output": "Output"}[e.Kind], "Answer"), e.Text)
	d.Quote("Tool calls", toolCalls(e.Tools))
	switch e.Kind {
	case "event": // the table shows its details
	case "output":
		d.Quote("Standard error", e.Details)
	default:
		d.Quote("Details", e.Details)
	}
	return d
}

// toolCalls returns the names and arguments of tool calls, a line for each.
func toolCalls(calls []llm.ToolCall) string {
	var lines []string
	for _, c := range calls {
		lines = append(lines, strings.TrimSpace(c.Name+" "+c.Arguments))
	}
	return strings.Join(lines, "\n")
}
