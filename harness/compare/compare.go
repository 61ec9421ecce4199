// Package compare holds two runs of the same scenarios against each other, or a
// run against its baseline, and tells regression from noise.
package compare

import (
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/stat"
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
	// Paired is for what varies from trial to trial: a test over pairs of trials.
	Paired Rule = "paired"
	// Rate is for shares of passed trials.
	Rate Rule = "rate"
	// Detector is for detectors on labelled items: McNemar's test and the bootstrap
	// of F1.
	Detector Rule = "detector"
)

// Verdict is what a comparison says.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "worse"
	// Tied means that no difference that matters is left: the interval lies within
	// the smallest effect of interest.
	Tied Verdict = "tied"
	// Insufficient means that the data cannot tell.
	Insufficient Verdict = "insufficient data"
)

// Comparison is one measure of one scenario in both runs.
type Comparison struct {
	Scenario string  `json:"scenario"`
	Measure  string  `json:"measure"`
	Unit     string  `json:"unit,omitempty"`
	Rule     Rule    `json:"rule"`
	Verdict  Verdict `json:"verdict"`
	// Before and After are the values; nil text fields where unknown.
	Before measure.Value `json:"before"`
	After  measure.Value `json:"after"`
	// Effect is After less Before in the measure's unit, with its interval; nil
	// where there is none.
	Effect *stat.Summary `json:"effect,omitempty"`
	// P is the p-value of the test and Adjusted that after Holm's correction over
	// all tests of the comparison; nil where nothing was tested.
	P        *float64 `json:"p,omitempty"`
	Adjusted *float64 `json:"p_adjusted,omitempty"`
	// Why says in a sentence what led to the verdict.
	Why string `json:"why"`
}

// Bar is a changed bar: what is demanded, and not how the agent behaves.
type Bar struct {
	// Scenario is empty for what holds for all, such as prices.
	Scenario string `json:"scenario,omitempty"`
	// What has changed: "expect", "fixtures", "prices", "limits", ...
	What string `json:"what"`
	// Before and After are its two forms, as text.
	Before string `json:"before"`
	After  string `json:"after"`
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
	// Bars are those that were moved.
	Bars []Bar `json:"bars,omitempty"`
	// Missing are scenarios that only Before has, New those that only After has.
	Missing []string `json:"missing,omitempty"`
	New     []string `json:"new,omitempty"`
	// Findings are all that decides the verdict, in words.
	Findings []gate.Finding `json:"findings,omitempty"`
	// Bless is the command that would accept After as it is.
	Bless string `json:"bless,omitempty"`
}
