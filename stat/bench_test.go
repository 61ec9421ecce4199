package stat_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/stat"
)

func f1(c []int) float64 { return 2 * float64(c[0]) / float64(2*c[0]+c[1]+c[2]) }

// The cost of a bootstrap must not grow with the number of items.
func BenchmarkBootstrap1000Of763(b *testing.B) { bootstrap(b, 1) }

func BenchmarkBootstrap1000Of100000(b *testing.B) { bootstrap(b, 131) }

func bootstrap(b *testing.B, times int) {
	counts := []int{100 * times, 20 * times, 37 * times, 606 * times}
	for b.Loop() {
		stat.Bootstrap(counts, f1, 1000, 7, stat.Level)
	}
}

// For comparison, the floor is the usual method: drawing each of 763 items.
func BenchmarkFloorDrawItems1000Of763(b *testing.B) {
	cell := make([]uint8, 763)
	for i := range cell {
		switch {
		case i < 100:
		case i < 120:
			cell[i] = 1
		case i < 157:
			cell[i] = 2
		default:
			cell[i] = 3
		}
	}
	r := rand.New(rand.NewPCG(7, 0))
	counts := make([]int, 4)
	sum := 0.0
	for b.Loop() {
		for range 1000 {
			clear(counts)
			for range cell {
				counts[cell[r.IntN(len(cell))]]++
			}
			sum += f1(counts)
		}
	}
	if sum == 0 {
		b.Fatal("nothing was drawn")
	}
}

func differences(n int) []float64 {
	r := rand.New(rand.NewPCG(7, 8))
	d := make([]float64, n)
	for i := range d {
		d[i] = r.NormFloat64() + 0.1
	}
	return d
}

func benchmarkSignedRank(b *testing.B, n int) {
	d := differences(n)
	for b.Loop() {
		signedRank(d, stat.Level)
	}
}

func BenchmarkSignedRank20(b *testing.B)     { benchmarkSignedRank(b, 20) }
func BenchmarkSignedRank200(b *testing.B)    { benchmarkSignedRank(b, 200) }
func BenchmarkSignedRank100000(b *testing.B) { benchmarkSignedRank(b, 100_000) }

// The floor for many differences is sorting them.
func BenchmarkFloorSort100000(b *testing.B) {
	d := differences(100_000)
	for b.Loop() {
		slices.Sort(slices.Clone(d))
	}
}
