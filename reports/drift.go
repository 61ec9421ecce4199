package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/drift"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

var tierTones = map[drift.Tier]doc.Tone{drift.Error: doc.Bad, drift.Warn: doc.Unsure, drift.Info: doc.Faint}

// DriftDocument returns a result as a document: an item for each exchange, with its differences.
func DriftDocument(r *drift.Result) doc.Document {
	d := doc.Document{
		Kind: "Drift of", Name: doc.Line(doc.Quote(r.Upstream)),
		Summary: doc.Line(r.Summary(), ", against what was captured on ", r.Captured.UTC().Format(time.DateOnly)),
	}
	if r.Stopped != "" {
		d.Summary = doc.Line(d.Summary, "; stopped by ", doc.Quote(r.Stopped))
	}
	exchanges, skipped := doc.List{Noun: "exchanges"}, doc.List{Noun: "exchanges"}
	for i := range r.Exchanges {
		exchanges.Items = append(exchanges.Items, exchangeItem(&r.Exchanges[i]))
	}
	for _, s := range r.Skipped {
		skipped.Items = append(skipped.Items, doc.Item{Text: doc.Line(fmt.Sprintf("%d not asked again: ", s.N), doc.Quote(s.Why))})
	}
	d.Body = []doc.Block{exchanges, skipped}
	if len(r.Left) > 0 {
		d.Body = append(d.Body, leftFiles(r.Left))
	}
	return d
}

// leftFiles lists the uploaded files that could not be deleted.
func leftFiles(left []drift.Left) doc.Block {
	files := doc.List{Noun: "files"}
	for _, f := range left {
		name := doc.Line("a file")
		if f.File != "" {
			name = doc.Line("the file ", doc.Quote(f.File))
		}
		files.Items = append(files.Items, doc.Item{Text: doc.Line(
			f.N, " uploaded ", name, ", which may still be at the provider; ", doc.Toned(doc.Bad, "delete it there"), ": ", doc.Quote(f.Why))})
	}
	return files
}

func exchangeItem(e *drift.Exchange) doc.Item {
	item := doc.Item{Text: doc.Line(e.N, " ", doc.Quote(strings.TrimSpace(e.Method+" "+e.Path)))}
	if e.Unanswered != "" {
		item.Items = append(item.Items, doc.Item{Text: doc.Line(doc.Toned(doc.Bad, "not answered"), ": ", doc.Quote(e.Unanswered))})
	}
	for _, x := range e.Differences {
		text := doc.Line(doc.Toned(tierTones[x.Tier], string(x.Tier)), " ", doc.Quote(x.Where), ": ")
		if x.Before != "" {
			text = doc.Line(text, doc.Quote(x.Before), " → ")
		}
		item.Items = append(item.Items, doc.Item{Text: doc.Line(text, doc.Quote(x.Now))})
	}
	if item.Items == nil {
		item.Items = []doc.Item{{Text: doc.Line("the same")}}
	}
	return item
}
