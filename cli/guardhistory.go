package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// historyFlags are the flags of guard --history.
type historyFlags struct {
	show   bool
	since  periodFlag
	format string
	out    string
}

// periodFlag is a duration, also in days, such as 7d.
type periodFlag time.Duration

const day = 24 * time.Hour

// String implements pflag.Value.
func (p *periodFlag) String() string {
	if d := time.Duration(*p); d%day != 0 {
		return d.String()
	}
	return strconv.Itoa(int(time.Duration(*p)/day)) + "d"
}

// Type implements pflag.Value.
func (p *periodFlag) Type() string { return "duration" }

// Set implements pflag.Value.
func (p *periodFlag) Set(s string) error {
	const longest = 10_000 // days
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > longest {
			return fmt.Errorf("%q is not a number of days from 1d to %dd", s, longest)
		}
		*p = periodFlag(time.Duration(n) * day)
		return nil
	}
	var d quantity.Duration
	if err := d.UnmarshalText([]byte(s)); err != nil {
		return err
	}
	if d <= 0 {
		return errors.New("it must be more than 0, such as 7d or 12h")
	}
	*p = periodFlag(d.Std())
	return nil
}

// guardHistory shows what the guard decided in a period.
func (a *app) guardHistory(ctx context.Context, flags guardFlags) error {
	now := time.Now().UTC()
	since := now.Add(-time.Duration(flags.history.since))
	history, err := hook.ReadHistory(ctx, flags.hook.State, since)
	if err != nil {
		return usage(fmt.Errorf("%w; name the folder with --state", err))
	}
	form := flags.history.format
	if flags.asJSON {
		form = formatJSON
	}
	d := document{historyDocument(history, since, now), history, tool()}
	err = a.output(flags.history.out, false, "", func(w io.Writer) error { return a.write(w, d, form) })
	if err != nil {
		return usage(fmt.Errorf("print the history: %w", err))
	}
	return nil
}

// decisions are the columns of a history: decisions, and what they mean.
var decisions = []struct{ name, meaning string }{
	{"allowed", "the agent might stop"},
	{"blocked", "sent back to its work"},
	{"would-block", "would have been sent back but for --shadow"},
	{"capped", "let through after the most refusals in a row"},
	{"repeated", "let through, since it was sent back for the same message before"},
	{"orphaned", "let through, since the memory of the session was lost"},
	{"skipped", "not judged: aborted, planning, work in the background, a subagent"},
	{"unjudged", "no message was found"},
}

// tally counts decisions by a key, such as a day.
type tally map[string]map[string]int

func (t tally) add(key, decision string) {
	if t[key] == nil {
		t[key] = map[string]int{}
	}
	t[key][decision]++
}

// historyDocument describes the decisions of a period.
func historyDocument(h hook.History, since, now time.Time) doc.Document {
	days, hosts, rules, all := tally{}, tally{}, map[string]int{}, map[string]int{}
	sessions := map[string]bool{}
	for _, e := range h.Entries {
		days.add(e.Time.Format(time.DateOnly), e.Decision)
		hosts.add(string(e.Host), e.Decision)
		all[e.Decision]++
		sessions[e.Session] = true
		if e.Refused {
			for _, rule := range e.Rules {
				rules[rule]++
			}
		}
	}
	d := doc.Document{
		Kind: "Stop guard", Name: doc.Line("from ", since.Format(time.DateOnly), " to ", now.Format(time.DateOnly)),
		Summary: doc.Line(format.Plural(len(h.Entries), "stop"), " in ", format.Plural(len(sessions), "session"),
			", sent back ", format.Plural(all["blocked"], "time")),
	}
	if h.Damaged > 0 {
		d.Summary = append(d.Summary, doc.Line("; ", format.Plural(h.Damaged, "damaged line"), " left out")...)
	}
	if len(h.Entries) == 0 {
		return d
	}
	for _, decision := range decisions {
		if n := all[decision.name]; n > 0 {
			d.Figures = append(d.Figures, doc.Fact{Name: decision.name, Value: doc.Line(strconv.Itoa(n)), Note: doc.Line(decision.meaning)})
		}
	}
	d.Body = []doc.Block{
		section("By day", tallyTable("day", days, all)), section("By host", tallyTable("host", hosts, all)),
		section("Rules that found announced work", ruleTable(rules)), section("Stops that were refused", refusals(h.Entries)),
	}
	return d
}

func section(title string, blocks ...doc.Block) doc.Section {
	return doc.Section{Title: doc.Line(title), Blocks: blocks}
}

// tallyTable has a row for each key, and a column for each decision that was made.
func tallyTable(key string, t tally, all map[string]int) doc.Table {
	table := doc.Table{Columns: []doc.Column{{Head: doc.Line(key)}}}
	for _, decision := range decisions {
		if all[decision.name] > 0 {
			table.Columns = append(table.Columns, doc.Column{Head: doc.Line(decision.name), Right: true})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		row := []doc.Text{doc.Line(name)}
		for _, decision := range decisions {
			if all[decision.name] > 0 {
				row = append(row, doc.Line(strconv.Itoa(t[name][decision.name])))
			}
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// ruleTable lists the rules by how often they contributed to a refusal.
func ruleTable(rules map[string]int) doc.Table {
	const most, widest = 20, 60 // rules, columns
	table := doc.Table{
		Columns: []doc.Column{{Head: doc.Line("rule"), Shorten: true}, {Head: doc.Line("refusals"), Right: true}},
		Max:     most, Noun: "rule",
	}
	names := slices.SortedFunc(maps.Keys(rules), func(a, b string) int {
		return cmp.Or(cmp.Compare(rules[b], rules[a]), strings.Compare(a, b))
	})
	for _, name := range names {
		table.Rows = append(table.Rows, []doc.Text{doc.Line(doc.Quote(console.Cut(name, widest))), doc.Line(strconv.Itoa(rules[name]))})
	}
	return table
}

// refusals lists the stops whose verdict was a refusal, latest first.
func refusals(entries []hook.Entry) doc.Block {
	const most = 30
	table := doc.Table{
		Columns: []doc.Column{
			{Head: doc.Line("time")},
			{Head: doc.Line("host")},
			{Head: doc.Line("decision")},
			{Head: doc.Line("probability"), Right: true},
			{Head: doc.Line("steps"), Right: true},
			{Head: doc.Line("rules"), Optional: true, Shorten: true},
			{Head: doc.Line("session"), Optional: true},
		},
		Max: most, Noun: "stop",
	}
	const shortHash = 8
	for _, e := range slices.Backward(entries) {
		if !e.Refused {
			continue
		}
		table.Rows = append(table.Rows, []doc.Text{
			doc.Line(e.Time.Format("2006-01-02 15:04")), doc.Line(string(e.Host)), doc.Line(doc.Quote(e.Decision)),
			doc.Line(strconv.FormatFloat(e.Score, 'f', 2, 64)), doc.Line(strconv.Itoa(e.Steps)),
			doc.Line(doc.Quote(strings.Join(e.Rules, ", "))), doc.Line(doc.Quote(fmt.Sprintf("%.*s", shortHash, e.Session))),
		})
	}
	if len(table.Rows) == 0 {
		return doc.Paragraph(doc.Line("none"))
	}
	return table
}
