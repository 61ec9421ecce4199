package main

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/detect"
)

// drawn are n samples of the given number of signals and groups. The first fifth
// of the signals speaks for deferral (log-odds of 1.2 each time), the second
// against it (-0.8), and the others say nothing; some 15 % of the samples are positive.
func drawn(n, signals, groups int, seed uint64) []Sample {
	r := rand.New(rand.NewPCG(seed, 1))
	var list []Sample
	for i := range n {
		p := detect.Prediction{Signals: map[string]float64{}}
		x := -2.5
		for j := range signals {
			if r.Float64() < 0.12 {
				count := float64(1 + r.IntN(2))
				p.Signals[fmt.Sprintf("s%02d", j)] = count
				switch {
				case j < signals/5:
					x += 1.2 * count
				case j < 2*signals/5:
					x -= 0.8 * count
				}
			}
		}
		p.Positive = x > 0
		item := detect.Item{ID: fmt.Sprintf("i%04d", i), Label: "clean", Repo: fmt.Sprintf("g%02d", min(r.IntN(groups), r.IntN(groups)))}
		if r.Float64() < (Model{Intercept: x}).Score(nil) {
			item.Label = detect.Defers
		}
		list = append(list, Sample{Item: item, Prediction: p})
	}
	return list
}

// BenchmarkFit763 is a corpus of 763 items, 60 signals and 12 repositories, each
// of which is left out once.
func BenchmarkFit763(b *testing.B) {
	samples := drawn(763, 60, 12, 1)
	for b.Loop() {
		if _, err := Fit(samples, Options{Resamples: 1000}); err != nil {
			b.Fatal(err)
		}
	}
}
