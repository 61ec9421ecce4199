package result

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Verdict is the result of a comparison for its variant.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Equivalent means that the difference is smaller than the smallest effect of
	// interest, by two one-sided tests, whether or not there is a difference.
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

// Comparison compares one variant with another by one measure. Trials are paired: of
// the same scenario, with the same number and the same seed.
type Comparison struct {
	// Variant is what the verdict is about, Against what it is compared with.
	Variant string  `json:"variant"`
	Against string  `json:"against"`
	Measure string  `json:"measure"`
	Unit    string  `json:"unit,omitempty"`
	Role    Role    `json:"role"`
	Verdict Verdict `json:"verdict"`
	// Before is the mean of Against and After that of Variant, over the pairs.
	Before measure.Value `json:"before"`
	After  measure.Value `json:"after"`
	// Effect is the mean of Variant less that of Against, every scenario weighing the
	// same. Its interval is at level 1 - alpha, whatever the number of looks; not
	// corrected for the number of comparisons, as P and Adjusted are. N counts pairs of
	// trials, or scenarios where the scope is "alike".
	Effect measure.Value `json:"effect"`
	// Relative is the effect as a share of Before; nil where that is 0.
	Relative *float64 `json:"relative,omitempty"`
	// Pairs of trials were compared, in Scenarios scenarios; Missing pairs were not, as a
	// value of theirs is unknown.
	Pairs     int `json:"pairs"`
	Scenarios int `json:"scenarios"`
	Missing   int `json:"missing,omitempty"`
	// P is the p-value, two-sided, that there is no difference, valid whatever the number
	// of looks; Adjusted that after Holm's correction over all comparisons of its role.
	// Nil where nothing could be tested.
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// EquivalenceP is the p-value that the difference is as large as the smallest effect
	// of interest (two one-sided tests), EquivalenceAdjusted that after Holm's correction.
	// Nil where that is not tested: without a smallest effect, and of a measure that is no
	// share before the last look and without a declared range.
	EquivalenceP        *float64 `json:"p_equivalence,omitempty"`
	EquivalenceAdjusted *float64 `json:"p_equivalence_adjusted,omitempty"`
	// NotWorseP is the one-sided p-value that Variant is worse than Against by the smallest
	// effect of interest or more (a test of non-inferiority), NotWorseAdjusted that after
	// Holm's correction. Nil where that is not tested.
	NotWorseP        *float64 `json:"p_not_worse,omitempty"`
	NotWorseAdjusted *float64 `json:"p_not_worse_adjusted,omitempty"`
	// Power is the probability to find the smallest effect of interest by the planned
	// number of trials, with the spread that was seen; nil where that is not known.
	Power *float64 `json:"power,omitempty"`
	// Needed is how much would decide if value and spread stay as they are: so many
	// trials of each variant in each scenario, or where the scope is "alike" so many
	// scenarios with as many trials. 0 where it is decided, or no number is enough.
	Needed int `json:"needed,omitempty"`
	// NeededNotWorse is how much would show that Variant is not worse, counted as Needed is.
	// 0 where that is shown, or no number is enough.
	NeededNotWorse int `json:"needed_not_worse,omitempty"`
	// ByScenario are the scenarios' own mean differences.
	ByScenario []ScenarioEffect `json:"by_scenario,omitempty"`
	// Why explains the verdict in a sentence.
	Why      string   `json:"why"`
	Warnings []string `json:"warnings,omitempty"`
}

// NotWorse reports whether it is shown, at level alpha, that Variant is not worse than
// Against by the smallest effect of interest or more.
func (c *Comparison) NotWorse(alpha float64) bool {
	switch c.Verdict {
	case Better, Equivalent:
		return true
	case Worse:
		return false
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
