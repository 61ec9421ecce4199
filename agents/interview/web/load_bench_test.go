package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/database"
)

// cpuTime returns the processor time that this process has used; nil if it cannot be
// measured. Unlike latencies it hardly depends on other load of the machine.
var cpuTime func() time.Duration

// stores runs a benchmark with each store; PostgreSQL only if REHEARSE_TEST_POSTGRES has a DSN.
func stores(b *testing.B, run func(b *testing.B, dsn string)) {
	b.Run("memory", func(b *testing.B) { run(b, "memory:") })
	b.Run("file", func(b *testing.B) { run(b, filepath.Join(b.TempDir(), "sessions.db")) })
	if server := os.Getenv("REHEARSE_TEST_POSTGRES"); server != "" {
		b.Run("postgres", func(b *testing.B) {
			dsn, drop, err := database.Scratch(b.Context(), server)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = drop() })
			run(b, dsn)
		})
	}
}

// measure reports the speed of rounds, each of which returns its number of steps. The processor time is
// that of the whole process: clients, service, store and scripted model.
func measure(b *testing.B, t *town, round func() int) {
	if cpuTime == nil {
		cpuTime = func() time.Duration { return 0 }
	}
	steps, cpu := 0, cpuTime()
	for b.Loop() {
		steps += round()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
	b.ReportMetric((cpuTime()-cpu).Seconds()/float64(steps), "cpu-sec/step")
	b.ReportMetric(t.latency.quantile(0.50).Seconds(), "p50-sec")
	b.ReportMetric(t.latency.quantile(0.99).Seconds(), "p99-sec")
}

// rate is the load, in steps a second, at which latencies count.
const rate = 300

// BenchmarkEager measures interviews of candidates who all answer as soon as a question is shown. An error
// of any request fails it.
func BenchmarkEager(b *testing.B) {
	crowds(b, func(int, time.Time) func(int) func(int) time.Time { return eager })
}

// BenchmarkPaced measures interviews of candidates who think between their answers, so
// that rate steps a second arrive. A step's latency counts from the time at which
// it was due, also where the one before was late. An error of any request fails it.
func BenchmarkPaced(b *testing.B) {
	crowds(b, func(candidates int, begin time.Time) func(int) func(int) time.Time {
		think := time.Duration(candidates) * time.Second / rate
		return func(candidate int) func(int) time.Time {
			return func(step int) time.Time {
				due := begin.Add(think*time.Duration(step) + think*time.Duration(candidate)/time.Duration(candidates))
				_ = clock.Real().Sleep(b.Context(), due.Sub(clock.Real().Now()))
				return due
			}
		}
	})
}

// crowdSizes returns the numbers of interviews at once: 100 and, unless -short is given, 500.
func crowdSizes() []int {
	if testing.Short() {
		return []int{crowd}
	}
	return []int{crowd, 5 * crowd}
}

// crowds measures interviews at once with each store.
func crowds(b *testing.B, pace func(candidates int, begin time.Time) func(candidate int) func(step int) time.Time) {
	for _, candidates := range crowdSizes() {
		b.Run(fmt.Sprint(candidates), func(b *testing.B) {
			stores(b, func(b *testing.B, dsn string) {
				town := newTown(b, dsn)
				measure(b, town, func() int { return count(b, town, candidates, pace(candidates, clock.Real().Now())) })
			})
		})
	}
}

// BenchmarkHeap measures the memory that an interview leaves behind, as the difference
// between a hundred and two hundred interviews.
func BenchmarkHeap(b *testing.B) {
	town := newTown(b, filepath.Join(b.TempDir(), "sessions.db"))
	fill := func() {
		count(b, town, crowd, eager)
		town.latency.all = nil
	}
	fill()
	for b.Loop() {
		first := heap()
		fill()
		b.ReportMetric(first/1e6, "MB-after-100")
		b.ReportMetric((heap()-first)/crowd/1e3, "KB/interview")
	}
}

// BenchmarkFloor measures the minimum that any such service needs: as many posts of an
// answer, each of which is committed and echoed.
func BenchmarkFloor(b *testing.B) {
	for _, candidates := range crowdSizes() {
		b.Run(fmt.Sprint(candidates), func(b *testing.B) {
			stores(b, func(b *testing.B, dsn string) { benchFloor(b, dsn, candidates) })
		})
	}
}

func benchFloor(b *testing.B, dsn string, candidates int) {
	db, err := store.Open(context.Background(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	t := &town{client: &http.Client{Transport: pooled(b)}, latency: &latencies{}}
	server := httptest.NewServer(echo(db))
	b.Cleanup(server.Close)
	measure(b, t, func() int {
		const each = 50
		var group sync.WaitGroup
		for range candidates {
			group.Go(func() {
				for range each {
					begin := clock.Real().Now()
					res, err := t.client.Post(server.URL, "application/json", strings.NewReader(`{"message":"because"}`))
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, res.Body)
					res.Body.Close()
					t.latency.add(clock.Real().Now().Sub(begin))
				}
			})
		}
		group.Wait()
		return candidates * each
	})
}

// echo commits the body of a request, and then returns it.
func echo(db session.Store) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		err := db.Create(r.Context(), session.Session{
			ID: fmt.Sprint("s", n.Add(1)), Candidate: "c", Language: session.French, Version: 1, Step: session.Identity,
			Phase: session.Asking, Messages: 1,
		}, session.Change{Messages: []session.Message{{
			Seq: 1, Role: "user", Kind: session.KindOther, Step: session.Identity, Question: session.NoQuestion, Text: string(body),
		}}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(body)
	})
}

// count takes a number of interviews at once and returns their number of steps.
func count(b *testing.B, t *town, candidates int, pace func(int) func(int) time.Time) (steps int) {
	all, err := t.fill(candidates, pace)
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range all {
		steps += one.steps
	}
	return steps
}

func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
