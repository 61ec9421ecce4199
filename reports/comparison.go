package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Compare adds a comparison to the report, whose verdict becomes the worse of both. A run in
// which nothing was judged stays skipped.
func (r *Report) Compare(c compare.Result) {
	r.Comparison = &c
	if r.Altered {
		return
	}
	if c.Verdict != gate.Pass {
		r.Verdict = gate.Overall([]gate.Verdict{r.Verdict, c.Verdict})
	}
	if c.Verdict == gate.Skip && r.Verdict == gate.Pass {
		r.Verdict = gate.Error // what was not compared has not passed
	}
}

// compared is a comparison, divided into the parts of its document.
type compared struct {
	*compare.Result
	// by verdict, of comparisons
	worse, better, tied, insufficient []compare.Comparison
	// unknown counts measures without a value in the earlier run.
	unknown int
	// other are the findings that no other part shows, the decisive ones first.
	other []compare.Finding
}

// elsewhere are the rules of findings that other parts show.
var elsewhere = []string{"regression", "better", "missing-scenario", "new-scenario", "changed-expectation"}

func partsOf(c *compare.Result) compared {
	out := compared{Result: c}
	for _, x := range c.Comparisons {
		switch {
		case x.Verdict == compare.Worse:
			out.worse = append(out.worse, x)
		case x.Verdict == compare.Better:
			out.better = append(out.better, x)
		case x.Verdict == compare.Tied:
			out.tied = append(out.tied, x)
		case x.Verdict == compare.Insufficient && !x.Before.Known && x.BeforeText == "":
			out.unknown++
		default:
			out.insufficient = append(out.insufficient, x)
		}
	}
	rank := func(s gate.Severity) int {
		return slices.Index([]gate.Severity{gate.Failing, gate.Skipped, gate.Info}, s) // others: -1
	}
	for _, f := range c.Findings {
		if !slices.Contains(elsewhere, f.Rule) {
			out.other = append(out.other, f)
		}
	}
	slices.SortStableFunc(out.other, func(a, b compare.Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return out
}

// decisive counts what a comparison fails for, such as "2 worse, 1 changed expectation".
func (c *compared) decisive() (parts []string) {
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, what)
		}
	}
	add(len(c.worse), fmt.Sprintf("%d worse", len(c.worse)))
	add(len(c.Changed), format.Count(len(c.Changed), "changed expectation"))
	add(len(c.Missing), fmt.Sprintf("%d missing", len(c.Missing)))
	add(len(c.New), fmt.Sprintf("%d new", len(c.New)))
	return parts
}

// ComparisonReason returns why the comparison with a baseline or another run did not pass; empty if it did.
func ComparisonReason(x *compare.Result) string {
	if x == nil || x.Verdict == gate.Pass {
		return ""
	}
	c := partsOf(x)
	why := c.decisive()
	if len(why) == 0 || x.Verdict != gate.Fail {
		if n := len(c.insufficient); n > 0 {
			why = append(why, fmt.Sprintf("%d without enough data", n))
		}
	}
	if len(why) == 0 && len(c.other) > 0 {
		why = append(why, c.other[0].Message)
	}
	text := "the comparison with " + sanitize.Line(x.Before, maxName)
	switch x.Verdict {
	case gate.Fail:
		text += " failed"
	case gate.Skip:
		text += " compared nothing"
	default:
		text += " has no verdict"
	}
	return strings.TrimSuffix(text+": "+sanitize.Line(strings.Join(why, ", "), maxMessage), ": ")
}

// summary returns a line such as "2 worse, 1 changed expectation; 120 measures equal".
func (c *compared) summary() string {
	parts := c.decisive()
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, what)
		}
	}
	add(len(c.better), fmt.Sprintf("%d better", len(c.better)))
	add(len(c.tied), fmt.Sprintf("%d tied", len(c.tied)))
	add(len(c.insufficient), fmt.Sprintf("%d without enough data", len(c.insufficient)))
	add(c.unknown, fmt.Sprintf("%d without a baseline value", c.unknown))
	line := strings.Join(parts, ", ")
	equal := format.Count(c.Equal, "measure") + " equal"
	if line == "" {
		return equal
	}
	return line + "; " + equal
}

// ComparisonDocument returns a comparison as a document of its own. link returns the place
// of a scenario in an HTML page; it may be nil.
func ComparisonDocument(c *compare.Result, link func(scenario string) string) doc.Document {
	return comparisonDocument(c, link, true)
}

// comparisonDocument returns a comparison with all its measures, or without those that neither pass nor fail.
func comparisonDocument(c *compare.Result, link func(scenario string) string, all bool) doc.Document {
	parts := partsOf(c)
	return doc.Document{
		Marker: marker, Kind: "Comparison with", Name: doc.Line(doc.Quote(c.Before)),
		Verdict: string(c.Verdict), Tone: verdictTone(c.Verdict), Summary: doc.Line(parts.summary()), Lead: parts.blocks(link, all),
	}
}

// maxShown limits the items of each kind in a document.
const maxShown = 100

// blocks returns the parts of the comparison, the decisive ones first.
func (c *compared) blocks(link func(scenario string) string, all bool) []doc.Block {
	var blocks []doc.Block
	part := func(tone doc.Tone, title, noun string, items []doc.Item) {
		if len(items) > 0 {
			blocks = append(blocks, newSection(title, tone, doc.List{Items: items, Max: maxShown, Noun: noun}))
		}
	}
	scenario := func(name string) doc.Span {
		if name == "" {
			return doc.Span{Text: "all scenarios"}
		}
		q := doc.Quote(name)
		if link != nil {
			q = q.To(link(name))
		}
		return q
	}
	measures := func(list []compare.Comparison) (items []doc.Item) {
		for _, x := range list {
			text := doc.Line(scenario(x.Scenario), ": ", doc.Quote(x.Measure), " ", doc.Quote(side(x.Before, x.BeforeText)), " → ",
				doc.Quote(side(x.After, x.AfterText)))
			if e := effect(x); e != "" {
				text = append(text, doc.Line(" (", e, ")")...)
			}
			items = append(items, doc.Item{Text: text, Items: []doc.Item{{Text: doc.Line(doc.Quote(x.Why).In(doc.Faint))}}})
		}
		return items
	}
	part(doc.Bad, "Worse", "measures", measures(c.worse))
	part(doc.Bad, "Changed expectations: not a change of the agent's behaviour", "changed expectations", c.expectations(scenario))
	part(doc.Bad, "Missing: only in the earlier run", "scenarios", quoteList(c.Missing, "").Items)
	part(doc.Bad, "New: only in the later run", "scenarios", quoteList(c.New, "").Items)
	if all {
		part(doc.Unsure, "Without enough data", "measures", measures(c.insufficient))
	}
	part(doc.Good, "Better", "measures", measures(c.better))
	if all {
		part(doc.Faint, "Tied", "measures", measures(c.tied))
	} else if len(c.insufficient)+len(c.tied) > 0 {
		blocks = append(blocks, doc.Paragraph(doc.Line("--verbose lists what is tied or without enough data.")))
	}
	part(doc.Unsure, "Other findings", "findings", c.findings(scenario))
	if c.Bless != "" {
		blocks = append(blocks, doc.Paragraph(doc.Line("To accept all changes: ", doc.Command(c.Bless))))
	}
	return blocks
}

func (c *compared) expectations(scenario func(string) doc.Span) (items []doc.Item) {
	given := func(s string) doc.Span { return doc.Quote(cmp.Or(s, "(nothing)")) }
	for _, x := range c.Changed {
		if x.What == "digest" {
			text := doc.Line(scenario(x.Scenario), ": changed files: ", doc.Quote(strings.Join(x.Files, ", ")))
			if len(x.Files) == 0 {
				text = doc.Line(scenario(x.Scenario), ": its file, or a file that it names, has changed")
			}
			items = append(items, doc.Item{Text: text})
			continue
		}
		items = append(items, doc.Item{
			Text:  doc.Line(scenario(x.Scenario), ": ", doc.Quote(x.What)),
			Items: []doc.Item{{Text: doc.Line("before ", given(x.Before))}, {Text: doc.Line("now ", given(x.After))}},
		})
	}
	return items
}

func (c *compared) findings(scenario func(string) doc.Span) (items []doc.Item) {
	for _, f := range c.other {
		item := doc.Item{Text: doc.Line(string(f.Severity), ": "), Evidence: f.Evidence}
		if f.Scenario != "" {
			item.Text = doc.Line(item.Text, scenario(f.Scenario), ": ")
		}
		item.Text = append(item.Text, doc.Quote(f.Message))
		items = append(items, item)
	}
	return items
}

// scenarioName returns the name of a scenario, or "all scenarios".
func scenarioName(name string) string { return cmp.Or(name, "all scenarios") }

// effect returns the difference with its interval; empty without a difference.
func effect(x compare.Comparison) string {
	e := x.Effect
	if e == nil || e.Value == nil {
		return ""
	}
	show := func(d float64) string { return precise(measure.Value{Unit: e.Unit, Known: true, Value: &d}) }
	line := format.Signed(*e.Value, show)
	if in := e.Interval; in != nil {
		line += fmt.Sprintf(" [%s, %s]", format.Signed(in.Lo, show), format.Signed(in.Hi, show))
	}
	return line
}

// side returns a value before or after: a number, or a text such as a status.
func side(v measure.Value, words string) string { return cmp.Or(words, precise(v)) }

// precise returns a value with enough digits to distinguish two rates.
func precise(v measure.Value) string {
	if hasNumber(v) && v.Unit == "" && *v.Value != math.Trunc(*v.Value) && math.Abs(*v.Value) < 100 {
		return format.Significant(*v.Value)
	}
	return Text(v)
}
