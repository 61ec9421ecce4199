package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/stat"
)

// together are the numbers of trials for which pass@k and pass^k are told, as far as
// there were so many.
var together = []int{2, 5, 10, 50, 100}

// repeats tells pass@k and pass^k of trials that passed or failed; nil for fewer than
// two.
func repeats(c Count) (list []Repeat) {
	n := c.Pass + c.Fail
	for _, k := range together {
		if k > n {
			break
		}
		list = append(list, Repeat{
			K:       k,
			PassAt:  rate("pass_at", stat.PassAt(k, c.Pass, n, stat.Level)),
			PassAll: rate("pass_all", stat.PassAll(k, c.Pass, n, stat.Level)),
		})
	}
	return list
}

// rate is a summary as a measure.
func rate(name string, s stat.Summary) measure.Value {
	v := measure.Value{Name: name, Known: true, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if s.N > 0 {
		v.Value = &s.Value
	}
	return v
}

// repeated are the scenarios with several trials, flaky ones first.
func repeated(list []Scenario) []Scenario {
	var out []Scenario
	for _, s := range list {
		if len(s.Repeats) > 0 {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b Scenario) int { return cmp.Compare(steady(a), steady(b)) })
	return out
}

func steady(s Scenario) int {
	if s.Flaky {
		return 0
	}
	return 1
}

// share is a rate as "60 %".
func share(v measure.Value) string {
	if !told(v) {
		return text(v)
	}
	return percent(*v.Value) + " %"
}

// terminalRepeats tells of each scenario with several trials how often it passes.
func terminalRepeats(b *strings.Builder, t tty.Terminal, list []Scenario) {
	list = repeated(list)
	if len(list) == 0 {
		return
	}
	b.WriteString("\ntrials passed, with the interval of the rate:\n")
	for i, s := range list {
		if i == maxShown {
			fmt.Fprintf(b, "  and %s\n", format.Plural(len(list)-i, "more scenario"))
			break
		}
		name, rest := sanitize.Line(s.Name, maxName), ofTotal(s.PassRate)
		for _, r := range s.Repeats[:min(len(s.Repeats), 2)] {
			rest += fmt.Sprintf(", pass@%d %s, pass^%d %s", r.K, share(r.PassAt), r.K, share(r.PassAll))
		}
		if s.Flaky {
			fmt.Fprintf(b, "  %s: %s\n    %s\n", t.Paint(tty.Red, "flaky"), t.Shorten(name, t.Columns()-9), rest)
		} else {
			fmt.Fprintf(b, "  %s\n    %s\n", t.Shorten(name, t.Columns()-2), rest)
		}
	}
}

// markdownRepeats is the same as a table.
func markdownRepeats(b *format.Page, list []Scenario) {
	list = repeated(list)
	if len(list) == 0 {
		return
	}
	b.Head("\n### Trials\n\n| scenario | | passed | together |\n|---|---|---|---|\n")
	format.Lines(b, "scenarios", list, func(s Scenario) string {
		word := "steady"
		if s.Flaky {
			word = "**flaky**"
		}
		var parts []string
		for _, r := range s.Repeats {
			parts = append(parts, fmt.Sprintf("pass@%d %s, pass^%d %s", r.K, share(r.PassAt), r.K, share(r.PassAll)))
		}
		return "| " + strings.Join([]string{sanitize.Code(s.Name, maxName), word, ofTotal(s.PassRate), strings.Join(parts, "; ")}, " | ") + " |\n"
	})
}
