package reports

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Sections returns a section for each extension with metrics: a sentence and some rates.
func Sections(agents measure.AgentMetrics) []doc.Section {
	all := make([]doc.Section, len(agents))
	for i := range agents {
		from, values := &agents[i].Section, agents[i].Values
		counts := make([]any, len(from.Counts))
		for j, name := range from.Counts {
			counts[j] = Text(Find(values, name))
		}
		var rates doc.Facts
		for _, r := range from.Rates {
			rates = append(rates, doc.Fact{Name: r.Label, Value: doc.Line(shareOf(Find(values, r.Metric), r.Of))})
		}
		summary := doc.Paragraph(doc.Line(fmt.Sprintf(from.Sentence, counts...)))
		all[i] = doc.Section{Title: doc.Line(from.Title), Blocks: []doc.Block{summary, rates}}
	}
	return all
}
