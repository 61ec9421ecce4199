package drive_test

import (
	"context"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// tenHours returns the driver of a plan of 600 tasks.
func tenHours(b *testing.B) drive.Driver {
	b.Helper()
	prices, err := price.Default()
	if err != nil {
		b.Fatal(err)
	}
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	b.Cleanup(func() { _ = env.Close() })
	set, problems := scenarios.Load([]string{"persist/ten-hours"}, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	d, err := drive.New(set[0], env)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// whole runs the plan to its end.
func whole(b *testing.B, d drive.Driver) {
	b.Helper()
	if tr, _ := d.Trial(context.Background(), 1); tr.End.Status != "complete" {
		b.Fatal(tr.End.Status, tr.End.Details, tr.End.HarnessError)
	}
}

// BenchmarkCrashes measures a plan of ten hours whose process crashes at every tenth write, 86 times,
// and resumes from its journal. Ten such runs cover all crash points.
func BenchmarkCrashes(b *testing.B) {
	p, err := perturb.Parse("write=5:crash-before,every=10")
	if err != nil {
		b.Fatal(err)
	}
	d, err := tenHours(b).Perturbed([]perturb.Perturbation{p})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		whole(b, d)
	}
}

// BenchmarkFloorCrashes measures the same plan without a crash.
func BenchmarkFloorCrashes(b *testing.B) {
	d := tenHours(b)
	b.ReportAllocs()
	for b.Loop() {
		whole(b, d)
	}
}
