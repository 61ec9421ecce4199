package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Builder builds a report trial by trial. Its memory grows with the number of scenarios, not of
// trials. The zero value is ready to use; it is not safe for concurrent use.
type Builder struct {
	// Run has the head of the recording and the number of planned scenarios.
	Run record.Run
	// Interrupted is true if the run ended before its plan was done.
	Interrupted bool
	// Stopped names the budget or the failures that ended the run; empty if none did.
	Stopped string
	// FailFast is true if the run was to end at its failures, and did.
	FailFast bool
	// NotRun names the planned scenarios without a trial.
	NotRun []string
	// Extensions are the extensions whose metrics the report has.
	Extensions []measure.Extension

	problems  []string
	more      int // further problems
	scenarios map[string]*building
	trials    Count
	totals    measure.Totals
	agents    *measure.AgentTotals
}

// building is a scenario of a Builder.
type building struct {
	head     record.Scenario
	status   string
	trials   Count
	measures measure.Totals
	agents   *measure.AgentTotals
	findings []gate.Finding
	more     int
	last     *measure.LastCall // of the first trial that did not pass
	log      string            // of the same trial
}

// mixed is the status of a scenario whose trials have different statuses.
const mixed = "mixed"

// maxProblems limits the problems of a report.
const maxProblems = 100

// maxKept limits the size of each text of a finding, in bytes: evidence can be a model's whole
// answer.
const maxKept = 4 << 10

// Add adds a judged trial of a scenario. The trials of a scenario are numbered in the order of
// the calls; findings without a trial get that number.
func (b *Builder) Add(scenario record.Scenario, facts measure.Facts, findings []gate.Finding) {
	s := b.scenario(scenario)
	if status := valid(facts.Run.Status); s.trials.Total() == 0 {
		s.status = status
	} else if s.status != status {
		s.status = mixed
	}
	verdict := gate.VerdictOf(findings)
	s.trials.Add(verdict)
	b.trials.Add(verdict)
	s.measures.Add(facts)
	b.totals.Add(facts)
	s.agents.Add(&facts)
	b.agents.Add(&facts)
	if failed(verdict) && s.trials.Fail+s.trials.Error == 1 {
		s.last, s.log = shortened(facts.Last), limitedLines(facts.Log)
	}
	for _, f := range findings {
		if len(s.findings) >= maxFindings {
			s.more++
			continue
		}
		f.Trial = cmp.Or(f.Trial, s.trials.Total())
		f.Message, f.Evidence, f.Expected, f.Actual = limited(f.Message), limitedLines(f.Evidence), limited(f.Expected), limited(f.Actual)
		s.findings = append(s.findings, f)
	}
}

// scenario returns the state of a scenario, which it creates at the first call.
func (b *Builder) scenario(head record.Scenario) *building {
	if s, ok := b.scenarios[head.Name]; ok {
		return s
	}
	if b.scenarios == nil {
		b.scenarios = map[string]*building{}
		b.agents = measure.NewAgentTotals(b.Extensions)
	}
	s := &building{head: head, agents: measure.NewAgentTotals(b.Extensions)}
	b.scenarios[head.Name] = s
	return s
}

// Problem adds a problem of the recording. The verdict of the run is then error.
func (b *Builder) Problem(text string) {
	if len(b.problems) >= maxProblems {
		b.more++
		return
	}
	b.problems = append(b.problems, limited(text))
}

// Close returns the report. It may be called more than once, with trials added in between.
func (b *Builder) Close() Report {
	r := Report{
		Schema: Schema,
		Run: Run{
			ID: b.Run.ID, Tool: b.Run.Tool, Prices: b.Run.Prices, EURPerUSD: b.Run.EURPerUSD, RateDate: b.Run.RateDate, Labels: b.Run.Labels,
		},
		Interrupted: b.Interrupted,
		Stopped:     limited(b.Stopped),
		FailFast:    b.FailFast,
		Totals:      Totals{Trials: b.trials, Measures: b.totals.Close().Sums, Agents: b.agents.Close()},
		Scenarios:   make([]Scenario, 0, len(b.scenarios)),
		NotRun:      append([]string{}, slices.Sorted(slices.Values(b.NotRun))...),
		Problems:    append([]string{}, b.problems...),
	}
	if b.more > 0 {
		r.Problems = append(r.Problems, "and "+format.Count(b.more, "more problem"))
	}
	if missing := b.Run.Scenarios - len(b.scenarios) - len(b.NotRun); missing > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d of %s planned are missing from the recording",
			missing, format.Count(b.Run.Scenarios, "scenario")))
	}
	for _, name := range slices.Sorted(maps.Keys(b.scenarios)) {
		s := b.scenarios[name].close(b.FailFast)
		r.Totals.Scenarios.Add(s.Verdict)
		r.Scenarios = append(r.Scenarios, s)
	}
	if r.Verdict = r.Totals.Scenarios.Verdict(); len(r.Problems) > 0 || r.Stopped != "" && !r.FailFast {
		r.Verdict = gate.Error
	}
	if r.Interrupted && r.Verdict != gate.Fail {
		r.Verdict = gate.Error // a part of the plan does not represent the whole
	}
	return r
}

// close returns the result. With failFast, trials after a failed one are not missed.
func (s *building) close(failFast bool) Scenario {
	head := s.head
	out := Scenario{
		Name: head.Name, File: head.File, Where: head.Where, About: head.About, Proves: head.Proves, Tags: head.Tags,
		Agent: head.Agent, Backend: head.Backend, Model: head.Model, Seed: head.Seed, Digest: head.Digest,
		Verdict: s.trials.Verdict(), Status: s.status, Planned: head.Trials, Trials: s.trials,
		PassRate: passRate(s.trials), Flaky: s.trials.Pass > 0 && s.trials.Fail > 0, Repeats: repeats(s.trials),
		Measures: s.measures.Close().Means, Agents: s.agents.Close(),
		Findings: append([]gate.Finding{}, s.findings...), MoreFindings: s.more, Perturb: head.Perturb,
		LastCall: s.last, Log: s.log,
	}
	endedEarly := failFast && s.trials.Fail+s.trials.Error > 0
	if missing := head.Trials - s.trials.Total(); missing > 0 && !endedEarly {
		// The judged trials do not represent the missing ones.
		out.Verdict = gate.Error
		out.Findings = append(out.Findings, gate.Finding{
			Severity: gate.Broken, Rule: "missing-trials",
			Message: fmt.Sprintf("%d of %s have no result", missing, format.Count(head.Trials, "trial")),
		})
	}
	return out
}

// shortened returns a call with texts of limited size.
func shortened(c *measure.LastCall) *measure.LastCall {
	if c == nil {
		return nil
	}
	short := *c
	for _, text := range []*string{&short.Purpose, &short.Model, &short.Request, &short.Reply, &short.Error} {
		*text = limited(*text)
	}
	return &short
}

// limited returns text as valid UTF-8 of limited size.
func limited(text string) string {
	if len(text) > maxKept {
		cut := maxKept
		for cut > maxKept-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return valid(text)
}

// limitedLines is limited for the output of programs, which often ends with what matters: it drops lines between
// the first and the last ones.
func limitedLines(text string) string {
	if len(text) <= maxKept || strings.Count(text, "\n") < 2 {
		return limited(text)
	}
	const note, head = "…\n", maxKept / 4
	before := text[:strings.LastIndexByte(text[:head], '\n')+1]
	after := text[len(text)-(maxKept-len(before)-len(note)):]
	if _, whole, ok := strings.Cut(after, "\n"); ok && whole != "" {
		after = whole
	}
	return valid(before + note + after)
}

// valid replaces invalid UTF-8 as JSON does, so a report from a run equals one from its
// recording.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
