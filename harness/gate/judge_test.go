package gate_test

import (
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// facts returns the facts of an ordinary trial in which everything is known.
func facts(change ...func(*measure.Facts)) measure.Facts {
	f := measure.Facts{
		Run:     measure.RunFacts{Status: "no-progress", ExitCode: 5, Iterations: 3, Details: "3 identical answers", Duration: 6, DurationKnown: true},
		Calls:   measure.CallFacts{Total: 3, Failed: 1, Retries: 2, EarlyRetries: 1, By: map[string]int{"work": 2, "judge": 1}},
		Tokens:  measure.TokenFacts{Known: true, Input: 60, Output: 40, Total: 100},
		Cost:    measure.CostFacts{Known: true, EUR: 0.01, USD: 0.0125},
		Latency: measure.LatencyFacts{N: 3, Mean: 2, P50: 2, P95: 3, Max: 3.5, All: []float64{1, 2, 3.5}},
		Events:  []event.Event{{Kind: event.Guard, Name: "no-progress", N: 3, Attrs: map[string]any{"limit": 3.0, "mode": "strict"}}},
		Answers: []string{"Same response", "Same response", "Same response"},
		Script:  measure.ScriptFacts{Requests: 5},
	}
	for _, c := range change {
		c(&f)
	}
	return f
}

func judge(e expect.Expect, f measure.Facts) []gate.Finding {
	GinkgoHelper()
	j, err := gate.NewJudge(nil, e)
	Expect(err).ToNot(HaveOccurred())
	return j.Judge(f)
}

func exactly(n int) *expect.Count                { return &expect.Count{Exactly: &n} }
func between(lo, hi int) *expect.Count           { return &expect.Count{AtLeast: &lo, AtMost: &hi} }
func atLeast(n int) *expect.Count                { return &expect.Count{AtLeast: &n} }
func lasting(d time.Duration) *quantity.Duration { return new(quantity.Duration(d)) }
func eur(v float64) *quantity.Money              { return &quantity.Money{Amount: v, Currency: quantity.EUR} }

func usd(v float64) *quantity.Money { return &quantity.Money{Amount: v, Currency: quantity.USD} }

var _ = Describe("Judge", Label("H-04"), func() {
	DescribeTable("fires at the limit, and not below",
		func(fires, holds expect.Expect, rule, message string) {
			Expect(judge(holds, facts())).To(BeEmpty())
			found := judge(fires, facts())
			Expect(found).To(HaveLen(1))
			Expect(found[0].Rule).To(Equal(rule))
			Expect(found[0].Severity).To(Equal(gate.Failing))
			Expect(found[0].Message).To(Equal(message))
		},
		Entry("status", expect.Expect{Status: "done"}, expect.Expect{Status: "no-progress"},
			"status", `expected status "done", saw "no-progress"`),
		Entry("exit code", expect.Expect{ExitCode: new(0)}, expect.Expect{ExitCode: new(5)},
			"exit_code", "expected exit code 0, saw 5"),
		Entry("calls, exactly", expect.Expect{Calls: exactly(2)}, expect.Expect{Calls: exactly(3)},
			"calls", "expected exactly 2 calls, saw 3"),
		Entry("calls, too few", expect.Expect{Calls: between(4, 9)}, expect.Expect{Calls: between(3, 9)},
			"calls", "expected at least 4 and at most 9 calls, saw 3"),
		Entry("calls, too many", expect.Expect{Calls: between(0, 2)}, expect.Expect{Calls: between(0, 3)},
			"calls", "expected at least 0 and at most 2 calls, saw 3"),
		Entry("calls by purpose", expect.Expect{CallsBy: map[string]expect.Count{"judge": *exactly(2)}}, expect.Expect{CallsBy: map[string]expect.Count{"judge": *exactly(1), "none": *exactly(0)}},
			"calls_by", `expected exactly 2 calls of purpose "judge", saw 1`),
		Entry("calls of a purpose that never occurred", expect.Expect{CallsBy: map[string]expect.Count{"plan": *atLeast(1)}}, expect.Expect{CallsBy: map[string]expect.Count{"plan": *atLeast(0)}},
			"calls_by", `expected at least 1 call of purpose "plan", saw 0`),
		Entry("retries", expect.Expect{Retries: exactly(1)}, expect.Expect{Retries: exactly(2)},
			"retries", "expected exactly 1 retry, saw 2"),
		Entry("early retries", expect.Expect{EarlyRetries: exactly(0)}, expect.Expect{EarlyRetries: exactly(1)},
			"early_retries", "expected exactly 0 early retries, saw 1"),
		Entry("iterations", expect.Expect{Iterations: exactly(4)}, expect.Expect{Iterations: exactly(3)},
			"iterations", "expected exactly 4 iterations, saw 3"),
		Entry("tokens", expect.Expect{Tokens: between(0, 99)}, expect.Expect{Tokens: between(0, 100)},
			"tokens", "expected at least 0 and at most 99 tokens, saw 100"),
		Entry("cost in EUR", expect.Expect{Cost: &expect.Cost{AtMost: eur(0.0099)}}, expect.Expect{Cost: &expect.Cost{AtMost: eur(0.01)}},
			"cost", "expected a cost of at most 0.0099 EUR, saw 0.01 EUR"),
		Entry("cost in USD", expect.Expect{Cost: &expect.Cost{AtMost: usd(0.012)}}, expect.Expect{Cost: &expect.Cost{AtMost: usd(0.0125)}},
			"cost", "expected a cost of at most 0.012 USD, saw 0.0125 USD"),
		Entry("cost too low", expect.Expect{Cost: &expect.Cost{AtLeast: eur(0.011)}}, expect.Expect{Cost: &expect.Cost{AtLeast: eur(0.01)}},
			"cost", "expected a cost of at least 0.011 EUR, saw 0.01 EUR"),
		Entry("mean latency", expect.Expect{Latency: &expect.Latency{Mean: lasting(1999 * time.Millisecond)}}, expect.Expect{Latency: &expect.Latency{Mean: lasting(2 * time.Second)}},
			"latency.mean", "expected latency.mean of at most 1.999s, saw 2s"),
		Entry("median latency", expect.Expect{Latency: &expect.Latency{P50: lasting(time.Second)}}, expect.Expect{Latency: &expect.Latency{P50: lasting(2 * time.Second)}},
			"latency.p50", "expected latency.p50 of at most 1s, saw 2s"),
		Entry("high latency", expect.Expect{Latency: &expect.Latency{P95: lasting(2 * time.Second)}}, expect.Expect{Latency: &expect.Latency{P95: lasting(3 * time.Second)}},
			"latency.p95", "expected latency.p95 of at most 2s, saw 3s"),
		Entry("highest latency", expect.Expect{Latency: &expect.Latency{Max: lasting(3 * time.Second)}}, expect.Expect{Latency: &expect.Latency{Max: lasting(3500 * time.Millisecond)}},
			"latency.max", "expected latency.max of at most 3s, saw 3.5s"),
		Entry("duration", expect.Expect{Duration: lasting(6*time.Second - 1)}, expect.Expect{Duration: lasting(6 * time.Second)},
			"duration", "expected duration of at most 5.999999999s, saw 6s"),
		Entry("expression", expect.Expect{That: []string{`run.details.contains("4 identical")`}}, expect.Expect{That: []string{`run.details.contains("3 identical")`}},
			"that", `does not hold: run.details.contains("4 identical")`),
	)

	It("names the key of the expectation", func() {
		lower := quantity.Duration(1)
		e := expect.Expect{
			Status: "done", ExitCode: new(0), Calls: exactly(0), CallsBy: map[string]expect.Count{"work": *exactly(0), "a.b": *exactly(1)},
			Retries: exactly(0), Iterations: exactly(0), EarlyRetries: exactly(0), Tokens: exactly(0), Cost: &expect.Cost{AtMost: eur(0)},
			Latency:  &expect.Latency{Mean: &lower, P50: &lower, P95: &lower, Max: &lower},
			Duration: &lower, Stops: []string{"defers"}, That: []string{"true", "false"},
		}
		f := facts(func(f *measure.Facts) {
			f.Script.Unused, f.Script.Unfired = []string{"rules[11]: never used"}, []string{"call=7:reset: no such call was made"}
			f.Script.Unexpected = []string{"nearest replies[0]: user"}
			f.Stops.Misjudged = []string{"answer 1"}
		})
		var places []string
		for _, finding := range judge(e, f) {
			places = append(places, finding.At)
		}
		Expect(places).To(Equal([]string{
			"", "", // the unexpected call and the fault that never fired
			"expect.status", "expect.exit_code", "expect.calls", "expect.retries", "expect.iterations", "expect.early_retries",
			`expect.calls_by["a.b"]`, "expect.calls_by.work", "expect.tokens", "expect.cost",
			"expect.latency.mean", "expect.latency.p50", "expect.latency.p95", "expect.latency.max", "expect.duration",
			"expect.stops", "expect.that[1]", "backend.rules[11]",
		}))
	})

	It("compares times without the error of floating point", func() {
		f := facts(func(f *measure.Facts) { f.Latency.Max = 0.1 + 0.2 }) // 0.30000000000000004
		Expect(judge(expect.Expect{Latency: &expect.Latency{Max: lasting(300 * time.Millisecond)}}, f)).To(BeEmpty())
	})

	It("returns all findings in a fixed order", func() {
		e := expect.Expect{
			Status: "done", ExitCode: new(0), Calls: exactly(0), Duration: lasting(0), That: []string{"false", "true", "calls.total == 4"},
			CallsBy: map[string]expect.Count{"work": *exactly(0), "judge": *exactly(0)},
		}
		f := facts(func(f *measure.Facts) { f.Script.Unused = []string{"replies[1]"} })
		var rules []string
		for _, finding := range judge(e, f) {
			rules = append(rules, finding.Rule)
		}
		Expect(rules).To(Equal([]string{"status", "exit_code", "calls", "calls_by", "calls_by", "duration", "that", "that", "unused-line"}))
	})

	DescribeTable("returns the root cause first",
		func(change func(*measure.Facts), want ...string) {
			e := expect.Expect{Status: "done", Calls: exactly(2), That: []string{"false"}, Allow: []string{expect.InvalidRequest}}
			var rules []string
			for _, finding := range judge(e, facts(change)) {
				rules = append(rules, finding.Rule)
			}
			Expect(rules).To(Equal(want))
		},
		Entry("a call that the script does not answer, after which the program failed", func(f *measure.Facts) {
			f.Run.Status = "failed"
			f.Script.Unexpected, f.Script.Unused = []string{"call 1: no rule"}, []string{"rules[1]: never used"}
		}, "unexpected-call", "status", "calls", "that", "unused-line"),
		Entry("a program that crashed before the fault could fire", func(f *measure.Facts) {
			f.Run.Status = "crashed"
			f.Script.Unfired, f.Script.Unused = []string{"rules[1]: status"}, []string{"rules[1]: never used"}
		}, "status", "unfired-fault", "calls", "that", "unused-line"),
		Entry("a fault that never fired, of an agent that ended by itself", func(f *measure.Facts) {
			f.Script.Unfired = []string{"rules[1]: status"}
		}, "unfired-fault", "status", "calls", "that"),
		Entry("a fault after which the agent did not try again", func(f *measure.Facts) {
			f.Run.Status = "failed"
			f.Script.Unused = []string{"rules[0]: never used; its fault was injected, but no request after it took its answer: the agent did not try again"}
		}, "unused-line", "status", "calls", "that"),
		Entry("a tool call that permissions refused", func(f *measure.Facts) {
			f.Run.Status, f.Run.Denied = "failed", []string{"1 tool call: Edit"}
		}, "denied-tool", "status", "calls", "that"),
		Entry("not what is allowed", func(f *measure.Facts) {
			f.Script.Invalid = []string{"call 1: no model"}
		}, "status", "calls", "that", "invalid-request"),
	)

	It("does not fail a trial only because of a refused tool call", func() {
		Expect(judge(expect.Expect{Status: "no-progress"}, facts(func(f *measure.Facts) { f.Run.Denied = []string{"1 tool call: Edit"} }))).To(BeEmpty())
	})

	DescribeTable("uses the singular and the plural",
		func(e expect.Expect, message string) {
			Expect(judge(e, facts())).To(HaveExactElements(HaveField("Message", message)))
		},
		Entry("1 retry", expect.Expect{Retries: exactly(1)}, "expected exactly 1 retry, saw 2"),
		Entry("0 retries", expect.Expect{Retries: exactly(0)}, "expected exactly 0 retries, saw 2"),
		Entry("1 call", expect.Expect{Calls: exactly(1)}, "expected exactly 1 call, saw 3"),
		Entry("a range of calls", expect.Expect{Calls: between(1, 2)}, "expected at least 1 and at most 2 calls, saw 3"),
		Entry("iterations", expect.Expect{Iterations: atLeast(4)}, "expected at least 4 iterations, saw 3"),
		Entry("1 call of a purpose", expect.Expect{CallsBy: map[string]expect.Count{"work": *exactly(1)}}, `expected exactly 1 call of purpose "work", saw 2`),
	)

	DescribeTable("rounds times unless they would look equal",
		func(limit time.Duration, saw float64, message string) {
			f := facts(func(f *measure.Facts) { f.Run.Duration = saw })
			Expect(judge(expect.Expect{Duration: lasting(limit)}, f)).To(HaveExactElements(HaveField("Message", message)))
		},
		Entry("above a minute", time.Minute, 66.04217, "expected duration of at most 1m 0s, saw 1m 6s"),
		Entry("just below a minute", time.Second, 59.999999999, "expected duration of at most 1s, saw 1m 0s"),
		Entry("a nanosecond too long", time.Minute, 60.000000001, "expected duration of at most 1m0s, saw 1m0.000000001s"),
	)

	DescribeTable("reports mismatches with the script unless they are allowed",
		func(rule string, break_ func(*measure.Facts), evidence string) {
			found := judge(expect.Expect{Stops: []string{"defers"}}, facts(break_))
			Expect(found).To(HaveLen(1))
			Expect(found[0].Rule).To(Equal(rule))
			Expect(found[0].Severity).To(Equal(gate.Failing))
			Expect(found[0].Evidence).To(Equal(evidence))

			allowed := judge(expect.Expect{Stops: []string{"defers"}, Allow: []string{rule}}, facts(break_))
			Expect(allowed).To(HaveLen(1))
			Expect(allowed[0].Severity).To(Equal(gate.Info))
			Expect(gate.VerdictOf(allowed)).To(Equal(gate.Pass))
		},
		Entry("misjudged stop", "misjudged-stop", func(f *measure.Facts) { f.Stops.Misjudged = []string{"answer 1"} }, "answer 1"),
		Entry("unused line", "unused-line", func(f *measure.Facts) { f.Script.Unused = []string{"replies[2]"} }, "replies[2]"),
		Entry("unexpected call", "unexpected-call", func(f *measure.Facts) { f.Script.Unexpected = []string{"nearest replies[0]: user"} }, "nearest replies[0]: user"),
		Entry("invalid request", "invalid-request", func(f *measure.Facts) { f.Script.Invalid = []string{"messages[1].role"} }, "messages[1].role"),
	)

	It("reports each invariant violation of the agent, whatever is allowed", func() {
		f := facts(func(f *measure.Facts) {
			f.Run.Violations = []string{"the answer to BLOC_01/0 is gone", "a task was done twice"}
		})
		found := judge(expect.Expect{Allow: []string{"promise"}}, f)
		Expect(found).To(HaveExactElements(
			And(HaveField("Severity", gate.Failing), HaveField("Message", gate.ViolationMessage), HaveField("Evidence", "the answer to BLOC_01/0 is gone")),
			And(HaveField("Severity", gate.Failing), HaveField("Message", gate.ViolationMessage), HaveField("Evidence", "a task was done twice")),
		))
	})

	It("does not judge a trial that was not carried out", func() {
		f := facts(func(f *measure.Facts) { f.Run.Skipped = "no server" })
		found := judge(expect.Expect{Status: "nothing like it"}, f)
		Expect(found).To(HaveExactElements(And(HaveField("Severity", gate.Skipped), HaveField("Evidence", "no server"))))
	})

	It("gives no verdict if a planned fault never fired, whatever is allowed", func() {
		f := facts(func(f *measure.Facts) { f.Script.Unfired = []string{"replies[2]: missing-done"} })
		found := judge(expect.Expect{Allow: []string{"unused-line", "unexpected-call", "invalid-request", "unfired-fault"}}, f)
		Expect(found).To(HaveExactElements(gate.Finding{Severity: gate.Broken, Rule: "unfired-fault", Message: "a planned fault never fired", At: "backend.replies[2]", Evidence: "replies[2]: missing-done"}))
	})

	It("gives no verdict and no other finding if the harness failed", func() {
		f := facts(func(f *measure.Facts) { f.Run.Error = "no such program"; f.Script.Unused = []string{"replies[0]"} })
		found := judge(expect.Expect{Status: "done", That: []string{"false"}}, f)
		Expect(found).To(HaveExactElements(gate.Finding{Severity: gate.Broken, Rule: "harness", Message: "the harness could not run the trial", Evidence: "no such program"}))
	})
})

var _ = Describe("An unknown fact", Label("H-04"), func() {
	unknownCost := func(f *measure.Facts) { f.Cost = measure.CostFacts{EUR: 0.004, Why: `no price for model "x"`} }
	noBackend := func(f *measure.Facts) { f.Script.Requests, f.Calls.EarlyRetries = 0, 0 }
	unknownTokens := func(f *measure.Facts) { f.Tokens.Known = false }
	unknownLatency := func(f *measure.Facts) { f.Latency = measure.LatencyFacts{} }
	unknownDuration := func(f *measure.Facts) { f.Run.DurationKnown, f.Run.Duration = false, 0 }

	DescribeTable("does not pass if it is needed",
		func(e expect.Expect, change func(*measure.Facts), severity gate.Severity, message, evidence string) {
			found := judge(e, facts(change))
			Expect(found).To(HaveLen(1))
			Expect(found[0].Severity).To(Equal(severity))
			Expect(found[0].Message).To(Equal(message))
			Expect(found[0].Evidence).To(Equal(evidence))
			Expect(judge(expect.Expect{Status: "no-progress"}, facts(change))).To(BeEmpty(), "where it is not needed")
		},
		Entry("cost with an upper limit", expect.Expect{Cost: &expect.Cost{AtMost: eur(1)}}, unknownCost, gate.Failing, "the cost is limited, but it is unknown", `no price for model "x"`),
		Entry("cost with a lower limit", expect.Expect{Cost: &expect.Cost{AtLeast: eur(1)}}, unknownCost, gate.Failing, "the cost is limited, but it is unknown", `no price for model "x"`),
		Entry("cost that already exceeds the limit", expect.Expect{Cost: &expect.Cost{AtMost: eur(0.001)}}, unknownCost, gate.Failing, "expected a cost of at most 0.001 EUR, saw 0.004 EUR", ""),
		Entry("early retries", expect.Expect{EarlyRetries: exactly(0)}, noBackend, gate.Failing, "expected exactly 0 early retries, but their number is unknown", "no call reached a scripted backend, which would have measured the waits"),
		Entry("early retries in an expression", expect.Expect{That: []string{"calls.early_retries == 0"}}, noBackend, gate.Failing, "calls.early_retries is unknown: calls.early_retries == 0", "no call reached a scripted backend, which would have measured the waits"),
		Entry("tokens", expect.Expect{Tokens: between(1, 1000)}, unknownTokens, gate.Failing, "expected at least 1 and at most 1000 tokens, but their number is unknown", "at least 100; a call was answered without usage"),
		Entry("tokens, exactly", expect.Expect{Tokens: exactly(100)}, unknownTokens, gate.Failing, "expected exactly 100 tokens, but their number is unknown", "at least 100; a call was answered without usage"),
		Entry("tokens that already exceed the limit", expect.Expect{Tokens: between(1, 99)}, unknownTokens, gate.Failing, "expected at least 1 and at most 99 tokens, saw 100", ""),
		Entry("latency", expect.Expect{Latency: &expect.Latency{P95: lasting(time.Hour)}}, unknownLatency, gate.Broken, "the latency is limited, but no call's latency is known", ""),
		Entry("duration", expect.Expect{Duration: lasting(time.Hour)}, unknownDuration, gate.Broken, "the duration is limited, but it is unknown", ""),
		Entry("cost in an expression", expect.Expect{That: []string{"cost.eur < 1"}}, unknownCost, gate.Failing, "cost.eur is unknown: cost.eur < 1", `no price for model "x"`),
		Entry("tokens in an expression", expect.Expect{That: []string{"tokens.total < 1000"}}, unknownTokens, gate.Failing, "tokens.total is unknown: tokens.total < 1000", "a call was answered without usage"),
		Entry("latency in an expression", expect.Expect{That: []string{"latency.p95 < 9"}}, unknownLatency, gate.Broken, "latency.p95 is unknown: latency.p95 < 9", "no call's latency is known"),
		Entry("duration in an expression", expect.Expect{That: []string{"run.duration < 9"}}, unknownDuration, gate.Broken, "run.duration is unknown: run.duration < 9", "no duration was recorded"),
	)

	DescribeTable("passes if it does not matter or the expression checks it",
		func(e expect.Expect, change func(*measure.Facts)) { Expect(judge(e, facts(change))).To(BeEmpty()) },
		Entry("a lower limit that is already reached: cost", expect.Expect{Cost: &expect.Cost{AtLeast: eur(0.004)}}, unknownCost),
		Entry("a lower limit that is already reached: tokens", expect.Expect{Tokens: atLeast(100)}, unknownTokens),
		Entry("an expression that checks: cost", expect.Expect{That: []string{"!cost.known || cost.eur < 0.001"}}, unknownCost),
		Entry("an expression that checks: latency", expect.Expect{That: []string{"latency.n == 0 || latency.p95 < 1"}}, unknownLatency),
		Entry("an expression that checks: duration", expect.Expect{That: []string{"!run.duration_known"}}, unknownDuration),
		Entry("an expression on another fact of the run", expect.Expect{That: []string{"run.exit_code == 5"}}, unknownDuration),
	)
})

var _ = Describe("Expressions", Label("H-04"), func() {
	DescribeTable("read every kind of fact",
		func(text string) { Expect(judge(expect.Expect{That: []string{text}}, facts())).To(BeEmpty()) },
		Entry("numbers of different types", `latency.max < 4 && calls.total < 3.5 && cost.usd > cost.eur`),
		Entry("mappings", `calls.by.work == 2 && calls.by["judge"] == 1 && !has(calls.by.plan) && !("plan" in calls.by)`),
		Entry("lists", `answers.size() == 3 && answers.all(a, a == answers[0]) && latency.all[2] == 3.5`),
		Entry("events", `events.exists(e, e.kind == "guard" && e.name == run.status && e.n == 3)`),
		Entry("attributes of events", `events[0].attrs.limit == 3 && events[0].attrs["mode"].startsWith("str")`),
		Entry("string functions", `run.details.matches("^[0-9]+ ident") && run.details.upperAscii().indexOf("IDENT") == 2 && run.status.split("-")[1] == "progress"`),
	)

	DescribeTable("show the values that they read if they are false",
		func(text, message, evidence string) {
			found := judge(expect.Expect{That: []string{text}}, facts())
			Expect(found).To(HaveLen(1))
			Expect(found[0].Severity).To(Equal(gate.Failing))
			Expect(found[0].Message).To(Equal(message))
			Expect(found[0].Evidence).To(Equal(evidence))
		},
		Entry("once each, in order", `run.status == "done" || calls.total > calls.total + 1`,
			`does not hold: run.status == "done" || calls.total > calls.total + 1`, `run.status = "no-progress"; calls.total = 3`),
		Entry("inside a comprehension", `events.exists(e, e.n == calls.failed)`,
			`does not hold: events.exists(e, e.n == calls.failed)`,
			`events = [{"kind":"guard","name":"no-progress","n":3,"attrs":{"limit":3,"mode":"strict"}}]; calls.failed = 1`),
		Entry("a missing key", `calls.by.plan == 1`,
			`does not hold: calls.by.plan == 1 (no such key: plan)`, `calls.by = {"judge":1,"work":2}`),
		Entry("an element of a list", `events[0].name.contains("x")`,
			`does not hold: events[0].name.contains("x")`, `events[0].name = "no-progress"`),
		Entry("a missing index", `answers[3] == "x"`,
			`does not hold: answers[3] == "x" (index out of bounds: 3)`, `answers = ["Same response","Same response","Same response"]`),
	)

	DescribeTable("name both sides of a comparison that does not hold",
		func(text, expected, actual string) {
			found := judge(expect.Expect{That: []string{text}}, facts())
			Expect(found).To(HaveLen(1))
			Expect([]string{found[0].Expected, found[0].Actual}).To(Equal([]string{expected, actual}))
		},
		Entry("of texts", `run.status == "<done>"`, "<done>", "no-progress"),
		Entry("with the constant on the left", `"done" == run.status`, "done", "no-progress"),
		Entry("of an element", `answers[1] == "Other"`, "Other", "Same response"),
		Entry("of two facts", `run.details == run.status`, "no-progress", "3 identical answers"),
		Entry("of lists", `answers == ["a", "<b>"]`, `["a","<b>"]`, `["Same response","Same response","Same response"]`),
		Entry("of maps", `calls.by == {"work": 2}`, `{"work":2}`, `{"judge":1,"work":2}`),
		Entry("that is a part of a conjunction", `calls.total == 3 && run.status == "done" && answers.size() > 9`, "done", "no-progress"),
		Entry("not of numbers, which the evidence has", `calls.total == 4`, "", ""),
		Entry("not of a disjunction", `run.status == "done" || calls.total == 4`, "", ""),
		Entry("not of another comparison", `run.status != "no-progress"`, "", ""),
		Entry("not of what cannot be evaluated", `answers[3] == "x"`, "", ""),
	)

	It("truncate a long value in the evidence", func() {
		f := facts(func(f *measure.Facts) { f.Run.Text = strings.Repeat("é", 100_000) })
		found := judge(expect.Expect{That: []string{`run.text == ""`}}, f)
		Expect(len(found[0].Evidence)).To(BeNumerically("<", 700))
	})

	It("are stopped if they exceed their cost, without a verdict", func() {
		f := facts(func(f *measure.Facts) { f.Answers = make([]string, 3000) })
		found := judge(expect.Expect{That: []string{`answers.all(a, answers.all(b, a == b))`}}, f)
		Expect(found).To(HaveLen(1))
		Expect(found[0].Severity).To(Equal(gate.Broken))
		Expect(found[0].Message).To(ContainSubstring("cost limit exceeded"))
	})

	DescribeTable("are rejected with column and nearest name",
		func(text, want string) { Expect(language.Check(text)).To(MatchError(want)) },
		Entry("unknown field", `run.detials == ""`, `column 4: undefined field 'detials' (did you mean "details"?)`),
		Entry("unknown field with nothing near", `run.colour == ""`, `column 4: undefined field 'colour'`),
		Entry("unknown field of an event", `events.all(e, e.nme == "")`, `column 16: undefined field 'nme' (did you mean "name"?)`),
		Entry("unknown variable", `rum.status == ""`, `column 1: undeclared reference to 'rum' (did you mean 'run'?)`),
		Entry("two errors, one on another line", "run.x1 == 1 &&\n  run.y1 == 1", `column 4: undefined field 'x1'; line 2, column 6: undefined field 'y1'`),
		Entry("not a condition", `calls.total`, `column 1: yields int; expected true or false`),
		Entry("values that cannot be compared", `run.status == 1`, `column 12: found no matching overload for '_==_' applied to '(string, int)'`),
	)

	It("are rejected if the syntax is wrong, or they are too long or too deep", func() {
		Expect(language.Check(`run.status ==`)).To(MatchError(ContainSubstring("column 14: Syntax error")))
		Expect(language.Check(`"` + strings.Repeat("x", 5000) + `" == ""`)).To(MatchError(ContainSubstring("size exceeds limit")))
		Expect(language.Check(strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500))).To(HaveOccurred())
	})

	It("prevent a scenario from being judged if they do not compile", func() {
		_, err := gate.NewJudge(nil, expect.Expect{That: []string{"true", "run.x"}})
		Expect(err).To(MatchError("expect.that[1]: column 4: undefined field 'x'"))
	})

	It("may be compiled and judged concurrently", func() {
		var all sync.WaitGroup
		results := make([][]gate.Finding, 8)
		for i := range results {
			all.Go(func() {
				j, err := gate.NewJudge(nil, expect.Expect{That: []string{"calls.total == 3 && answers.size() == 3"}})
				if err == nil {
					results[i] = append(j.Judge(facts()), gate.Finding{Rule: "judged"})
				}
			})
		}
		all.Wait()
		Expect(results).To(HaveEach(HaveExactElements(gate.Finding{Rule: "judged"})))
	})
})
