package compare

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Schema names the JSON form of a Result.
const Schema = "rehearse.comparison/1"

// Rule is how a measure is compared.
type Rule string

// The rules.
const (
	// Exact is for what repeats: any difference counts.
	Exact Rule = "exact"
	// Relative is for cost and tokens: a difference counts beyond a limit.
	Relative Rule = "relative"
	// Paired is for what varies from trial to trial: a test over pairs of trials, or, where
	// there are too few pairs, over the trials of both sides.
	Paired Rule = "paired"
	// Rate is for shares of passed trials.
	Rate Rule = "rate"
	// Detector is for detectors on labelled items: McNemar's test and the bootstrap
	// of F1.
	Detector Rule = "detector"
)

// Verdict is the result of a comparison.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Tied means that no difference that matters is left: it is within the limit, or
	// its interval lies within the smallest effect of interest.
	Tied Verdict = "tied"
	// Insufficient means that the data does not decide.
	Insufficient Verdict = "insufficient data"
)

// Comparison is one measure of one scenario in both runs.
type Comparison struct {
	// Scenario is empty for what is over all scenarios.
	Scenario string  `json:"scenario,omitempty"`
	Measure  string  `json:"measure"`
	Unit     string  `json:"unit,omitempty"`
	Rule     Rule    `json:"rule"`
	Verdict  Verdict `json:"verdict"`
	// Before and After are the values, means over trials.
	Before measure.Value `json:"before"`
	After  measure.Value `json:"after"`
	// BeforeText and AfterText are the values of a measure that is not a number.
	BeforeText string `json:"before_text,omitempty"`
	AfterText  string `json:"after_text,omitempty"`
	// Effect is After less Before, with its interval where the rule has one; nil
	// where there is no difference to tell. Of Paired it is the Hodges-Lehmann
	// estimate, which need not be the difference of the means.
	Effect *measure.Value `json:"effect,omitempty"`
	// P is the p-value of the test, made jointly with the other measures of its family, and
	// Adjusted that after correction for all families of the comparison; nil where no
	// p-value could have been small enough.
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// Why explains the verdict in a sentence.
	Why string `json:"why"`

	// lost is true where it was known before and is not now, open where it looks worse and
	// there are too few trials to decide that. Neither is ever green.
	lost, open bool
}

// Bar is a changed expectation: a change of the demands, not of the agent's behaviour.
type Bar struct {
	// Scenario is empty for what holds for all, such as the rules of the comparison.
	Scenario string `json:"scenario,omitempty"`
	// What has changed, by its key: "expect.calls", "price", "digest", "rules.cost".
	What string `json:"what"`
	// Before and After are its two forms, as text; empty where there was or is none.
	Before string `json:"before"`
	After  string `json:"after"`
}

// Finding is an observation on a scenario, or on the runs as a whole if its name is
// empty. Its rules are "regression", "missing-scenario", "new-scenario" and
// "moved-bar", which fail; "not-told", "too-few-trials", "nothing-told",
// "nothing-compared", "missing-trials", "not-carried-out" and "counts", with which nothing can be told;
// and "better", "price-date", "tool", "labels" and "skipped", which are notes.
type Finding struct {
	Scenario string `json:"scenario,omitempty"`
	// Measure is that of a comparison: of "regression", "better" and "not-told".
	Measure string `json:"measure,omitempty"`
	gate.Finding
}

// Result is a comparison of two runs.
type Result struct {
	Schema string `json:"schema"`
	// Before and After name what is compared: a run's id or a baseline's file.
	Before string `json:"before"`
	After  string `json:"after"`
	// Verdict is fail if anything is worse, missing, not blessed or a bar was moved,
	// and error if it cannot be told.
	Verdict gate.Verdict `json:"verdict"`
	// Comparisons are sorted by scenario and measure; equal ones are left out and
	// counted in Equal.
	Comparisons []Comparison `json:"comparisons"`
	Equal       int          `json:"equal"`
	// Bars are the changed expectations.
	Bars []Bar `json:"bars,omitempty"`
	// Missing are scenarios that only Before has, New those that only After has.
	Missing []string `json:"missing,omitempty"`
	New     []string `json:"new,omitempty"`
	// Findings are all that decides the verdict, in words, sorted by scenario.
	Findings []Finding `json:"findings,omitempty"`
	// Bless is the command that would accept After as it is.
	Bless string `json:"bless,omitempty"`
}

// Check returns an error if a part does not follow from the rest, as in an edited file: the
// verdict is that of the findings, and all that is worse or moved has one.
func (r *Result) Check() error {
	if want := verdictOf(r.Findings); r.Verdict != want {
		return fmt.Errorf("the verdict is %s, and that of its findings %s", r.Verdict, want)
	}
	for i := range r.Comparisons {
		x := &r.Comparisons[i]
		told := func(f Finding) bool {
			return f.Scenario == x.Scenario && f.Measure == x.Measure && f.Severity == gate.Failing
		}
		if x.Verdict == Worse && !slices.ContainsFunc(r.Findings, told) {
			return fmt.Errorf("%s of %q is worse, and no finding says so", x.Measure, x.Scenario)
		}
	}
	if r.Verdict == gate.Pass && len(r.Bars)+len(r.Missing)+len(r.New) > 0 {
		return fmt.Errorf("the verdict is pass, although there are moved bars (%d), missing scenarios (%d) or new ones (%d)", len(r.Bars), len(r.Missing), len(r.New))
	}
	return nil
}

// verdictOf is the verdict that findings make.
func verdictOf(findings []Finding) gate.Verdict {
	all := make([]gate.Finding, len(findings))
	for i, f := range findings {
		all[i] = f.Finding
	}
	return gate.VerdictOf(all)
}

// Options are how runs are compared. The zero value is valid.
type Options struct {
	// Rules are the margins; zero means those of the run before, or the default if
	// it has none. Others than it has are a moved bar.
	Rules Rules
	// Findings are what the caller knows of the runs beside their measures, such as
	// that one was interrupted. They count for the verdict.
	Findings []gate.Finding
	// Resamples are those of the bootstrap; 0 means 2,000. Seed is its seed.
	Resamples int
	Seed      uint64
}

// The bounds of Options.Resamples.
const (
	defaultResamples = 2000
	maxResamples     = 1_000_000
)

// Validate returns an error if the options are not valid.
func (o *Options) Validate() error {
	if (o.Rules != Rules{}) {
		if err := o.Rules.Validate(); err != nil {
			return err
		}
	}
	if o.Resamples != 0 && (o.Resamples < 100 || o.Resamples > maxResamples) {
		return fmt.Errorf("%d resamples: between 100 and %d are possible", o.Resamples, maxResamples)
	}
	return nil
}

// rules are those to compare by. Rules that cannot be used count as none.
func (o *Options) rules(before Rules) Rules {
	list := []Rules{o.Rules, before, DefaultRules()}
	return list[slices.IndexFunc(list, func(r Rules) bool { return r.Validate() == nil })]
}
