package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/stat"
)

// together are the numbers of trials for which pass@k and pass^k are computed.
var together = []int{2, 5, 10, 50, 100}

// repeats returns pass@k and pass^k of the trials that passed or failed; nil for fewer than two.
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

// rate returns a summary as a measure.
func rate(name string, s stat.Summary) measure.Value {
	v := measure.Value{Name: name, Known: true, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if s.N > 0 {
		v.Value = &s.Value
	}
	return v
}

// repeated returns the scenarios with several trials, flaky ones first.
func repeated(list []Scenario) []Scenario {
	var flaky, steady []Scenario
	for _, s := range list {
		switch {
		case s.Flaky && len(s.Repeats) > 0:
			flaky = append(flaky, s)
		case len(s.Repeats) > 0:
			steady = append(steady, s)
		}
	}
	return append(flaky, steady...)
}

// repeatedTrials returns a section with the pass rates of scenarios with several trials.
func repeatedTrials(list []Scenario) []doc.Block {
	l := doc.List{Noun: "scenarios", Max: maxShown}
	for _, s := range repeated(list) {
		item := doc.Item{Text: doc.Line(doc.Quote(s.Name))}
		if s.Flaky {
			item.Text = doc.Line(doc.Toned(doc.Bad, "flaky"), " ", item.Text)
		}
		parts := []string{shareOf(s.PassRate, "")}
		for _, r := range s.Repeats {
			parts = append(parts, fmt.Sprintf("pass@%d %s, pass^%d %s", r.K, share(r.PassAt), r.K, share(r.PassAll)))
		}
		item.Items = []doc.Item{{Text: doc.Line(strings.Join(parts, "; "))}}
		l.Items = append(l.Items, item)
	}
	if l.Items == nil {
		return nil
	}
	return []doc.Block{newSection("Trials passed, with the interval of the rate", doc.Plain, l)}
}
