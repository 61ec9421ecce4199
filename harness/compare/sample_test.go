package compare_test

import (
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

func ptr[T any](v T) *T { return &v }

// head returns a scenario of n trials.
func head(name string, n int) record.Scenario {
	limit := quantity.Duration(5 * time.Second)
	return record.Scenario{
		Name: name, File: "scenarios/" + name + ".yaml", Digest: "sha256:0123", Seed: 7, Trials: n, Agent: "loop", Backend: "openai",
		Model: "gpt-4.1-mini",
		Price: &price.Quote{Model: "gpt-4.1-mini", Provider: "openai", Currency: "USD", Input: 0.4, Output: 1.6, Date: "2026-11-01", EURPerUSD: 0.85, RateDate: "2026-05-08"},
		Expect: expect.Expect{
			Status: "done", ExitCode: ptr(0), Calls: &expect.Count{Exactly: ptr(2)}, Retries: &expect.Count{Exactly: ptr(0)},
			CallsBy: map[string]expect.Count{"work": {AtLeast: ptr(1), AtMost: ptr(3)}},
			Cost:    &expect.Cost{AtMost: &quantity.Money{Amount: 0.01, Currency: quantity.EUR}},
			Latency: &expect.Latency{P95: &limit}, That: []string{"calls.total == 2"}, Allow: []string{"unused-line"},
		},
		Limits: json.RawMessage(`{"prompt":"Fix it.","max_iterations":10,"timeout":"5m0s","call_timeout":"0s","stream":false,"inner":{"rounds":5}}`),
	}
}

// facts returns the facts of a trial with some calls.
func facts(calls int, seconds float64) *measure.Facts {
	return &measure.Facts{
		Run:     measure.RunFacts{Status: "done", Iterations: calls, Duration: seconds, DurationKnown: true},
		Calls:   measure.CallFacts{Total: calls},
		Tokens:  measure.TokenFacts{Known: true, Input: 100, Output: 20, Total: 120},
		Cost:    measure.CostFacts{Known: true, EUR: 0.1 + 0.2, USD: 0.35},
		Latency: measure.LatencyFacts{N: calls, Mean: seconds / 2, P50: seconds / 2, P95: seconds, Max: seconds},
	}
}

var failing = []gate.Finding{{Severity: gate.Failing, Rule: "calls", Message: "too many"}}

// sample has a scenario that repeats, one that varies, one in real time and one that was
// skipped.
func sample() compare.Baseline {
	GinkgoHelper()
	b := compare.Builder{Run: record.Run{ID: "r-42", Tool: "rehearse 0.1.0", Prices: "2026-11-20"}}
	steady := head("loop/steady", 2)
	steady.Files = map[string]string{"steady.yaml": "0123456789abcdef0123456789abcdef", "reply \"x\".txt": "fedcba98"}
	b.Add(steady, 1, facts(2, 1.25), nil)
	b.Add(steady, 2, facts(2, 1.25), nil)

	flaky := head("loop/flaky", 3)
	flaky.Invariants, flaky.Perturb = []string{"golden.calls.total == 2"}, []string{"call=1:timeout"}
	b.Add(flaky, 1, facts(2, 1), nil)
	late := facts(3, 4)
	late.Run.Status, late.Cost.Known = "error", false
	b.Add(flaky, 2, late, failing)
	b.Add(flaky, 3, facts(2, 1.5), nil)

	timed := head("hook/timed", 1)
	timed.RealTime, timed.Expect.Stops = true, []string{"defers", "clean"}
	guarded := facts(1, 0.037218)
	guarded.Stops.Outcomes = "PN"
	b.Add(timed, 1, guarded, nil)
	out, err := b.Close()
	Expect(err).NotTo(HaveOccurred())
	return out
}
