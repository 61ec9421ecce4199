// Package result defines the results of explorations and experiments as data. harness/explore and
// harness/experiment produce them; reports render them without linking an agent or the harness.
package result

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// Schema names the JSON form of a Result.
const ExperimentSchema = "rehearse.experiment-result/1"

// Result is the result of an experiment. It depends on the experiment's file, the
// scenarios and what the models answered, and on nothing else: not on the number of
// workers, and not on whether it was interrupted and taken up again.
type Experiment struct {
	Schema string `json:"schema"`
	// Tool is the program that ran it.
	Tool string `json:"tool,omitempty"`
	// Name, About and File are those of the experiment's file. Digest is the hash of all
	// that decides what is run: the file, the variants' scenarios and the seed.
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`
	File   string `json:"file,omitempty"`
	Digest string `json:"digest"`
	// Prices is the date of the price table.
	Prices string `json:"prices,omitempty"`
	Design Design `json:"design"`
	// Variants are in the order of the file, scenarios sorted by name.
	Variants  []Variant  `json:"variants"`
	Scenarios []Scenario `json:"scenarios"`
	// Comparisons are those by the primary measure, and then those by each secondary one.
	Comparisons []Comparison `json:"comparisons"`
	// Looks are the interim analyses, in order; at least the last.
	Looks []Look `json:"looks"`
	// Stopped is how the experiment ended.
	Stopped Stopped `json:"stopped"`
	// Used is what all of it took.
	Used Used `json:"used"`
	// Pareto has a point for each variant of which cost and quality are known.
	Pareto []Point `json:"pareto,omitempty"`
	// Tune is how the variants were found; nil where the file lists them.
	Tune *Tune `json:"tune,omitempty"`
	// Warnings are for a person.
	Warnings []string `json:"warnings,omitempty"`
}

// Design is what was decided before the first call.
type Design struct {
	// Trials is how many are planned of each variant in each scenario.
	Trials int    `json:"trials"`
	Seed   uint64 `json:"seed"`
	// Alpha bounds the probability of any false "better" or "worse" among the
	// comparisons by the primary measure; and so of any false "equivalent".
	Alpha float64 `json:"alpha"`
	// Power is what is wanted: the probability to find the smallest effect of interest.
	Power float64 `json:"power"`
	// Scope says what the verdicts are about.
	Scope Scope `json:"scope"`
	// Against is the variant that the others are compared with; empty where every pair is
	// compared.
	Against   string    `json:"against,omitempty"`
	Primary   Measure   `json:"primary"`
	Secondary []Measure `json:"secondary,omitempty"`
	// Spending is how alpha is spent over the looks: "none" where there is one look at
	// the end, else "obrien-fleming" or "pocock". Source says where the method is from.
	Spending string `json:"spending"`
	Looks    int    `json:"looks"`
	Source   string `json:"source,omitempty"`
	// MaxCalls and MaxCost are the caps; 0 and "" bound nothing.
	MaxCalls int    `json:"max_calls,omitempty"`
	MaxCost  string `json:"max_cost,omitempty"`
}

// Scope is what verdicts are about.
type Scope string

// The scopes.
const (
	// These is the scenarios themselves: intervals tell how much repeating the trials
	// would change the result.
	These Scope = "these"
	// Alike is scenarios of which these are a sample: intervals tell how much other
	// scenarios of the kind would change it. The mean difference of a scenario is then
	// one observation, however many trials it has.
	Alike Scope = "alike"
)

// Direction says which values of a measure are better.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Role is what a comparison is for.
type Role string

// The roles.
const (
	// Primary comparisons decide; there is one for each pair of variants.
	Primary Role = "primary"
	// Secondary ones explain; Holm's correction is over them by themselves.
	Secondary Role = "secondary"
)

// Measure is what variants are compared by.
type Measure struct {
	// Name is "pass", one of the measures of a trial, or the name that the file gives to
	// an expression.
	Name string `json:"name"`
	// Expr is the expression over the facts of a trial; empty for the others.
	Expr string `json:"expr,omitempty"`
	// Unit is "" for counts and shares, "EUR", "USD" or "s".
	Unit   string    `json:"unit,omitempty"`
	Better Direction `json:"better"`
	// Smallest is the smallest effect of interest, in the unit of the measure; 0 where
	// none is given, and then nothing is equivalent.
	Smallest float64 `json:"smallest_effect,omitempty"`
	// Range is the least and the greatest value that a trial can have, as the file declares
	// it; nil where it does not. Shares need none.
	Range []float64 `json:"range,omitempty"`
	// Share is true where a trial has 1 or 0: its mean is a share.
	Share bool `json:"share,omitempty"`
}

// Variant is one of those that were compared.
type Variant struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Settings are what it sets, in the order of their paths.
	Settings []Setting `json:"settings,omitempty"`
	// Trials counts its trials by how they ended.
	Trials Trials `json:"trials"`
	// Measures are means over its trials: the measures of the experiment first, then
	// "pass", "calls", "tokens", "cost_eur", "cost_usd" and "duration" where not among
	// those.
	Measures []measure.Value `json:"measures"`
	Used     Used            `json:"used"`
}

// Setting is a value that a variant sets on every scenario.
type Setting struct {
	// Path is where it stands in the scenario, such as "drive.loop.prompt".
	Path string `json:"path"`
	// Value is its text; File is where that was read, if it was.
	Value string `json:"value"`
	File  string `json:"file,omitempty"`
}

// Trials counts trials by their verdicts.
type Trials struct {
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Error int `json:"error,omitempty"`
	Skip  int `json:"skip,omitempty"`
}

// Scenario is one that was driven.
type Scenario struct {
	Name  string `json:"name"`
	File  string `json:"file,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Skipped says why it was not carried out; empty where it was.
	Skipped string `json:"skipped,omitempty"`
}

// Look is an interim analysis.
type Look struct {
	// Trials is how many each variant had in each scenario.
	Trials int `json:"trials"`
	// Spent is how much of alpha may have been spent by then, all looks together.
	Spent float64 `json:"spent"`
	// Level is the level, two-sided, at which a single comparison is tested then.
	Level float64 `json:"level"`
	// Decided counts comparisons by the primary measure that were decided then, of Of.
	Decided int `json:"decided"`
	Of      int `json:"of"`
}

// Ending is how an experiment ended.
type Ending string

// The endings.
const (
	// Complete means that all trials were made.
	Complete Ending = "complete"
	// Decided means that it ended early, as every comparison was decided.
	Decided Ending = "decided"
	// Capped means that a cap on calls or cost was used up.
	Capped Ending = "capped"
	// Interrupted means that it can be taken up again. Nothing is decided then that no
	// planned look had decided.
	Interrupted Ending = "interrupted"
)

// UnmarshalText implements encoding.TextUnmarshaler: what is no ending is an error.
func (e *Ending) UnmarshalText(text []byte) error {
	switch is := Ending(text); is {
	case Complete, Decided, Capped, Interrupted:
		*e = is
		return nil
	}
	return fmt.Errorf("%q is not a way in which an experiment ends", text)
}

// Stopped says how an experiment ended.
type Stopped struct {
	As Ending `json:"as"`
	// Why says it in a sentence.
	Why string `json:"why"`
	// Trials were made, of Planned.
	Trials  int `json:"trials"`
	Planned int `json:"planned"`
}

// Used is what trials took. Those that were cut by a cap are counted.
type Used struct {
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
	// EUR and USD are lower bounds where CostKnown is false; Why says what is missing.
	EUR       float64 `json:"eur"`
	USD       float64 `json:"usd"`
	CostKnown bool    `json:"cost_known"`
	Why       string  `json:"why,omitempty"`
}

// Point is a variant on the plane of cost and quality.
type Point struct {
	Variant string `json:"variant"`
	// Cost is the mean of a trial, in EUR; Quality the primary measure, or "pass" where
	// that is the cost itself.
	Cost    measure.Value `json:"cost"`
	Quality measure.Value `json:"quality"`
	// Better says which quality is better.
	Better Direction `json:"better"`
	// Dominated names variants that are at least as good at no more cost, and better in
	// one of the two, by their means; none where the point is on the front.
	Dominated []string `json:"dominated,omitempty"`
}

// Tune is how a search for a variant went.
type Tune struct {
	// Search is "greedy" or "halving".
	Search string `json:"search"`
	// Base is the variant to beat.
	Base string `json:"base"`
	// Rounds are those of the search, on the training scenarios.
	Rounds []Round `json:"rounds"`
	// Training and HeldOut are the scenarios of either part.
	Training []string `json:"training"`
	HeldOut  []string `json:"held_out"`
	// Chosen is the candidate that was held against the base on the held-out scenarios.
	Chosen string `json:"chosen,omitempty"`
	// Promoted is true only if it was better there, by the verdict of the result's
	// comparison. Why says what led to that.
	Promoted bool   `json:"promoted"`
	Why      string `json:"why"`
	// Text is the promoted text; empty where nothing was promoted.
	Text string `json:"text,omitempty"`
	// Used is what the search took, beside what Result.Used tells of the last comparison.
	Used Used `json:"used"`
}

// Round is one round of a search.
type Round struct {
	// About says what was tried.
	About      string      `json:"about"`
	Candidates []Candidate `json:"candidates"`
	// Kept names those that went on.
	Kept []string `json:"kept"`
}

// Candidate is a variant that was tried in a search.
type Candidate struct {
	Name string `json:"name"`
	// Choice is the option that was taken of each fragment, by the fragment's name.
	Choice map[string]string `json:"choice"`
	// Score is the primary measure on the training scenarios.
	Score measure.Value `json:"score"`
}
