package reports_test

import (
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/stat"
)

func valueOf(name, unit string, v, lo, hi float64, n int) measure.Value {
	return measure.Value{Name: name, Unit: unit, Known: true, Value: &v, N: n, Interval: &stat.Interval{Lo: lo, Hi: hi, Level: 0.95, Method: "student-t", N: n}}
}

func sampleVariant(name string, pass int, quality, cost, calls float64) result.Variant {
	return result.Variant{
		Name: name, About: "The prompt of the mirror, " + name + ".",
		Settings: []result.Setting{{Path: "drive.interview.prompts.mirror", Value: "# To write\n\nSay what you saw.", File: "prompts/" + name + ".md"}},
		Trials:   result.Trials{Pass: pass, Fail: 90 - pass},
		Measures: []measure.Value{
			valueOf("pass", "", quality, quality-0.08, quality+0.08, 90),
			valueOf("cost_eur", "EUR", cost, cost*0.95, cost*1.05, 90),
			valueOf("calls", "", calls, calls-0.4, calls+0.4, 90),
		},
		Used: result.Used{Calls: int(calls * 90), Tokens: 812_000, EUR: cost * 90, USD: cost * 100, CostKnown: true},
	}
}

// sampleExperiment is an experiment with every verdict.
func sampleExperiment() result.Experiment {
	pass := result.Measure{Name: "pass", Better: result.Higher, Smallest: 0.05, Share: true}
	cost := result.Measure{Name: "cost_eur", Unit: "EUR", Better: result.Lower, Smallest: 0.001}
	compare := func(variant string, v result.Verdict, before, after, half, p float64) result.Comparison {
		return result.Comparison{
			Variant: variant, Against: "shipped", Measure: "pass", Role: result.Primary, Verdict: v,
			Before: valueOf("pass", "", before, before-0.08, before+0.08, 90), After: valueOf("pass", "", after, after-0.08, after+0.08, 90),
			Effect: valueOf("pass", "", after-before, after-before-half, after-before+half, 90),
			Pairs:  90, Scenarios: 3, P: ptr(p), Adjusted: ptr(min(1, p*4)), Power: ptr(0.83),
			ByScenario: []result.ScenarioEffect{{Scenario: "own/lea", Pairs: 30, Before: before, After: after}},
			Why:        "The interval and Holm's correction say so.",
		}
	}
	undecided := compare("long", result.Undecided, 0.71, 0.75, 0.09, 0.31)
	undecided.Needed, undecided.NeededNotWorse = 260, 90
	undecided.NotWorseP, undecided.NotWorseAdjusted = ptr(0.06), ptr(0.12)
	equivalent := compare("short", result.Equivalent, 0.71, 0.715, 0.04, 0.81)
	equivalent.EquivalenceP, equivalent.EquivalenceAdjusted = ptr(0.004), ptr(0.016)
	cheaper := compare("with-examples", result.Worse, 0.011, 0.019, 0.0007, 0.000001)
	cheaper.Measure, cheaper.Unit, cheaper.Role = "cost_eur", "EUR", result.Secondary
	cheaper.Relative, cheaper.Warnings = ptr(0.73), []string{"2 trials have no price"}
	return result.Experiment{
		Schema: result.ExperimentSchema, Tool: "rehearse 1.2.3", Name: "interview/mirror", About: "Which mirror prompt keeps to the form?", File: "mirror.yaml",
		Digest: "sha256:0123456789abcdef0123456789abcdef", Prices: "2026-11-01",
		Design: result.Design{
			Trials: 30, Seed: 7, Alpha: 0.05, Power: 0.8, Scope: result.These, Against: "shipped", Primary: pass, Secondary: []result.Measure{cost},
			Spending: "obrien-fleming", Looks: 3, Source: "Lan and DeMets (1983)", MaxCalls: 20000, MaxCost: "5 EUR",
		},
		Variants: []result.Variant{
			sampleVariant("shipped", 64, 0.71, 0.011, 24.2), sampleVariant("with-examples", 79, 0.88, 0.019, 24.9),
			sampleVariant("short", 64, 0.715, 0.0095, 24.1), sampleVariant("long", 67, 0.75, 0.024, 26), sampleVariant("rude", 40, 0.44, 0.012, 27),
		},
		Scenarios: []result.Scenario{{Name: "own/lea", File: "lea.yaml", Agent: "interview"}, {Name: "own/tom", Agent: "interview"}, {Name: "own/sam", Agent: "interview", Skipped: "no PostgreSQL"}},
		Comparisons: []result.Comparison{
			compare("with-examples", result.Better, 0.71, 0.88, 0.09, 0.00005), equivalent, undecided,
			compare("rude", result.Worse, 0.71, 0.44, 0.1, 0.0000001), cheaper,
		},
		Looks:   []result.Look{{Trials: 10, Spent: 0.0002, Level: 0.0002, Decided: 1, Of: 4}, {Trials: 30, Spent: 0.05, Level: 0.0451, Decided: 3, Of: 4}},
		Stopped: result.Stopped{As: result.Complete, Why: "all trials were made", Trials: 450, Planned: 450},
		Used:    result.Used{Calls: 11_000, Tokens: 4_060_000, EUR: 6.8, USD: 7.9, CostKnown: true},
		Pareto: []result.Point{
			{Variant: "shipped", Cost: valueOf("cost_eur", "EUR", 0.011, 0.0105, 0.0116, 90), Quality: valueOf("pass", "", 0.71, 0.63, 0.79, 90), Better: result.Higher, Dominated: []string{"short"}},
			{Variant: "with-examples", Cost: valueOf("cost_eur", "EUR", 0.019, 0.018, 0.02, 90), Quality: valueOf("pass", "", 0.88, 0.8, 0.94, 90), Better: result.Higher},
			{Variant: "short", Cost: valueOf("cost_eur", "EUR", 0.0095, 0.009, 0.01, 90), Quality: valueOf("pass", "", 0.715, 0.635, 0.795, 90), Better: result.Higher},
			{Variant: "long", Cost: valueOf("cost_eur", "EUR", 0.024, 0.0229, 0.025, 90), Quality: valueOf("pass", "", 0.75, 0.66, 0.83, 90), Better: result.Higher, Dominated: []string{"with-examples"}},
		},
		Warnings: []string{"own/sam was skipped: no PostgreSQL"},
	}
}

// tuning is a search that found something.
func tuning() result.Experiment {
	r := sampleExperiment()
	r.Variants, r.Comparisons, r.Pareto, r.Warnings = r.Variants[:2], r.Comparisons[:1], r.Pareto[:2], nil
	r.Tune = &result.Tune{
		Search: "greedy", Base: "shipped", Training: []string{"own/lea"}, HeldOut: []string{"own/tom", "own/sam"},
		Rounds: []result.Round{{
			About: "tone, of 2", Kept: []string{"tone-2"},
			Candidates: []result.Candidate{
				{Name: "tone-1", Choice: map[string]string{"tone": "1"}, Score: valueOf("pass", "", 0.7, 0.6, 0.8, 30)},
				{Name: "tone-2", Choice: map[string]string{"tone": "2", "length": "1"}, Score: valueOf("pass", "", 0.9, 0.8, 0.96, 30)},
			},
		}},
		Chosen: "tone-2", Promoted: true, Why: "It was better on the held-out scenarios.", Text: "Say what\nyou saw.", Used: result.Used{Calls: 60, CostKnown: true},
	}
	return r
}

// hostileExperiment has a stranger's worst in every text.
func hostileExperiment() result.Experiment {
	evil := "\x1b[31m\u202e</code>|`x`\r\n# h\n<script>alert(1)</script>@you \xff\"'" + strings.Repeat("é", 700)
	r := tuning()
	r.Name, r.About, r.File, r.Tool, r.Digest, r.Prices = evil, evil, evil, evil, evil, evil
	r.Design.Primary.Name, r.Design.Primary.Expr, r.Design.Against, r.Design.Spending, r.Design.Source, r.Design.MaxCost = evil, evil, evil, evil, evil, evil
	r.Design.Primary.Better, r.Design.Primary.Unit = result.Direction(evil), evil
	r.Warnings = []string{evil}
	for i := range r.Variants {
		x := &r.Variants[i]
		x.Name, x.About = evil, evil
		x.Settings = []result.Setting{{Path: evil, Value: evil, File: evil}}
		x.Measures = append(x.Measures, valueOf(evil, evil, 1, 0, 2, 3))
		x.Used.Why, x.Used.CostKnown = evil, false
	}
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		c.Variant, c.Against, c.Measure, c.Why, c.Warnings, c.Verdict = evil, evil, evil, evil, []string{evil}, result.Verdict(evil)
		c.ByScenario = []result.ScenarioEffect{{Scenario: evil}}
	}
	for i := range r.Scenarios {
		r.Scenarios[i] = result.Scenario{Name: evil, File: evil, Agent: evil, Skipped: evil}
	}
	for i := range r.Pareto {
		r.Pareto[i].Variant, r.Pareto[i].Dominated = evil, []string{evil}
	}
	r.Stopped.As, r.Stopped.Why = result.Ending(evil), evil
	t := r.Tune
	t.Search, t.Base, t.Chosen, t.Why, t.Text, t.Training, t.HeldOut = evil, evil, evil, evil, evil, []string{evil}, []string{evil}
	t.Rounds[0].About, t.Rounds[0].Kept = evil, []string{evil}
	t.Rounds[0].Candidates[0] = result.Candidate{Name: evil, Choice: map[string]string{evil: evil}, Score: valueOf(evil, evil, 1, 0, 2, 3)}
	return r
}
