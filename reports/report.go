// Package reports renders one value, the Report, for a terminal, CI and a reader.
// A report is built from measures and findings during a run, or later from
// its recording alone, with the same result. The package starts nothing.
package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Schema names the JSON form of a Report.
const Schema = "rehearse.report/1"

// Report is the result of a run. It has no wall-clock time: the report of a run is always the
// same.
type Report struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Verdict is the worst verdict of the scenarios and the comparison. An altered recording
	// fails; problems, an exhausted budget and an interruption without a failure are errors;
	// without a judged scenario it is skip.
	Verdict gate.Verdict `json:"verdict"`
	// Altered is true if lines of the recording were changed, removed, inserted or reordered
	// after the run; Problems names them.
	Altered bool `json:"altered,omitempty"`
	// Interrupted is true if the run ended before its plan was done.
	Interrupted bool `json:"interrupted"`
	// Stopped names the budget or the failures that ended the run; empty if none did.
	Stopped string `json:"stopped,omitempty"`
	// FailFast is true if the run was to end at its failures, and did: the missing trials are no
	// further error.
	FailFast bool   `json:"fail_fast,omitempty"`
	Totals   Totals `json:"totals"`
	// Scenarios are sorted by name.
	Scenarios []Scenario `json:"scenarios"`
	// NotRun names the planned scenarios without a judged trial, sorted.
	NotRun []string `json:"not_run"`
	// Problems describe damage of the recording itself.
	Problems []string `json:"problems"`
	// Comparison compares the run with its baseline; nil without one.
	Comparison *compare.Result `json:"comparison,omitempty"`
}

// Run identifies a run and the program that made it.
type Run struct {
	ID string `json:"id"`
	// Tool is the program's name and version.
	Tool string `json:"tool"`
	// Prices is the date of the price table (YYYY-MM-DD).
	Prices string `json:"prices"`
	// EURPerUSD is the exchange rate of RateDate (YYYY-MM-DD); 0 if it is unknown.
	EURPerUSD float64           `json:"eur_per_usd,omitzero"`
	RateDate  string            `json:"rate_date,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Lines is the number of lines of the recording, and LastHash the hash of the last one: equal recordings,
	// and only these, have equal last hashes. Both are empty without a recording.
	Lines    int    `json:"lines,omitempty"`
	LastHash string `json:"last_hash,omitempty"`
}

// Facts returns what the cost was computed with, and what identifies the recording.
func (r Run) Facts() (list doc.Facts) {
	add := func(name string, value ...any) {
		list = append(list, doc.Fact{Name: name, Value: doc.Line(value...)})
	}
	if r.Prices != "" {
		add("prices of", doc.Quote(r.Prices))
	}
	if text := exchangeRate(r); text != "" {
		add("exchange rate", doc.Quote(text))
	}
	if r.LastHash != "" {
		add("recording", r.Lines, " lines, last hash ", doc.Quote(r.LastHash))
	}
	return list
}

// exchangeRate returns the exchange rate with its date; empty if it is unknown.
func exchangeRate(r Run) string {
	if r.EURPerUSD == 0 {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf("%.6g EUR per USD of %s", r.EURPerUSD, r.RateDate), " of ")
}

// Totals sum up all trials of all scenarios.
type Totals struct {
	Scenarios Count `json:"scenarios"`
	Trials    Count `json:"trials"`
	// Measures are sums over the trials, except for latencies, which are over all calls. The
	// names are those of Scenario.Measures.
	Measures []measure.Value `json:"measures"`
	// Agents are the metrics that only some agents have. In JSON the values of each extension
	// have their own key.
	Agents measure.AgentMetrics `json:"-"`
}

// totalsFields are the fields of Totals without its methods.
type totalsFields Totals

// MarshalJSON implements json.Marshaler.
func (t Totals) MarshalJSON() ([]byte, error) {
	return format.Marshal(struct {
		totalsFields
		Agents map[string][]measure.Value `json:",embed"`
	}{totalsFields(t), t.Agents.ByName()})
}

// Count counts by verdict.
type Count struct {
	Pass  int `json:"pass"`
	Fail  int `json:"fail"`
	Error int `json:"error"`
	Skip  int `json:"skip"`
}

// Total returns the sum over all verdicts.
func (c Count) Total() int { return c.Pass + c.Fail + c.Error + c.Skip }

// Join adds another count.
func (c *Count) Join(other Count) {
	c.Pass += other.Pass
	c.Fail += other.Fail
	c.Error += other.Error
	c.Skip += other.Skip
}

// Add counts a verdict; an unknown one is an error.
func (c *Count) Add(v gate.Verdict) {
	switch v {
	case gate.Pass:
		c.Pass++
	case gate.Fail:
		c.Fail++
	case gate.Skip:
		c.Skip++
	default:
		c.Error++
	}
}

// Verdict returns the worst verdict by the rule of gate.Overall; skip if nothing was counted.
func (c Count) Verdict() gate.Verdict {
	var present []gate.Verdict
	for _, part := range c.parts() {
		if part.n > 0 {
			present = append(present, part.verdict)
		}
	}
	return gate.Overall(present)
}

// parts returns the counts in the order of reports.
func (c Count) parts() []part {
	return []part{{c.Pass, gate.Pass}, {c.Fail, gate.Fail}, {c.Error, gate.Error}, {c.Skip, gate.Skip}}
}

type part struct {
	n       int
	verdict gate.Verdict
}

// Scenario is the result of all trials of a scenario.
type Scenario struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Where has the line in File of each key of Finding.At.
	Where   map[string]int `json:"where,omitempty"`
	About   string         `json:"about,omitempty"`
	Proves  []string       `json:"proves,omitempty"`
	Tags    []string       `json:"tags,omitempty"`
	Agent   string         `json:"agent"`
	Backend string         `json:"backend"`
	Model   string         `json:"model,omitempty"`
	Seed    uint64         `json:"seed"`
	// Digest is the hash of the scenario file and all files that it names.
	Digest  string       `json:"digest"`
	Verdict gate.Verdict `json:"verdict"`
	// Status is the end status of the agent, or "mixed" if the trials differ.
	Status string `json:"status"`
	// Planned is the number of planned trials; Trials counts the judged ones.
	Planned int   `json:"planned"`
	Trials  Count `json:"trials"`
	// PassRate is the share of passed trials among the passed and failed ones.
	PassRate measure.Value `json:"pass_rate"`
	// Flaky is true if some trials passed and others failed.
	Flaky bool `json:"flaky,omitempty"`
	// Repeats has pass@k and pass^k; nil for one trial.
	Repeats []Repeat `json:"repeats,omitempty"`
	// Measures are means over the trials, except for those of latency, which are
	// over all calls; in a fixed order.
	Measures []measure.Value `json:"measures"`
	// Agents are the metrics that only some agents have, as in Totals.
	Agents measure.AgentMetrics `json:"-"`
	// Findings are the first maxFindings, in the order of the trials.
	Findings []gate.Finding `json:"findings"`
	// MoreFindings counts further findings.
	MoreFindings int `json:"more_findings,omitempty"`
	// Perturb has the perturbations of the scenario.
	Perturb []string `json:"perturb,omitempty"`
	// LastCall is the last call of the first trial that did not pass, and Log the other output of
	// its agent, such as its standard error.
	LastCall *measure.LastCall `json:"last_call,omitempty"`
	Log      string            `json:"log,omitempty"`
}

// scenarioFields are the fields of Scenario without its methods.
type scenarioFields Scenario

// MarshalJSON implements json.Marshaler.
func (s Scenario) MarshalJSON() ([]byte, error) {
	return format.Marshal(struct {
		scenarioFields
		Agents map[string][]measure.Value `json:",embed"`
	}{scenarioFields(s), s.Agents.ByName()})
}

// Repeat is the success rate of k trials together.
type Repeat struct {
	K int `json:"k"`
	// PassAt is pass@k, the probability that at least one of k trials passes, and PassAll is
	// pass^k, that all pass; see stat.PassAt and stat.PassAll.
	PassAt  measure.Value `json:"pass_at"`
	PassAll measure.Value `json:"pass_all"`
}

// maxFindings limits the findings of one scenario.
const maxFindings = 20
