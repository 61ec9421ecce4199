package experiments

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/experiment/result"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// pageTemplate is parsed when the first page is written: a program that links this
// package and writes none starts without it.
var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageText))
})

// Page writes the result as one HTML file that needs nothing else: no network, no
// script.
func Page(w io.Writer, r result.Result) error {
	if err := pageTemplate().Execute(w, document(&r)); err != nil {
		return fmt.Errorf("write the page of the experiment: %w", err)
	}
	return nil
}

// leaf is what the template shows. Its texts are plain.
type leaf struct {
	Style       template.HTML
	Policy      string
	Name, About string
	Tone        tone
	Sign, Word  string
	Said        string
	Run         []fact
	Numbers     []fact
	Warnings    []string
	Groups      []group
	Plane       picture
	Heads       []string
	Variants    []variant
	More        string
	Facts       []fact
	Looks       []look
	Scenarios   []scenario
	Tune        *search
}

type picture struct {
	Title, Text string
	SVG         template.HTML
}

type group struct {
	Title, Note string
	Picture     picture
	Rows        []comparison
	More        string
}

type comparison struct {
	Tone                                 tone
	Sign, Verdict, Variant, Against      string
	Before, After, Effect, Surely, Share string
	Notes                                []string
	By                                   []effectIn
}

type effectIn struct{ Scenario, Pairs, Before, After, Difference string }

type variant struct {
	Name, About, Trials, Front, Used string
	Cells                            []cell
	Settings                         []setting
}

type cell struct{ Value, Interval, N, Notes string }

type setting struct{ Path, File, Value string }

type look struct{ Trials, Spent, Level, Decided string }

type scenario struct{ Name, Agent, Skipped string }

type search struct {
	About, Why, Text, Used, Training, HeldOut string
	Promoted                                  bool
	Rounds                                    []round
}

type round struct {
	About string
	Rows  []candidate
}

type candidate struct {
	Name, Score, Interval, Choice string
	Kept                          bool
}

var (
	pageSigns = map[tone]string{good: "▲", bad: "▼", same: "=", unclear: "?"}
	pageWords = map[tone]string{good: "better", bad: "worse", same: "equivalent", unclear: "undecided"}
)

func document(r *result.Result) leaf {
	d := leaf{Name: name(r.Name), About: text(r.About)}
	d.Style, d.Policy = page.Sheet(pageStyle)
	d.Tone, d.Said = headline(r)
	d.Sign, d.Word = pageSigns[d.Tone], pageWords[d.Tone]
	for _, f := range []fact{
		{"file", text(r.File)},
		{"digest", sanitize.Line(r.Digest, 19)},
		{"prices of", sanitize.Line(r.Prices, 20)},
		{"by", sanitize.Line(r.Tool, 80)},
	} {
		if f.Value != "" {
			d.Run = append(d.Run, f)
		}
	}
	d.Numbers = []fact{
		{"variants", fmt.Sprint(len(r.Variants))},
		{"scenarios", fmt.Sprint(len(r.Scenarios))},
		{"trials", fmt.Sprintf("%d of %d", r.Stopped.Trials, r.Stopped.Planned)},
		{"calls", fmt.Sprint(r.Used.Calls)},
		{"cost", units{unit: "EUR"}.amount(r.Used.EUR)},
		{"ended", sanitize.Line(string(r.Stopped.As), 20)},
	}
	if !r.Used.CostKnown {
		d.Numbers[4].Value = "≥ " + d.Numbers[4].Value
	}
	for _, w := range r.Warnings[:min(len(r.Warnings), maxRows)] {
		d.Warnings = append(d.Warnings, text(w))
	}
	for _, list := range byMeasure(r) {
		d.Groups = append(d.Groups, pageGroup(r, list))
	}
	d.Plane = plane(r)
	d.variants(r)
	d.Facts = facts(r)
	for _, l := range r.Looks[:min(len(r.Looks), maxRows)] {
		d.Looks = append(d.Looks, look{
			fmt.Sprint(l.Trials), fmt.Sprintf("%.5f", l.Spent), fmt.Sprintf("%.5f", l.Level), fmt.Sprintf("%d of %d", l.Decided, l.Of),
		})
	}
	for _, s := range r.Scenarios[:min(len(r.Scenarios), maxRows)] {
		d.Scenarios = append(d.Scenarios, scenario{name(s.Name), name(s.Agent), text(s.Skipped)})
	}
	d.Tune = pageTune(r)
	return d
}

func pageGroup(r *result.Result, list []*result.Comparison) group {
	u := unitsOf(r, list[0].Measure)
	g := group{Title: "By " + name(list[0].Measure), More: strings.TrimSpace(beyond(len(list)))}
	smallest := 0.0
	if list[0].Role == result.Secondary {
		g.Note = "It explains and does not decide; Holm's correction is over the secondary comparisons by themselves."
	}
	for _, m := range append([]result.Measure{r.Design.Primary}, r.Design.Secondary...) {
		if m.Name == list[0].Measure {
			smallest = m.Smallest
		}
	}
	var rows []plot.Difference
	for _, c := range list[:min(len(list), maxRows)] {
		g.Rows = append(g.Rows, pageComparison(r, u, c))
		rows = append(rows, difference(c))
	}
	p := plot.Differences("Differences of "+name(list[0].Measure), rows, smallest, func(v float64) string { return strings.TrimPrefix(u.difference(v), "+") })
	g.Picture = newPicture(p)
	return g
}

func difference(c *result.Comparison) plot.Difference {
	row := plot.Difference{Name: c.Variant + " − " + c.Against, Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN(), Verdict: string(known(c.Verdict))}
	if v := c.Effect; v.Known && v.Value != nil {
		row.Value = *v.Value
		if v.Interval != nil {
			row.Lo, row.Hi = v.Interval.Lo, v.Interval.Hi
		}
	}
	return row
}

func pageComparison(r *result.Result, u units, c *result.Comparison) comparison {
	out := comparison{
		Tone: toneFor(c.Verdict), Sign: signs[known(c.Verdict)], Verdict: string(known(c.Verdict)),
		Variant: name(c.Variant), Against: name(c.Against), Before: u.value(c.Before), After: u.value(c.After),
		Effect: effect(r, c), Surely: surely(r, c),
	}
	if c.Relative != nil && !u.share {
		out.Share = strings.Replace(fmt.Sprintf("%+.1f %%", *c.Relative*100), "-", "−", 1)
	}
	for _, s := range notes(c) {
		out.Notes = append(out.Notes, text(s))
	}
	for _, s := range c.ByScenario[:min(len(c.ByScenario), maxRows)] {
		out.By = append(out.By, effectIn{name(s.Scenario), fmt.Sprint(s.Pairs), u.amount(s.Before), u.amount(s.After), u.difference(s.After - s.Before)})
	}
	return out
}

func newPicture(p plot.Picture) picture {
	return picture{p.Title, p.Text, template.HTML(p.SVG)} //nolint:gosec // package plot escapes
}

// plane draws the variants by cost and quality.
func plane(r *result.Result) picture {
	if len(r.Pareto) < 2 {
		return picture{}
	}
	first := &r.Pareto[0]
	u := unitsOf(r, first.Quality.Name)
	var list []plot.Tradeoff
	for i := range r.Pareto {
		p := &r.Pareto[i]
		list = append(list, plot.Tradeoff{Name: p.Variant, Cost: p.Cost, Quality: p.Quality, Front: len(p.Dominated) == 0})
	}
	return newPicture(plot.Pareto("Cost and quality", plot.Plane{
		Cost: "EUR for a trial", Quality: name(first.Quality.Name), Show: u.amount, Lower: first.Better == result.Lower,
	}, list))
}

func (d *leaf) variants(r *result.Result) {
	measures := shown(r)
	for _, m := range measures {
		d.Heads = append(d.Heads, head(m))
	}
	standing := map[string]string{}
	for i := range r.Pareto {
		standing[r.Pareto[i].Variant] = front(&r.Pareto[i])
	}
	for _, x := range r.Variants[:min(len(r.Variants), maxRows)] {
		v := variant{Name: name(x.Name), About: text(x.About), Trials: trials(x.Trials), Front: standing[x.Name], Used: used(x.Used)}
		for _, m := range measures {
			v.Cells = append(v.Cells, newCell(unitsOf(r, m), find(x.Measures, m)))
		}
		for _, s := range x.Settings[:min(len(x.Settings), maxRows)] {
			v.Settings = append(v.Settings, setting{text(s.Path), text(s.File), sanitize.Text(s.Value, maxSetting)})
		}
		d.Variants = append(d.Variants, v)
	}
	d.More = strings.TrimSpace(beyond(len(r.Variants)))
}

// maxSetting is how much of a setting is shown, in characters.
const maxSetting = 20_000

func newCell(u units, v measure.Value) cell {
	return cell{u.value(v), u.interval(v, u.amount), fmt.Sprint(v.N), text(strings.Join(v.Warnings, "; "))}
}

func pageTune(r *result.Result) *search {
	t := r.Tune
	if t == nil {
		return nil
	}
	u := unitsOf(r, r.Design.Primary.Name)
	s := &search{
		About: sanitize.Line(t.Search, 40), Why: text(t.Why), Text: sanitize.Text(t.Text, maxSetting), Used: used(t.Used),
		Training: text(strings.Join(t.Training, ", ")), HeldOut: text(strings.Join(t.HeldOut, ", ")), Promoted: t.Promoted,
	}
	for i := range t.Rounds[:min(len(t.Rounds), maxRows)] {
		from := &t.Rounds[i]
		to := round{About: text(from.About)}
		for _, c := range from.Candidates[:min(len(from.Candidates), maxRows)] {
			to.Rows = append(to.Rows, candidate{name(c.Name), u.value(c.Score), u.interval(c.Score, u.amount), chosen(c.Choice), slices.Contains(from.Kept, c.Name)})
		}
		s.Rounds = append(s.Rounds, to)
	}
	return s
}

// chosen says which option of each fragment a candidate has.
func chosen(choice map[string]string) string {
	var parts []string
	for _, fragment := range slices.Sorted(maps.Keys(choice)) {
		parts = append(parts, sanitize.Line(fragment, 40)+": "+sanitize.Line(choice[fragment], 80))
	}
	return text(strings.Join(parts, "; "))
}
