package detect_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	stopkind "github.com/rehearse-dev/rehearse/agents/stop/kind"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

func run(ctx context.Context, items iter.Seq2[detect.Item, error], workers int, detectors ...detect.Detector) iter.Seq2[detect.Result, error] {
	return detect.Run(ctx, items, detectors, detect.RunOptions{Workers: workers})
}

var _ = Describe("a run", func() {
	// yes says of each item that it is positive; its one reason is the item's id.
	yes := by(func(_ context.Context, item detect.Item) (detect.Prediction, error) {
		return detect.Prediction{Positive: true, Reasons: []string{item.ID}}, nil
	})

	DescribeTable("keeps the order of the items, with any number of workers",
		func(ctx SpecContext, workers int) {
			n := 0
			for r, err := range run(ctx, numbered(500, nil), workers, yes) {
				Expect(err).NotTo(HaveOccurred())
				Expect(r.Item.ID).To(Equal(fmt.Sprint(n)))
				Expect(r.Answers).To(HaveLen(1))
				Expect(r.Answers[0].Prediction.Reasons).To(Equal([]string{r.Item.ID}))
				n++
			}
			Expect(n).To(Equal(500))
		},
		Entry("none", 0), Entry("one", 1), Entry("eight", 8),
	)

	It("asks all detectors about an item, in their order", func(ctx SpecContext) {
		no := by(func(context.Context, detect.Item) (detect.Prediction, error) { return detect.Prediction{}, nil })
		for r := range run(ctx, numbered(3, nil), 2, yes, no) {
			Expect(r.Answers).To(HaveLen(2))
			Expect(r.Answers[0].Prediction.Positive).To(BeTrue())
			Expect(r.Answers[1].Prediction.Positive).To(BeFalse())
		}
	})

	It("judges as many items at once as there are workers", func(ctx SpecContext) {
		var meeting sync.WaitGroup
		meeting.Add(4)
		together := by(func(context.Context, detect.Item) (detect.Prediction, error) {
			meeting.Done()
			meeting.Wait() // for ever, if there were fewer
			return detect.Prediction{}, nil
		})
		for range run(ctx, numbered(4, nil), 4, together) {
		}
	}, SpecTimeout(time.Minute))

	It("respects the limit of a detector", func(ctx SpecContext) {
		var under, most atomic.Int32
		counted := by(func(context.Context, detect.Item) (detect.Prediction, error) {
			most.Store(max(most.Load(), under.Add(1)))
			runtime.Gosched()
			under.Add(-1)
			return detect.Prediction{}, nil
		})
		for range run(ctx, numbered(200, nil), 8, yes, alone{counted, 1}) {
		}
		Expect(most.Load()).To(Equal(int32(1)))
		for range run(ctx, numbered(200, nil), 8, detect.AtThreshold(alone{counted, 0}, 0.5)) {
		}
		Expect(most.Load()).To(Equal(int32(1)))
	})

	It("reports a failure, which is not a negative answer", func(ctx SpecContext) {
		cost := 0.5
		broken := by(func(_ context.Context, item detect.Item) (detect.Prediction, error) {
			switch item.ID {
			case "1":
				return detect.Prediction{Positive: true, Calls: 1, CostEUR: &cost}, errors.New("broken")
			case "2":
				panic("oh")
			}
			return detect.Prediction{Positive: true}, nil
		})
		var errs []error
		for r, err := range run(ctx, numbered(4, nil), 2, broken) {
			Expect(err).NotTo(HaveOccurred())
			errs = append(errs, r.Answers[0].Err)
			if r.Item.ID == "1" {
				Expect(r.Answers[0].Prediction).To(Equal(detect.Prediction{Calls: 1, CostEUR: &cost}), "it was paid for")
			}
		}
		Expect(errs).To(HaveExactElements(BeNil(), MatchError("broken"), MatchError("detector table panicked: oh"), BeNil()))
	})

	It("yields the errors of items in place", func(ctx SpecContext) {
		bad := errors.New("bad line")
		items := func(yield func(detect.Item, error) bool) {
			_ = yield(detect.Item{ID: "a"}, nil) && yield(detect.Item{}, bad) && yield(detect.Item{ID: "b"}, nil)
		}
		var seen []string
		for r, err := range run(ctx, items, 3, yes) {
			if err != nil {
				Expect(err).To(MatchError(bad))
				Expect(r).To(Equal(detect.Result{}))
				seen = append(seen, "bad")
				continue
			}
			seen = append(seen, r.Item.ID)
		}
		Expect(seen).To(Equal([]string{"a", "bad", "b"}))
	})

	It("measures time by its clock", func(ctx SpecContext) {
		v := clock.NewVirtual()
		slow := by(func(ctx context.Context, item detect.Item) (detect.Prediction, error) {
			return detect.Prediction{Took: time.Hour}, v.Sleep(ctx, 3*time.Second)
		})
		for r := range detect.Run(ctx, numbered(2, nil), []detect.Detector{slow}, detect.RunOptions{Clock: v}) {
			Expect(r.Answers[0].Prediction.Took).To(Equal(3 * time.Second))
		}
		Expect(v.Elapsed()).To(Equal(6 * time.Second))
	})

	It("yields complete results until the context ends", func(ctx SpecContext) {
		ctx2, cancel := context.WithCancel(ctx)
		var under atomic.Int32
		hangs := by(func(ctx context.Context, item detect.Item) (detect.Prediction, error) {
			if item.ID != "5" {
				return detect.Prediction{}, nil
			}
			under.Add(1)
			defer under.Add(-1)
			cancel()
			<-ctx.Done()
			return detect.Prediction{}, nil // a lie that must not be counted
		})
		var ids []string
		for r, err := range run(ctx2, numbered(1000, nil), 3, hangs) {
			Expect(err).NotTo(HaveOccurred())
			ids = append(ids, r.Item.ID)
		}
		Expect(len(ids)).To(BeNumerically("<=", 5))
		for i, id := range ids {
			Expect(id).To(Equal(fmt.Sprint(i)))
		}
		Expect(under.Load()).To(BeZero())
		Expect(clock.Err(ctx2)).To(HaveOccurred())
	}, SpecTimeout(time.Minute))

	It("reads a few items ahead and leaves no goroutine behind", func(ctx SpecContext) {
		var read, began, ended atomic.Int32
		second := make(chan struct{})
		lingers := by(func(ctx context.Context, item detect.Item) (detect.Prediction, error) {
			began.Add(1)
			defer ended.Add(1)
			if item.ID == "0" {
				<-second
				return detect.Prediction{}, nil
			}
			if item.ID == "1" {
				close(second)
			}
			<-ctx.Done()
			for range 10_000 {
				runtime.Gosched() // as one that takes its time to end
			}
			return detect.Prediction{}, nil
		})
		for range run(ctx, numbered(100_000, func(int) { read.Add(1) }), 4, lingers) {
			break
		}
		Expect(began.Load()).To(BeNumerically(">=", 2))
		Expect(ended.Load()).To(Equal(began.Load()))
		Expect(read.Load()).To(BeNumerically("<", 40))
	}, SpecTimeout(time.Minute))
})

// stream yields n items of 2 kB.
func stream(n int) iter.Seq2[detect.Item, error] {
	return func(yield func(detect.Item, error) bool) {
		text := strings.Repeat("Everything is done and tested. ", 64)
		for i := range n {
			if !yield(detect.Item{ID: fmt.Sprint(i), Text: strings.Clone(text)}, nil) {
				return
			}
		}
	}
}

var _ = It("takes no more memory for 100,000 items than for 1,000", func(ctx SpecContext) {
	length := by(func(_ context.Context, item detect.Item) (detect.Prediction, error) {
		return detect.Prediction{Reasons: []string{item.Text[:10]}}, nil
	})
	live := func(n int) int {
		var m runtime.MemStats
		var most uint64
		seen := 0
		for range run(ctx, stream(n), 2, length) {
			if seen++; seen%(n/4) == 0 {
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
		Expect(seen).To(Equal(n))
		return int(most)
	}
	small := live(1_000)
	Expect(live(100_000) - small).To(BeNumerically("<", 2<<20)) // 200 MB of text went by
})

// BenchmarkRun is the runner's own share: its detector does nothing.
func BenchmarkRun(b *testing.B) {
	nothing := by(func(context.Context, detect.Item) (detect.Prediction, error) { return detect.Prediction{}, nil })
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for range run(b.Context(), stream(1000), 2, nothing) {
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}

// BenchmarkFloorRun calls the detector in a loop.
func BenchmarkFloorRun(b *testing.B) {
	nothing := by(func(context.Context, detect.Item) (detect.Prediction, error) { return detect.Prediction{}, nil })
	b.ReportAllocs()
	for b.Loop() {
		for item := range stream(1000) {
			if _, err := nothing.Detect(b.Context(), item); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkGuard(b *testing.B) { benchmark(b, stopkind.Detector(stop.Options{})) }

func BenchmarkNaive(b *testing.B) { benchmark(b, detect.Naive()) }

func benchmark(b *testing.B, d detect.Detector) {
	item := detect.Item{ID: "a", Text: strings.Repeat("Everything is done and tested; nothing is left. ", 40)}
	b.SetBytes(int64(len(item.Text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Detect(b.Context(), item); err != nil {
			b.Fatal(err)
		}
	}
}
