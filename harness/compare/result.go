package compare

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Schema identifies the JSON form of a Result.
const Schema = "rehearse.comparison/1"

// Rule names how a measure is compared.
type Rule string

// The rules.
const (
	// Exact applies to repeatable values: any difference counts.
	Exact Rule = "exact"
	// Relative applies to cost and tokens: a difference counts beyond a limit.
	Relative Rule = "relative"
	// Paired applies to values that vary between trials: a test over pairs of trials or, with too
	// few pairs, over the trials of both sides.
	Paired Rule = "paired"
	// Rate applies to pass rates.
	Rate Rule = "rate"
	// Detector applies to detectors on labelled items: McNemar's test and the bootstrap of F1.
	Detector Rule = "detector"
)

// Verdict is the result of a comparison.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Tied means that no relevant difference is left: it is within the limit, or its interval is
	// within the smallest effect of interest.
	Tied Verdict = "tied"
	// Insufficient means that the data does not decide.
	Insufficient Verdict = "insufficient data"
)

// Comparison compares one measure of one scenario in both runs.
type Comparison struct {
	// Scenario is empty for a measure over all scenarios.
	Scenario string  `json:"scenario,omitempty"`
	Measure  string  `json:"measure"`
	Unit     string  `json:"unit,omitempty"`
	Rule     Rule    `json:"rule"`
	Verdict  Verdict `json:"verdict"`
	// Before and After are means over trials.
	Before measure.Value `json:"before"`
	After  measure.Value `json:"after"`
	// BeforeText and AfterText are the values of a measure that is not a number.
	BeforeText string `json:"before_text,omitempty"`
	AfterText  string `json:"after_text,omitempty"`
	// Effect is After minus Before, with an interval if the rule computes one; nil if there is no
	// difference. For Paired it is the Hodges-Lehmann estimate, which can differ from the
	// difference of the means.
	Effect *measure.Value `json:"effect,omitempty"`
	// P is the p-value of the test, made jointly with the other measures of its family. Adjusted
	// is P after correction for all families of the comparison. Both are nil if no p-value could
	// have been small enough.
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// Why explains the verdict in a sentence.
	Why string `json:"why"`

	// lost is true if the value was known before and is not known now; open if it looks worse and
	// there are too few trials to decide. Neither may pass.
	lost, open bool
}

// ExpectationChange is a changed expectation: a change of the requirements, not of the agent's behaviour.
type ExpectationChange struct {
	// Scenario is empty for a change that applies to all, such as the rules of the comparison.
	Scenario string `json:"scenario,omitempty"`
	// What is the key of the expectation: "expect.calls", "price", "digest", "rules.cost".
	What string `json:"what"`
	// Before and After are its two values as text; empty if not set.
	Before string `json:"before"`
	After  string `json:"after"`
	// Files are the paths of the scenario's files that differ, of a changed digest; empty if they are unknown.
	Files []string `json:"files,omitempty"`
}

// Finding is an observation on a scenario, or on the runs as a whole if Scenario is empty. The
// rules "regression", "missing-scenario", "new-scenario" and "changed-expectation" fail; "not-comparable",
// "too-few-trials", "nothing-comparable", "nothing-compared", "missing-trials", "not-carried-out" and
// "counts" give no verdict; "better", "price-date", "tool", "labels" and "skipped" are notes.
type Finding struct {
	Scenario string `json:"scenario,omitempty"`
	// Measure is set for "regression", "better" and "not-comparable".
	Measure string `json:"measure,omitempty"`
	gate.Finding
}

// Result is the comparison of two runs.
type Result struct {
	Schema string `json:"schema"`
	// Before and After name the compared run ids or baseline files.
	Before string `json:"before"`
	After  string `json:"after"`
	// Verdict is fail if anything is worse, missing, new or expected differently, and error if
	// that cannot be decided.
	Verdict gate.Verdict `json:"verdict"`
	// Comparisons are sorted by scenario and measure; equal ones are omitted and counted in Equal.
	Comparisons []Comparison `json:"comparisons"`
	Equal       int          `json:"equal"`
	// Changed are the changed expectations.
	Changed []ExpectationChange `json:"changed_expectations,omitempty"`
	// Missing lists the scenarios only in Before, New the scenarios only in After.
	Missing []string `json:"missing,omitempty"`
	New     []string `json:"new,omitempty"`
	// Findings explain the verdict, sorted by scenario.
	Findings []Finding `json:"findings,omitempty"`
	// Bless is the command that accepts After as the new baseline.
	Bless string `json:"bless,omitempty"`
}

// Check returns an error if the parts contradict each other, as in an edited file: the verdict must
// follow from the findings, and every regression must have one.
func (r *Result) Check() error {
	if want := verdictOf(r.Findings); r.Verdict != want {
		return fmt.Errorf("the verdict is %s, but its findings amount to %s", r.Verdict, want)
	}
	for i := range r.Comparisons {
		x := &r.Comparisons[i]
		reported := func(f Finding) bool {
			return f.Scenario == x.Scenario && f.Measure == x.Measure && f.Severity == gate.Failing
		}
		if x.Verdict == Worse && !slices.ContainsFunc(r.Findings, reported) {
			return fmt.Errorf("%s of %q is worse, but has no finding", x.Measure, x.Scenario)
		}
	}
	if r.Verdict == gate.Pass && len(r.Changed)+len(r.Missing)+len(r.New) > 0 {
		return fmt.Errorf("the verdict is pass, although there are changed expectations (%d), missing scenarios (%d) or new ones (%d)",
			len(r.Changed), len(r.Missing), len(r.New))
	}
	return nil
}

func verdictOf(findings []Finding) gate.Verdict {
	all := make([]gate.Finding, len(findings))
	for i, f := range findings {
		all[i] = f.Finding
	}
	return gate.VerdictOf(all)
}

// Options configure a comparison. The zero value is valid.
type Options struct {
	// Rules are the margins; zero means those of the run before, or the default if it has none.
	// Rules that differ from those of the run before are a changed expectation.
	Rules Rules
	// Findings are further findings of the caller, such as an interrupted run. They count for the
	// verdict.
	Findings []gate.Finding
	// Resamples and Seed configure the bootstrap; 0 resamples means 2,000.
	Resamples int
	Seed      uint64
}

// defaultResamples is the default of Options.Resamples.
const defaultResamples = 2000

// rules returns the rules to compare by. Invalid rules are ignored.
func (o *Options) rules(before Rules) Rules {
	list := []Rules{o.Rules, before, DefaultRules()}
	return list[slices.IndexFunc(list, func(r Rules) bool { return r.Validate() == nil })]
}
