package reports

import (
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// maxAdvice limits the advice in a report.
const maxAdvice = 10

// advice returns what the scripted backend advises about requests of scenarios, each once.
func advice(list []Scenario) []doc.Block {
	var texts []string
	scenarios := map[string][]string{} // by text
	for i := range list {
		s := &list[i]
		for _, f := range s.Findings {
			names, known := scenarios[f.Message]
			switch {
			case f.Rule != gate.AdviceRule, known && names[len(names)-1] == s.Name:
				continue
			case !known:
				texts = append(texts, f.Message)
			}
			scenarios[f.Message] = append(names, s.Name)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	var items []doc.Item
	for _, text := range texts {
		names := scenarios[text]
		who := doc.Quote(names[0])
		if len(names) > 1 {
			who = doc.Quote(names[0] + " and " + format.Count(len(names)-1, "other"))
		}
		items = append(items, doc.Item{Text: doc.Line(who, ": ", doc.Quote(text))})
	}
	return []doc.Block{newSection("Advice", doc.Unsure, doc.List{Items: items, Noun: "texts", Max: maxAdvice})}
}
