package zones

import "testing"

// BenchmarkLoad is what the first search costs more than the others.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m, err := load()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(m.nodes), "nodes")
		b.ReportMetric(float64(len(m.ids)), "words")
	}
}
