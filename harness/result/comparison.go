package result

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Verdict is the result of a comparison for its variant.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Equivalent means that the difference is smaller than the smallest effect of interest, by two
	// one-sided tests, whether or not there is a difference.
	Equivalent Verdict = "equivalent"
	// Undecided means that the data does not decide.
	Undecided Verdict = "undecided"
)

// UnmarshalText implements encoding.TextUnmarshaler; an unknown verdict is an error.
func (v *Verdict) UnmarshalText(text []byte) error {
	switch is := Verdict(text); is {
	case Better, Worse, Equivalent, Undecided:
		*v = is
		return nil
	}
	return fmt.Errorf("%q is not a verdict", text)
}

// Comparison compares one variant with another by one measure. Trials are paired by scenario,
// number and seed.
type Comparison struct {
	// Variant is compared with Against; the verdict is about Variant.
	Variant string  `json:"variant"`
	Against string  `json:"against"`
	Measure string  `json:"measure"`
	Unit    string  `json:"unit,omitempty"`
	Role    Role    `json:"role"`
	Verdict Verdict `json:"verdict"`
	// Before is the mean of Against and After that of Variant, over the pairs.
	Before measure.Value `json:"before"`
	After  measure.Value `json:"after"`
	// Effect is the mean of Variant minus that of Against, with equal weights for all scenarios.
	// Its interval is at level 1 - alpha, whatever the number of looks, and not corrected for the
	// number of comparisons, unlike P and Adjusted. N counts pairs of trials, or scenarios if the
	// scope is "alike".
	Effect measure.Value `json:"effect"`
	// Relative is the effect as a share of Before; nil if that is 0.
	Relative *float64 `json:"relative,omitempty"`
	// Pairs counts the compared pairs of trials, Scenarios their scenarios, Missing the pairs with
	// an unknown value.
	Pairs     int `json:"pairs"`
	Scenarios int `json:"scenarios"`
	Missing   int `json:"missing,omitempty"`
	// P is the two-sided p-value of no difference, valid for any number of looks; Adjusted is P
	// after Holm's correction over all comparisons of its role. Nil if nothing could be tested.
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// EquivalenceP is the p-value that the difference is as large as the smallest effect of
	// interest (two one-sided tests), EquivalenceAdjusted that after Holm's correction. Nil if not
	// tested: without a smallest effect, and before the last look for a measure without a declared
	// range that is not a share.
	EquivalenceP        *float64 `json:"p_equivalence,omitempty"`
	EquivalenceAdjusted *float64 `json:"p_equivalence_adjusted,omitempty"`
	// NotWorseP is the one-sided p-value that Variant is worse than Against by the smallest effect
	// of interest or more (a test of non-inferiority), NotWorseAdjusted that after Holm's
	// correction. Nil if not tested.
	NotWorseP        *float64 `json:"p_not_worse,omitempty"`
	NotWorseAdjusted *float64 `json:"p_not_worse_adjusted,omitempty"`
	// Power is the probability of finding the smallest effect of interest with the planned number
	// of trials and the observed spread; nil if unknown.
	Power *float64 `json:"power,omitempty"`
	// Needed is the number of trials of each variant in each scenario, or of scenarios if the
	// scope is "alike", that would decide with the same means and spread. 0 if it is decided, or
	// no number is enough.
	Needed int `json:"needed,omitempty"`
	// NeededNotWorse is the number that would show that Variant is not worse, counted like Needed.
	// 0 if that is shown, or no number is enough.
	NeededNotWorse int `json:"needed_not_worse,omitempty"`
	// ByScenario are the mean differences of the scenarios.
	ByScenario []ScenarioEffect `json:"by_scenario,omitempty"`
	// Shown are the pairs of trials that differ most in each scenario, or its first pair if all are
	// equal. Only comparisons by the primary measure have them.
	Shown []Pair `json:"shown,omitempty"`
	// Why explains the verdict in a sentence.
	Why      string   `json:"why"`
	Warnings []string `json:"warnings,omitempty"`
}

// NotWorse reports whether Variant is shown, at level alpha, not to be worse than Against by the
// smallest effect of interest or more.
func (c *Comparison) NotWorse(alpha float64) bool {
	switch c.Verdict {
	case Better, Equivalent:
		return true
	case Worse:
		return false
	case Undecided:
	}
	return c.NotWorseAdjusted != nil && *c.NotWorseAdjusted <= alpha
}

// ScenarioEffect is the difference in one scenario; it decides nothing by itself.
type ScenarioEffect struct {
	Scenario string  `json:"scenario"`
	Pairs    int     `json:"pairs"`
	Before   float64 `json:"before"`
	After    float64 `json:"after"`
}

// Pair is a trial of both variants with the same scenario, number and seed.
type Pair struct {
	Scenario string `json:"scenario"`
	Trial    int    `json:"trial"`
	Before   Side   `json:"before"`
	After    Side   `json:"after"`
}

// Side is the trial of one variant in a Pair.
type Side struct {
	Verdict gate.Verdict `json:"verdict"`
	// Value is the primary measure; nil if it is unknown.
	Value *float64 `json:"value,omitempty"`
	// Text is the answer without secrets, and Hash identifies it in the file of answers. A text
	// beyond the limit of that file is empty, and one above 16 KiB lacks its middle.
	Text string `json:"text,omitempty"`
	Hash string `json:"hash,omitempty"`
	// Reasons are the scores of the answer.
	Reasons []Reason `json:"reasons,omitempty"`
}

// Reason is a score of an answer, such as the score of a judge, with its reason.
type Reason struct {
	Score string `json:"score"`
	Pass  bool   `json:"pass"`
	Why   string `json:"why,omitempty"`
}
