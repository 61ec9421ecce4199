package state_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

func big(n int) plan.Plan {
	p := plan.Plan{Name: "big"}
	for i := range n {
		t := plan.Task{ID: fmt.Sprintf("t%05d", i), Do: "Do it."}
		if i%3 == 2 {
			t.After = []string{fmt.Sprintf("t%05d", i-1)}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

var sizes = []int{200, 2000, 20_000}

// BenchmarkTask is the decisions and records of one task, checks included, without any
// I/O: it must cost the same in a large plan.
func BenchmarkTask(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			p := big(n)
			b.ReportAllocs()
			for b.Loop() {
				s, err := newSupervisor(p)
				if err != nil {
					b.Fatal(err)
				}
				if end, err := s.run(10 * n); err != nil || end.Status != "complete" {
					b.Fatal(end, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/task")
		})
	}
}

// half returns a plan of which half is done.
func half(b *testing.B, n int) (*supervisor, plan.Plan) {
	p := big(n)
	s, err := newSupervisor(p)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.put(state.Record{Kind: state.KindBegin, Plan: "digest"}); err != nil {
		b.Fatal(err)
	}
	for s.state.CountDone() < n/2 {
		if err := s.move(s.state.Next()); err != nil {
			b.Fatal(err)
		}
	}
	return s, p
}

// BenchmarkSnapshot measures encoding a checkpoint before it is written, and decoding it.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range sizes {
		s, p := half(b, n)
		data, err := s.state.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("write/tasks=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.state.Snapshot(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("read/tasks=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := state.Restore(p, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFloorSnapshot marshals two numbers for each task.
func BenchmarkFloorSnapshot(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			numbers := make([]int, n)
			for b.Loop() {
				data, err := json.Marshal(numbers)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(data)))
			}
		})
	}
}

// BenchmarkReplay folds the records of a plan, from their lines.
func BenchmarkReplay(b *testing.B) {
	s, p := half(b, 2000)
	var lines [][]byte
	bytes := 0
	for _, r := range s.records {
		line, err := r.Encode()
		if err != nil {
			b.Fatal(err)
		}
		lines = append(lines, line)
		bytes += len(line)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		replayed, err := state.New(p)
		if err != nil {
			b.Fatal(err)
		}
		for _, line := range lines {
			r, err := state.Decode(line)
			if err != nil {
				b.Fatal(err)
			}
			if err := replayed.Apply(r); err != nil {
				b.Fatal(err)
			}
		}
	}
}
