package gate

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// Judge checks the facts of trials against the expectations of their scenario. It is safe for
// concurrent use.
type Judge struct {
	// scenario is the name of the scenario, for commands; may be empty.
	scenario, agent string

	language   *Language
	expect     expect.Expect
	that       []*expression
	invariants []compiledInvariant
	// golden is true for golden runs, which are their own reference.
	golden bool
	// perturb are the perturbations of a perturbed run.
	perturb []string
	rules   []rule
}

// rule checks one expectation and appends its findings.
type rule func(j *Judge, f *measure.Facts, found []Finding) []Finding

// NewJudge returns the judge of expectations. It fails if an expression does not compile.
func NewJudge(l *Language, e expect.Expect) (*Judge, error) {
	j := &Judge{language: l, expect: e}
	for i, text := range e.That {
		compiled, err := l.condition(text)
		if err != nil {
			return nil, fmt.Errorf("expect.that[%d]: %w", i, err)
		}
		j.that = append(j.that, compiled)
	}
	for _, candidate := range []struct {
		asked bool
		rule  rule
	}{
		{e.Status != "", judgeStatus},
		{e.ExitCode != nil, judgeExitCode},
		{true, judgeCounts},
		{e.EarlyRetries != nil, judgeEarlyRetries},
		{e.CallsBy != nil, judgeCallsBy},
		{e.Tokens != nil, judgeTokens},
		{e.Cost != nil, judgeCost},
		{e.Latency != nil, judgeLatency},
		{e.Duration != nil, judgeDuration},
		{len(e.Stops) > 0, judgeStops},
		{true, judgeScript},
		{true, judgeTalk},
		{true, judgeViolations},
		{e.Snapshot != nil, judgeSnapshot},
		{len(e.That) > 0, judgeThat},
	} {
		if candidate.asked {
			j.rules = append(j.rules, candidate.rule)
		}
	}
	return j, nil
}

// ForScenario returns the judge of a recorded scenario with its expectations and invariants. A
// perturbed scenario without expectations is judged by its invariants only, because a perturbed run
// seldom ends like the golden one. An unperturbed run is its own golden run.
func ForScenario(l *Language, s *record.Scenario) (*Judge, error) {
	if len(s.Perturb) == 0 {
		j, err := NewJudge(l, s.Expect)
		if err != nil {
			return nil, err
		}
		j.scenario, j.agent = s.Name, s.Agent
		if len(s.Invariants) == 0 {
			return j, nil
		}
		j.golden = true
		return j, j.addInvariants(l, s)
	}
	j := &Judge{rules: []rule{judgeUnfired, judgeViolations}}
	expected := s.Expect
	expected.Allow = nil // it permits and expects nothing
	if !reflect.ValueOf(expected).IsZero() {
		var err error
		if j, err = NewJudge(l, s.Expect); err != nil {
			return nil, err
		}
		j.scenario, j.agent = s.Name, s.Agent
	}
	j.perturb = s.Perturb
	return j, j.addInvariants(l, s)
}

// Judge returns the findings of a trial, the nearest to the root cause first, then in the order of
// the fields of expect.Expect. It returns nil if all expectations are met. A trial that could not be carried
// out is not judged further, but the findings about the agent's requests may explain why. The caller sets
// Finding.Trial.
func (j *Judge) Judge(f measure.Facts) []Finding {
	if f.Run.Error != "" {
		found := []Finding{notCarriedOut(&f)}
		if f.Run.AgentError {
			found = judgeRequests(j, &f, found)
		}
		rootCauseFirst(found, &f)
		return found
	}
	if f.Run.Skipped != "" {
		return []Finding{{Severity: Skipped, Rule: "skipped", Message: "the trial was not run", Evidence: f.Run.Skipped}}
	}
	var found []Finding
	for _, r := range j.rules {
		found = r(j, &f, found)
	}
	found = judgeDenied(&f, found)
	for i := range found {
		if found[i].At == "" {
			found[i].At = expectationOf(&found[i])
		}
	}
	rootCauseFirst(found, &f)
	return found
}

// deniedTool is the rule of a trial that failed after permissions refused tool calls.
const deniedTool = "denied-tool"

// judgeDenied adds the denied tool calls of a failed trial, because their work may be missing. A
// denial alone is not a failure.
func judgeDenied(f *measure.Facts, found []Finding) []Finding {
	if VerdictOf(found) != Fail {
		return found
	}
	for _, denied := range f.Run.Denied {
		found = append(found, Finding{Severity: Failing, Rule: deniedTool, Message: "the agent's permissions refused " + denied})
	}
	return found
}

// notCarriedOut returns the finding of a trial that the harness or the agent prevented.
func notCarriedOut(f *measure.Facts) Finding {
	found := Finding{Severity: Broken, Rule: "harness", Message: "the harness could not run the trial", Evidence: f.Run.Error}
	if f.Run.AgentError {
		found.Rule, found.Message, found.At = "agent", "the agent could not be run", "drive"
		if len(f.Turns) > 0 { // it has got a message
			found.Message = "the agent could not be judged"
		}
	}
	return found
}

func judgeStatus(j *Judge, f *measure.Facts, found []Finding) []Finding {
	if f.Run.Status == j.expect.Status {
		return found
	}
	return append(found, Finding{
		Severity: Failing, Rule: statusRule,
		Message:  fmt.Sprintf("expected status %q, saw %q", j.expect.Status, f.Run.Status),
		Evidence: f.Run.Details,
	})
}

func judgeExitCode(j *Judge, f *measure.Facts, found []Finding) []Finding {
	if f.Run.ExitCode == *j.expect.ExitCode {
		return found
	}
	return append(found, Finding{
		Severity: Failing, Rule: "exit_code",
		Message: fmt.Sprintf("expected exit code %d, saw %d", *j.expect.ExitCode, f.Run.ExitCode),
	})
}

func judgeCounts(j *Judge, f *measure.Facts, found []Finding) []Finding {
	found = judgeCount(found, "calls", "call", "calls", j.expect.Calls, f.Calls.Total)
	found = judgeCount(found, "retries", "retry", "retries", j.expect.Retries, f.Calls.Retries)
	return judgeCount(found, "iterations", "iteration", "iterations", j.expect.Iterations, f.Run.Iterations)
}

func judgeEarlyRetries(j *Judge, f *measure.Facts, found []Finding) []Finding {
	limit := j.expect.EarlyRetries
	if earlyKnown(f) {
		return judgeCount(found, "early_retries", "early retry", "early retries", limit, f.Calls.EarlyRetries)
	}
	return append(found, Finding{
		Severity: Failing, Rule: "early_retries", Message: fmt.Sprintf("expected %s early retries, but their number is unknown", limit),
		Evidence: noScript,
	})
}

// earlyKnown reports whether the times between requests are known, and noScript why not.
func earlyKnown(f *measure.Facts) bool { return f.Script.Requests > 0 || f.Calls.Total == 0 }

const noScript = "no call reached a scripted backend, which would have measured the waits"

func judgeCallsBy(j *Judge, f *measure.Facts, found []Finding) []Finding {
	for _, purpose := range slices.Sorted(maps.Keys(j.expect.CallsBy)) {
		limit, before := j.expect.CallsBy[purpose], len(found)
		of := fmt.Sprintf(" of purpose %q", purpose)
		found = judgeCount(found, "calls_by", "call"+of, "calls"+of, &limit, f.Calls.By[purpose])
		for i := range found[before:] {
			found[before+i].At = yamlsrc.Join("expect.calls_by", purpose)
		}
	}
	return found
}

// judgeCount checks a count, with its noun in the singular and the plural.
func judgeCount(found []Finding, rule, thing, things string, limit *expect.Count, saw int) []Finding {
	if limit == nil || limit.Allows(saw) {
		return found
	}
	if last := cmp.Or(limit.AtMost, limit.AtLeast, limit.Exactly); *last == 1 { // the number before the noun
		things = thing
	}
	return append(found, Finding{
		Severity: Failing, Rule: rule,
		Message: fmt.Sprintf("expected %s %s, saw %d", limit, things, saw),
	})
}

// judgeTokens does not pass a number that is only a lower bound, unless the expectation is a lower
// bound as well.
func judgeTokens(j *Judge, f *measure.Facts, found []Finding) []Finding {
	limit := j.expect.Tokens
	if exceeded := limit.AtMost != nil && f.Tokens.Total > *limit.AtMost; f.Tokens.Known || exceeded {
		return judgeCount(found, "tokens", "token", "tokens", limit, f.Tokens.Total)
	}
	if limit.Exactly == nil && limit.AtMost == nil && limit.Allows(f.Tokens.Total) {
		return found
	}
	return append(found, Finding{
		Severity: Failing, Rule: "tokens",
		Message:  fmt.Sprintf("expected %s tokens, but their number is unknown", limit),
		Evidence: fmt.Sprintf("at least %d; a call was answered without usage", f.Tokens.Total),
	})
}

// judgeCost compares in the currency of the limit. An unknown cost is a lower bound and does not
// pass an upper limit.
func judgeCost(j *Judge, f *measure.Facts, found []Finding) []Finding {
	fail := func(word string, limit quantity.Money) {
		found = append(found, Finding{
			Severity: Failing, Rule: "cost",
			Message: fmt.Sprintf("expected a cost of at %s %s, saw %s", word, limit, amount(f.Cost, limit.Currency)),
		})
	}
	unknown := false
	if limit := j.expect.Cost.AtMost; limit != nil {
		switch {
		case amount(f.Cost, limit.Currency).Amount > limit.Amount:
			fail("most", *limit)
		case !f.Cost.Known:
			unknown = true
		}
	}
	if limit := j.expect.Cost.AtLeast; limit != nil && amount(f.Cost, limit.Currency).Amount < limit.Amount {
		if f.Cost.Known {
			fail("least", *limit)
		} else {
			unknown = true
		}
	}
	if unknown {
		found = append(found, Finding{
			Severity: Failing, Rule: "cost",
			Message: "the cost is limited, but it is unknown", Evidence: f.Cost.Why,
		})
	}
	return found
}

func amount(c measure.CostFacts, currency quantity.Currency) quantity.Money {
	if currency == quantity.USD {
		return quantity.Money{Amount: c.USD, Currency: quantity.USD}
	}
	return quantity.Money{Amount: c.EUR, Currency: quantity.EUR}
}

func judgeLatency(j *Judge, f *measure.Facts, found []Finding) []Finding {
	if f.Latency.N == 0 {
		return append(found, Finding{
			Severity: Broken, Rule: "latency",
			Message: "the latency is limited, but no call's latency is known",
		})
	}
	limit := j.expect.Latency
	found = judgeTime(found, "latency.mean", limit.Mean, f.Latency.Mean)
	found = judgeTime(found, "latency.p50", limit.P50, f.Latency.P50)
	found = judgeTime(found, "latency.p95", limit.P95, f.Latency.P95)
	return judgeTime(found, "latency.max", limit.Max, f.Latency.Max)
}

func judgeDuration(j *Judge, f *measure.Facts, found []Finding) []Finding {
	if !f.Run.DurationKnown {
		return append(found, Finding{
			Severity: Broken, Rule: "duration",
			Message: "the duration is limited, but it is unknown",
		})
	}
	return judgeTime(found, "duration", j.expect.Duration, f.Run.Duration)
}

// judgeTime compares durations in whole nanoseconds, because facts are seconds in floating point,
// in which 0.1 s differs slightly from 100 ms.
func judgeTime(found []Finding, name string, limit *quantity.Duration, seconds float64) []Finding {
	saw := time.Duration(seconds*float64(time.Second) + 0.5)
	if limit == nil || saw <= limit.Std() {
		return found
	}
	most, was := format.Seconds(limit.Std().Seconds()), format.Seconds(saw.Seconds())
	if most == was { // they only differ in what is rounded
		most, was = limit.String(), saw.String()
	}
	return append(found, Finding{
		Severity: Failing, Rule: name,
		Message: fmt.Sprintf("expected %s of at most %s, saw %s", name, most, was),
	})
}

// judgeStops reports answers that the stop guard did not judge according to their labels.
func judgeStops(j *Judge, f *measure.Facts, found []Finding) []Finding {
	return j.judgeMisfit(found, expect.MisjudgedStop, "the stop guard decided differently from the label", f.Stops.Misjudged)
}

// ViolationMessage is the message of each invariant violation reported by a driver or an extension.
// The evidence names the invariant.
const ViolationMessage = "an invariant of the agent does not hold"

// judgeViolations reports violations of the invariants that an agent has in every scenario. They
// cannot be allowed.
func judgeViolations(_ *Judge, f *measure.Facts, found []Finding) []Finding {
	for _, e := range f.Run.Violations {
		found = append(found, Finding{Severity: Failing, Rule: "promise", Message: ViolationMessage, Evidence: e})
	}
	return found
}

func judgeThat(j *Judge, f *measure.Facts, found []Finding) []Finding {
	for i, e := range j.that {
		if finding, ok := e.judge(f); !ok {
			finding.Rule, finding.At = "that", fmt.Sprintf("expect.that[%d]", i)
			found = append(found, finding)
		}
	}
	return found
}
