package page_test

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
	"github.com/rehearse-dev/rehearse/stat"
)

// memory is a spool for tests.
type memory struct{ bytes.Buffer }

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m.Bytes()).ReadAt(p, off)
}

// run is a recorded and judged run.
type run struct {
	head       record.Run
	notRun     []string // scenarios that did not run because of an interruption
	trials     []judged
	input      page.Input
	comparison *compare.Result
}

type judged struct {
	scenario record.Scenario
	trial    record.Trial
	findings []gate.Finding
}

// page renders a run.
func (r run) page(opts page.Options) string {
	GinkgoHelper()
	b := page.New(&memory{}, opts)
	report := reports.Builder{Extensions: kinds.Language().Extensions(), Run: r.head, Interrupted: r.notRun != nil, NotRun: r.notRun}
	for i := range r.trials {
		t := &r.trials[i]
		facts := measure.Trial(t.scenario, t.trial, nil, kinds.Language().Extensions())
		Expect(b.Trial(&t.scenario, &t.trial, &facts, t.findings)).To(Succeed())
		report.Add(t.scenario, facts, t.findings)
	}
	in := r.input
	in.Report = report.Close()
	in.Report.Comparison = r.comparison
	var out bytes.Buffer
	Expect(b.Write(&out, in)).To(Succeed())
	return out.String()
}

func quote() *price.Quote {
	table, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	q, ok := table.Quote("gpt-4.1-mini")
	Expect(ok).To(BeTrue())
	return &q
}

// dialogue returns a trial of turns, each a message of the user and the model's answer.
func dialogue(scenario string, n int, turns ...[2]string) record.Trial {
	t := record.Trial{Head: record.TrialHead{Scenario: scenario, N: n, Seed: uint64(n) * 7}}
	add := func(role llm.Role, text string) string {
		id := fmt.Sprintf("m%d", len(t.Messages)+1)
		t.Messages = append(t.Messages, record.Message{ID: id, Message: llm.Message{Role: role, Content: text}})
		return id
	}
	history := []string{add(llm.System, "You look after orders. Answer in one sentence and name the order.")}
	at := time.Duration(0)
	for i, turn := range turns {
		history = append(history, add(llm.User, turn[0]))
		c := record.Call{
			N: i + 1, At: at, Latency: time.Duration(600+200*i) * time.Millisecond, Purpose: []string{"answer", "check"}[i%2],
			Backend: "openai", Model: "gpt-4.1-mini", Messages: append([]string(nil), history...),
			Usage: &llm.Usage{Input: 40 + 30*i, Output: 12, Source: llm.UsageReported},
		}
		c.Reply = add(llm.Assistant, turn[1])
		history = append(history, c.Reply)
		at += c.Latency + time.Second
		t.Calls = append(t.Calls, c)
		t.Exchanges = append(t.Exchanges, record.Exchange{N: i + 1, Line: fmt.Sprintf("replies[%d]", i), Attempt: 1, Status: 200, Delivered: true, Frames: 3, Bytes: 210})
		t.Events = append(t.Events, record.Event{At: at - time.Second, Event: event.Event{Kind: event.Iteration, N: i + 1, Attrs: map[string]any{"finish": "stop"}}})
	}
	t.End = record.End{Status: "done", Iterations: len(turns), Duration: at, Text: turns[len(turns)-1][1], Details: "completed"}
	return t
}

// small has a scenario of every verdict, and something of everything that a page shows.
func small() run {
	r := run{head: record.Run{
		Schema: record.Schema, ID: "5e1f0c9a77aa", Tool: "rehearse 1.2.3", Prices: "2026-11-20", Scenarios: 5, Trials: 7,
		Labels: map[string]string{"branch": "main"},
	}}
	golden := record.Scenario{
		Name: "orders/golden", File: "scenarios/orders/golden.yaml", Digest: "sha256:1234", About: "A customer asks where an order is, and is told.",
		Proves: []string{"H-05"}, Tags: []string{"golden", "fast"}, Seed: 7, Trials: 2, Agent: "loop", Backend: "openai", Model: "gpt-4.1-mini", Price: quote(),
	}
	for n := 1; n <= 2; n++ {
		r.add(golden, dialogue(golden.Name, n, [2]string{"Where is order 1042?", "Order 1042 is on its way."}, [2]string{"Is that right?", "Yes."}))
	}

	refund := golden
	refund.Name, refund.About, refund.Tags, refund.Trials = "orders/refund", "The model announces what it should do, and the guard makes it go on.", []string{"guard"}, 2
	refund.File, refund.Proves = "scenarios/orders/refund.yaml", []string{"G-01"}
	r.add(refund, dialogue(refund.Name, 1, [2]string{"Refund order 7.", "Order 7 is refunded."}))
	r.add(refund, deferring(refund.Name), gate.Finding{
		Severity: gate.Failing, Rule: "calls", Message: "4 calls, and at most 3 are expected", At: "expect.calls", Evidence: "calls.total == 4",
	}, gate.Finding{Severity: gate.Info, Rule: "note", Message: "one call was retried"})

	broken := golden
	broken.Name, broken.About, broken.Trials, broken.Agent, broken.Tags = "orders/outage", "The provider does not answer.", 1, "supervisor", nil
	torn := dialogue(broken.Name, 1, [2]string{"Where is order 3?", ""})
	torn.Calls[0].Reply, torn.Calls[0].Usage = "", nil
	torn.Calls[0].Error = &record.CallError{Kind: llm.Unavailable, Status: 503, Message: "the engine is overloaded"}
	torn.Script.Unfired = []string{"replies[0]: missing-done"}
	r.add(broken, torn, gate.Finding{Severity: gate.Broken, Rule: "unfired-fault", Message: "a planned fault did not fire"})

	skipped := golden
	skipped.Name, skipped.About, skipped.Trials, skipped.RealTime, skipped.Backend, skipped.Tags = "orders/process", "A command-line agent that is not installed.", 1, true, "claude", nil
	gone := dialogue(skipped.Name, 1, [2]string{"Where is order 3?", "Here."})
	gone.Calls, gone.Exchanges, gone.End = nil, nil, record.End{Status: "skipped", Skipped: "claude is not on this machine"}
	r.add(skipped, gone, gate.Finding{Severity: gate.Skipped, Rule: "skipped", Message: "claude is not on this machine"})

	perturbed := golden
	perturbed.Name, perturbed.Trials, perturbed.Perturb = "orders/golden [call=2:reset-mid-stream]", 1, []string{"call=2:reset-mid-stream"}
	lost := dialogue(perturbed.Name, 1, [2]string{"Where is order 1042?", "Order 1042 is on its way."})
	r.add(perturbed, lost, gate.Finding{Severity: gate.Failing, Rule: "invariant", Message: `run.status == "done"`, Evidence: `run.status is "error"`})
	r.comparison = comparison()
	r.input = page.Input{Explored: []result.Exploration{exploration()}, Detection: scores()}
	return r
}

func (r *run) add(s record.Scenario, t record.Trial, findings ...gate.Finding) {
	r.trials = append(r.trials, judged{s, t, findings})
}

// deferring is a trial with a retry, a fault, a tool call and verdicts of a guard.
func deferring(scenario string) record.Trial {
	t := dialogue(scenario, 2,
		[2]string{"Refund order 8.", "I looked at the order. Next, I will issue the refund. Let me know if I should."},
		[2]string{"Do it now.", "Done: order 8 is refunded."}, [2]string{"Check it.", strings.Repeat("The ledger shows the refund. ", 90)},
		[2]string{"And the mail?", "Sent."})
	t.Events[0] = record.Event{At: t.Events[0].At, Event: event.Event{
		Kind: event.Verdict, Name: "stop", N: 1, Detail: "1 step is announced and not done",
		Attrs: map[string]any{
			"allow": false, "forced": true, "score": 0.93, "steps": 1, "quote.1.next_steps": "Next, I will issue the refund.",
			"quote.2.asks": "Let me know if I should.", "quote.3.next_steps": "the refund. Let me",
		},
	}}
	t.Calls[1].Retries = []llm.Retry{{Kind: llm.RateLimited, Status: 429, Wait: 2 * time.Second}}
	t.Exchanges = append(t.Exchanges[:1:1], append([]record.Exchange{
		{N: 2, Line: "replies[1]", Attempt: 1, Status: 429, Fault: "status", Fired: true, Delivered: true, Frames: 1, Bytes: 90},
	}, t.Exchanges[1:]...)...)
	for i := range t.Exchanges {
		t.Exchanges[i].N = i + 1
	}
	t.Messages[4].ToolCalls = []llm.ToolCall{{ID: "t1", Name: "refund", Arguments: `{"order": 8}`}}
	return t
}

func ptr(v float64) *float64 { return &v }

func comparison() *compare.Result {
	eur := func(v float64) measure.Value {
		return measure.Value{Name: "cost_eur", Unit: "EUR", Known: true, Value: &v, N: 2}
	}
	calls := func(v float64) measure.Value {
		return measure.Value{Name: "calls", Known: true, Value: &v, N: 2}
	}
	return &compare.Result{
		Schema: compare.Schema, Before: "rehearse.baseline.json", After: "5e1f0c9a77aa", Verdict: gate.Fail, Equal: 41,
		Comparisons: []compare.Comparison{
			{Scenario: "orders/golden", Measure: "cost_eur", Unit: "EUR", Rule: compare.Relative, Verdict: compare.Tied, Before: eur(0.0041), After: eur(0.0042), Effect: &measure.Value{Value: ptr(0.0001), Unit: "EUR", Known: true}, Why: "2.4 % more, and 5 % are allowed"},
			{Scenario: "orders/refund", Measure: "calls", Rule: compare.Exact, Verdict: compare.Worse, Before: calls(3), After: calls(4), Effect: &measure.Value{Value: ptr(1), Known: true, Interval: &stat.Interval{Lo: 0.5, Hi: 1.5, Level: 0.95, N: 2}}, Why: "it repeats, so that any difference counts"},
			{Scenario: "gone/scenario", Measure: "status", Rule: compare.Exact, Verdict: compare.Insufficient, BeforeText: "done", Why: "it is missing"},
		},
		Changed:  []compare.ExpectationChange{{Scenario: "orders/refund", What: "expect.calls", Before: "{at_most: 2}", After: "{at_most: 3}"}},
		Missing:  []string{"gone/scenario"},
		Findings: []compare.Finding{{Scenario: "orders/refund", Finding: gate.Finding{Severity: gate.Failing, Rule: "regression", Message: "calls: 4, and 3 before"}}},
		Bless:    "rehearse bless rehearse-runs/demo",
	}
}

func exploration() result.Exploration {
	r := result.Exploration{
		Schema: result.ExplorationSchema, Tool: "rehearse 1.2.3", Scenario: "orders/golden", Agent: "loop", Invariants: []string{`run.status == "done"`},
		Calls: []result.Call{{N: 1, Purpose: "answer"}, {N: 2, Purpose: "check"}}, Left: []string{"crash: nothing durable is written"}, NotRun: 3, Stopped: "--max-runs 6",
	}
	outcomes := [][]result.Outcome{
		{result.Survived, result.Degraded, result.Survived, result.Unfired}, {result.Survived, result.Failed, result.Errored, result.Survived},
	}
	for i, row := range outcomes {
		for j, o := range row {
			kind := []string{"status,status=500", "reset-mid-stream", "timeout", "missing-done"}[j]
			c := result.Cell{Family: result.Faults, Perturb: []string{fmt.Sprintf("call=%d:%s", i+1, kind)}, Outcome: o, Fired: 1}
			switch o {
			case result.Failed:
				c.Shrunk, c.Command = c.Perturb, "rehearse run orders/golden --perturb 'call=2:reset-mid-stream'"
				c.Findings = []gate.Finding{{Severity: gate.Failing, Rule: "invariant", Message: `run.status == "done"`, Evidence: `run.status is "error"`}}
			case result.Unfired:
				c.Findings = []gate.Finding{{Severity: gate.Broken, Rule: "unfired-fault", Message: "the reply has no such mark"}}
			default:
			}
			r.Cells = append(r.Cells, c)
		}
	}
	return r
}

func scores() *reports.Detection {
	value := func(v float64) detect.Value {
		return detect.Value{Value: &v, N: 200, Interval: &stat.Interval{Lo: v - 0.04, Hi: v + 0.03, Level: 0.95, N: 200}}
	}
	curve := detect.Curve{N: 200, Best: &detect.Point{Threshold: 0.5}}
	for i := range 11 {
		x := float64(i) / 10
		curve.Points = append(curve.Points, detect.Point{Threshold: x, Precision: ptr(0.5 + x/2), Recall: ptr(1 - x*x), F1: ptr(0.9 - (x-0.5)*(x-0.5))})
	}
	return &reports.Detection{
		Corpora: []reports.DetectionCorpus{{Name: "corpus.jsonl", Items: 200}},
		Detectors: []detect.Evaluation{
			{Detector: "guard", Items: 200, Scored: 200, Overall: detect.Scores{Precision: value(0.94), Recall: value(0.91), F1: value(0.925), FPR: value(0.05)}, Curve: &curve},
			{Detector: "naive", Items: 200, Scored: 200, Overall: detect.Scores{Precision: value(0.71), Recall: value(0.62), F1: value(0.66), FPR: value(0.2)}},
		},
	}
}
