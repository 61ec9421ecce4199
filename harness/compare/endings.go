package compare

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/stat"
)

// maxCount limits the trials of a scenario; badCounts is the rule of the finding for more.
const (
	maxCount  = 1_000_000_000
	badCounts = "counts"
)

// The measures that are not in a summary.
const (
	passRate = "pass_rate"
	status   = "status"
)

// incomplete returns a finding if a side of a scenario is not complete.
func incomplete(s *Scenario, when string) (f gate.Finding, bad bool) {
	t := s.Trials
	switch {
	case min(t.Planned, t.Pass, t.Fail, t.Error, t.Skip) < 0 || max(t.Planned, t.Pass, t.Fail, t.Error, t.Skip) > maxCount:
		return broken(badCounts, "the counts of its trials %s are impossible: %+v", when, t), true
	case t.Total() < t.Planned:
		return broken("missing-trials", "%d of %s %s have no result", t.Planned-t.Total(), format.Plural(t.Planned, "trial"), when), true
	case t.Error > 0:
		return broken("not-carried-out", "the harness could not run %d of %s %s", t.Error, format.Plural(t.Total(), "trial"), when), true
	case t.Skip > 0 || t.Total() == 0:
		return broken("not-carried-out", "%d of %s %s were skipped", t.Skip, format.Plural(t.Total(), "trial"), when), true
	}
	return f, false
}

// endings compares how the trials ended: trial by trial if they repeat, else by their pass rates.
func (c *comparing) endings(p *pair) {
	x := Comparison{Scenario: p.after.Name, Measure: passRate, Before: rateOf(p.before.Trials), After: rateOf(p.after.Trials)}
	var t *test
	var differ bool
	if p.repeats {
		differ = verdicts(p, &x)
	} else {
		t, differ = c.rate(p, &x)
	}
	if differ {
		c.add(x, t)
	} else {
		c.result.Equal++
	}
	x, known, differs := ended(p)
	switch {
	case differs:
		c.add(x, nil)
	case known:
		c.result.Equal++
	}
}

func rateOf(t Trials) measure.Value {
	s := stat.Proportion(t.Pass, t.Pass+t.Fail, stat.Level)
	v := measure.Value{Name: passRate, Known: true, N: s.N, Interval: s.Interval, Warnings: s.Warnings}
	if s.N > 0 {
		v.Value = &s.Value
	}
	return v
}

// verdicts compares the verdicts of repeatable trials.
func verdicts(p *pair, x *Comparison) (differ bool) {
	x.Rule = Exact
	lost, gained, first := 0, 0, 0
	rest := p.before.Trials.Pass - p.after.Trials.Pass // how many fewer pass in the trials whose ends are not stored
	for n := 1; n <= p.trials(); n++ {
		before, ok1 := p.before.End(n)
		now, ok2 := p.after.End(n)
		switch {
		case !ok1 || !ok2:
			continue
		case before.Verdict == gate.Pass && now.Verdict == gate.Fail:
			lost++
		case before.Verdict == gate.Fail && now.Verdict == gate.Pass:
			gained++
		default:
			continue
		}
		if first == 0 {
			first = n
		}
	}
	b, a := p.before.Trials, p.after.Trials
	if b.Pass+b.Fail == a.Pass+a.Fail {
		rest += gained - lost
		lost, gained = lost+max(0, rest), gained+max(0, -rest)
	}
	switch {
	case lost > 0:
		x.Verdict = Worse
		x.Why = format.Plural(lost, "trial") + " passed before and failed now"
	case gained > 0:
		x.Verdict = Better
		x.Why = format.Plural(gained, "trial") + " failed before and passed now"
	default:
		return false
	}
	if first > 0 && p.trials() > 1 {
		x.Why += fmt.Sprintf(", first trial %d", first)
	}
	effect(x, *x.After.Value-*x.Before.Value)
	return true
}

// rate prepares the test of two pass rates. If all trials passed before and none does now, the
// scenario is worse however few trials there are: for a scenario that passes every other time, the
// probability of that is 4^-n.
//
// For a single scenario, Fisher's test has less power than unconditional tests such as Boschloo's.
// Because it fixes the total of passes, however, most scenarios of a comparison cannot become
// significant and need no correction, which gives it more power over many scenarios: with one of 30
// scenarios changed from 0.95 to 0.5 it found 81 % of the changes, Boschloo's test 59 %.
func (c *comparing) rate(p *pair, x *Comparison) (t *test, differ bool) {
	x.Rule, x.Verdict = Rate, Insufficient
	b, a := p.before.Trials, p.after.Trials
	n1, n2 := b.Pass+b.Fail, a.Pass+a.Fail
	if int64(b.Pass)*int64(n2) == int64(a.Pass)*int64(n1) {
		return nil, false
	}
	d := stat.RateDifference(b.Pass, n1, a.Pass, n2, c.level())
	x.Effect = &measure.Value{Name: x.Measure, Known: true, Value: &d.Value, N: d.N, Interval: d.Interval}
	seen := fmt.Sprintf("%d of %d trials passed before and %d of %d now", b.Pass, n1, a.Pass, n2)
	switch {
	case b.Fail == 0 && a.Pass == 0:
		x.Verdict, x.Why = Worse, seen
		return nil, true
	case b.Pass == 0 && a.Fail == 0:
		x.Verdict, x.Why = Better, seen
		return nil, true
	}
	t = &test{
		family: family{x.Scenario, passRate}, p: stat.Fisher(b.Pass, n1, a.Pass, n2), least: bestFisher(b.Pass, n1, a.Pass, n2),
		effect: d, margin: c.rules.Margin, higher: true, unit: format.Points, noun: "trial", sides: 2, fewest: stat.LeastSamples, seen: seen,
	}
	t.extreme = t.p <= t.least
	return t, true
}

// bestFisher returns the smallest p-value of two samples of these sizes with this total of passes.
func bestFisher(k1, n1, k2, n2 int) float64 {
	least, most := max(0, k1+k2-n2), min(n1, k1+k2)
	return min(stat.Fisher(least, n1, k1+k2-least, n2), stat.Fisher(most, n1, k1+k2-most, n2))
}

// ended compares the end statuses and exit codes. known is false if they vary, which rules out a
// comparison trial by trial; the pass rate is compared instead.
func ended(p *pair) (x Comparison, known, differs bool) {
	if !p.repeats && (len(p.before.Ends) != 1 || len(p.after.Ends) != 1) {
		return x, false, false
	}
	x = Comparison{Scenario: p.after.Name, Measure: status, Rule: Exact}
	x.Before, x.After = measure.Value{Name: status, Known: true}, measure.Value{Name: status, Known: true}
	changed, rescued := 0, 0
	for n := 1; n <= p.trials(); n++ {
		before, ok1 := p.before.End(n)
		now, ok2 := p.after.End(n)
		if !ok1 || !ok2 || !judged(before) || !judged(now) {
			continue
		}
		known = true
		if before.Status == now.Status && before.ExitCode == now.ExitCode {
			continue
		}
		if changed == 0 {
			x.BeforeText, x.AfterText = ending(before), ending(now)
			x.Why = fmt.Sprintf("it ended as %s before and as %s now", x.BeforeText, x.AfterText)
			if p.trials() > 1 {
				x.Why = fmt.Sprintf("trial %d ended as %s before and as %s now", n, x.BeforeText, x.AfterText)
			}
		}
		changed++
		if before.Verdict == gate.Fail && now.Verdict == gate.Pass {
			rescued++
		}
	}
	if x.Verdict = Worse; rescued == changed {
		x.Verdict = Better
	}
	if changed > 1 {
		x.Why += fmt.Sprintf("; %s ended differently", format.Plural(changed-1, "more trial"))
	}
	return x, known, changed > 0
}

// judged reports whether a trial was run.
func judged(e End) bool { return e.Verdict == gate.Pass || e.Verdict == gate.Fail }

func ending(e End) string {
	text := quoted(e.Status)
	if e.ExitCode != 0 {
		text += fmt.Sprintf(" with exit code %d", e.ExitCode)
	}
	return text
}
