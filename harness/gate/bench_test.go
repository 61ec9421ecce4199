package gate_test

import (
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var limits = expect.Expect{
	Status: "no-progress", ExitCode: new(5), Calls: exactly(3), Tokens: between(1, 1000),
	Cost: &expect.Cost{AtMost: eur(1)}, Latency: &expect.Latency{P95: lasting(time.Minute)}, Duration: lasting(time.Minute),
}

func benchmark(b *testing.B, that ...string) {
	e := limits
	e.That = that
	j, err := gate.NewJudge(nil, e)
	if err != nil {
		b.Fatal(err)
	}
	f := facts()
	b.ReportAllocs()
	for b.Loop() {
		if found := j.Judge(f); found != nil {
			b.Fatal(found)
		}
	}
}

// BenchmarkJudgeFloor measures a hand-written comparison of the same facts.
func BenchmarkJudgeFloor(b *testing.B) {
	f := facts()
	b.ReportAllocs()
	for b.Loop() {
		if f.Run.Status != limits.Status || f.Run.ExitCode != 5 || f.Calls.Total != 3 || f.Tokens.Total > 1000 ||
			f.Cost.EUR > 1 || f.Latency.P95 > 60 || f.Run.Duration > 60 {
			b.Fatal("facts have changed")
		}
	}
}

func BenchmarkJudge(b *testing.B)     { benchmark(b) }
func BenchmarkJudgeThat(b *testing.B) { benchmark(b, `run.details.contains("3 identical")`) }
func BenchmarkJudgeEvents(b *testing.B) {
	benchmark(b, `events.exists(e, e.kind == "guard" && e.name == "no-progress")`)
}
