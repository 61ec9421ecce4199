package harness_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

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
	set, found := scenarios.Load([]string{file}, scenarios.Options{})
	if len(found) > 0 {
		tb.Fatal(found)
	}
	return set
}

// files is a sink that writes what the program writes.
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
	env := &drive.Env{Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: record.NewRedactor(nil)}
	defer env.Close()
	out, err := os.Create(filepath.Join(folder, "recording.jsonl"))
	check(tb, err)
	defer out.Close()
	header := harness.Header(set, "bench", prices.Date, nil)
	sink := &files{recording: bufio.NewWriter(out), builder: reports.Builder{Run: header}}
	sink.writer, err = record.NewWriter(sink.recording, header)
	check(tb, err)
	outcome, err := harness.Run(tb.Context(), set, harness.Options{Workers: workers, Env: env, Sink: sink})
	check(tb, err)
	check(tb, sink.writer.Close(record.Close{Trials: outcome.Trials}))
	check(tb, sink.recording.Flush())
	report := sink.builder.Close()
	if report.Verdict != "pass" || report.Totals.Trials.Total() != header.Trials {
		tb.Fatalf("verdict %s over %d trials", report.Verdict, report.Totals.Trials.Total())
	}
	for name, render := range map[string]func(f *os.File) error{
		"report.json": func(f *os.File) error { return reports.JSON(f, report, reports.Options{}) },
		"junit.xml":   func(f *os.File) error { return reports.JUnit(f, report, reports.Options{}) },
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

func BenchmarkThousandTrials(b *testing.B) {
	set := singleCalls(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		pipeline(b, set, 1, b.TempDir())
	}
}
