package measure_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/measure"
)

// BenchmarkOf measures a trial with four calls.
func BenchmarkOf(b *testing.B) {
	sc, tr := scenario(), trial()
	b.ReportAllocs()
	for b.Loop() {
		if measure.Trial(sc, tr, nil, nil).Calls.Total != 4 {
			b.Fatal("wrong")
		}
	}
}

// BenchmarkOfFloor adds up the same tokens and latencies.
func BenchmarkOfFloor(b *testing.B) {
	tr := trial()
	for b.Loop() {
		tokens, seconds := 0, 0.0
		for i := range tr.Calls {
			if u := tr.Calls[i].Usage; u != nil {
				tokens += u.Total()
			}
			seconds += tr.Calls[i].Latency.Seconds()
		}
		if tokens != 3857 || seconds != 10 {
			b.Fatal("wrong")
		}
	}
}

// BenchmarkTotals100000 adds 100,000 trials with two random latencies each and
// reports the memory that remains in use.
func BenchmarkTotals100000(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	var t measure.Totals
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		t = measure.Totals{}
		for range 100_000 {
			t.Add(facts(random.Float64() * 10))
		}
		t.Close()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "kept-B")
	runtime.KeepAlive(&t)
}
