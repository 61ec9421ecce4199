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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
)

// The benchmarks below run the whole program as a user does: they build it and
// start it anew for each operation.

// program builds a package as the Makefile does and returns the executable. REHEARSE_PROGRAM names one of cmd/rehearse that
// is built already.
func program(b *testing.B, pkg string) string {
	b.Helper()
	if built := os.Getenv("REHEARSE_PROGRAM"); built != "" && pkg == "../cmd/rehearse" {
		return built
	}
	out := filepath.Join(b.TempDir(), "program")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
	return out
}

// spent has the time and memory of runs of a program.
type spent struct {
	wall, cpu time.Duration
	peak      float64 // the most memory it held, in MB
}

func (s spent) plus(t spent) spent { return spent{s.wall + t.wall, s.cpu + t.cpu, max(s.peak, t.peak)} }

// report reports the means of b.N runs and the largest peak.
func (s spent) report(b *testing.B) {
	b.ReportMetric(s.wall.Seconds()/float64(b.N), "sec/run")
	b.ReportMetric(s.cpu.Seconds()/float64(b.N), "cpu-sec/run")
	b.ReportMetric(s.peak, "peak-MB")
}

// meter is the program test/usage.
type meter string

func newMeter(b *testing.B) meter { return meter(program(b, "../test/usage")) }

// used returns a command that runs a program below test/usage, and a function that reads what it used when it has ended.
func (m meter) used(b *testing.B, name string, args ...string) (*exec.Cmd, func() spent) {
	b.Helper()
	folder := b.TempDir()
	file := filepath.Join(folder, "used.txt")
	cmd := exec.Command(string(m), append([]string{file, name}, args...)...)
	cmd.Dir, cmd.Stdout = folder, io.Discard
	if os.Getenv("REHEARSE_HISTORY") == "none" { // by TestMain; a user has a history
		cmd.Env = append(os.Environ(), "REHEARSE_HISTORY="+filepath.Join(folder, "history.db"))
	}
	return cmd, func() spent {
		b.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		var wall, cpu, peak int64
		if _, err := fmt.Sscan(string(text), &wall, &cpu, &peak); err != nil {
			b.Fatalf("%q: %v", text, err)
		}
		return spent{time.Duration(wall), time.Duration(cpu), float64(peak) / 1e6}
	}
}

// start runs a program to its end, which must be a good one.
func (m meter) start(b *testing.B, name string, args ...string) spent {
	return m.startWith(b, "", name, args...)
}

// startWith is start with a text as the standard input.
func (m meter) startWith(b *testing.B, stdin, name string, args ...string) spent {
	b.Helper()
	cmd, usage := m.used(b, name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var problem strings.Builder
	cmd.Stderr = &problem
	if err := cmd.Run(); err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, problem.String())
	}
	return usage()
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
	meter, floor, rehearse := newMeter(b), program(b, source), program(b, "../cmd/rehearse")
	var own, least spent
	for b.Loop() {
		own = own.plus(meter.start(b, rehearse, "version"))
		b.StopTimer()
		least = least.plus(meter.start(b, floor))
		b.StartTimer()
	}
	own.report(b)
	b.ReportMetric(least.wall.Seconds()/float64(b.N), "floor-sec/run")
}

// BenchmarkRun measures runs of one scenario with single-call trials, with all files on the disk.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint("trials=", n), func(b *testing.B) {
			meter, rehearse, scenario := newMeter(b), program(b, "../cmd/rehearse"), trials(b, n)
			var own spent
			for b.Loop() {
				own = own.plus(meter.start(b, rehearse, "run", scenario, "--out", "out"))
			}
			own.report(b)
		})
	}
}

// BenchmarkRun100000 compares the peaks of memory of 100,000 trials and of 1,000,
// and the times that one and two workers take. The floor of the latter is how much
// faster two busy loops are at once than in turn: 2 where two cores are idle, and
// about 1 on a busy machine, on which two workers cannot be judged.
func BenchmarkRun100000(b *testing.B) {
	meter, rehearse, few, many := newMeter(b), program(b, "../cmd/rehearse"), trials(b, 1000), trials(b, 100_000)
	run := func(scenario string, workers int) spent {
		return meter.start(b, rehearse, "run", scenario, "--out", "out", "--workers", strconv.Itoa(workers))
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
	b.ReportMetric(two.Seconds()/float64(b.N), "sec/run")
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
