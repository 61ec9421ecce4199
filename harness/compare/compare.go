// Package compare compares two runs of the same scenarios, or a run with its baseline, and
// separates regressions from noise. It has no side effects: the same two runs always give the same
// result.
package compare

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

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
	c.compareDetector(before, after)
	c.decide()
	return c.close()
}

// comparing is the state of a comparison.
type comparing struct {
	rules   Rules
	options Options
	result  Result
	tests   []test
	// both counts the scenarios that both sides have and did not skip; changed contains the
	// scenarios whose files have changed.
	both    int
	changed map[string]bool
	// undecided lists the scenarios of which no measure was compared without a test.
	undecided []string
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
		switch {
		case len(a) == 0 || len(b) > 0 && b[0].Name < a[0].Name:
			c.result.Missing = append(c.result.Missing, b[0].Name)
			c.find(b[0].Name, failing("missing-scenario", "it was there before and is missing now"))
			b = b[1:]
		case len(b) == 0 || a[0].Name < b[0].Name:
			c.result.New = append(c.result.New, a[0].Name)
			c.find(a[0].Name, failing("new-scenario", "it is new: there is nothing to compare it with"))
			a = a[1:]
		default:
			c.scenario(&b[0], &a[0])
			b, a = b[1:], a[1:]
		}
	}
	if c.both == 0 {
		c.find("", broken("nothing-compared", "no scenario was run on both sides, so nothing was compared"))
	}
}

// scenario compares a scenario that both sides have.
func (c *comparing) scenario(b, a *Scenario) {
	c.expectations(b, a)
	if !c.comparable(b, a) {
		return
	}
	p := pair{before: b, after: a, repeats: repeats(b, a)}
	c.changed[a.Name] = b.Expectations[digest] != a.Expectations[digest]
	c.endings(&p)
	if !c.measures(&p) {
		c.undecided = append(c.undecided, a.Name)
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
	return !b.RealTime && !a.RealTime && b.Expectations[digest] == a.Expectations[digest] && b.Expectations["seed"] == a.Expectations["seed"]
}

// comparable reports whether the trials of a scenario can be compared, and adds a finding if not.
func (c *comparing) comparable(b, a *Scenario) bool {
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
		usable = usable && f.Rule != badCounts && side.s.Trials.Pass+side.s.Trials.Fail > 0
	}
	return usable
}

// terms adds findings for differences between the runs as a whole.
func (c *comparing) terms(before, after Baseline) {
	if before.Prices != after.Prices {
		c.find("", info("price-date", "the price table was of %s and is of %s", dated(before.Prices), dated(after.Prices)))
	}
	if before.Tool != "" && after.Tool != "" && before.Tool != after.Tool {
		c.find("", info("tool", "this run was made by %s, the one before by %s", after.Tool, before.Tool))
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
			c.changedExpectation(ExpectationChange{What: rule.what, Before: number(rule.blessed), After: number(rule.asked)})
		}
	}
}

// digest is the expectation that changes with every file. It is not reported beside a more specific
// one.
const digest = "digest"

// expectations adds a finding for each changed expectation of a scenario.
func (c *comparing) expectations(b, a *Scenario) {
	keys := slices.Concat(slices.Collect(maps.Keys(b.Expectations)), slices.Collect(maps.Keys(a.Expectations)))
	slices.Sort(keys)
	var changed []ExpectationChange
	for _, key := range slices.Compact(keys) {
		before, after := b.Expectations[key], a.Expectations[key]
		if _, known := b.Expectations[key]; !known && strings.HasPrefix(key, "limits.") && b.Expectations[digest] == a.Expectations[digest] {
			continue // a newer version records a setting of the same file that was in force before
		}
		if before == after {
			continue
		}
		change := ExpectationChange{Scenario: a.Name, What: key, Before: before, After: after}
		if key == digest {
			change.Files = changedFiles(b, a)
		}
		changed = append(changed, change)
	}
	for _, m := range changed {
		if m.What == digest && len(changed) > 1 {
			c.result.Changed = append(c.result.Changed, m)
			continue
		}
		c.changedExpectation(m)
	}
}

// changedFiles returns the paths of the files that differ, in order; none if the files of a side are unknown.
func changedFiles(b, a *Scenario) (paths []string) {
	if len(b.Files) == 0 || len(a.Files) == 0 {
		return nil
	}
	all := maps.Clone(b.Files)
	maps.Copy(all, a.Files)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if b.Files[name] != a.Files[name] {
			paths = append(paths, path.Join(path.Dir(a.File), name))
		}
	}
	return paths
}

func (c *comparing) changedExpectation(e ExpectationChange) {
	c.result.Changed = append(c.result.Changed, e)
	f := failing("changed-expectation", "%s was %s and is %s", e.What, quoted(e.Before), quoted(e.After))
	if e.What == digest {
		what := "its file, or a file that it names, has changed"
		if len(e.Files) > 0 {
			what = "changed files: " + strings.Join(e.Files, ", ")
		}
		f = failing("changed-expectation", "the compared scenarios differ; %s", what)
		f.Evidence = e.Before + " before, " + e.After + " now"
	} else {
		f.At = e.What
	}
	c.find(e.Scenario, f)
}

// add adds a comparison, and its test if it is not decided yet.
func (c *comparing) add(x Comparison, t *test) {
	c.result.Comparisons = append(c.result.Comparisons, x)
	if t != nil {
		t.at = len(c.result.Comparisons) - 1
		c.tests = append(c.tests, *t)
	}
}

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
		return broken("not-comparable", "%s cannot be compared: %s", x.Measure, x.Why)
	}
}

// close sorts the comparisons and adds their findings.
func (c *comparing) close() Result {
	r := c.result
	slices.SortStableFunc(r.Comparisons, func(x, y Comparison) int {
		return cmp.Or(cmp.Compare(x.Scenario, y.Scenario), cmp.Compare(x.Measure, y.Measure))
	})
	declined := map[string]bool{} // scenarios whose trials ended worse
	for i := range r.Comparisons {
		if x := &r.Comparisons[i]; x.Verdict == Worse && (x.Measure == passRate || x.Measure == status) {
			declined[x.Scenario] = true
		}
	}
	for i := range r.Comparisons {
		x := &r.Comparisons[i]
		if x.Verdict == Better && x.Measure != passRate && declined[x.Scenario] {
			x.Verdict = Insufficient // a trial that ends early makes fewer calls
			x.Why += "; that is not an improvement, because the trials ended worse"
		}
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
