package persist_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/clock"
)

// steady does each task in the same time, with some tool calls and files.
type steady struct {
	clock *clock.Virtual
	takes time.Duration
}

func (s steady) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	if err := a.Meter.Call(2); err != nil {
		return persist.Outcome{Grade: persist.Split}
	}
	a.Meter.Touch("src/"+a.Task.ID+".go", "src/main.go")
	if err := s.clock.Sleep(ctx, s.takes); err != nil {
		return persist.Outcome{Grade: persist.Failed, Details: err.Error()}
	}
	return persist.Outcome{Grade: persist.Done, Answer: "Done: " + a.Task.ID + " is in place, and its tests pass."}
}

// BenchmarkTenHours carries out plans of ten hours of virtual time with the
// journal on disk, each outcome durable before the next attempt begins.
func BenchmarkTenHours(b *testing.B) {
	for _, size := range []struct {
		name  string
		tasks int
	}{{"tasks=200", 200}, {"tasks=2000", 2000}, {"tasks=8000", 8000}} {
		for _, sync := range []struct {
			name  string
			every int
		}{{"always", 1}, {"group", 64}} {
			b.Run(size.name+"/sync="+sync.name, func(b *testing.B) { benchTenHours(b, size.tasks, sync.every) })
		}
	}
}

func benchTenHours(b *testing.B, n int, syncEvery int) {
	p := many(n)
	b.ReportAllocs()
	var written int64
	for b.Loop() {
		dir := b.TempDir()
		store, err := journal.Open(dir, syncEvery)
		if err != nil {
			b.Fatal(err)
		}
		v := clock.NewVirtual()
		result := persist.Run(b.Context(), p, persist.Deps{
			Store: store, Clock: v, Workers: map[string]persist.Worker{"default": steady{v, 10 * time.Hour / time.Duration(n)}},
		})
		if result.Status != persist.StatusComplete || v.Elapsed() != 10*time.Hour/time.Duration(n)*time.Duration(n) {
			b.Fatal(result.Status, result.Details, v.Elapsed())
		}
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
		written = size(b, dir)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/task")
	b.ReportMetric(float64(written)/float64(n), "journal-B/task")
}

func size(b *testing.B, dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, "journal"))
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkFloorTenHours writes as many bytes in as many writes, brought to the disk
// each or 64 at a time, and nothing else: no snapshots either.
func BenchmarkFloorTenHours(b *testing.B) {
	const writes, bytes = 2400, 2000 * 556
	for name, every := range map[string]int{"always": 1, "group": 64} {
		b.Run("sync="+name, func(b *testing.B) {
			line := make([]byte, bytes/writes)
			for b.Loop() {
				f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
				if err != nil {
					b.Fatal(err)
				}
				for i := range writes {
					if _, err := f.Write(line); err != nil {
						b.Fatal(err)
					}
					if i%every != 0 {
						continue
					}
					if err := f.Sync(); err != nil {
						b.Fatal(err)
					}
				}
				f.Close()
			}
		})
	}
}

// BenchmarkMemory is the same without a disk.
func BenchmarkMemory(b *testing.B) {
	p := many(2000)
	b.ReportAllocs()
	for b.Loop() {
		v := clock.NewVirtual()
		result := persist.Run(b.Context(), p, persist.Deps{
			Store: journal.NewMemory(), Clock: v, Workers: map[string]persist.Worker{"default": steady{v, 18 * time.Second}},
		})
		if result.Status != persist.StatusComplete {
			b.Fatal(result.Details)
		}
	}
}
