package reports_test

import (
	"fmt"

	interview "github.com/rehearse-dev/rehearse/agents/interview/kind"
	persist "github.com/rehearse-dev/rehearse/agents/persist/kind"
	react "github.com/rehearse-dev/rehearse/agents/react/kind"
	stop "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/stat"
)

func ptr(v float64) *float64 { return &v }

// values are a scenario's measures; a nil one is unknown.
func values(calls, tokens float64, eur, p95, time *float64) []measure.Value {
	m := func(name, unit string, v *float64) measure.Value {
		return measure.Value{Name: name, Unit: unit, Known: v != nil, Value: v, N: 1}
	}
	return []measure.Value{
		m("calls", "", &calls), m("tokens", "", &tokens), m("cost_eur", "EUR", eur),
		m("latency_p95", "s", p95), m("duration", "s", time),
	}
}

// metrics are those of an extension over trials.
func metrics(name string, trials ...measure.Facts) measure.ExtensionMetrics {
	t := measure.NewAgentTotals(kinds.Language().Extensions())
	for i := range trials {
		t.Add(&trials[i])
	}
	all := t.Close()
	if len(all) != 1 || all[0].Name != name {
		panic("no metrics of " + name)
	}
	return all[0]
}

// trial has the facts of one extension.
func trial(status, extension string, facts any) measure.Facts {
	return measure.Facts{Run: measure.RunFacts{Status: status}, Extensions: map[string]any{extension: facts}}
}

// interviewed are the metrics of four interviews.
func interviewed() measure.ExtensionMetrics {
	f := trial("finished", "interview", &interview.InterviewFacts{
		Submissions: 50, Answers: 45, Queued: 21, Repeated: 1, Validated: 24, Rejected: map[string]int{"too-long": 1},
		Warned: 2, TransportRetries: 1, Lost: 1, Trimmed: 4,
	})
	f.Calls.Total = 25
	return metrics("interview", f, f, f, f)
}

// supervised are the metrics of two supervised runs, one of which is complete.
func supervised() measure.ExtensionMetrics {
	facts := &persist.SuperviseFacts{
		Attempts: 12, Retried: 2, Derived: 3, Done: 9, Tasks: 10, Looks: 4, Failed: map[string]int{"tests": 2, "todos": 1},
		Rounds: 1, Signs: map[string]int{"short-run": 1}, Stagnations: 1, Checkpoints: map[string]int{"final": 1, "interval": 5},
		Segments: 2, ToolCalls: 1200, Evicted: 10, Resumes: 1,
	}
	return metrics("supervise", trial("complete", "supervise", facts), trial("capped", "supervise", facts))
}

// reacted are the metrics of three runs of a ReAct agent.
func reacted() measure.ExtensionMetrics {
	facts := &react.ReactFacts{
		Iterations: 4, Refused: map[string]int{"thought-required": 1}, Actions: map[string]int{"search": 2, "analyze": 1},
		Failed: map[string]int{"no-such-file": 1}, Reflections: 3, Complacent: 1, Verifications: 2, Unverified: 1,
		Asked: 1, Triggers: map[string]int{"ambiguity": 1}, Delegations: map[string]int{"helper": 1}, Cut: 1, Stuck: 1,
	}
	return metrics("react", trial("done", "react", facts), trial("done", "react", facts), trial("escalate", "react", facts))
}

// guarded are the metrics of a stop guard in three trials.
func guarded() measure.ExtensionMetrics {
	var trials []measure.Facts
	for i := range 3 {
		trials = append(trials, trial("done", "guard", &stop.GuardFacts{
			Judged: 3, Refused: 2, Forced: 2, Allowed: i > 0, Detections: 4 + i, Steps: 5, Executed: 4,
			By: map[string]int{"next_steps": 3, "enumerative_list": 1}, Execution: 6, ExecutionKnown: true,
			Labelled: 3, Deferred: 2, Prevented: 2, FalsePositives: 0, FalseNegatives: 0,
		}))
	}
	return metrics("guard", trials...)
}

// sample has a scenario of every kind that a run can bring about.
func sample() reports.Report {
	nothing := measure.Value{Name: "latency_p95", Unit: "s", Known: true}
	neverCalled := values(0, 0, ptr(0), nil, ptr(0))
	neverCalled[3] = nothing
	passing := reports.Scenario{
		Name: "loop/done-marker", File: "scenarios/loop/done-marker.yaml", About: "The agent says DONE.",
		Proves: []string{"L-01", "L-08"}, Tags: []string{"golden"}, Agent: "loop", Backend: "openai",
		Model: "gpt-4.1-mini", Seed: 7, Digest: "sha256:0123", Verdict: gate.Pass, Status: "done",
		Planned: 1, Trials: reports.Count{Pass: 1},
		PassRate: measure.Value{
			Name: "pass_rate", Known: true, Value: ptr(1), N: 1,
			Interval: &stat.Interval{Lo: 0.206, Hi: 1, Level: 0.95, Method: "wilson", N: 1}, Warnings: []string{"one trial"},
		},
		Measures: values(2, 345, ptr(0.00123), ptr(1.25), ptr(2.5)), Findings: []gate.Finding{},
	}
	passing.Agents = measure.AgentMetrics{guarded(), interviewed()}
	failing := passing
	failing.Agents = nil
	failing.Name, failing.File = "loop/guards/no-progress-after-three-identical-answers", "scenarios/loop/no-progress.yaml"
	failing.Verdict, failing.Status = gate.Fail, "mixed"
	failing.Planned, failing.Trials = 5, reports.Count{Pass: 3, Fail: 2}
	failing.Measures = values(3.4, 12345678, ptr(12.5), ptr(62), ptr(14400))
	failing.Flaky, failing.Where = true, map[string]int{"name": 2, "expect": 20, "expect.calls": 23}
	failing.PassRate = measure.Value{
		Name: "pass_rate", Known: true, Value: ptr(0.6), N: 5,
		Interval: &stat.Interval{Lo: 0.231, Hi: 0.882, Level: 0.95, Method: "wilson", N: 5},
	}
	failing.Repeats = []reports.Repeat{
		{K: 2, PassAt: measure.Value{Name: "pass_at", Known: true, Value: ptr(0.9), N: 5}, PassAll: measure.Value{Name: "pass_all", Known: true, Value: ptr(0.3), N: 5}},
	}
	failing.Findings = []gate.Finding{
		{Severity: gate.Failing, Rule: "status", Message: `expected "no-progress", got "max-iterations"`, Trial: 2, Evidence: "run.status"},
		{Severity: gate.Info, Rule: "note", Message: "only noted", Trial: 2},
		{Severity: gate.Failing, Rule: "calls", Message: "expected exactly 3, got 5", Trial: 4, At: "expect.calls"},
		{
			Severity: gate.Failing, Rule: "that", Message: `does not hold: run.text == "..."`, Trial: 4, At: "expect.that[0]", Evidence: "run.text",
			Expected: "It ships on Wednesday, <b>3 May</b>.", Actual: "It ships on Thursday, <b>3 May</b>.",
			Accept: "rehearse run loop/other --update",
		},
	}
	failing.Log = "loading <config>\n  Error: no such order\n"
	failing.LastCall = &measure.LastCall{
		N: 5, Purpose: "work", Model: "gpt-4.1-mini", Line: "replies[4]", Fault: "reset", Role: "user", Request: "When does it ship?",
		Reply: "It ships on Thursday.", Error: "reset: the connection was reset",
	}
	failing.MoreFindings = 7
	broken := passing
	broken.Name, broken.Verdict, broken.Status = "loop/fault/reset", gate.Error, "error"
	broken.File = "scenarios/loop/fault-reset.yaml"
	broken.Perturb, broken.Trials = []string{"call=1:reset"}, reports.Count{Error: 1}
	broken.Measures = values(1, 10, nil, nil, nil)
	broken.Findings = []gate.Finding{{Severity: gate.Broken, Rule: "fault-not-fired", Message: "replies[0]: reset never fired", Trial: 1}}
	skipped := passing
	skipped.Name, skipped.Verdict, skipped.Status = "loop/live", gate.Skip, ""
	skipped.Trials, skipped.Measures = reports.Count{Skip: 1}, neverCalled
	skipped.Findings = []gate.Finding{{Severity: gate.Skipped, Rule: "skipped", Message: "the trial was not run", Trial: 1, Evidence: "no server"}}

	totals := values(21, 61728760, nil, ptr(62), ptr(72002.5))
	totals[2].Value, totals[2].Warnings = ptr(62.5), []string{"1 of 8 trials has no price"}
	return reports.Report{
		Schema:  reports.Schema,
		Run:     reports.Run{ID: "r-42", Tool: "rehearse 0.1.0", Prices: "2026-11-01", EURPerUSD: 0.85, RateDate: "2026-05-08", Lines: 42, LastHash: "0123456789abcdef0123456789abcdef", Labels: map[string]string{"branch": "main"}},
		Verdict: gate.Error, Interrupted: true, Stopped: "the budget of 0.5 EUR is used up: the run spent 0.51 EUR",
		Totals: reports.Totals{
			Scenarios: reports.Count{Pass: 1, Fail: 1, Error: 1, Skip: 1},
			Trials:    reports.Count{Pass: 4, Fail: 2, Error: 1, Skip: 1}, Measures: totals, Agents: measure.AgentMetrics{guarded(), interviewed(), supervised(), reacted()},
		},
		Scenarios:  []reports.Scenario{passing, broken, failing, skipped},
		NotRun:     []string{"loop/four-hours"},
		Problems:   []string{"line 812: the recording has no close line: the run was torn off"},
		Comparison: comparison(),
	}
}

// comparison has everything that a comparison can find.
func comparison() *compare.Result {
	number := func(v float64, unit string) measure.Value {
		return measure.Value{Unit: unit, Known: true, Value: &v, N: 5}
	}
	effect := number(-1.5, "s")
	effect.Interval = &stat.Interval{Lo: -2.5, Hi: -0.5, Level: 0.95, Method: "hodges-lehmann", N: 5}
	return &compare.Result{
		Schema: compare.Schema, Before: "rehearse.baseline.json", After: "rehearse-runs/20261121-220000", Verdict: gate.Error,
		Comparisons: []compare.Comparison{
			{
				Scenario: "loop/done-marker", Measure: "calls", Rule: compare.Exact, Verdict: compare.Worse,
				Before: number(2, ""), After: number(3, ""), Effect: ptrTo(number(1, "")), Why: "2 before and 3 now",
			},
			{
				Scenario: "loop/done-marker", Measure: "duration", Unit: "s", Rule: compare.Paired, Verdict: compare.Better,
				Before: number(4, "s"), After: number(2.5, "s"), Effect: &effect, P: ptr(0.001), Adjusted: ptr(0.004),
				Why: "20 pairs differ beyond chance, p = 0.004 after Holm's correction over 4 tests",
			},
			{
				Scenario: "loop/done-marker", Measure: "status", Rule: compare.Exact, Verdict: compare.Worse,
				Before: measure.Value{Known: true}, After: measure.Value{Known: true}, BeforeText: "done", AfterText: "error", Why: "it ended otherwise",
			},
			{
				Scenario: "loop/fault/reset", Measure: "cost_eur", Unit: "EUR", Rule: compare.Relative, Verdict: compare.Insufficient,
				Before: number(0.012, "EUR"), After: measure.Value{Unit: "EUR"}, Why: "it is not known now",
			},
			{
				Scenario: "loop/live", Measure: "tokens", Rule: compare.Relative, Verdict: compare.Insufficient,
				Before: measure.Value{}, After: number(12, ""), Why: "it was not known before",
			},
			{Measure: "stop_f1", Rule: compare.Detector, Verdict: compare.Tied, Before: number(0.9, ""), After: number(0.91, ""), Why: "the interval lies within the margin"},
		},
		Equal: 120,
		Changed: []compare.ExpectationChange{
			{Scenario: "loop/done-marker", What: "expect.calls", Before: "exactly 2", After: "at most 9"},
			{What: "rules.cost", Before: "0.05", After: "0.2"},
			{Scenario: "loop/done-marker", What: "invariants[0]", After: "calls.total < 9"},
			{Scenario: "loop/done-marker", What: "digest", Before: "sha256:01", After: "sha256:02", Files: []string{"done-marker.yaml", "reply.txt"}},
		},
		Missing: []string{"loop/gone"}, New: []string{"loop/added"},
		Findings: []compare.Finding{
			{Finding: gate.Finding{Severity: gate.Info, Rule: "price-date", Message: "the price table is of 2026-11-01 and was of 2026-10-01"}},
			{Scenario: "loop/done-marker", Measure: "calls", Finding: gate.Finding{Severity: gate.Failing, Rule: "regression", Message: "calls is worse: 2 before and 3 now"}},
			{Scenario: "loop/done-marker", Finding: gate.Finding{Severity: gate.Failing, Rule: "changed-expectation", Message: "expect.calls was exactly 2", At: "expect.calls"}},
			{Scenario: "loop/fault/reset", Finding: gate.Finding{Severity: gate.Broken, Rule: "not-comparable", Message: "cost_eur cannot be compared: it is not known now", Trial: 1, Evidence: "1 of 3 trials"}},
		},
		Bless: "rehearse bless rehearse-runs/20261121-220000",
	}
}

func ptrTo[T any](v T) *T { return &v }

// evil breaks a terminal, XML, Markdown, HTML and a workflow command, if it can.
const evil = "\x1b[31m\x00\u202e]]></testcase>|`a``b` **x** <img src=x onerror=alert(1)> @team #1 --> \xff\r\n::error::pwned\n\n# head\n"

// hostile is a report whose every text is evil.
func hostile() reports.Report {
	r := sample()
	r.Run = reports.Run{ID: evil, Tool: evil, Prices: evil, RateDate: evil, EURPerUSD: 0.85, LastHash: evil, Labels: map[string]string{evil: evil}}
	r.NotRun, r.Problems, r.Stopped = []string{evil}, []string{evil}, evil
	r.Comparison = compared(evil)
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		s.Name, s.File, s.About, s.Status, s.Model, s.Backend, s.Digest = evil, evil, evil, evil, evil, evil, evil
		for j := range s.Findings {
			f := &s.Findings[j]
			f.Rule, f.Message, f.Evidence = evil, evil, evil
		}
	}
	return r
}

// many is a report of n scenarios, every tenth of which failed.
func many(n int) reports.Report {
	r := sample()
	passing, failing := r.Scenarios[0], r.Scenarios[2]
	r.Scenarios = nil
	for i := range n {
		s := passing
		if i%10 == 9 {
			s = failing
		}
		s.Name = fmt.Sprintf("loop/scenario-%05d", i)
		r.Scenarios = append(r.Scenarios, s)
	}
	return r
}

// compared is a comparison whose every text is the same.
func compared(text string) *compare.Result {
	c := comparison()
	c.Before, c.After, c.Bless, c.Missing, c.New = text, text, text, []string{text}, []string{text}
	for i := range c.Comparisons {
		x := &c.Comparisons[i]
		x.Scenario, x.Measure, x.Unit, x.BeforeText, x.AfterText, x.Why = text, text, text, text, text, text
	}
	for i := range c.Changed {
		c.Changed[i] = compare.ExpectationChange{Scenario: text, What: text, Before: text, After: text, Files: []string{text}}
		if i == 0 {
			c.Changed[i].What = "digest"
		}
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		f.Scenario, f.Measure, f.Rule, f.Message, f.Evidence, f.At = text, text, text, text, text, text
	}
	return c
}
