package harness_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/redact"

	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// singleCall is a scenario whose trials make one call each.
const singleCall = `
name: bench/single-call
drive: {loop: {prompt: Say that you are done.}}
backend:
  model: gpt-4.1-mini
  replies: [{text: "All 14 tests pass.\nDONE", latency: 1s}]
expect: {status: done, exit_code: 0, calls: 1, cost: {at_most: 0.01 EUR}, latency: {p95: 2s}, that: [calls.failed == 0]}
trials: %d
`

// singleCalls is a set of one scenario with that many trials.
func singleCalls(tb testing.TB, trials int) []scenarios.Scenario {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "single-call.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, singleCall, trials), 0o600); err != nil {
		tb.Fatal(err)
	}
	set, found := scenarios.Load([]string{file}, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(found) > 0 {
		tb.Fatal(found)
	}
	return set
}

// files is a sink that writes the same files as the program.
type files struct {
	recording *bufio.Writer
	writer    *record.Writer
	builder   reports.Builder
	head      record.Scenario
}

func (f *files) Scenario(s record.Scenario) error { f.head = s; return f.writer.Scenario(s) }

func (f *files) Trial(j harness.Judged) error {
	f.builder.Add(f.head, j.Facts, j.Findings)
	if err := f.writer.Trial(j.Lines); err != nil {
		return err
	}
	return f.recording.Flush()
}

// pipeline runs a set into a folder: recording, JSON and JUnit.
func pipeline(tb testing.TB, set []scenarios.Scenario, workers int, folder string) {
	prices, err := price.Default()
	check(tb, err)
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New(nil)}
	defer env.Close()
	out, err := os.Create(filepath.Join(folder, "recording.jsonl"))
	check(tb, err)
	defer out.Close()
	header := harness.Header(set, "bench", prices, nil)
	sink := &files{recording: bufio.NewWriter(out), builder: reports.Builder{Extensions: kinds.Language().Extensions(), Run: header}}
	sink.writer, err = record.NewWriter(sink.recording, header)
	check(tb, err)
	outcome, err := harness.Run(tb.Context(), set, harness.Options{Language: kinds.Language(), Workers: workers, Env: env, Sink: sink})
	check(tb, err)
	check(tb, sink.writer.Close(record.Close{Trials: outcome.Trials}))
	check(tb, sink.recording.Flush())
	report := sink.builder.Close()
	if report.Verdict != "pass" || report.Totals.Trials.Total() != header.Trials {
		tb.Fatalf("verdict %s over %d trials", report.Verdict, report.Totals.Trials.Total())
	}
	for name, render := range map[string]func(f *os.File) error{
		"report.json": func(f *os.File) error { return reports.JSON(f, report) },
		"junit.xml":   func(f *os.File) error { return reports.JUnit(f, report) },
	} {
		f, err := os.Create(filepath.Join(folder, name))
		check(tb, err)
		check(tb, render(f))
		check(tb, f.Close())
	}
}

func check(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

// BenchmarkThousandTrials measures the whole pipeline for 1,000 single-call trials:
// drive, record, measure, judge, report as JSON and JUnit. The floor makes the same
// calls with go-openai alone.
func BenchmarkThousandTrials(b *testing.B) {
	set := singleCalls(b, 1000)
	besideFloor(b, func() { pipeline(b, set, 1, b.TempDir()) }, func() { plainCalls(b, 1000) })
}

// BenchmarkTwoWorkers reports how much faster two workers are than one, and than one
// on a single core; 2 would be perfect. A worker alone leaves the sink and
// the garbage collector to the second core, which two workers use up themselves.
// Both cores must be idle.
func BenchmarkTwoWorkers(b *testing.B) {
	set := singleCalls(b, 5000)
	var two, one, core time.Duration
	for b.Loop() {
		two += took(func() { pipeline(b, set, 2, b.TempDir()) })
		b.StopTimer()
		one += took(func() { pipeline(b, set, 1, b.TempDir()) })
		all := runtime.GOMAXPROCS(1)
		core += took(func() { pipeline(b, set, 1, b.TempDir()) })
		runtime.GOMAXPROCS(all)
		b.StartTimer()
	}
	b.ReportMetric(float64(one)/float64(two), "x-one-worker")
	b.ReportMetric(float64(core)/float64(two), "x-one-core")
}

// BenchmarkFlatMemory compares the peaks of memory of 100,000 trials and of 1,000.
func BenchmarkFlatMemory(b *testing.B) {
	few, many := singleCalls(b, 1000), singleCalls(b, 100_000)
	pipeline(b, few, 2, b.TempDir()) // loads everything that is loaded once
	var least, most float64
	for b.Loop() {
		b.StopTimer()
		least = max(least, peak(b, func() { pipeline(b, few, 2, b.TempDir()) }))
		b.StartTimer()
		most = max(most, peak(b, func() { pipeline(b, many, 2, b.TempDir()) }))
	}
	b.ReportMetric(least, "MB-1000")
	b.ReportMetric(most, "MB-100000")
	b.ReportMetric(most/least, "x-memory")
}

// BenchmarkFourHours measures the shipped scenario of four hours and 200 iterations. The
// floor makes 200 calls with go-openai alone.
func BenchmarkFourHours(b *testing.B) {
	set, found := scenarios.Load([]string{"loop/four-hours"}, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(found) > 0 {
		b.Fatal(found)
	}
	besideFloor(b, func() { pipeline(b, set, 1, b.TempDir()) }, func() { plainCalls(b, 200) })
}

// besideFloor benchmarks run and reports its time as a multiple of that of floor. Both are measured
// alternately, because the machine's speed changes.
func besideFloor(b *testing.B, run, floor func()) {
	b.ReportAllocs()
	var own, least time.Duration
	for b.Loop() {
		own += took(run)
		b.StopTimer()
		least += took(floor)
		b.StartTimer()
	}
	b.ReportMetric(float64(least)/float64(b.N), "floor-ns/op")
	b.ReportMetric(float64(own)/float64(least), "x-floor")
}

func took(f func()) time.Duration {
	start := clock.Real().Now()
	f()
	return clock.Real().Now().Sub(start)
}

// peak returns the peak memory of the process in MB while f ran, as counted by the kernel.
func peak(b *testing.B, f func()) float64 {
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Skip("the peak of memory cannot be reset here: ", err)
	}
	f()
	status, err := os.ReadFile("/proc/self/status")
	check(b, err)
	_, text, _ := strings.Cut(string(status), "VmHWM:")
	var kB float64
	_, err = fmt.Sscanf(text, "%f kB", &kB)
	check(b, err)
	return kB / 1024
}

// plainCalls makes calls with go-openai alone to a transport that answers with
// fixed bytes.
func plainCalls(b *testing.B, n int) {
	cfg := openai.DefaultConfig("none")
	cfg.HTTPClient = &http.Client{Transport: fixed{}}
	client := openai.NewClientWithConfig(cfg)
	request := openai.ChatCompletionRequest{
		Model:    "gpt-4.1-mini",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "Say that you are done."}},
	}
	for range n {
		_, err := client.CreateChatCompletion(b.Context(), request)
		check(b, err)
	}
}

type fixed struct{}

const answer = `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"gpt-4.1-mini","choices":[{"index":0,` +
	`"message":{"role":"assistant","content":"All 14 tests pass.\nDONE"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":9,"completion_tokens":7,"total_tokens":16}}`

func (fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	_, err := io.Copy(io.Discard, r.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)),
	}, err
}
