//go:build unix

package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
)

// The benchmarks below run the whole program as a user does: they build it and
// start it anew for each operation.

// program builds a package as the Makefile does and returns the executable.
func program(b *testing.B, pkg string) string {
	b.Helper()
	out := filepath.Join(b.TempDir(), "program")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return out
}

// spent has the time and memory of one run of a program.
type spent struct {
	wall time.Duration
	peak float64 // the most memory it held, in MB
}

// start runs a program to its end, which must be a good one.
func start(b *testing.B, name string, args ...string) spent {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout = b.TempDir(), io.Discard
	begin := clock.Real().Now()
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	s := spent{wall: clock.Real().Now().Sub(begin)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = float64(usage.Maxrss) / 1024 // in kB on Linux
	}
	return s
}

// trials writes a scenario whose trials make one call each.
func trials(b *testing.B, n int) string {
	b.Helper()
	file := filepath.Join(b.TempDir(), "single-call.yaml")
	err := os.WriteFile(file, fmt.Appendf(nil, `name: bench/single-call
drive: {loop: {prompt: Say that you are done.}}
backend:
  model: gpt-4.1-mini
  replies: [{text: "All 14 tests pass.\nDONE", latency: 1s}]
expect: {status: done, calls: 1, cost: {at_most: 0.01 EUR}, that: [calls.failed == 0]}
trials: %d
`, n), 0o600)
	if err != nil {
		b.Fatal(err)
	}
	return file
}

// hello is the least that a Go program can do, the floor of a start.
const hello = "package main\n\nfunc main() { println() }\n"

// BenchmarkVersion is a cold start.
func BenchmarkVersion(b *testing.B) {
	source := filepath.Join(b.TempDir(), "hello.go")
	if err := os.WriteFile(source, []byte(hello), 0o600); err != nil {
		b.Fatal(err)
	}
	floor, rehearse := program(b, source), program(b, "../cmd/rehearse")
	var own, least time.Duration
	for b.Loop() {
		own += start(b, rehearse, "version").wall
		b.StopTimer()
		least += start(b, floor).wall
		b.StartTimer()
	}
	b.ReportMetric(float64(own)/float64(b.N)/1e6, "ms/start")
	b.ReportMetric(float64(least)/float64(b.N)/1e6, "floor-ms/start")
}

// BenchmarkRun1000 is a run of 1,000 single-call trials, with all its files on the
// disk.
func BenchmarkRun1000(b *testing.B) {
	rehearse, scenario := program(b, "../cmd/rehearse"), trials(b, 1000)
	var own spent
	for b.Loop() {
		s := start(b, rehearse, "run", scenario, "--out", "out")
		own = spent{own.wall + s.wall, max(own.peak, s.peak)}
	}
	b.ReportMetric(own.wall.Seconds()/float64(b.N), "s/run")
	b.ReportMetric(own.peak, "peak-MB")
}

// BenchmarkRun100000 compares the peaks of memory of 100,000 trials and of 1,000,
// and the times that one and two workers take. The floor of the latter is how much
// faster two busy loops are at once than in turn: 2 where two cores are idle, and
// about 1 on a busy machine, on which two workers cannot be judged.
func BenchmarkRun100000(b *testing.B) {
	rehearse, few, many := program(b, "../cmd/rehearse"), trials(b, 1000), trials(b, 100_000)
	run := func(scenario string, workers int) spent {
		return start(b, rehearse, "run", scenario, "--out", "out", "--workers", strconv.Itoa(workers))
	}
	var two, one time.Duration
	var least, most, cores float64
	for b.Loop() {
		s := run(many, 2)
		two, most = two+s.wall, max(most, s.peak)
		b.StopTimer()
		one += run(many, 1).wall
		least = max(least, run(few, 2).peak)
		cores += idleCores()
		b.StartTimer()
	}
	b.ReportMetric(float64(one)/float64(two), "x-one-worker")
	b.ReportMetric(cores/float64(b.N), "x-one-core-floor")
	b.ReportMetric(most/least, "x-memory")
	b.ReportMetric(most, "peak-MB")
}

// idleCores returns how much faster two busy loops are in parallel than in sequence.
func idleCores() float64 {
	busy := func() {
		x := uint64(1)
		for range 300_000_000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		runtime.KeepAlive(x)
	}
	begin := clock.Real().Now()
	busy()
	busy()
	between := clock.Real().Now()
	var both sync.WaitGroup
	both.Go(busy)
	both.Go(busy)
	both.Wait()
	return float64(between.Sub(begin)) / float64(clock.Real().Now().Sub(between))
}
