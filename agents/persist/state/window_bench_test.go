package state_test

import (
	"fmt"
	"testing"
)

// BenchmarkWant is a new file in a full window: one leaves. BenchmarkWantFloor copies as
// many names.
func BenchmarkWant(b *testing.B) {
	for _, limit := range []int{50, 500, 5000} {
		b.Run(fmt.Sprint("max=", limit), func(b *testing.B) {
			b.ReportAllocs()
			w := holding(limit, limit)
			essential := names(0, limit/10)
			for i := limit; b.Loop(); i++ {
				c := w.Want([]string{fmt.Sprint("file-", i)}, essential)
				if len(c.Evicted) != 1 {
					b.Fatal(c)
				}
			}
		})
	}
}

func BenchmarkWantFloor(b *testing.B) {
	for _, limit := range []int{50, 500, 5000} {
		b.Run(fmt.Sprint("max=", limit), func(b *testing.B) {
			b.ReportAllocs()
			w := holding(limit, limit)
			for b.Loop() {
				if len(w.Files()) != limit {
					b.Fatal("files are missing")
				}
			}
		})
	}
}
