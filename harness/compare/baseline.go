package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/stat"
)

// baselineSchema identifies the format of the file.
const baselineSchema = "rehearse.baseline/1"

// BaselineFile is the default file name.
const BaselineFile = "rehearse.baseline.json"

// MaxTrials limits how many trials' values are stored for a measure.
const MaxTrials = 200

// MinTimed is the smallest number of trials for which times of real processes are stored. With
// fewer no test can find a difference, and each blessing would write the noise of one machine into
// the file.
const MinTimed = 6

// Baseline is the summary of a run. It contains no date, id or property of a machine.
type Baseline struct {
	// Run and Tool name the run and the program that made it; they are not stored in the file.
	Run, Tool string
	// Prices is the date of the price table (YYYY-MM-DD).
	Prices string
	// Rules decide how runs are compared with the baseline.
	Rules Rules
	// Scenarios are sorted by their unique name.
	Scenarios []Scenario
}

// Rules define which differences are too small to matter.
type Rules struct {
	// Alpha bounds the probability that a comparison of equal runs reports any difference, over
	// all of its tests; in (0, 1).
	Alpha float64 `json:"alpha"`
	// Margin is the smallest effect of interest in values that vary between trials, relative to
	// the value before: 0.05 is 5 %. Margins are at least 0.
	Margin float64 `json:"margin"`
	// Cost and Tokens are the relative differences in cost and tokens that do not matter.
	Cost   float64 `json:"cost"`
	Tokens float64 `json:"tokens"`
}

// DefaultRules returns the rules of a first baseline.
func DefaultRules() Rules { return Rules{Alpha: 0.05, Margin: 0.05, Cost: 0.05, Tokens: 0.05} }

// Scenario summarizes all trials of a scenario.
type Scenario struct {
	Name string
	// File is the path of the scenario; it is not stored in the file.
	File string
	// RealTime reports whether times are those of the wall clock.
	RealTime bool
	Verdict  gate.Verdict
	// Status is the agent's end status, or Mixed if trials differ.
	Status string
	Trials Trials
	// Ends lists how trials 1, 2, ... ended, at most MaxTrials. A missing trial has the zero End;
	// a single element stands for all trials if they ended alike.
	Ends []End
	// Expectations contains the expectations and settings as text, by key: "expect.calls" is "exactly 3",
	// "limits.max_iterations" is "10", "digest" is the hash of the scenario file and of all files
	// that it names.
	Expectations map[string]string
	// Files has the beginnings of the SHA-256 hashes of the scenario's files, by their paths from its folder: its own, those
	// that it names, and those of the agent's program, which are not part of the digest. It is nil if they are unknown.
	Files map[string]string
	// Measures are sorted by name.
	Measures []Measure
	// Stops has a letter for each judgement of a stop guard on a labelled answer in the first
	// trial (measure.StopFacts.Outcomes).
	Stops string
}

// End describes how a trial ended.
type End struct {
	Verdict  gate.Verdict `json:"verdict"`
	Status   string       `json:"status"`
	ExitCode int          `json:"exit_code"`
}

// End returns how trial n, counted from 1, ended; false if there is no such trial or it was not
// stored.
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

// Mixed is the status of a scenario whose trials ended differently.
const Mixed = "mixed"

// Trials counts trials by verdict.
type Trials struct {
	// Planned is the planned number of trials.
	Planned int `json:"planned"`
	Pass    int `json:"pass"`
	Fail    int `json:"fail,omitempty"`
	Error   int `json:"error,omitempty"`
	Skip    int `json:"skip,omitempty"`
}

// Total returns the number of judged trials.
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

// Measure summarizes one measure over the trials of a scenario. Values are rounded to twelve
// significant digits, which makes sums independent of their order.
type Measure struct {
	Name string
	// Unit is "" for counts, "EUR" or "s".
	Unit string
	// Known is false if a value is missing or incomplete in any trial; Value is then a lower
	// bound.
	Known bool
	// Value is the mean over the trials; nil if no trial has a value.
	Value *float64
	// N is the number of trials with a value.
	N int
	// Interval is the interval of the mean; nil if N is too small or all values are equal.
	Interval *stat.Interval
	// Trials contains the values of trials 1, 2, ..., at most MaxTrials, nil for a missing one.
	// The list is nil if every trial has Value.
	Trials []*float64
}

// At returns the value in trial n, counted from 1, and whether it exists and was stored.
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

// Find returns the scenario with a name.
func (b *Baseline) Find(name string) (Scenario, bool) {
	i, ok := slices.BinarySearchFunc(b.Scenarios, name, func(s Scenario, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return Scenario{}, false
	}
	return b.Scenarios[i], true
}

// Measure returns the measure with a name.
func (s *Scenario) Measure(name string) (Measure, bool) {
	i := slices.IndexFunc(s.Measures, func(m Measure) bool { return m.Name == name })
	if i < 0 {
		return Measure{}, false
	}
	return s.Measures[i], true
}

// Validate returns an error if a rule is out of range.
func (r Rules) Validate() error {
	if !(r.Alpha > 0 && r.Alpha < 1) {
		return fmt.Errorf("alpha must be between 0 and 1, got %g", r.Alpha)
	}
	for _, margin := range []struct {
		name  string
		value float64
	}{{"margin", r.Margin}, {"cost", r.Cost}, {"tokens", r.Tokens}} {
		if !(margin.value >= 0 && margin.value <= maxMargin) {
			return fmt.Errorf("%s must be between 0 and %d, got %g", margin.name, maxMargin, margin.value)
		}
	}
	return nil
}

// maxMargin is the largest margin: 100 times the value before.
const maxMargin = 100
