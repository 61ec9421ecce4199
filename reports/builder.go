package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Builder gathers a report trial by trial. Its memory grows with the number of
// scenarios and not with that of trials. The zero value is ready; it is not safe
// for concurrent use.
type Builder struct {
	// Run says what is run and how many scenarios were planned.
	Run record.Run
	// Interrupted says that the run was stopped before its plan was done.
	Interrupted bool
	// Stopped says which budget of the run was used up before its plan was done.
	Stopped string
	// NotRun names the planned scenarios of which no trial was added.
	NotRun []string
	// Extensions are those of which the report has metrics.
	Extensions []measure.Extension

	problems  []string
	more      int // problems beyond those kept
	scenarios map[string]*building
	trials    Count
	totals    measure.Totals
	agents    *measure.AgentTotals
}

// building is a scenario whose trials are being added.
type building struct {
	head     record.Scenario
	status   string
	trials   Count
	measures measure.Totals
	agents   *measure.AgentTotals
	findings []gate.Finding
	more     int
}

// mixed stands for the status of a scenario whose trials ended differently.
const mixed = "mixed"

// maxProblems is how many problems a report keeps.
const maxProblems = 100

// maxKept bounds each text of a finding, in bytes: evidence can be a model's
// whole answer.
const maxKept = 4 << 10

// Add adds a judged trial of scenario. The trials of a scenario are numbered in
// the order in which they are added; findings that name no trial get that number.
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
	for _, f := range findings {
		if len(s.findings) >= maxFindings {
			s.more++
			continue
		}
		f.Trial = cmp.Or(f.Trial, s.trials.Total())
		f.Message, f.Evidence = kept(f.Message), kept(f.Evidence)
		s.findings = append(s.findings, f)
	}
}

// scenario returns what is being built for a scenario, from its first mention on.
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

// Problem adds what is wrong with the recording. The run's verdict is then error.
func (b *Builder) Problem(text string) {
	if len(b.problems) >= maxProblems {
		b.more++
		return
	}
	b.problems = append(b.problems, kept(text))
}

// Close returns the report. It may be called more than once, and trials may be
// added in between.
func (b *Builder) Close() Report {
	r := Report{
		Schema:      Schema,
		Run:         Run{ID: b.Run.ID, Tool: b.Run.Tool, Prices: b.Run.Prices, Labels: b.Run.Labels},
		Interrupted: b.Interrupted,
		Stopped:     kept(b.Stopped),
		Totals:      Totals{Trials: b.trials, Measures: b.totals.Close().Sums, Agents: b.agents.Close()},
		Scenarios:   make([]Scenario, 0, len(b.scenarios)),
		NotRun:      append([]string{}, slices.Sorted(slices.Values(b.NotRun))...),
		Problems:    append([]string{}, b.problems...),
	}
	if b.more > 0 {
		r.Problems = append(r.Problems, "and "+format.Plural(b.more, "more problem"))
	}
	if missing := b.Run.Scenarios - len(b.scenarios) - len(b.NotRun); missing > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("%d of %s planned left no trace", missing, format.Plural(b.Run.Scenarios, "scenario")))
	}
	for _, name := range slices.Sorted(maps.Keys(b.scenarios)) {
		s := b.scenarios[name].close()
		r.Totals.Scenarios.Add(s.Verdict)
		r.Scenarios = append(r.Scenarios, s)
	}
	if r.Verdict = r.Totals.Scenarios.Verdict(); len(r.Problems) > 0 || r.Stopped != "" {
		r.Verdict = gate.Error
	}
	if r.Interrupted && r.Verdict != gate.Fail {
		r.Verdict = gate.Error // what passed cannot stand for what was not done
	}
	return r
}

func (s *building) close() Scenario {
	head := s.head
	out := Scenario{
		Name: head.Name, File: head.File, Where: head.Where, About: head.About, Proves: head.Proves, Tags: head.Tags,
		Agent: head.Agent, Backend: head.Backend, Model: head.Model, Seed: head.Seed, Digest: head.Digest,
		Verdict: s.trials.Verdict(), Status: s.status, Planned: head.Trials, Trials: s.trials,
		PassRate: passRate(s.trials), Flaky: s.trials.Pass > 0 && s.trials.Fail > 0, Repeats: repeats(s.trials),
		Measures: s.measures.Close().Means, Agents: s.agents.Close(),
		Findings: append([]gate.Finding{}, s.findings...), MoreFindings: s.more,
	}
	if missing := head.Trials - s.trials.Total(); missing > 0 {
		// What was judged cannot stand for what was not.
		out.Verdict = gate.Error
		out.Findings = append(out.Findings, gate.Finding{
			Severity: gate.Broken, Rule: "missing-trials",
			Message: fmt.Sprintf("%d of %s have no result", missing, format.Plural(head.Trials, "trial")),
		})
	}
	return out
}

// kept is text as a report keeps it: valid UTF-8 of a bounded length.
func kept(text string) string {
	if len(text) > maxKept {
		cut := maxKept
		for cut > maxKept-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return valid(text)
}

// valid replaces each byte that is not UTF-8, as JSON does, so that a report is
// the same whether it is built from a run or from its recording.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}
