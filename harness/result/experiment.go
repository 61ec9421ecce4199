// Package result defines the results of explorations and experiments as data. harness/explore and
// harness/experiment produce them; reports render them without linking an agent or the harness.
package result

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// ExperimentSchema identifies the JSON form of an Experiment.
const ExperimentSchema = "rehearse.experiment-result/1"

// Experiment is the result of an experiment. It depends only on the experiment's file, the
// scenarios and the answers of the models: neither on the number of workers nor on interruptions.
type Experiment struct {
	Schema string `json:"schema"`
	// Tool is the program that ran it.
	Tool string `json:"tool,omitempty"`
	// Name, About and File describe the experiment's file. Digest is the hash of everything that
	// decides what is run: the file, the variants' scenarios and the seed.
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
	// Comparisons by the primary measure come first, then those by each secondary one.
	Comparisons []Comparison `json:"comparisons"`
	// Looks are the interim analyses, in order; at least the final one.
	Looks []Look `json:"looks"`
	// Stopped describes how the experiment ended.
	Stopped Stopped `json:"stopped"`
	// Used is the total use of calls, tokens and money.
	Used Used `json:"used"`
	// Pareto has a point for each variant with known cost and quality.
	Pareto []Point `json:"pareto,omitempty"`
	// Tune describes the search for a variant; nil if the file lists the variants.
	Tune *Tune `json:"tune,omitempty"`
	// Warnings are for a person.
	Warnings []string `json:"warnings,omitempty"`
}

// Design is the plan of the experiment.
type Design struct {
	// Trials is the planned number of trials of each variant in each scenario.
	Trials int    `json:"trials"`
	Seed   uint64 `json:"seed"`
	// Alpha bounds the probability of any false "better" or "worse" among the comparisons by the
	// primary measure, and that of any false "equivalent".
	Alpha float64 `json:"alpha"`
	// Power is the wanted probability of finding the smallest effect of interest.
	Power float64 `json:"power"`
	// Scope is the population that the verdicts are about.
	Scope Scope `json:"scope"`
	// Against is the variant that the others are compared with; empty if every pair is compared.
	Against   string    `json:"against,omitempty"`
	Primary   Measure   `json:"primary"`
	Secondary []Measure `json:"secondary,omitempty"`
	// Spending is the alpha-spending function: "none" for a single analysis at the end, else
	// "obrien-fleming" or "pocock". Source cites the method.
	Spending string `json:"spending"`
	Looks    int    `json:"looks"`
	Source   string `json:"source,omitempty"`
	// MaxCalls and MaxCost are the caps; 0 and "" mean no cap.
	MaxCalls int    `json:"max_calls,omitempty"`
	MaxCost  string `json:"max_cost,omitempty"`
}

// Scope is the population that verdicts are about.
type Scope string

// The scopes.
const (
	// These are the scenarios themselves: intervals show the effect of repeating the trials.
	These Scope = "these"
	// Alike are similar scenarios, of which these are a sample: intervals show the effect of other
	// scenarios. The mean difference of a scenario is then one observation, however many trials it
	// has.
	Alike Scope = "alike"
)

// Direction names the better values of a measure.
type Direction string

// The directions.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Role is the purpose of a comparison.
type Role string

// The roles.
const (
	// Primary comparisons decide; there is one for each pair of variants.
	Primary Role = "primary"
	// Secondary comparisons explain; Holm's correction treats them separately.
	Secondary Role = "secondary"
)

// Measure is a quantity by which variants are compared.
type Measure struct {
	// Name is "pass", a measure of a trial, or the name of an expression in the file.
	Name string `json:"name"`
	// Expr is the expression over the facts of a trial; empty for other measures.
	Expr string `json:"expr,omitempty"`
	// Unit is "" for counts and shares, "EUR", "USD" or "s".
	Unit   string    `json:"unit,omitempty"`
	Better Direction `json:"better"`
	// Smallest is the smallest effect of interest, in the unit of the measure; 0 if not given, and
	// then nothing is equivalent.
	Smallest float64 `json:"smallest_effect,omitempty"`
	// Range is the smallest and the largest possible value of a trial, as declared by the file;
	// nil if not declared. Shares need none.
	Range []float64 `json:"range,omitempty"`
	// Share is true if the value of a trial is 1 or 0, so that the mean is a share.
	Share bool `json:"share,omitempty"`
}

// Variant is a compared variant.
type Variant struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
	// Settings are the values that it sets, sorted by path.
	Settings []Setting `json:"settings,omitempty"`
	// Trials counts its trials by verdict.
	Trials Trials `json:"trials"`
	// Measures are means over its trials: the measures of the experiment first, then those of
	// "pass", "calls", "tokens", "cost_eur", "cost_usd" and "duration" that are not among them.
	Measures []measure.Value `json:"measures"`
	Used     Used            `json:"used"`
}

// Setting is a value that a variant sets on every scenario.
type Setting struct {
	// Path is the key in the scenario, such as "drive.loop.prompt".
	Path string `json:"path"`
	// Value is the text; File is the file that it was read from, if any.
	Value string `json:"value"`
	File  string `json:"file,omitempty"`
}

// Trials counts trials by verdict.
type Trials struct {
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Error int `json:"error,omitempty"`
	Skip  int `json:"skip,omitempty"`
}

// Scenario is a scenario of the experiment.
type Scenario struct {
	Name  string `json:"name"`
	File  string `json:"file,omitempty"`
	Agent string `json:"agent,omitempty"`
	// Skipped explains why it was not carried out; empty if it was.
	Skipped string `json:"skipped,omitempty"`
}

// Look is an interim analysis.
type Look struct {
	// Trials is the number of trials of each variant in each scenario at that time.
	Trials int `json:"trials"`
	// Spent is the part of alpha that may have been spent so far.
	Spent float64 `json:"spent"`
	// Level is the two-sided level at which a single comparison is tested.
	Level float64 `json:"level"`
	// Decided counts the decided comparisons by the primary measure, out of Of.
	Decided int `json:"decided"`
	Of      int `json:"of"`
}

// Ending names how an experiment ended.
type Ending string

// The endings.
const (
	// Complete means that all trials were run.
	Complete Ending = "complete"
	// Decided means that it ended early, because every comparison was decided.
	Decided Ending = "decided"
	// Capped means that a cap on calls or cost was reached.
	Capped Ending = "capped"
	// Interrupted means that it can be resumed. It has no decisions beyond those of planned looks.
	Interrupted Ending = "interrupted"
)

// UnmarshalText implements encoding.TextUnmarshaler; an unknown ending is an error.
func (e *Ending) UnmarshalText(text []byte) error {
	switch is := Ending(text); is {
	case Complete, Decided, Capped, Interrupted:
		*e = is
		return nil
	}
	return fmt.Errorf("unknown ending %q", text)
}

// Stopped describes how an experiment ended.
type Stopped struct {
	As Ending `json:"as"`
	// Why explains it in a sentence.
	Why string `json:"why"`
	// Trials is the number of completed trials, out of Planned.
	Trials  int `json:"trials"`
	Planned int `json:"planned"`
}

// Used is the use of trials, including trials that a cap cut off.
type Used struct {
	Calls  int `json:"calls"`
	Tokens int `json:"tokens"`
	// EUR and USD are lower bounds unless CostKnown; Why explains an unknown cost.
	EUR       float64 `json:"eur"`
	USD       float64 `json:"usd"`
	CostKnown bool    `json:"cost_known"`
	Why       string  `json:"why,omitempty"`
}

// Point is a variant in the plane of cost and quality.
type Point struct {
	Variant string `json:"variant"`
	// Cost is the mean of a trial, in EUR; Quality is the primary measure, or "pass" if that is
	// the cost itself.
	Cost    measure.Value `json:"cost"`
	Quality measure.Value `json:"quality"`
	// Better names the better quality.
	Better Direction `json:"better"`
	// Dominated names variants that are, by their means, at least as good at no more cost, and
	// better in one of the two; empty for a point on the front.
	Dominated []string `json:"dominated,omitempty"`
}

// Tune describes a search for a variant.
type Tune struct {
	// Search is "greedy" or "halving".
	Search string `json:"search"`
	// Base is the variant to beat.
	Base string `json:"base"`
	// Rounds are the rounds of the search, on the training scenarios.
	Rounds []Round `json:"rounds"`
	// Training and HeldOut are the scenarios of either part.
	Training []string `json:"training"`
	HeldOut  []string `json:"held_out"`
	// Chosen is the candidate that was compared with the base on the held-out scenarios.
	Chosen string `json:"chosen,omitempty"`
	// Promoted is true only if the result's comparison found it better there. Why explains the
	// decision.
	Promoted bool   `json:"promoted"`
	Why      string `json:"why"`
	// Text is the promoted text; empty if nothing was promoted.
	Text string `json:"text,omitempty"`
	// Used is the use of the search, in addition to that of the final comparison in
	// Experiment.Used.
	Used Used `json:"used"`
}

// Round is one round of a search.
type Round struct {
	// About describes what was tried.
	About      string      `json:"about"`
	Candidates []Candidate `json:"candidates"`
	// Kept names the candidates that continued.
	Kept []string `json:"kept"`
}

// Candidate is a variant that was tried in a search.
type Candidate struct {
	Name string `json:"name"`
	// Choice maps each fragment to its chosen option.
	Choice map[string]string `json:"choice"`
	// Score is the primary measure on the training scenarios.
	Score measure.Value `json:"score"`
}
