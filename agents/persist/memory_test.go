package persist_test

import (
	"context"
	"runtime"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/clock"
)

// forgetful is a store that keeps nothing, so that what grows is the run's own.
type forgetful struct {
	*journal.Memory
	bytes int
}

func (f *forgetful) Append(records ...[]byte) error {
	for _, record := range records {
		f.bytes += len(record)
	}
	return nil
}

func (f *forgetful) Checkpoint([]byte) error { return nil }

// sampling looks at the heap before some tasks.
type sampling struct {
	steady
	at   map[string]bool
	heap []uint64
}

func (s *sampling) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	if s.at[a.Task.ID] {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		s.heap = append(s.heap, m.HeapAlloc)
	}
	return s.steady.Work(ctx, a)
}

var _ = It("A long run needs no more memory late than early", Label("P-06"), func() {
	v := clock.NewVirtual()
	store := &forgetful{Memory: journal.NewMemory()}
	worker := &sampling{steady: steady{v, 5 * time.Second}, at: map[string]bool{"t2000": true, "t7000": true}}
	result := persist.Run(context.Background(), many(7200), persist.Deps{
		Store: store, Clock: v, Workers: map[string]persist.Worker{"default": worker},
	})
	Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
	Expect(worker.heap).To(HaveLen(2))
	grown := int64(worker.heap[1]) - int64(worker.heap[0])
	Expect(grown).To(BeNumerically("<", 256<<10), "of %d bytes that were written in between", store.bytes*5000/7200)
})
