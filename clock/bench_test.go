package clock_test

import (
	"container/heap"
	"context"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
)

// BenchmarkFourHours is a run of 200 iterations, each with a call under its own
// deadline, within one deadline of the whole run: four hours of virtual time.
func BenchmarkFourHours(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		v := clock.NewVirtual()
		run, cancel := v.WithTimeout(b.Context(), 5*time.Hour)
		for range 200 {
			call, done := v.WithTimeout(run, 2*time.Minute)
			if err := v.Sleep(call, 72*time.Second); err != nil {
				b.Fatal(err)
			}
			done()
		}
		if v.Elapsed() != 4*time.Hour {
			b.Fatal(v.Elapsed())
		}
		cancel()
	}
}

// BenchmarkFloorFourHours makes the same contexts without any clock.
func BenchmarkFloorFourHours(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		run, cancel := context.WithCancelCause(b.Context())
		for range 200 {
			call, done := context.WithCancelCause(run)
			if err := clock.Err(call); err != nil {
				b.Fatal(err)
			}
			done(nil)
		}
		cancel(nil)
	}
}

func BenchmarkSleep(b *testing.B) {
	v := clock.NewVirtual()
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Sleep(b.Context(), time.Nanosecond); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTimer starts and stops one timer beside 1,000 pending ones.
func BenchmarkTimer(b *testing.B) {
	v := clock.NewVirtual()
	for i := range 1000 {
		v.AfterFunc(time.Duration(i)*time.Second, func() {})
	}
	b.ReportAllocs()
	for b.Loop() {
		v.AfterFunc(500*time.Second, func() {})()
	}
}

// BenchmarkFloorTimer pushes to and pops from a heap of 1,000 numbers.
func BenchmarkFloorTimer(b *testing.B) {
	h := &numbers{}
	for i := range 1000 {
		heap.Push(h, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		heap.Push(h, 500)
		heap.Pop(h)
	}
}

type numbers []int

func (n numbers) Len() int           { return len(n) }
func (n numbers) Less(i, j int) bool { return n[i] < n[j] }
func (n numbers) Swap(i, j int)      { n[i], n[j] = n[j], n[i] }
func (n *numbers) Push(x any)        { *n = append(*n, x.(int)) }
func (n *numbers) Pop() any {
	old := *n
	x := old[len(old)-1]
	*n = old[:len(old)-1]
	return x
}
