package explore_test

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func benchEnv(tb testing.TB) *drive.Env {
	tb.Helper()
	prices, err := price.Default()
	check(tb, err)
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New(nil)}
	tb.Cleanup(func() { check(tb, env.Close()) })
	return env
}

func check(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}

func benchLoad(tb testing.TB, pattern string) scenarios.Scenario {
	tb.Helper()
	set, found := scenarios.Load([]string{pattern}, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(found) > 0 {
		tb.Fatal(found)
	}
	return set[0]
}

// took returns the wall-clock time and the processor time of f, over all cores. On a busy
// machine only the latter is meaningful.
func took(f func()) (wall, cpu time.Duration) {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	start := clock.Real().Now()
	f()
	wall = clock.Real().Now().Sub(start)
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	spent := func(r *syscall.Rusage) time.Duration {
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return wall, spent(&after) - spent(&before)
}

// bareRuns drives a golden path repeatedly without perturbations.
func bareRuns(tb testing.TB, sc scenarios.Scenario, env *drive.Env, runs, workers int) {
	sc.Trials = 1
	driver, err := drive.New(sc, env)
	check(tb, err)
	same := iter.Seq[drive.Driver](func(yield func(drive.Driver) bool) {
		for range runs {
			if !yield(driver) {
				return
			}
		}
	})
	_, err = harness.RunDrivers(tb.Context(), same, harness.Options{Language: kinds.Language(), Workers: workers, Env: env, Sink: nothing{}, Bare: true})
	check(tb, err)
}

// nothing is a sink that discards everything.
type nothing struct{}

func (nothing) Scenario(record.Scenario) error { return nil }
func (nothing) Trial(harness.Judged) error     { return nil }

// BenchmarkInterview explores the golden path of an interview on two workers: the first 200 runs, the first 600, and
// all. The floor is the same number of unperturbed runs, which start at the beginning and are driven just before.
func BenchmarkInterview(b *testing.B) {
	sc, env := benchLoad(b, "interview/golden-lea"), benchEnv(b)
	bareRuns(b, sc, env, 1, 1) // loads everything that is loaded once
	for _, limit := range []int{200, 600, 0} {
		name := fmt.Sprintf("runs=%d", limit)
		if limit == 0 {
			name = "runs=all"
		}
		b.Run(name, func(b *testing.B) { benchExplored(b, sc, env, limit) })
	}
}

// benchExplored explores at most limit runs, and compares their processor time with the floor.
func benchExplored(b *testing.B, sc scenarios.Scenario, env *drive.Env, limit int) {
	const floorRuns = 100 // of which the mean counts
	var own, floor time.Duration
	runs := 0
	for b.Loop() {
		b.StopTimer()
		_, cpu := took(func() { bareRuns(b, sc, env, floorRuns, 2) })
		floor += cpu / floorRuns
		b.StartTimer()
		_, cpu = took(func() {
			r, err := explore.Run(b.Context(), sc, explore.Options{Language: kinds.Language(), Env: env, Workers: 2, MaxRuns: limit})
			check(b, err)
			runs = len(r.Cells)
		})
		own += cpu
	}
	b.ReportMetric(float64(runs), "runs/op")
	b.ReportMetric(own.Seconds()/float64(b.N), "cpu-sec/op")
	b.ReportMetric(float64(runs*b.N)/own.Seconds(), "runs/cpu-sec")
	b.ReportMetric(float64(own)/float64(floor)/float64(runs), "x-floor-cpu")
	b.ReportMetric(floor.Seconds()/float64(b.N), "floor-cpu-sec")
}

// BenchmarkTwoWorkers measures the speedup of two workers over one; the ideal is 2.
// Both cores must be idle.
func BenchmarkTwoWorkers(b *testing.B) {
	sc, env := benchLoad(b, "interview/golden-lea"), benchEnv(b)
	explored := func(workers int) time.Duration {
		wall, _ := took(func() {
			_, err := explore.Run(b.Context(), sc, explore.Options{Language: kinds.Language(), Env: env, Workers: workers, Families: []result.Family{result.Texts}})
			check(b, err)
		})
		return wall
	}
	explored(1) // loads everything that is loaded once
	var one, two, core time.Duration
	for b.Loop() {
		two += explored(2)
		b.StopTimer()
		one += explored(1)
		all := runtime.GOMAXPROCS(1)
		core += explored(1)
		runtime.GOMAXPROCS(all)
		b.StartTimer()
	}
	b.ReportMetric(float64(one)/float64(two), "x-one-worker")
	b.ReportMetric(float64(core)/float64(two), "x-one-core")
}

// BenchmarkTenHours explores the crashes of a plan of ten hours: before and after each
// write, and a full disk.
func BenchmarkTenHours(b *testing.B) {
	sc, env := benchLoad(b, "persist/ten-hours"), benchEnv(b)
	var cpu time.Duration
	for b.Loop() {
		_, spent := took(func() {
			r, err := explore.Run(b.Context(), sc, explore.Options{Language: kinds.Language(), Env: env, Workers: 2, Families: []result.Family{result.Crashes}})
			check(b, err)
			b.ReportMetric(float64(len(r.Cells)), "runs/op")
			b.ReportMetric(float64(3*r.Golden.Writes), "crash-points/op")
		})
		cpu += spent
	}
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-sec/op")
}

// BenchmarkFlatMemory compares the heap in use when an exploration ends, its result
// included, after 400 runs and after 4,000.
func BenchmarkFlatMemory(b *testing.B) {
	sc, env := longLoop(b), benchEnv(b)
	heap := func(runs int) float64 {
		r, err := explore.Run(b.Context(), sc, explore.Options{Language: kinds.Language(), Env: env, Workers: 2, MaxRuns: runs, Pairs: runs})
		check(b, err)
		if len(r.Cells) != runs {
			b.Fatalf("%d runs of %d", len(r.Cells), runs)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(&r)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	heap(400) // loads everything that is loaded once
	var few, many float64
	for b.Loop() {
		b.StopTimer()
		few = max(few, heap(400))
		b.StartTimer()
		many = max(many, heap(4000))
	}
	b.ReportMetric(few, "MB-400")
	b.ReportMetric(many, "MB-4000")
	b.ReportMetric((many-few)*(1<<20)/3600, "B/run")
}

// longLoop returns a path of sixty calls that continues after failed ones.
func longLoop(tb testing.TB) scenarios.Scenario {
	tb.Helper()
	var text strings.Builder
	text.WriteString("name: bench/long\ndrive: {loop: {prompt: Say DONE., error_limit: 3, max_iterations: 200}}\nbackend:\n  model: gpt-4.1-mini\n  replies:\n")
	for n := range 59 {
		fmt.Fprintf(&text, "    - {text: \"Step %d is done; the next one follows.\"}\n", n+1)
	}
	text.WriteString("    - {text: \"All is done.\\nDONE\"}\nexpect: {status: done}\n")
	file := filepath.Join(tb.TempDir(), "long.yaml")
	check(tb, os.WriteFile(file, []byte(text.String()), 0o600))
	return benchLoad(tb, file)
}
