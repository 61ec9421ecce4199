package measure_test

import (
	"encoding/json"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// quote has simple prices in dollars per million tokens, at two dollars for a euro.
var quote = price.Quote{
	Model: "m-1", Currency: "USD", Input: 10, CachedIn: 1, CacheWrite: 20, Output: 100, EURPerUSD: 0.5,
}

func scenario() record.Scenario {
	q := quote
	return record.Scenario{Name: "s", Model: "m-1", Price: &q}
}

func usd(x float64) *float64 { return &x }

// trial returns a trial with four calls: two answered, one failed after two retries with
// usage, and one failed at once.
func trial() record.Trial {
	return record.Trial{
		Head: record.TrialHead{Scenario: "s", N: 3},
		Messages: []record.Message{
			{ID: "m1", Message: llm.Message{Role: llm.User, Content: "question"}},
			{ID: "m2", Message: llm.Message{Role: llm.Assistant, Content: "first"}},
			{ID: "m3", Message: llm.Message{Role: llm.Assistant, Content: "second"}},
		},
		Calls: []record.Call{
			{
				N: 1, Latency: 4 * time.Second, Purpose: "work", Reply: "m2", Model: "m-1",
				Usage: &llm.Usage{Input: 1000, CachedInput: 2000, CacheWrite: 300, Output: 40, Reasoning: 30},
			},
			{
				N: 2, Latency: 1 * time.Second, Purpose: "judge", Reply: "m3", Model: "m-1-2026-01-31",
				Usage:   &llm.Usage{Input: 500, Output: 10, Reasoning: 5},
				Retries: []llm.Retry{{Kind: llm.RateLimited}},
			},
			{
				N: 3, Latency: 3 * time.Second, Purpose: "work", Usage: &llm.Usage{Output: 7},
				Error:   &record.CallError{Kind: llm.Truncated},
				Retries: []llm.Retry{{Kind: llm.Truncated}, {Kind: llm.Timeout}},
			},
			{N: 4, Latency: 2 * time.Second, Purpose: "work", Error: &record.CallError{Kind: llm.Unauthorized}},
		},
		Exchanges: []record.Exchange{
			{N: 1, Delivered: true},
			{N: 2, Fault: "status", Fired: true},
			{N: 3, Fault: "hang", Fired: true, HungUp: true},
			{N: 4, Fault: "status", Fired: true},
			{N: 5, Fault: "reset"},
		},
		Events: []record.Event{
			{At: time.Second, Event: event.Event{Kind: event.Iteration, N: 1}},
			{At: 9 * time.Second, Event: event.Event{Kind: event.End, Name: "error"}},
		},
		Script: record.Script{
			Unused: []string{"replies[4]"}, Unexpected: []string{"call 5"}, Invalid: []string{"call 6"}, Unfired: []string{"replies[3]: reset"},
		},
		End: record.End{
			Status: "error", ExitCode: 6, Iterations: 2, Duration: 90 * time.Second,
			Text: "text", Summary: "summary", Details: "details", HarnessError: "broken",
		},
	}
}

var _ = Describe("Trial", Label("H-04"), func() {
	It("measures a trial", func() {
		want := measure.Facts{
			Run: measure.RunFacts{
				Status: "error", ExitCode: 6, Iterations: 2, Duration: 90, DurationKnown: true,
				Text: "text", Summary: "summary", Details: "details", Error: "broken",
				Perturbed: 3, // two statuses and a hang
				Cause:     "unauthorized",
			},
			Calls: measure.CallFacts{
				Total: 4, Failed: 2, Retries: 3, // 1 + 2
				By: map[string]int{"work": 3, "judge": 1},
				// truncated: the third call and one of its retries
				Errors: map[string]int{"truncated": 2, "rate-limited": 1, "timeout": 1, "unauthorized": 1}, LastError: "unauthorized",
			},
			Tokens: measure.TokenFacts{
				Known:     true,
				Input:     1800, // 1000 + 300 + 500
				Cached:    2000,
				Output:    57,   // 40 + 10 + 7
				Reasoning: 35,   // 30 + 5
				Total:     3857, // 1000 + 2000 + 300 + 40 + 500 + 10 + 7
			},
			Cost: measure.CostFacts{
				Known: true,
				// 1000 x 10 + 2000 x 1 + 300 x 20 + 40 x 100 = 22,000
				//  500 x 10                       + 10 x 100 =  6,000
				//                                    7 x 100 =    700
				USD:  28700 / 1e6,
				EUR:  14350 / 1e6,
				Most: 22000 / 1e6,
			},
			Latency: measure.LatencyFacts{
				N: 4, All: []float64{4, 1, 3, 2},
				Mean: 2.5,  // 10 / 4
				P50:  2.5,  // index 3 x 0.50 = 1.50: between 2 and 3
				P95:  3.85, // index 3 x 0.95 = 2.85: between 3 and 4
				Max:  4,
			},
			Script: measure.ScriptFacts{
				Requests: 5, HungUp: 1, Fired: map[string]int{"status": 2, "hang": 1},
				Unused: []string{"replies[4]"}, Unexpected: []string{"call 5"}, Invalid: []string{"call 6"}, Unfired: []string{"replies[3]: reset"},
			},
			Events:  []event.Event{{Kind: event.Iteration, N: 1}, {Kind: event.End, Name: "error"}},
			Answers: []string{"first", "second"},
			Last:    &measure.LastCall{N: 4, Purpose: "work", Error: "unauthorized"},
		}
		got := measure.Trial(scenario(), trial(), nil, nil)
		Expect(cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-12))).To(BeEmpty())
	})

	It("reports why the last answer ended", func() {
		tr := trial()
		tr.Calls[0].Finish, tr.Calls[1].Finish, tr.Calls[3].Finish = llm.FinishStop, llm.FinishLength, llm.FinishStop
		Expect(measure.Trial(scenario(), tr, nil, nil).Calls.Finish).To(Equal("length"), "the calls after it failed")
		tr.Calls = tr.Calls[:2]
		Expect(measure.Trial(scenario(), tr, nil, nil).Calls.LastError).To(BeEmpty(), "the last call was answered, whatever failed before")
	})

	It("counts the repeated requests of an external agent", func() {
		tr := trial()
		tr.Exchanges[2].Retry, tr.Exchanges[3].Retry, tr.Exchanges[3].Early = true, true, true
		Expect(measure.Trial(scenario(), tr, nil, nil).Calls).To(And(HaveField("Retries", 3+2), HaveField("EarlyRetries", 1)))

		before := measure.Trial(scenario(), tr, nil, nil)
		tr.Script.Storage = []record.StorageRequest{{Fault: "timeout", Fired: true}, {Early: true}, {Fault: "status"}}
		after := measure.Trial(scenario(), tr, nil, nil)
		Expect(after.Calls).To(And(HaveField("Retries", 3+2), HaveField("EarlyRetries", 2)), "of files and batches")
		Expect(after.Script.Fired).To(HaveKeyWithValue("timeout", before.Script.Fired["timeout"]+1))
		Expect(after.Script.Fired["status"]).To(Equal(before.Script.Fired["status"]))
		Expect(after.Run.Perturbed).To(Equal(before.Run.Perturbed + 1))
		Expect(after.Script.Requests).To(Equal(before.Script.Requests))
	})

	It("counts perturbations other than faults of calls", func() {
		tr := trial()
		tr.Events = append(tr.Events, record.Event{Event: event.Event{Kind: event.State, Name: "perturbation", Detail: "write=2:crash-before"}})
		f := measure.Trial(scenario(), tr, nil, nil)
		Expect(f.Run.Perturbed).To(Equal(4))
		Expect(f.Run.Struck).To(Equal(map[string]int{"write=2:crash-before": 1}))
	})

	It("reads the facts of the golden run from the head of the trial", func() {
		tr := trial()
		facts := measure.Trial(scenario(), tr, nil, nil)
		golden := measure.GoldenOf(&facts)
		Expect(golden.Text).To(Equal("text"))
		var err error
		tr.Head.Golden, err = json.Marshal(golden)
		Expect(err).NotTo(HaveOccurred())
		Expect(cmp.Diff(golden, measure.Trial(scenario(), tr, nil, nil).Golden)).To(BeEmpty())
	})

	It("reports an error if those facts are damaged", func() {
		tr := trial()
		tr.End.HarnessError = ""
		tr.Head.Golden = json.RawMessage(`{"calls": 24}`)
		Expect(measure.Trial(scenario(), tr, nil, nil).Run.Error).To(ContainSubstring("golden run cannot be read"))
	})

	It("does not change its arguments", func() {
		sc, tr := scenario(), trial()
		measure.Trial(sc, tr, nil, nil)
		Expect(cmp.Diff(trial(), tr)).To(BeEmpty())
		Expect(cmp.Diff(scenario(), sc)).To(BeEmpty())
	})

	It("does not report missing values as zero", func() {
		f := measure.Trial(scenario(), record.Trial{}, nil, nil)
		Expect(f.Latency.N).To(BeZero())
		Expect(f.Cost).To(Equal(measure.CostFacts{Known: true}))
		Expect(f.Tokens).To(Equal(measure.TokenFacts{Known: true}))
		Expect(f.Run.DurationKnown).To(BeTrue())
	})

	Describe("in real time", func() {
		It("reads times from the timings of the trial, in the order of the calls", func() {
			sc := scenario()
			sc.RealTime = true
			tr := trial()
			timing := func(trial, call int, d time.Duration) record.Timing {
				return record.Timing{Scenario: "s", Trial: trial, Call: call, Latency: d}
			}
			f := measure.Trial(sc, tr, []record.Timing{
				timing(3, 2, 6*time.Second), timing(3, 1, 2*time.Second), timing(3, 0, 9*time.Second),
				timing(4, 1, time.Hour), timing(4, 0, time.Hour),
				{Scenario: "other", Trial: 3, Call: 3, Latency: time.Hour},
			}, nil)
			Expect(f.Run.Duration).To(Equal(9.0))
			Expect(f.Run.DurationKnown).To(BeTrue())
			Expect(f.Latency).To(Equal(measure.LatencyFacts{N: 2, Mean: 4, P50: 4, P95: 5.8, Max: 6, All: []float64{2, 6}}))
		})

		It("has no times without timings", func() {
			sc := scenario()
			sc.RealTime = true
			f := measure.Trial(sc, trial(), nil, nil)
			Expect(f.Run.DurationKnown).To(BeFalse())
			Expect(f.Run.Duration).To(BeZero())
			Expect(f.Latency.N).To(BeZero())
		})
	})

	It("has no latency of a call that never returned", func() {
		tr := trial()
		tr.Calls[3].Error.Kind, tr.Calls[3].Latency = record.Cancelled, 0
		Expect(measure.Trial(scenario(), tr, nil, nil).Latency.All).To(Equal([]float64{4, 1, 3}))
		tr.Calls[3].Latency = time.Second // cancelled, but it came back
		Expect(measure.Trial(scenario(), tr, nil, nil).Latency.N).To(Equal(4))
	})

	// Without the second call: 22,000 + 700. Its own 6,000 are missing.
	DescribeTable("explains why the cost is unknown",
		func(change func(*record.Scenario, *record.Trial), known bool, dollars float64, why string) {
			sc, tr := scenario(), trial()
			change(&sc, &tr)
			got := measure.Trial(sc, tr, nil, nil).Cost
			Expect(got.Known).To(Equal(known))
			Expect(got.USD).To(BeNumerically("~", dollars, 1e-12))
			Expect(got.Why).To(ContainSubstring(why))
			if known {
				Expect(got.Why).To(BeEmpty())
				Expect(got.EUR).To(BeNumerically("~", dollars/2, 1e-12))
			}
		},
		Entry("no usage", func(_ *record.Scenario, tr *record.Trial) { tr.Calls[1].Usage = nil },
			false, 0.0227, "call 2: the backend reported no token usage"),
		Entry("no usage, but a reported cost", func(_ *record.Scenario, tr *record.Trial) {
			tr.Calls[1].Usage, tr.Calls[1].ReportedUSD = nil, usd(0.25)
		}, true, 0.2727, ""),
		Entry("usage and a reported cost: the price counts", func(_ *record.Scenario, tr *record.Trial) {
			tr.Calls[1].ReportedUSD = usd(0.25)
		}, true, 0.0287, ""),
		Entry("a reported cost below zero", func(_ *record.Scenario, tr *record.Trial) {
			tr.Calls[1].Usage, tr.Calls[1].ReportedUSD = nil, usd(-1)
		}, false, 0.0227, "call 2: the backend reported no token usage"),
		Entry("a negative usage", func(_ *record.Scenario, tr *record.Trial) { tr.Calls[1].Usage.Input = -5 },
			false, 0.0227, "call 2: the backend reported no token usage"),
		Entry("another model", func(_ *record.Scenario, tr *record.Trial) { tr.Calls[1].Model = "m-2" },
			false, 0.0227, `call 2: model "m-2" answered, and the recorded price is that of "m-1"`),
		Entry("a model under an alias", func(sc *record.Scenario, tr *record.Trial) { sc.Model, tr.Calls[1].Model = "alias", "alias" },
			true, 0.0287, ""),
		Entry("no price", func(sc *record.Scenario, _ *record.Trial) { sc.Price = nil },
			false, 0.0, `call 1: the price of model "m-1" is unknown`),
		Entry("no price, but reported costs: dollars only", func(sc *record.Scenario, tr *record.Trial) {
			sc.Price = nil
			tr.Calls = tr.Calls[:1]
			tr.Calls[0].ReportedUSD = usd(0.25)
		}, false, 0.25, "call 1: no exchange rate is recorded for its 0.25 USD"),
		Entry("a failed call without usage costs nothing", func(_ *record.Scenario, tr *record.Trial) { tr.Calls[2].Usage = nil },
			true, 0.028, ""),
		Entry("a failed call that reported a cost", func(_ *record.Scenario, tr *record.Trial) { tr.Calls[3].ReportedUSD = usd(0.1) },
			true, 0.1287, ""),
	)

	It("converts a price in euros", func() {
		sc := scenario()
		sc.Price.Currency = "EUR"
		got := measure.Trial(sc, trial(), nil, nil).Cost
		Expect(got.EUR).To(BeNumerically("~", 0.0287, 1e-12))
		Expect(got.USD).To(BeNumerically("~", 0.0574, 1e-12))
	})

	DescribeTable("reports whether tokens are known",
		func(change func(*record.Trial), known bool, total int) {
			tr := trial()
			change(&tr)
			got := measure.Trial(scenario(), tr, nil, nil).Tokens
			Expect(got.Known).To(Equal(known))
			Expect(got.Total).To(Equal(total))
		},
		Entry("an answered call without usage", func(tr *record.Trial) { tr.Calls[1].Usage = nil }, false, 3347), // 3857 - 510
		Entry("a failed call without usage", func(tr *record.Trial) { tr.Calls[2].Usage = nil }, true, 3850),
		Entry("a negative count", func(tr *record.Trial) { tr.Calls[2].Usage.Output = -1 }, false, 3850),
	)
})
