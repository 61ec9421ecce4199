package drive_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/mocks"
)

// callsPerTrial is the number of calls in the benchmark's trial, which share its fixed cost.
const callsPerTrial = 100

// BenchmarkRecordedCall measures one scripted call of a trial: through the adapter and go-openai, in
// process, matched, metered and recorded. The floor is go-openai over a RoundTripper that returns
// fixed bytes.
func BenchmarkRecordedCall(b *testing.B) {
	for _, size := range []int{200, 20_000} {
		prompt := strings.Repeat("All work and no play. ", size/22+1)[:size]
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			counter := token.NewCounter(token.Options{})
			recordedTrial(b, counter, prompt) // loads the vocabulary and counts the prompt
			b.ReportAllocs()
			var ours, floor time.Duration
			for b.Loop() {
				ours += stopwatch(func() { recordedTrial(b, counter, prompt) })
				b.StopTimer()
				floor += stopwatch(func() { plainCalls(b, prompt) })
				b.StartTimer()
			}
			calls := float64(b.N * callsPerTrial)
			b.ReportMetric(float64(ours.Nanoseconds())/calls, "ns/call")
			b.ReportMetric(float64(floor.Nanoseconds())/calls, "floor-ns/call")
			b.ReportMetric(float64(ours)/float64(floor), "x-floor")
		})
	}
}

func stopwatch(f func()) time.Duration {
	began := clock.Real().Now()
	f()
	return clock.Real().Now().Sub(began)
}

// recordedTrial makes the calls of one trial and encodes its record.
func recordedTrial(b *testing.B, counter *token.Counter, prompt string) {
	b.Helper()
	answer := "All 14 tests pass."
	program, err := mocks.Compile(mocks.Script{Model: "gpt-4.1-mini", Rules: []mocks.Line{{
		When: &mocks.When{User: &mocks.Match{Contains: "no play"}}, Answer: mocks.Answer{Text: mocks.Text(answer)},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	clk := clock.NewVirtual()
	engine := mocks.NewEngine(program, mocks.EngineOptions{Clock: clk, Count: counter.Count})
	backend, err := openai.New(openai.Config{
		BaseURL: "http://127.0.0.1/v1", APIKey: "x", Model: "gpt-4.1-mini", Clock: clk, Transport: mocks.NewTransport(engine),
	})
	if err != nil {
		b.Fatal(err)
	}
	collector := record.NewCollector(record.CollectorOptions{
		Head: record.TrialHead{Scenario: "bench", N: 1}, Clock: clk, Redactor: redact.New(nil), Backend: "openai",
	})
	wrapped := collector.Wrap(backend)
	request := llm.Request{Purpose: "bench", Messages: []llm.Message{{Role: llm.User, Content: prompt}}}
	for range callsPerTrial {
		if _, err := wrapped.Complete(context.Background(), request); err != nil {
			b.Fatal(err)
		}
	}
	report := engine.Report()
	exchanges := make([]record.Exchange, len(report.Exchanges))
	for i, x := range report.Exchanges {
		exchanges[i] = record.Exchange(x)
	}
	if _, err := record.Encode(collector.Finish(record.End{Status: "done"}, record.Script{}, exchanges)); err != nil {
		b.Fatal(err)
	}
}

const fixedAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4.1-mini",` +
	`"choices":[{"index":0,"message":{"role":"assistant","content":"All 14 tests pass."},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":50,"completion_tokens":6,"total_tokens":56}}`

type fixed struct{}

// RoundTrip implements http.RoundTripper.
func (fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(fixedAnswer)), Request: r,
	}, nil
}

func plainCalls(b *testing.B, prompt string) {
	b.Helper()
	cfg := goopenai.DefaultConfig("x")
	cfg.HTTPClient = &http.Client{Transport: fixed{}}
	client := goopenai.NewClientWithConfig(cfg)
	for range callsPerTrial {
		_, err := client.CreateChatCompletion(context.Background(), goopenai.ChatCompletionRequest{
			Model:    "gpt-4.1-mini",
			Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: prompt}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
