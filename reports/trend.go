package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// valueOf converts a measure of a comparison.
func valueOf(m *compare.Measure) measure.Value {
	return measure.Value{Name: m.Name, Unit: m.Unit, Known: m.Known, Value: m.Value, N: m.N}
}

// TrendDocument returns a trend as a document: a line of bars for each measure, and what changed. all
// adds a table of all runs; link returns the place of a run, and may be nil.
func TrendDocument(t *history.Trend, all bool, link func(run string) string) doc.Document {
	d := doc.Document{Kind: "Trend of", Name: doc.Line(doc.Quote(t.String()))}
	first, last := t.Runs[0], t.Runs[len(t.Runs)-1]
	d.Summary = doc.Line(format.Count(len(t.Runs), "run"), ", ", first.At.Format(minutes), " to ", last.At.Format(minutes), " UTC")
	bars := doc.Table{Columns: []doc.Column{
		{Head: doc.Line("measure")},
		{Head: doc.Line(barsHead(t))},
		{Head: doc.Line("latest"), Right: true},
		{Head: doc.Line("changes"), Right: true},
	}}
	bars.Rows = append(bars.Rows, []doc.Text{
		doc.Line("verdict"), verdictSigns(t), doc.Line(doc.Toned(verdictTone(last.Verdict), string(last.Verdict))), {},
	})
	for i := range t.Series {
		s := &t.Series[i]
		bars.Rows = append(bars.Rows, []doc.Text{
			doc.Line(doc.Quote(s.Name)), doc.Line(spark(t, s)), doc.Line(latest(s)), doc.Line(len(s.Changes)),
		})
	}
	d.Body = []doc.Block{bars}
	if list := transitions(t); len(list.Items) > 0 {
		d.Body = append(d.Body, newSection("Changes", doc.Plain, list))
	} else if len(t.Series) > 0 {
		d.Body = append(d.Body, doc.Paragraph(doc.Line("Nothing changed.")))
	}
	if len(t.Series) == 0 {
		d.Body = append(d.Body, doc.Paragraph(doc.Line("No run of it had a verdict, so there is nothing to measure.")))
	}
	if all {
		d.Body = append(d.Body, newSection("Runs", doc.Plain, trendTable(t, link)))
	}
	for _, other := range t.Renamed {
		d.Lead = append(d.Lead, doc.Paragraph(doc.Line("It may have been called ", doc.Quote(other.Scenario),
			" before, with equal expectations and settings; add that with --from ", doc.Command(format.ShellLine(other.Scenario)))))
	}
	return d
}

// maxBars is the number of the newest runs that a line of bars shows.
const maxBars = 40

func barsHead(t *history.Trend) string {
	if len(t.Runs) > maxBars {
		return fmt.Sprintf("the newest %d runs", maxBars)
	}
	return "oldest to newest"
}

// The signs of a line of bars.
const (
	levels   = "▁▂▃▄▅▆▇█"
	noValue  = "·"
	breaking = "┊"
)

// spark returns a bar for each run: from the smallest to the largest shown value, or from 0 to 1 for
// shares. The content of the scenario differs on both sides of a dotted line.
func spark(t *history.Trend, s *history.Series) string {
	from := max(0, len(s.Values)-maxBars)
	lo, hi := 0.0, 1.0
	if s.Name != history.PassRate {
		lo, hi = extent(s.Values[from:])
	}
	bars := []rune(levels)
	var b strings.Builder
	for i := from; i < len(s.Values); i++ {
		if i > from && breaks(t, s, i) {
			b.WriteString(breaking)
		}
		v := s.Values[i].Value
		switch {
		case v == nil:
			b.WriteString(noValue)
		case lo == hi && *v == 0:
			b.WriteRune(bars[0])
		case lo == hi:
			b.WriteRune(bars[len(bars)/2-1])
		default:
			b.WriteRune(bars[min(len(bars)-1, int((*v-lo)/(hi-lo)*float64(len(bars))))])
		}
	}
	return b.String()
}

// signOf has a sign for each verdict.
var signOf = map[gate.Verdict]string{gate.Pass: ".", gate.Fail: "F", gate.Error: "E", gate.Skip: "s"}

// verdictSigns returns a sign for each run that spark shows, with breaks in the same places.
func verdictSigns(t *history.Trend) doc.Text {
	var line doc.Text
	from := max(0, len(t.Runs)-maxBars)
	for i := from; i < len(t.Runs); i++ {
		if i > from && breaks(t, &history.Series{}, i) {
			line = append(line, doc.Line(breaking)...)
		}
		v := t.Runs[i].Verdict
		line = append(line, doc.Toned(verdictTone(v), cmp.Or(signOf[v], "?")))
	}
	return line
}

// breaks reports whether the values of a series on both sides of run i cannot be compared.
func breaks(t *history.Trend, s *history.Series, i int) bool {
	return slices.ContainsFunc(t.Breaks, func(b history.Break) bool {
		return b.Index == i && (b.Why == history.ContentBreak || s.Unit == "EUR" || s.Unit == "USD")
	})
}

func extent(values []history.Value) (lo, hi float64) {
	first := true
	for _, v := range values {
		switch {
		case v.Value == nil:
		case first:
			lo, hi, first = *v.Value, *v.Value, false
		default:
			lo, hi = min(lo, *v.Value), max(hi, *v.Value)
		}
	}
	return lo, hi
}

// latest returns the newest value.
func latest(s *history.Series) string {
	for _, v := range slices.Backward(s.Values) {
		if v.Value != nil {
			return amount(s, *v.Value)
		}
	}
	return "unknown"
}

func amount(s *history.Series, v float64) string {
	if s.Name == history.PassRate {
		return format.Percent(v)
	}
	return format.Amount(v, s.Unit)
}

// maxFlips is the number of changes of the verdict that are listed, the newest.
const maxFlips = 3

// transitions returns the changes of verdicts, of content and of measures, the oldest first.
func transitions(t *history.Trend) doc.List {
	type transition struct {
		index int
		text  doc.Text
	}
	var list []transition
	add := func(index int, parts ...any) { list = append(list, transition{index, doc.Line(parts...)}) }
	var flips []int
	for i := 1; i < len(t.Runs); i++ {
		if t.Runs[i-1].Verdict != t.Runs[i].Verdict {
			flips = append(flips, i)
		}
	}
	for _, i := range flips[max(0, len(flips)-maxFlips):] {
		now := t.Runs[i].Verdict
		add(i, string(t.Runs[i-1].Verdict), " → ", doc.Toned(verdictTone(now), string(now)))
	}
	if n := len(flips) - maxFlips; n > 0 {
		add(flips[n-1], "its verdict had changed ", format.Count(n, "time"), " by then; see rehearse history flaky")
	}
	for _, b := range t.Breaks {
		switch {
		case b.Why == history.PricesBreak:
			add(b.Index, doc.Toned(doc.Info, "new price table"), ": a new trend of costs begins")
		case t.Runs[b.Index].Scenario != t.Runs[b.Index-1].Scenario:
			add(b.Index, doc.Toned(doc.Info, "renamed"), " from ", doc.Quote(cmp.Or(t.Runs[b.Index-1].Scenario, t.Scenario)),
				": a new trend begins")
		default:
			add(b.Index, doc.Toned(doc.Info, "content changed"), ": a new trend begins")
		}
	}
	for i := range t.Series {
		s := &t.Series[i]
		for _, c := range s.Changes {
			add(c.Index, changeText(s, &c))
		}
	}
	slices.SortStableFunc(list, func(a, b transition) int { return cmp.Compare(a.index, b.index) })
	out := doc.List{Noun: "changes"}
	for _, x := range list {
		r := t.Runs[x.index]
		where := cmp.Or(history.ShortCommit(r.Commit, r.Dirty), r.ID)
		out.Items = append(out.Items, doc.Item{Text: doc.Line(r.At.Format(minutes), " ", doc.Quote(where), "  ", x.text)})
	}
	return out
}

func changeText(s *history.Series, c *history.Change) doc.Text {
	word, tone := "better", doc.Good
	if c.Worse {
		word, tone = "worse", doc.Bad
	}
	text := doc.Line(doc.Quote(s.Name), " ", doc.Toned(tone, word), ": ", amount(s, c.Before), " → ", amount(s, c.After))
	if c.Relative != nil && s.Name != history.PassRate {
		text = doc.Line(text, " (", format.Signed(*c.Relative, format.Percent), ")")
	}
	if c.Rule == history.Tested {
		text = doc.Line(text, ", p ", format.PValue(c.P))
	}
	return text
}

// trendTable returns a row for each run, the newest first.
func trendTable(t *history.Trend, link func(run string) string) doc.Table {
	table := doc.Table{Noun: "runs", Columns: []doc.Column{
		{Head: doc.Line("began (UTC)")}, {Head: doc.Line("run"), Optional: true}, {Head: doc.Line("commit")}, {Head: doc.Line("verdict")},
	}}
	for i := range t.Series {
		table.Columns = append(table.Columns, doc.Column{Head: doc.Line(doc.Quote(t.Series[i].Name)), Right: true, Optional: true})
	}
	for i, r := range slices.Backward(t.Runs) {
		id := doc.Quote(r.ID)
		if link != nil {
			id = id.To(link(r.ID))
		}
		row := []doc.Text{
			doc.Line(r.At.Format(minutes)), doc.Line(id), doc.Line(doc.Quote(history.ShortCommit(r.Commit, r.Dirty))),
			doc.Line(doc.Toned(verdictTone(r.Verdict), string(r.Verdict))),
		}
		for k := range t.Series {
			text := "unknown"
			if v := t.Series[k].Values[i].Value; v != nil {
				text = amount(&t.Series[k], *v)
			}
			row = append(row, doc.Line(text))
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// FlakyDocument returns flaky scenarios as a document.
func FlakyDocument(f *history.Flakiness) doc.Document {
	d := doc.Document{
		Kind: "Flaky scenarios", Tone: doc.Good,
		Summary: doc.Line(fmt.Sprintf("%d of ", len(f.Flaky)), format.Count(f.Scenarios, "scenario"), " in ", format.Count(f.Runs, "run")),
	}
	section := func(title string, tone doc.Tone, of func(*history.Flaky) bool) {
		list := slices.DeleteFunc(slices.Clone(f.Flaky), func(x history.Flaky) bool { return !of(&x) })
		if len(list) > 0 {
			if d.Tone == doc.Good { // the worst comes first
				d.Tone = tone
			}
			d.Body = append(d.Body, newSection(title, tone, flakyTable(list)))
		}
	}
	section("NOT REPEATABLE: they run in virtual time, so the agent itself is random", doc.Bad,
		func(x *history.Flaky) bool { return x.Certain() && x.Repeatable })
	section("Flaky: they pass and fail although nothing was changed", doc.Unsure,
		func(x *history.Flaky) bool { return x.Certain() && !x.Repeatable })
	section("Perhaps flaky: the verdict changed back and forth, but so may have the agent (other commits, uncommitted changes)", doc.Unsure,
		func(x *history.Flaky) bool { return !x.Certain() })
	if len(f.Flaky) > 0 {
		d.Body = append(d.Body, doc.Paragraph(doc.Line("Runs: . passed, F failed, ± trials of the run disagree; the newest is on the right.")))
	}
	return d
}

// maxSigns is the number of the newest runs in a row of the table of flaky scenarios.
const maxSigns = 20

func flakyTable(list []history.Flaky) doc.Table {
	t := doc.Table{Noun: "scenarios", Columns: []doc.Column{
		{Head: doc.Line("scenario"), Shorten: true}, {Head: doc.Line("runs")}, {Head: doc.Line("trials failed")},
	}}
	for _, x := range list {
		var signs strings.Builder
		for _, v := range x.Verdicts[max(0, len(x.Verdicts)-maxSigns):] {
			signs.WriteString(cmp.Or(signOf[gate.Verdict(v)], "±"))
		}
		t.Rows = append(t.Rows, []doc.Text{
			doc.Line(doc.Quote(x.String())), doc.Line(signs.String()), doc.Line(shareOf(x.FailRate, "")),
		})
	}
	return t
}
