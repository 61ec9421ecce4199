package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/stat"
)

// Schema names the format of the file.
const baselineSchema = "rehearse.baseline/1"

// File is the name of the file if the user gives no other.
const BaselineFile = "rehearse.baseline.json"

// MaxTrials is how many trials' values are kept of a measure.
const MaxTrials = 200

// MinTimed is the least number of trials with which times of real processes are
// kept: with fewer no test can tell a difference from chance, and each blessing
// would write the noise of one machine into the file.
const MinTimed = 6

// Baseline is a run summed up. It holds no date, id or fact about a machine.
type Baseline struct {
	// Run and Tool name a run and the program that made it; they are not in the file.
	Run, Tool string
	// Prices is the date of the price table (YYYY-MM-DD).
	Prices string
	// Rules are those by which runs are compared with it.
	Rules Rules
	// Scenarios are sorted by name, which is unique.
	Scenarios []Scenario
}

// Rules are the margins within which a difference does not matter.
type Rules struct {
	// Alpha is the share of comparisons without any difference that may be called
	// worse or better, over all tests of a comparison together; in (0, 1).
	Alpha float64 `json:"alpha"`
	// Margin is the smallest difference of interest in what varies from trial to
	// trial, relative to the value before: 0.05 is 5 %. At least 0, as the others.
	Margin float64 `json:"margin"`
	// Cost and Tokens are the relative differences of them that do not matter.
	Cost   float64 `json:"cost"`
	Tokens float64 `json:"tokens"`
}

// DefaultRules are those of a first blessing.
func DefaultRules() Rules { return Rules{Alpha: 0.05, Margin: 0.05, Cost: 0.05, Tokens: 0.05} }

// Scenario is one scenario, all its trials together.
type Scenario struct {
	Name string
	// File is where the scenario was read; it is not in the file.
	File string
	// RealTime is true where times are those of the wall clock.
	RealTime bool
	Verdict  gate.Verdict
	// Status is the agent's end status; Mixed where trials differ.
	Status string
	Trials Trials
	// Ends are those of trials 1, 2, ..., at most MaxTrials, the zero End for one that
	// is missing; a single one stands for all where they are alike.
	Ends []End
	// Bar is what is demanded and of what, in words, by key: "expect.calls" is "exactly
	// 3", "limits.max_iterations" is "10", "digest" the hash of the scenario file and of
	// all files that it names.
	Bar map[string]string
	// Measures are sorted by name.
	Measures []Measure
	// Stops are the judgements of a stop guard on labelled answers in the first trial,
	// a letter for each (measure.StopFacts.Outcomes).
	Stops string
}

// End is how a trial ended.
type End struct {
	Verdict  gate.Verdict `json:"verdict"`
	Status   string       `json:"status"`
	ExitCode int          `json:"exit_code"`
}

// End is that of trial n, from 1; false if there is none, or it was not kept.
func (s *Scenario) End(n int) (End, bool) {
	switch {
	case n < 1 || n > s.Trials.Planned || len(s.Ends) == 0:
		return End{}, false
	case len(s.Ends) == 1:
		return s.Ends[0], true
	case n > len(s.Ends):
		return End{}, false
	}
	return s.Ends[n-1], s.Ends[n-1] != End{}
}

// Mixed stands for the status of a scenario whose trials ended differently.
const Mixed = "mixed"

// Trials counts trials by verdict.
type Trials struct {
	// Planned is how many there were to be.
	Planned int `json:"planned"`
	Pass    int `json:"pass"`
	Fail    int `json:"fail,omitempty"`
	Error   int `json:"error,omitempty"`
	Skip    int `json:"skip,omitempty"`
}

// Total is how many were judged.
func (t Trials) Total() int { return t.Pass + t.Fail + t.Error + t.Skip }

func (t *Trials) add(v gate.Verdict) {
	switch v {
	case gate.Pass:
		t.Pass++
	case gate.Fail:
		t.Fail++
	case gate.Skip:
		t.Skip++
	default:
		t.Error++
	}
}

// Measure is one measure over the trials of a scenario. Values have twelve digits
// that count, so that sums in another order are the same.
type Measure struct {
	Name string
	// Unit is "" for counts, "EUR" or "s".
	Unit string
	// Known is false where something is missing, in any trial; Value, if there is one,
	// is then a lower bound.
	Known bool
	// Value is the mean over the trials; nil where there is nothing to tell.
	Value *float64
	// N is how many trials have a value.
	N int
	// Interval is that of the mean; nil where N or equal values allow none.
	Interval *stat.Interval
	// Trials are the values of trials 1, 2, ..., at most MaxTrials, nil for one without;
	// the list is nil where each trial has Value.
	Trials []*float64
}

// At is the value in trial n, from 1; false if there is none, or it was not kept.
func (m *Measure) At(n int) (float64, bool) {
	if m.Trials == nil {
		if m.Value == nil || n < 1 || n > m.N {
			return 0, false
		}
		return *m.Value, true
	}
	if n < 1 || n > len(m.Trials) || m.Trials[n-1] == nil {
		return 0, false
	}
	return *m.Trials[n-1], true
}

// Find returns the scenario of that name.
func (b *Baseline) Find(name string) (Scenario, bool) {
	i, ok := slices.BinarySearchFunc(b.Scenarios, name, func(s Scenario, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return Scenario{}, false
	}
	return b.Scenarios[i], true
}

// Measure returns the measure of that name.
func (s *Scenario) Measure(name string) (Measure, bool) {
	i := slices.IndexFunc(s.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return s.Measures[i], true
}

// Validate says which of the rules cannot be.
func (r Rules) Validate() error {
	if !(r.Alpha > 0 && r.Alpha < 1) {
		return fmt.Errorf("alpha is %g; it must lie between 0 and 1", r.Alpha)
	}
	for _, margin := range []struct {
		name  string
		value float64
	}{{"margin", r.Margin}, {"cost", r.Cost}, {"tokens", r.Tokens}} {
		if !(margin.value >= 0 && margin.value <= maxMargin) {
			return fmt.Errorf("%s is %g; it must lie between 0 and %d", margin.name, margin.value, maxMargin)
		}
	}
	return nil
}

// maxMargin is the largest margin: 100 times the value before.
const maxMargin = 100
