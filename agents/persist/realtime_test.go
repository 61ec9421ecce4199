package persist_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
)

// In a synctest bubble the machine's clock stands still until all wait, so that timers
// fire on goroutines of their own, and hours can be tested without waiting.
func TestRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var mu sync.Mutex
		counts := map[string]int{}
		attempts := 0
		worker := workerFunc(func(ctx context.Context, a persist.Assignment) persist.Outcome {
			attempts++
			if a.Task.ID == "hangs" && a.Attempt == 1 {
				<-ctx.Done()
				return persist.Outcome{Grade: persist.Failed, Details: clock.Err(ctx).Error()}
			}
			// Several goroutines tell the meter while the timers fire.
			var crew sync.WaitGroup
			for range 4 {
				crew.Go(func() {
					for range 23 {
						time.Sleep(time.Minute)
						a.Meter.Active()
						a.Meter.Touch(a.Task.ID + ".go")
						_ = a.Meter.Call(1)
					}
				})
			}
			crew.Wait()
			return persist.Outcome{Grade: persist.Done, Answer: "Done, and tested."}
		})
		start := time.Now()
		p := tasks("a", "hangs", "b")
		p.Limits.HardCalls, p.Limits.SoftCalls = 300, 150
		result := persist.Run(t.Context(), p, persist.Deps{
			Store: journal.NewMemory(), Workers: map[string]persist.Worker{"default": worker},
			Sink: event.SinkFunc(func(e event.Event) {
				mu.Lock()
				defer mu.Unlock()
				counts[string(e.Kind)+" "+e.Name]++
			}),
		})
		g.Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		g.Expect(time.Since(start)).To(Equal(79 * time.Minute))
		g.Expect(result.Counts.Stagnations).To(Equal(1))
		g.Expect(result.Counts.ToolCalls).To(Equal(3 * 4 * 23))
		g.Expect(counts).To(HaveKeyWithValue("guard stagnation", 1))
		g.Expect(counts).To(HaveKeyWithValue("checkpoint soft-limit", 1))
		g.Expect(counts["checkpoint interval"]).To(BeNumerically(">=", 13))
		g.Expect(attempts).To(Equal(4))
	})
}
