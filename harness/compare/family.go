package compare

import (
	"slices"

	"github.com/rehearse-dev/rehearse/stat"
)

// The families group measures that change together: an agent that makes more calls uses more
// tokens, and a slower agent waits longer for each call. The measures of a family are tested
// jointly and share one part of alpha. Every other measure is its own family.
const (
	familyUse    = "use"
	familyFaults = "faults"
	familyTime   = "time"
)

// familyOf returns the family of a measure.
func familyOf(name string, k kind) string {
	switch {
	case k.limit != nil, name == "calls", name == "iterations":
		return familyUse
	case name == "failed_calls", name == "retries":
		return familyFaults
	case k.time:
		return familyTime
	default:
		return name
	}
}

// family is a set of measures that are tested jointly.
type family struct{ scenario, name string }

// sparePairs is the number of pairs that a paired test needs beyond the minimum for significance.
// With the minimum, a single opposite difference would hide the largest change.
const sparePairs = 2

// decide corrects the tests for multiplicity and sets their verdicts.
func (c *comparing) decide() {
	families := c.families()
	timed := c.testFamilies(families)
	hypotheses := make([]stat.Hypothesis, len(c.tests))
	for number, members := range families {
		for _, i := range members {
			hypotheses[i] = stat.Hypothesis{Group: number, P: c.tests[i].p, Least: min(c.tests[i].least, c.tests[i].p)}
		}
	}
	adjusted, first, last := stat.HolmTarone(hypotheses, c.rules.Alpha)
	strict := correction{alpha: c.rules.Alpha, tests: first, left: last, families: len(families), timed: timed}
	for i := range c.tests {
		t := &c.tests[i]
		x := &c.result.Comparisons[t.at]
		if t.decidable(strict) {
			x.P, x.Adjusted = &t.p, &adjusted[i]
		}
		t.decide(x, strict)
	}
	c.findUncompared(strict)
}

// families returns the indices of the tests of each family, in order of first appearance.
func (c *comparing) families() (list [][]int) {
	numbers := map[family]int{}
	for i := range c.tests {
		of := c.tests[i].family
		at, ok := numbers[of]
		if !ok {
			at = len(list)
			numbers[of], list = at, append(list, nil)
		}
		list[at] = append(list[at], i)
	}
	return list
}

// testFamilies computes the p-values of the tests over trials, one family at a time. The choice of test
// depends only on the numbers of trials and families: trials are paired by number if there are
// enough of them, else both sides are treated as two samples. It returns the number of families
// that measure the wall clock.
func (c *comparing) testFamilies(families [][]int) (timed int) {
	enough := stat.LeastPairs(c.rules.Alpha/float64(max(1, len(families)))) + sparePairs
	var drifts []*stat.Drift
	for _, members := range families {
		if c.tests[members[0]].before == nil {
			continue
		}
		if c.tests[members[0]].wall != nil {
			timed++
		}
		var before, after [][]float64
		for _, i := range members {
			before, after = append(before, c.tests[i].before), append(after, c.tests[i].after)
		}
		joint := stat.JointSamples
		if len(before[0]) >= enough {
			joint = stat.JointPairs
		}
		r := joint(before, after)
		for m, i := range members {
			t := &c.tests[i]
			t.p, t.least, t.extreme = r.P[m], r.Least[m], r.Extreme[m]
			if t.wall != nil {
				drifts = append(drifts, t.wall.drift)
			}
		}
	}
	stat.PoolDrifts(drifts, timed)
	return timed
}

// findUncompared adds a finding for each scenario of which no measure could be compared.
func (c *comparing) findUncompared(strict correction) {
	for _, name := range c.undecided {
		if !slices.ContainsFunc(c.tests, func(t test) bool { return t.scenario == name && t.name != passRate && t.decidable(strict) }) {
			c.find(name, broken("nothing-comparable", "none of its measures could be compared; "+
				"values that vary need at least %d trials on both sides", stat.LeastSamples(strict.each())))
		}
	}
}

// TrialsNeeded returns how many trials a comparison with a run like this one needs before it can
// find the clearest regression of a value that varies, and how many families it tests: in real time
// the use and the times of each scenario, its pass rate if it is flaky, and every other value that
// varies. few lists the scenarios with fewer trials, sorted. All are 0 if nothing varies.
func TrialsNeeded(b *Baseline, rules Rules) (trials, tests int, few []string) {
	varying := map[string]int{} // trials by scenario
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if n := varyingFamilies(s); n > 0 {
			varying[s.Name] = s.Trials.Planned
			tests += n
		}
	}
	if tests == 0 {
		return 0, 0, nil
	}
	trials = stat.LeastSamples(rules.Alpha / float64(tests))
	for name, n := range varying {
		if n < trials {
			few = append(few, name)
		}
	}
	slices.Sort(few)
	return trials, tests, few
}

// varyingFamilies counts the families that are tested in a real-time scenario.
func varyingFamilies(s *Scenario) int {
	if !s.RealTime {
		return 0
	}
	families := map[string]bool{}
	for i := range s.Measures {
		m := &s.Measures[i]
		k := kindOf(m)
		if m.Value == nil || k.ignored || k.covered || !k.time && constant(m) {
			continue
		}
		families[familyOf(m.Name, k)] = true
	}
	if s.Trials.Pass > 0 && s.Trials.Fail > 0 {
		families[passRate] = true
	}
	return len(families)
}
