// Package compare compares two runs of the same scenarios, or a run with its baseline, and
// separates regressions from noise. It has no side effects: the same two runs always give the same
// result.
package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
)

// Compare compares two runs. Values that vary between trials are tested, with Holm's correction
// over all tests. A value that cannot be compared never counts as equal: it becomes a finding, or a
// comparison with the verdict Insufficient.
func Compare(before, after Baseline, options Options) Result {
	c := comparing{rules: options.rules(before.Rules), options: options, changed: map[string]bool{}}
	c.result = Result{Schema: Schema, Before: before.Run, After: after.Run}
	for _, f := range options.Findings {
		c.find("", f)
	}
	c.terms(before, after)
	c.scenarios(before, after)
	c.detector(before, after)
	c.decide()
	return c.close()
}

// comparing is the state of a comparison.
type comparing struct {
	rules   Rules
	options Options
	result  Result
	tests   []test
	// both counts the scenarios that both sides have and did not skip; changed contains those
	// whose files have changed.
	both    int
	changed map[string]bool
	// silent lists the scenarios of which no measure was compared without a test.
	silent []string
}

// level returns the confidence level of intervals.
func (c *comparing) level() float64 { return min(1-c.rules.Alpha, 1-1e-9) }

func (c *comparing) find(scenario string, f gate.Finding) {
	c.result.Findings = append(c.result.Findings, Finding{Scenario: scenario, Finding: f})
}

// scenarios pairs the scenarios of both runs by name; both lists are sorted by it.
func (c *comparing) scenarios(before, after Baseline) {
	b, a := before.Scenarios, after.Scenarios
	for len(b) > 0 || len(a) > 0 {
		switch order := compareNames(b, a); {
		case order < 0:
			c.result.Missing = append(c.result.Missing, b[0].Name)
			c.find(b[0].Name, failing("missing-scenario", "it was there before and is missing now"))
			b = b[1:]
		case order > 0:
			c.result.New = append(c.result.New, a[0].Name)
			c.find(a[0].Name, failing("new-scenario", "it is new: there is nothing to compare it with"))
			a = a[1:]
		default:
			c.scenario(&b[0], &a[0])
			b, a = b[1:], a[1:]
		}
	}
	if c.both == 0 {
		c.find("", broken("nothing-compared", "no scenario was carried out on both sides, so nothing was compared"))
	}
}

// compareNames compares the names of the first scenarios; an empty list comes last.
func compareNames(b, a []Scenario) int {
	switch {
	case len(b) == 0:
		return 1
	case len(a) == 0:
		return -1
	default:
		return cmp.Compare(b[0].Name, a[0].Name)
	}
}

// scenario compares a scenario that both sides have.
func (c *comparing) scenario(b, a *Scenario) {
	c.bars(b, a)
	if !c.carriedOut(b, a) {
		return
	}
	p := pair{before: b, after: a, repeats: repeats(b, a)}
	c.changed[a.Name] = b.Bar[digest] != a.Bar[digest]
	c.endings(&p)
	if !c.measures(&p) {
		c.silent = append(c.silent, a.Name)
	}
}

// pair is one scenario on both sides.
type pair struct {
	before, after *Scenario
	// repeats reports whether trials with the same number differ only by what the agent does.
	repeats bool
}

// trials returns the largest trial number that both sides can have.
func (p *pair) trials() int {
	return min(p.before.Trials.Planned, p.after.Trials.Planned, MaxTrials)
}

// repeats reports whether only the agent can cause a difference: time is virtual, and files and
// seed are unchanged.
func repeats(b, a *Scenario) bool {
	return !b.RealTime && !a.RealTime && b.Bar[digest] == a.Bar[digest] && b.Bar["seed"] == a.Bar["seed"]
}

// carriedOut reports whether the trials of a scenario can be compared, and adds a finding if not.
func (c *comparing) carriedOut(b, a *Scenario) bool {
	skipped := func(s *Scenario) bool { return s.Trials.Total() > 0 && s.Trials.Skip == s.Trials.Total() }
	if skipped(b) && skipped(a) {
		c.find(a.Name, info("skipped", "it was skipped on both sides"))
		return false
	}
	c.both++
	if skipped(b) {
		c.find(a.Name, failing("new-scenario", "it was skipped before, so there is nothing to compare it with"))
		return false
	}
	usable := true
	for _, side := range []struct {
		when string
		s    *Scenario
	}{{"before", b}, {"now", a}} {
		f, bad := incomplete(side.s, side.when)
		if bad {
			c.find(a.Name, f)
		}
		usable = usable && f.Rule != notCounts && side.s.Trials.Pass+side.s.Trials.Fail > 0
	}
	return usable
}

// terms adds findings for differences between the runs as a whole.
func (c *comparing) terms(before, after Baseline) {
	if before.Prices != after.Prices {
		c.find("", info("price-date", "the price table is of %s and was of %s", dated(after.Prices), dated(before.Prices)))
	}
	if before.Tool != "" && after.Tool != "" && before.Tool != after.Tool {
		c.find("", info("tool", "the run is of %s and the one before of %s", after.Tool, before.Tool))
	}
	asked, blessed := c.options.Rules, before.Rules
	if (asked == Rules{}) || (blessed == Rules{}) {
		return
	}
	for _, rule := range []struct {
		what           string
		blessed, asked float64
	}{
		{"rules.alpha", blessed.Alpha, asked.Alpha},
		{"rules.cost", blessed.Cost, asked.Cost},
		{"rules.margin", blessed.Margin, asked.Margin},
		{"rules.tokens", blessed.Tokens, asked.Tokens},
	} {
		if rule.blessed != rule.asked {
			c.bar(Bar{What: rule.what, Before: number(rule.blessed), After: number(rule.asked)})
		}
	}
}

// digest is the expectation that changes with every file. It is not reported beside a more specific
// one.
const digest = "digest"

// bars adds a finding for each changed expectation of a scenario.
func (c *comparing) bars(b, a *Scenario) {
	keys := maps.Clone(b.Bar)
	if keys == nil {
		keys = map[string]string{}
	}
	maps.Copy(keys, a.Bar)
	var moved []Bar
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if before, after := b.Bar[key], a.Bar[key]; before != after {
			moved = append(moved, Bar{Scenario: a.Name, What: key, Before: before, After: after})
		}
	}
	for _, m := range moved {
		if m.What == digest && len(moved) > 1 {
			c.result.Bars = append(c.result.Bars, m)
			continue
		}
		c.bar(m)
	}
}

func (c *comparing) bar(b Bar) {
	c.result.Bars = append(c.result.Bars, b)
	f := failing("moved-bar", "%s was %s and is %s", b.What, quoted(b.Before), quoted(b.After))
	if b.What == digest {
		f = failing("moved-bar", "its file, or one that it names, has changed: what was compared is not the same any more")
		f.Evidence = b.Before + " before, " + b.After + " now"
	} else {
		f.At = b.What
	}
	c.find(b.Scenario, f)
}

// add adds a comparison, and its test if it is not decided yet.
func (c *comparing) add(x Comparison, t *test) {
	c.result.Comparisons = append(c.result.Comparisons, x)
	if t != nil {
		t.at = len(c.result.Comparisons) - 1
		c.tests = append(c.tests, *t)
	}
}

// findingOf returns the finding of a comparison.
func findingOf(x *Comparison) gate.Finding {
	switch x.Verdict {
	case Worse:
		return failing("regression", "%s is worse: %s", x.Measure, x.Why)
	case Better:
		return info("better", "%s is better: %s", x.Measure, x.Why)
	default:
		if x.open {
			return broken("too-few-trials", "%s may be worse, and there are too few trials to decide that: %s", x.Measure, x.Why)
		}
		return broken("not-told", "%s cannot be told: %s", x.Measure, x.Why)
	}
}

// close sorts the comparisons and adds their findings.
func (c *comparing) close() Result {
	r := c.result
	slices.SortStableFunc(r.Comparisons, func(x, y Comparison) int {
		return cmp.Or(cmp.Compare(x.Scenario, y.Scenario), cmp.Compare(x.Measure, y.Measure))
	})
	for i := range r.Comparisons {
		x := &r.Comparisons[i]
		differs := x.Verdict == Worse || x.Verdict == Better
		if differs && c.changed[x.Scenario] {
			x.Why += "; its files have changed too"
		}
		if differs || x.lost || x.open {
			r.Findings = append(r.Findings, Finding{x.Scenario, x.Measure, findingOf(x)})
		}
	}
	slices.SortStableFunc(r.Findings, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Scenario, y.Scenario), cmp.Compare(rank(x.Severity), rank(y.Severity)))
	})
	r.Verdict = verdictOf(r.Findings)
	return r
}
