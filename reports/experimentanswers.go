package reports

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// answersSection shows the answers of the pairs of trials that decided, by comparison and scenario.
func answersSection(r *result.Experiment) doc.Section {
	s := doc.Section{Title: doc.Line("Answers")}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if len(c.Shown) == 0 {
			continue
		}
		s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(doc.Quote(c.Variant).In(doc.Strong), " against ",
			doc.Quote(c.Against).In(doc.Strong), ": in each scenario, the pairs of trials that differ most by ", doc.Quote(c.Measure))))
		for j := 0; j < len(c.Shown); {
			scenario := c.Shown[j].Scenario
			d := doc.Details{Open: j == 0}
			first := j
			for ; j < len(c.Shown) && c.Shown[j].Scenario == scenario; j++ {
				d.Blocks = append(d.Blocks, pairBlocks(r, c, &c.Shown[j])...)
			}
			d.Title = doc.Line(doc.Quote(scenario), ": "+format.Count(j-first, "pair"))
			s.Blocks = append(s.Blocks, d)
		}
	}
	return s
}

// answersOnTerminal says where the answers are, which are too long for a terminal.
func answersOnTerminal(r *result.Experiment) doc.Section {
	s := doc.Section{Title: doc.Line("Answers")}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		if len(c.Shown) > 0 {
			s.Blocks = append(s.Blocks, doc.Paragraph(doc.Line(doc.Quote(c.Variant), " against ", doc.Quote(c.Against),
				": "+format.Plural(len(c.Shown), "pair")+" of answers, side by side, in experiment.html and experiment.md")))
		}
	}
	return s
}

// pairBlocks shows the two answers of a pair side by side, with their scores.
func pairBlocks(r *result.Experiment, c *result.Comparison, p *result.Pair) []doc.Block {
	u := unitsOf(r, c.Measure)
	value := func(s *result.Side) string {
		if s.Value == nil {
			return "unknown"
		}
		return u.amount(*s.Value)
	}
	blocks := []doc.Block{doc.Paragraph(doc.Line(doc.Toned(doc.Strong, fmt.Sprint("Trial ", p.Trial)), ": ", doc.Quote(c.Measure), " ",
		doc.Quote(value(&p.Before)), " with ", doc.Quote(c.Against), ", ", doc.Quote(value(&p.After)), " with ", doc.Quote(c.Variant)))}
	reasons := doc.List{}
	for _, side := range []struct {
		name string
		of   *result.Side
	}{{c.Against, &p.Before}, {c.Variant, &p.After}} {
		for _, reason := range side.of.Reasons {
			tone, word := doc.Bad, "not passed"
			if reason.Pass {
				tone, word = doc.Good, "passed"
			}
			reasons.Items = append(reasons.Items, doc.Item{Text: doc.Line(doc.Quote(side.name), ": ", doc.Quote(reason.Score), " ",
				doc.Toned(tone, word), " ", doc.Quote(reason.Why).In(doc.Faint))})
		}
	}
	if len(reasons.Items) > 0 {
		blocks = append(blocks, reasons)
	}
	switch d := doc.NewDiff(c.Against, c.Variant, p.Before.Text, p.After.Text); {
	case len(d.Lines) > 0:
		return append(blocks, d)
	case p.Before.Hash == "" && p.After.Hash == "":
		return append(blocks, doc.Paragraph(doc.Line("Neither trial has an answer.")))
	case p.Before.Text == "":
		return append(blocks, doc.Paragraph(doc.Line("The answers are not stored.")))
	default:
		return append(blocks, doc.Paragraph(doc.Line("Both answered:")), doc.Preformatted(p.Before.Text))
	}
}
