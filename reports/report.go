// Package reports renders one value, the Report, for a terminal, CI and a reader.
// A report is built from measures and findings as a run goes on, or later from
// its recording alone, with the same result. The package starts nothing.
package reports

import (
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Schema names the JSON form of a Report.
const Schema = "rehearse.report/1"

// Report is what became of a run. It holds no wall-clock time: one run, one
// report, byte for byte.
type Report struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Verdict is the worst of the scenarios' verdicts, and of the comparison; fail if
	// the recording was altered, else error if there are problems, if the run was stopped,
	// or if it was interrupted and nothing had failed by then; and skip if no scenario was
	// judged.
	Verdict gate.Verdict `json:"verdict"`
	// Altered is true if the hash chain shows that lines of the recording were
	// changed, removed, inserted or reordered after the run; Problems names them.
	Altered bool `json:"altered,omitempty"`
	// Interrupted is true where the run was stopped before its plan was done.
	Interrupted bool `json:"interrupted"`
	// Stopped says which budget of the run was used up before its plan was done.
	Stopped string `json:"stopped,omitempty"`
	Totals  Totals `json:"totals"`
	// Scenarios are sorted by name.
	Scenarios []Scenario `json:"scenarios"`
	// NotRun names the planned scenarios of which no trial was judged, sorted.
	NotRun []string `json:"not_run"`
	// Problems say what is wrong with the recording itself: torn, changed.
	Problems []string `json:"problems"`
	// Comparison holds the run against its baseline; nil without one.
	Comparison *compare.Result `json:"comparison,omitempty"`
}

// Run says what was run, with what.
type Run struct {
	ID string `json:"id"`
	// Tool is the program's name and version.
	Tool string `json:"tool"`
	// Prices is the date of the price table (YYYY-MM-DD).
	Prices string            `json:"prices"`
	Labels map[string]string `json:"labels,omitempty"`
}

// Totals sum up all trials of all scenarios.
type Totals struct {
	Scenarios Count `json:"scenarios"`
	Trials    Count `json:"trials"`
	// Measures are sums over the trials, except for those of latency, which are
	// over all calls. The names are those of Scenario.Measures.
	Measures []measure.Value `json:"measures"`
	// Agents are the metrics that only some agents have. In JSON the values of each
	// extension are a key beside the others, by its name.
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

// Total is the sum over all verdicts.
func (c Count) Total() int { return c.Pass + c.Fail + c.Error + c.Skip }

// Add counts one more of verdict v; an unknown verdict counts as an error.
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

// Verdict is the worst that was counted, by the rule of gate.Overall: skip if
// nothing was, because then nothing has passed.
func (c Count) Verdict() gate.Verdict {
	var present []gate.Verdict
	for _, part := range c.parts() {
		if part.n > 0 {
			present = append(present, part.verdict)
		}
	}
	return gate.Overall(present)
}

// parts lists the counts in the order in which they are shown.
func (c Count) parts() []part {
	return []part{{c.Pass, gate.Pass}, {c.Fail, gate.Fail}, {c.Error, gate.Error}, {c.Skip, gate.Skip}}
}

type part struct {
	n       int
	verdict gate.Verdict
}

// Scenario is what became of one scenario, all its trials together.
type Scenario struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Where says in which line of File what demands something stands, by its key:
	// that of Finding.At.
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
	// Status is the agent's end status, or "mixed" where trials differ.
	Status string `json:"status"`
	// Planned is how many trials there were to be; Trials counts those judged.
	Planned int   `json:"planned"`
	Trials  Count `json:"trials"`
	// PassRate is the share of trials that passed among those that passed or
	// failed, with its interval.
	PassRate measure.Value `json:"pass_rate"`
	// Flaky is true where some trials passed and others failed.
	Flaky bool `json:"flaky,omitempty"`
	// Repeats say what several trials together are worth; nil where there was one.
	Repeats []Repeat `json:"repeats,omitempty"`
	// Measures are means over the trials, except for those of latency, which are
	// over all calls; in a fixed order.
	Measures []measure.Value `json:"measures"`
	// Agents are the metrics that only some agents have, as in Totals.
	Agents measure.AgentMetrics `json:"-"`
	// Findings are the first maxFindings, in order of trial.
	Findings []gate.Finding `json:"findings"`
	// MoreFindings is how many there are beyond Findings.
	MoreFindings int `json:"more_findings,omitempty"`
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

// Repeat is what k trials of a scenario together are worth.
type Repeat struct {
	K int `json:"k"`
	// PassAt is pass@k, the probability that at least one of k trials passes, and
	// PassAll is pass^k, that all of them do; see stat.PassAt and stat.PassAll.
	PassAt  measure.Value `json:"pass_at"`
	PassAll measure.Value `json:"pass_all"`
}

// maxFindings is how many findings of one scenario a report keeps.
const maxFindings = 20
