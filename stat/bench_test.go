package stat_test

import (
	"math/rand/v2"
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

// The floor is the usual way for comparison: to draw each of 763 items.
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
