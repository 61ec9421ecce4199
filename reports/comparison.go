package reports

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	wrap "github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// Compare adds a comparison to the report; its verdict is then the worse of both. A
// run in which nothing was judged stays one.
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

// compared are the parts of a comparison in the order in which they are shown.
type compared struct {
	*compare.Result
	// by verdict, of comparisons
	worse, better, tied, insufficient []compare.Comparison
	// untold counts what was not known before, so that nothing can be said of it.
	untold int
	// other are the findings that no other part tells, those that decide first.
	other []compare.Finding
}

// elsewhere are the rules of findings that other parts of a comparison tell.
var elsewhere = []string{"regression", "better", "missing-scenario", "new-scenario", "moved-bar"}

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
			out.untold++
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

// summary is "2 worse, 1 moved bar; 120 measures are equal".
func (c *compared) summary() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, what)
		}
	}
	add(len(c.worse), fmt.Sprintf("%d worse", len(c.worse)))
	add(len(c.Bars), format.Plural(len(c.Bars), "moved bar"))
	add(len(c.Missing), fmt.Sprintf("%d missing", len(c.Missing)))
	add(len(c.New), fmt.Sprintf("%d new", len(c.New)))
	add(len(c.better), fmt.Sprintf("%d better", len(c.better)))
	add(len(c.tied), fmt.Sprintf("%d tied", len(c.tied)))
	add(len(c.insufficient), fmt.Sprintf("%d without enough data", len(c.insufficient)))
	add(c.untold, fmt.Sprintf("%d not known before", c.untold))
	line := strings.Join(parts, ", ")
	equal := format.Plural(c.Equal, "measure") + " equal"
	if line == "" {
		return equal
	}
	return line + "; " + equal
}

// ComparisonJSON writes the whole comparison, indented.
func ComparisonJSON(w io.Writer, c compare.Result) error {
	if err := format.JSON(w, c); err != nil {
		return fmt.Errorf("write the comparison as JSON: %w", err)
	}
	return nil
}

// ComparisonTerminal writes a comparison for a person, at most t.Columns() wide.
func ComparisonTerminal(w io.Writer, c compare.Result, t tty.Terminal) error {
	var b strings.Builder
	terminalComparison(&b, t, &c)
	if _, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n")); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

// maxShown is how many items of a kind a terminal gets; the other formats have all.
const maxShown = 100

// terminalComparison writes the comparison as a part of the report.
func terminalComparison(b *strings.Builder, t tty.Terminal, result *compare.Result) {
	c := partsOf(result)
	p := comparisonPage{b: b, t: t}
	p.part(tty.Red, "worse", len(c.worse), func(i int) { p.comparison(c.worse[i]) })
	p.part(tty.Red, "moved bars: what is demanded has changed, apart from how the agent behaves", len(c.Bars), func(i int) { p.bar(c.Bars[i]) })
	p.part(tty.Red, "missing: it was there before", len(c.Missing), func(i int) { p.line(2, c.Missing[i]) })
	p.part(tty.Red, "new: there is nothing to compare it with", len(c.New), func(i int) { p.line(2, c.New[i]) })
	p.part(tty.Yellow, "without enough data", len(c.insufficient), func(i int) { p.comparison(c.insufficient[i]) })
	p.part(tty.Green, "better", len(c.better), func(i int) { p.comparison(c.better[i]) })
	p.part(tty.Faint, "tied", len(c.tied), func(i int) { p.comparison(c.tied[i]) })
	p.part(tty.Yellow, "also", len(c.other), func(i int) { p.finding(c.other[i]) })
	verdict := sanitize.Line(string(c.Verdict), 10)
	fmt.Fprintf(b, "\n%s\n", strings.ReplaceAll(
		p.wrapped(0, fmt.Sprintf("%s against %s: %s", verdict, sanitize.Line(c.Before, maxName), c.summary())),
		verdict+" against", paintVerdict(t, c.Verdict, verdict)+" against"))
	if c.Bless != "" {
		fmt.Fprintf(b, "to accept all of it: %s\n", sanitize.Line(c.Bless, 0))
	}
}

// comparisonPage writes the lines of a comparison for a terminal.
type comparisonPage struct {
	b *strings.Builder
	t tty.Terminal
}

// part is a heading with n items under it.
func (p *comparisonPage) part(color tty.Color, heading string, n int, item func(i int)) {
	if n == 0 {
		return
	}
	fmt.Fprintf(p.b, "\n%s\n", p.t.Paint(color, p.wrapped(0, heading)))
	for i := range min(n, maxShown) {
		item(i)
	}
	if n > maxShown {
		p.line(2, fmt.Sprintf("and %d more", n-maxShown))
	}
}

// wrapped is foreign text, indented, in lines that fit.
func (p *comparisonPage) wrapped(indent int, s string) string {
	var b strings.Builder
	for line := range strings.Lines(wrap.WrapSoft(sanitize.Line(s, maxMessage), p.t.Columns()-indent)) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(strings.Repeat(" ", indent) + strings.TrimRight(line, " \n"))
	}
	return b.String()
}

func (p *comparisonPage) line(indent int, s string) { p.b.WriteString(p.wrapped(indent, s) + "\n") }

func (p *comparisonPage) comparison(x compare.Comparison) {
	p.line(2, scenarioName(x.Scenario)+": "+change(x))
	p.b.WriteString(p.t.Paint(tty.Faint, p.wrapped(4, x.Why)) + "\n")
}

func (p *comparisonPage) bar(x compare.Bar) {
	p.line(2, scenarioName(x.Scenario)+": "+x.What)
	p.line(4, "- "+given(x.Before))
	p.line(4, "+ "+given(x.After))
}

func (p *comparisonPage) finding(f compare.Finding) {
	line := f.Message
	if f.Scenario != "" {
		line = f.Scenario + ": " + line
	}
	p.line(2, line)
	if f.Evidence != "" {
		p.b.WriteString(p.t.Paint(tty.Faint, p.wrapped(4, f.Evidence)) + "\n")
	}
}

// scenarioName is what a comparison is of.
func scenarioName(name string) string { return cmp.Or(name, "all scenarios") }

func given(text string) string { return cmp.Or(text, "(nothing)") }

// change is "calls 2 → 3", with the effect and its interval where there is one.
func change(x compare.Comparison) string {
	line := sanitize.Line(x.Measure, maxName) + " " + side(x.Before, x.BeforeText) + " → " + side(x.After, x.AfterText)
	if e := effect(x); e != "" {
		line += " (" + e + ")"
	}
	return line
}

// effect is the difference with its interval; empty where there is none.
func effect(x compare.Comparison) string {
	e := x.Effect
	if e == nil || e.Value == nil {
		return ""
	}
	line := signed(*e, *e.Value)
	if in := e.Interval; in != nil {
		line += fmt.Sprintf(" [%s, %s]", signed(*e, in.Lo), signed(*e, in.Hi))
	}
	return line
}

// side is a value before or after: a number, or a text such as a status.
func side(v measure.Value, words string) string {
	if words != "" {
		return sanitize.Line(words, maxName)
	}
	return precise(v)
}

// precise is a value with the digits that tell two rates apart.
func precise(v measure.Value) string {
	if told(v) && v.Unit == "" && *v.Value != math.Trunc(*v.Value) && math.Abs(*v.Value) < 100 {
		return format.Significant(*v.Value)
	}
	return text(v)
}

// signed is a difference with its sign, in the unit of v.
func signed(v measure.Value, d float64) string {
	v.Known, v.Value = true, &d
	if d > 0 {
		return "+" + precise(v)
	}
	return precise(v)
}

// ComparisonMarkdown writes a comparison for a CI step summary or a comment.
func ComparisonMarkdown(w io.Writer, c compare.Result, opts Options) error {
	b := format.Page{Left: cmp.Or(opts.MaxBytes, defaultMaxBytes)}
	b.Head(Marker + "\n")
	markdownComparison(&b, &c)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the comparison as Markdown: %w", err)
	}
	return nil
}

// markdownComparison writes the comparison as a part of the report: what decides
// first.
func markdownComparison(b *format.Page, result *compare.Result) {
	c := partsOf(result)
	b.Head(fmt.Sprintf("\n### Against %s: **%s**\n\n%s\n", sanitize.Code(c.Before, maxName), strings.ToUpper(sanitize.Line(string(c.Verdict), 10)), c.summary()))
	if c.Bless != "" {
		b.Head("\nTo accept all of it: " + sanitize.Code(c.Bless, 0) + "\n")
	}
	table := func(heading string, list []compare.Comparison) {
		if len(list) == 0 {
			return
		}
		b.Head("\n" + heading + "\n\n| scenario | measure | before | after | difference | why |\n|---|---|--:|--:|--:|---|\n")
		format.Lines(b, "measures", list, markdownChange)
	}
	table("**Worse**", c.worse)
	if len(c.Bars) > 0 {
		b.Head("\n**Moved bars**: what is demanded has changed, apart from how the agent behaves\n\n| scenario | demand | before | after |\n|---|---|---|---|\n")
	}
	format.Lines(b, "moved bars", c.Bars, func(x compare.Bar) string {
		return "| " + strings.Join([]string{
			sanitize.Code(scenarioName(x.Scenario), maxName), sanitize.Code(x.What, maxName),
			sanitize.Code(given(x.Before), maxName), sanitize.Code(given(x.After), maxName),
		}, " | ") + " |\n"
	})
	for _, part := range []struct {
		heading string
		names   []string
	}{{"Missing: it was there before", c.Missing}, {"New: there is nothing to compare it with", c.New}} {
		if len(part.names) > 0 {
			b.Head("\n**" + part.heading + "**\n\n")
		}
		format.Lines(b, "scenarios", part.names, func(name string) string { return "- " + sanitize.Code(name, maxName) + "\n" })
	}
	table("**Without enough data**", c.insufficient)
	table("**Better**", c.better)
	table("**Tied**", c.tied)
	if len(c.other) > 0 {
		b.Head("\n**Also**\n\n")
	}
	format.Lines(b, "findings", c.other, func(f compare.Finding) string {
		line := "- " + string(f.Severity) + ": "
		if f.Scenario != "" {
			line += sanitize.Code(f.Scenario, maxName) + ": "
		}
		return line + sanitize.Code(f.Message, maxMessage) + "\n"
	})
}

// markdownChange is a row of a table.
func markdownChange(x compare.Comparison) string {
	cells := []string{
		sanitize.Code(scenarioName(x.Scenario), maxName), sanitize.Code(x.Measure, maxName),
		sanitize.Code(side(x.Before, x.BeforeText), maxName), sanitize.Code(side(x.After, x.AfterText), maxName),
		effect(x), sanitize.Code(x.Why, maxMessage),
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}
