package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// maxExperimentItems limits the items of each kind on a terminal.
const maxExperimentItems = 40

// The tones of verdicts, and signs that distinguish them without colours.
var (
	experimentTones = map[result.Verdict]doc.Tone{
		result.Better: doc.Good, result.Worse: doc.Bad, result.Equivalent: doc.Info, result.Undecided: doc.Unsure,
	}
	experimentSigns = map[result.Verdict]string{
		result.Better: "▲", result.Worse: "▼", result.Equivalent: "=", result.Undecided: "?",
	}
)

// ExperimentDocument returns the result of an experiment as a document: the comparisons come
// first.
func ExperimentDocument(r *result.Experiment) doc.Document {
	verdict, found := experimentHeadline(r)
	d := doc.Document{
		Marker: "<!-- rehearse:experiment -->", Kind: "Experiment", Name: doc.Line(doc.Quote(r.Name)),
		Verdict: string(verdict), Tone: experimentTones[verdict], Summary: doc.Line(doc.Quote(found)), Figures: experimentFigures(r),
	}
	if r.About != "" {
		d.Lead = append(d.Lead, doc.Paragraph(doc.Line(doc.Quote(r.About))))
	}
	if len(r.Warnings) > 0 {
		warnings := quoteList(r.Warnings, "warnings")
		warnings.Max = maxExperimentItems
		d.Lead = append(d.Lead, newSection("Warnings", doc.Unsure, warnings))
	}
	var plots []doc.Block // of secondary measures, as small multiples
	var secondary []doc.Block
	for _, list := range comparisonsByMeasure(r) {
		s, p := measureSection(r, list)
		if list[0].Role != result.Secondary {
			s.Blocks = append([]doc.Block{p}, s.Blocks...)
			d.Lead = append(d.Lead, s)
			continue
		}
		plots, secondary = append(plots, p), append(secondary, s)
	}
	if len(secondary) > 0 {
		d.Lead = append(d.Lead, newSection("Secondary measures", doc.Plain, append(plots, secondary...)...))
	}
	answers := -1 // the place of the section in the body
	if s := answersSection(r); len(s.Blocks) > 0 {
		answers = len(d.Body)
		d.Body = append(d.Body, s)
	}
	if len(r.Variants) > 0 {
		settings := doc.Details{Title: doc.Line("Settings"), Blocks: []doc.Block{settingsList(r)}}
		d.Body = append(d.Body, newSection("Variants", doc.Plain, variantTable(r), settings))
	}
	if len(r.Pareto) > 1 {
		d.Body = append(d.Body, newSection("Cost and quality", doc.Plain, paretoPlot(r), paretoTable(r)))
	}
	if r.Tune != nil {
		d.Body = append(d.Body, searchSection(r))
	}
	how := []doc.Block{designFacts(r)}
	if len(r.Looks) > 0 {
		how = append(how, doc.Details{Title: doc.Line("Interim analyses"), Blocks: []doc.Block{looksTable(r)}})
	}
	if len(r.Scenarios) > 0 {
		how = append(how, doc.Details{Title: doc.Line("Scenarios"), Blocks: []doc.Block{experimentScenarios(r)}})
	}
	d.Body = append(d.Body, newSection("How it was decided", doc.Plain, how...))
	if answers >= 0 {
		short := d
		short.Body = slices.Clone(d.Body)
		short.Body[answers] = answersOnTerminal(r)
		d.Terminal = &short
	}
	return d
}

// experimentFigures returns the most important numbers.
func experimentFigures(r *result.Experiment) doc.Facts {
	cost := format.Amount(r.Used.EUR, "EUR")
	if !r.Used.CostKnown {
		cost = "at least " + cost
	}
	list := doc.Facts{
		{Name: "trials", Value: doc.Line(format.Int(r.Stopped.Trials), " of ", format.Int(r.Stopped.Planned))},
		{Name: "calls", Value: doc.Line(r.Used.Calls)},
		{Name: "cost", Value: doc.Line(cost)},
	}
	if len(r.Variants) > 0 {
		list = append(doc.Facts{
			{Name: "variants", Value: doc.Line(len(r.Variants))}, {Name: "scenarios", Value: doc.Line(len(r.Scenarios))},
		}, list...)
	}
	return list
}

// measureSection returns the comparisons by one measure, and a plot of the differences.
func measureSection(r *result.Experiment, list []*result.Comparison) (doc.Section, doc.Plot) {
	s := doc.Section{Title: doc.Line("By ", doc.Quote(list[0].Measure))}
	u := unitsOf(r, list[0].Measure)
	items := doc.List{Max: maxExperimentItems}
	var rows []plot.Difference
	for _, c := range list {
		v := knownVerdict(c.Verdict)
		text := doc.Line(doc.Toned(experimentTones[v], experimentSigns[v]+" "+string(v)), ": ", doc.Quote(c.Variant), " against ",
			doc.Quote(c.Against), ": ", doc.Quote(effectText(r, c)))
		if c.Relative != nil && !u.share {
			text = doc.Line(text, " (", format.Signed(*c.Relative, format.Percent), ")")
		}
		item := doc.Item{Text: text, Items: []doc.Item{
			{Text: doc.Line("before ", doc.Quote(u.value(c.Before)), ", after ", doc.Quote(u.value(c.After)), "; ", evidenceText(r, c))},
		}}
		for _, note := range comparisonNotes(c) {
			item.Items = append(item.Items, doc.Item{Text: doc.Line(doc.Quote(note).In(doc.Faint))})
		}
		if len(c.ByScenario) > 0 {
			item.Blocks = []doc.Block{scenarioEffects(u, c)}
		}
		items.Items = append(items.Items, item)
		rows = append(rows, plotDifference(c))
	}
	smallest := 0.0
	for _, m := range append([]result.Measure{r.Design.Primary}, r.Design.Secondary...) {
		if m.Name == list[0].Measure {
			smallest = m.Smallest
		}
	}
	p := plot.Differences("Differences of "+list[0].Measure, rows, smallest,
		func(v float64) string { return strings.TrimPrefix(u.difference(v), "+") })
	s.Blocks = []doc.Block{items}
	return s, p
}

func plotDifference(c *result.Comparison) plot.Difference {
	row := plot.Difference{
		Name: c.Variant + " − " + c.Against, Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Verdict: string(knownVerdict(c.Verdict)),
	}
	if v := c.Effect; v.Known && v.Value != nil {
		row.Value = *v.Value
		if v.Interval != nil {
			row.Lo, row.Hi = v.Interval.Lo, v.Interval.Hi
		}
	}
	return row
}

func scenarioEffects(u units, c *result.Comparison) doc.Details {
	t := doc.Table{Columns: doc.Columns(1, "scenario", "pairs", "before", "after", "difference"), Noun: "scenarios"}
	for _, s := range c.ByScenario {
		t.Rows = append(t.Rows, []doc.Text{
			doc.Line(doc.Quote(s.Scenario)), doc.Line(s.Pairs), doc.Line(doc.Quote(u.amount(s.Before))), doc.Line(doc.Quote(u.amount(s.After))),
			doc.Line(doc.Quote(u.difference(s.After - s.Before))),
		})
	}
	return doc.Details{Title: doc.Line("By scenario (descriptive)"), Blocks: []doc.Block{t}}
}

// variantTable returns the means over the trials of each variant.
func variantTable(r *result.Experiment) doc.Table {
	t := doc.Table{Max: maxExperimentItems, Noun: "variants", Columns: []doc.Column{
		{Head: doc.Line("variant"), Shorten: true}, {Head: doc.Line("passed"), Right: true, Optional: true},
	}}
	names := shownMeasures(r)
	for i, m := range names { // the intervals of other measures than the first are the first columns to go
		t.Columns = append(t.Columns, doc.Column{Head: doc.Line(doc.Quote(measureHead(m))), Right: true, Optional: i > 0},
			doc.Column{Head: doc.Line("interval"), Right: true, Optional: i > 0, Spare: i > 0})
	}
	for _, x := range r.Variants {
		row := []doc.Text{doc.Line(doc.Quote(x.Name)), doc.Line(trialsText(x.Trials))}
		for _, m := range names {
			u, v := unitsOf(r, m), Find(x.Measures, m)
			bare := func(amount float64) string { return strings.TrimSuffix(u.amount(amount), " "+u.unit) }
			row = append(row, doc.Line(doc.Quote(strings.TrimSuffix(u.value(v), " "+u.unit))), doc.Line(doc.Quote(u.interval(v, bare))))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// settingsList returns the settings of the variants, and the warnings of their measures.
func settingsList(r *result.Experiment) doc.List {
	list := doc.List{Noun: "variants"}
	for i := range r.Variants {
		x := &r.Variants[i]
		item := doc.Item{Text: doc.Line(doc.Quote(x.Name).In(doc.Strong), " ", doc.Quote(x.About), " used ", doc.Quote(usedText(x.Used)))}
		for _, s := range x.Settings {
			text := doc.Line(doc.Quote(s.Path))
			if s.File != "" {
				text = doc.Line(text, " from ", doc.Quote(s.File))
			}
			item.Items = append(item.Items, doc.Item{Text: text, Evidence: s.Value})
		}
		for _, v := range x.Measures {
			for _, w := range v.Warnings {
				item.Items = append(item.Items, doc.Item{Text: doc.Line(doc.Quote(v.Name), ": ", doc.Quote(w))})
			}
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// paretoPlot draws the variants by cost and quality.
func paretoPlot(r *result.Experiment) doc.Plot {
	first := &r.Pareto[0]
	var list []plot.Tradeoff
	for i := range r.Pareto {
		p := &r.Pareto[i]
		list = append(list, plot.Tradeoff{Name: p.Variant, Cost: p.Cost, Quality: p.Quality, Front: len(p.Dominated) == 0})
	}
	p := plot.Pareto("Cost and quality", plot.Plane{
		Cost: "EUR for a trial", Quality: first.Quality.Name, Show: unitsOf(r, first.Quality.Name).amount, Lower: first.Better == result.Lower,
	}, list)
	return p
}

func paretoTable(r *result.Experiment) doc.Table {
	t := doc.Table{Max: maxExperimentItems, Noun: "variants", Columns: []doc.Column{
		{Head: doc.Line("variant"), Shorten: true},
		{Head: doc.Line("cost of a trial"), Right: true},
		{Head: doc.Line(doc.Quote(measureHead(r.Pareto[0].Quality.Name))), Right: true},
		{Head: doc.Line("standing"), Shorten: true},
	}}
	for i := range r.Pareto {
		p := &r.Pareto[i]
		standing := doc.Line("on the front")
		for i, name := range p.Dominated[:min(len(p.Dominated), 5)] {
			if i == 0 {
				standing = doc.Line("beaten by ", doc.Quote(name))
			} else {
				standing = doc.Line(standing, ", ", doc.Quote(name))
			}
		}
		t.Rows = append(t.Rows, []doc.Text{
			doc.Line(doc.Quote(p.Variant)), doc.Line(units{unit: "EUR"}.value(p.Cost)),
			doc.Line(doc.Quote(unitsOf(r, p.Quality.Name).value(p.Quality))), standing,
		})
	}
	return t
}

// searchSection describes the search for a better prompt.
func searchSection(r *result.Experiment) doc.Section {
	t := r.Tune
	u := unitsOf(r, r.Design.Primary.Name)
	list := doc.List{Max: maxExperimentItems, Noun: "rounds"}
	for i := range t.Rounds {
		round := &t.Rounds[i]
		item := doc.Item{Text: doc.Line(doc.Quote(round.About))}
		for _, c := range round.Candidates {
			mark := doc.Line("  ")
			if slices.Contains(round.Kept, c.Name) {
				mark = doc.Line(doc.Toned(doc.Good, "✓"), " ")
			}
			item.Items = append(item.Items, doc.Item{Text: doc.Line(mark, doc.Quote(c.Name), ": ",
				doc.Quote(strings.TrimSpace(u.value(c.Score)+" "+u.interval(c.Score, u.amount)+" "+choiceText(c.Choice))))})
		}
		list.Items = append(list.Items, item)
	}
	s := newSection("The search", doc.Plain,
		doc.Paragraph(doc.Line(doc.Quote(t.Search), fmt.Sprintf(", on %s", format.Count(len(t.Training), "training scenario")))), list,
		doc.Paragraph(doc.Line(doc.Quote(t.Why))), doc.Paragraph(doc.Line("the search used ", doc.Quote(usedText(t.Used)))))
	s.Blocks = append(s.Blocks, doc.Details{Title: doc.Line("Training and held-out scenarios"), Blocks: []doc.Block{doc.Facts{
		{Name: "training", Value: doc.Line(doc.Quote(strings.Join(t.Training, ", ")))},
		{Name: "held out", Value: doc.Line(doc.Quote(strings.Join(t.HeldOut, ", ")))},
	}}})
	if t.Text != "" {
		s.Blocks = append(s.Blocks, doc.Details{Title: doc.Line("The promoted text"), Blocks: []doc.Block{doc.Preformatted(t.Text)}, Open: true})
	}
	return s
}

// choiceText returns the chosen option of each fragment.
func choiceText(choice map[string]string) string {
	var parts []string
	for _, fragment := range slices.Sorted(maps.Keys(choice)) {
		parts = append(parts, fragment+": "+cmp.Or(choice[fragment], "(empty)"))
	}
	return strings.Join(parts, "; ")
}

func looksTable(r *result.Experiment) doc.Table {
	heads := []string{"trials of each variant in each scenario", "alpha spent by then", "level of one comparison", "decided"}
	t := doc.Table{Columns: doc.Columns(0, heads...)}
	for _, l := range r.Looks {
		t.Rows = append(t.Rows, []doc.Text{
			doc.Line(l.Trials), doc.Line(fmt.Sprintf("%.5f", l.Spent)), doc.Line(fmt.Sprintf("%.5f", l.Level)),
			doc.Line(fmt.Sprintf("%d of %d", l.Decided, l.Of)),
		})
	}
	return t
}

func experimentScenarios(r *result.Experiment) doc.Table {
	t := doc.Table{Columns: doc.Columns(3, "scenario", "agent", "not carried out"), Noun: "scenarios"}
	for _, s := range r.Scenarios {
		t.Rows = append(t.Rows, []doc.Text{doc.Line(doc.Quote(s.Name)), doc.Line(doc.Quote(s.Agent)), doc.Line(doc.Quote(s.Skipped))})
	}
	return t
}
