package persist_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
)

// BenchmarkResume takes up a run whose journal has 100 MB: from its last snapshot, and,
// where that was lost, from all of its records. BenchmarkResumeFloor only makes sure of
// the journal's checksums.
func BenchmarkResume(b *testing.B) {
	dir, p, size := longRun(b)
	for _, from := range []string{"snapshot", "journal"} {
		b.Run(from, func(b *testing.B) {
			if from == "journal" {
				if err := os.RemoveAll(filepath.Join(dir, "snapshot")); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				view, err := journal.View(dir)
				if err != nil {
					b.Fatal(err)
				}
				result, err := persist.Look(p, view)
				if err != nil || result.Counts.Done != len(p.Tasks) {
					b.Fatal(result.Counts, err)
				}
				if err := view.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkResumeFloor(b *testing.B) {
	dir, _, size := longRun(b)
	b.SetBytes(size)
	for b.Loop() {
		view, err := journal.View(dir)
		if err != nil {
			b.Fatal(err)
		}
		nothing := func([]byte) error { return nil }
		if found, err := view.Load(nothing, nothing); err != nil || found.Records == 0 {
			b.Fatal(found, err)
		}
		if err := view.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// longAnswers is a worker whose texts are as long as a record holds.
type longAnswers struct{}

func (longAnswers) Work(context.Context, persist.Assignment) persist.Outcome {
	answer := "Done. " + strings.Repeat("It is in place. ", 500)
	return persist.Outcome{Grade: persist.Done, Answer: answer, Carry: answer}
}

// longRun returns a folder in which a plan was carried out, and the size of its journal.
func longRun(b *testing.B) (dir string, p plan.Plan, size int64) {
	b.Helper()
	dir, p = b.TempDir(), many(6500)
	store, err := journal.Open(dir, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	result := persist.Run(context.Background(), p, persist.Deps{
		Store: store, Clock: clock.NewVirtual(), Workers: map[string]persist.Worker{"default": longAnswers{}},
	})
	if err := store.Close(); err != nil || result.Status != persist.StatusComplete {
		b.Fatal(result.Details, err)
	}
	info, err := os.Stat(filepath.Join(dir, "journal"))
	if err != nil {
		b.Fatal(err)
	}
	if info.Size() < 100<<20 {
		b.Fatalf("the journal has only %d bytes", info.Size())
	}
	return dir, p, info.Size()
}
