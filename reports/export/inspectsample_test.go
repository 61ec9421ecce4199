package export_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports/export"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var journalStart = time.Date(2026, time.November, 21, 20, 0, 0, 0, time.UTC)

// judged is a trial with what was found.
type judged struct {
	scenario record.Scenario
	trial    record.Trial
	findings []gate.Finding
}

// run is a recording.
type run struct {
	head   export.Head
	trials []judged
}

// samples passes on the trials as a reader of the recording does.
func (r run) samples(to export.Visit) error {
	for _, t := range r.trials {
		if err := to(t.scenario, t.trial, measure.Trial(t.scenario, t.trial, nil, kinds.Language().Extensions()), t.findings); err != nil {
			return err
		}
	}
	return nil
}

// log is counted, and ready to be written.
func (r run) log() *export.Log {
	var l export.Log
	if err := r.samples(l.Count); err != nil {
		panic(err)
	}
	return &l
}

const long = "You answer questions about orders. You never make up a number, and you say so where something is not known."

// scenario has a price of 1 USD for each input token, and 2 for each output token.
func scenario(name string, trials int) record.Scenario {
	return record.Scenario{
		Name: name, File: "scenarios/" + name + ".yaml", Digest: "sha256:12", About: "Somebody asks.", Proves: []string{"H-05"}, Seed: 1<<63 + 1,
		Trials: trials, Agent: "loop", Backend: "openai", Model: "m-1", Expect: expect.Expect{Status: "done"},
		Price: &price.Quote{Model: "m-1", Currency: string(quantity.USD), Input: 1e6, Output: 2e6, EURPerUSD: 0.5},
	}
}

// sampleTrial has two calls: one with a retry after a fault and a tool call, and one that
// failed if lost is true.
func sampleTrial(name string, n int, lost bool) record.Trial {
	message := func(id int, role llm.Role, text string) record.Message {
		return record.Message{ID: fmt.Sprintf("m%d", id), Message: llm.Message{Role: role, Content: text}}
	}
	t := record.Trial{
		Head: record.TrialHead{Scenario: name, N: n, Seed: uint64(n)},
		Messages: []record.Message{
			message(1, llm.Developer, long), message(2, llm.User, "Where is order 7?"), message(3, llm.Assistant, ""),
			message(4, llm.ToolRole, `{"at": "depot"}`), message(5, llm.Assistant, strings.Repeat("It is at the depot. ", 20)),
		},
		Calls: []record.Call{
			{
				N: 1, At: 0, Latency: 2 * time.Second, Purpose: "answer", Tags: map[string]string{"block": "1"}, Backend: "openai", Model: "m-1",
				Messages: []string{"m1", "m2"}, Reply: "m3", Finish: llm.FinishToolCalls,
				Usage:   &llm.Usage{Input: 10, CachedInput: 2, Output: 5, Reasoning: 1, Source: llm.UsageReported},
				Retries: []llm.Retry{{Kind: llm.RateLimited, Status: 429, Wait: time.Second}},
			},
			{
				N: 2, At: 3 * time.Second, Latency: 500 * time.Millisecond, Purpose: "check", Backend: "openai", Model: "m-1",
				Messages: []string{"m1", "m2", "m3", "m4"}, Reply: "m5", Finish: llm.FinishStop, Usage: &llm.Usage{Input: 20, Output: 7},
			},
		},
		Exchanges: []record.Exchange{
			{N: 1, Line: "replies[0]", Attempt: 1, Status: 429, Fault: "status", Fired: true, Delivered: true, Bytes: 80},
			{N: 2, Line: "replies[0]", Attempt: 2, Status: 200, Delivered: true, Bytes: 300},
			{N: 3, Line: "replies[1]", Attempt: 1, Status: 200, Delivered: true, Bytes: 200},
		},
		Events: []record.Event{
			{At: 2 * time.Second, Event: event.Event{Kind: event.Iteration, N: 1, Attrs: map[string]any{"calls": 1.0}}},
			{At: 3500 * time.Millisecond, Event: event.Event{Kind: event.Verdict, Name: "stop", N: 2, Detail: "it may stop", Attrs: map[string]any{"allow": true}}},
		},
		End: record.End{Status: "done", Iterations: 2, Duration: 4 * time.Second, Details: "completed"},
	}
	t.Messages[2].ToolCalls = []llm.ToolCall{{ID: "t1", Name: "find", Arguments: `{"order":7}`}, {ID: "t2", Name: "find", Arguments: `not JSON`}}
	t.Messages[3].ToolCallID = "t1"
	if lost {
		t.Messages = t.Messages[:4]
		t.Calls[1].Reply, t.Calls[1].Usage = "", nil
		t.Calls[1].Error = &record.CallError{Kind: llm.Unavailable, Status: 503, Message: "overloaded"}
		t.End.Status = "error"
	}
	return t
}

// small has a trial of every verdict.
func small() run {
	r := run{head: export.Head{Start: journalStart, Run: record.Run{
		Schema: record.Schema, ID: "5e1f", Tool: "rehearse 1.2.3", Prices: "2026-11-20", Scenarios: 4, Trials: 5, Labels: map[string]string{"branch": "main"},
	}}}
	add := func(name string, n int, lost bool, findings ...gate.Finding) {
		r.trials = append(r.trials, judged{scenario(name, n), sampleTrial(name, n, lost), findings})
	}
	add("orders/golden", 1, false)
	add("orders/golden", 2, true, gate.Finding{Severity: gate.Failing, Rule: "status", Message: `expected "done", got "error"`, Evidence: "run.status"})
	add("orders/outage", 1, true, gate.Finding{Severity: gate.Broken, Rule: "unfired-fault", Message: "a fault did not fire"})
	add("orders/process", 1, false, gate.Finding{Severity: gate.Skipped, Rule: "skipped", Message: "there is no such program"})
	return r
}
