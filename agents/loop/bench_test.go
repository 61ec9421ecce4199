package loop_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

const (
	longCalls = 200
	longCall  = 72 * time.Second
)

// pages returns a backend that answers one page after another, each after 72 virtual
// seconds, and is done with the last.
func pages(c clock.Clock) llm.Backend {
	n := 0
	return llm.BackendFunc(func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
		n++
		text := fmt.Sprintf("Page %d of %d is translated.", n, longCalls)
		if n == longCalls {
			text += "\nDONE"
		}
		return llm.Reply{Text: text, Finish: llm.FinishStop}, c.Sleep(ctx, longCall)
	})
}

// fourHours runs 200 iterations of 72 seconds, each as a conversation, with every
// guard switched on.
func fourHours() loop.Result {
	s := loop.Defaults()
	s.Prompt, s.History, s.MaxIterations = "Translate all pages.", loop.Conversation, longCalls
	s.Timeout, s.CallTimeout = quantity.Duration(5*time.Hour), quantity.Duration(time.Hour)
	s.AlternationLimit, s.NearIdenticalLimit = 3, longCalls
	c := clock.NewVirtual()
	return loop.Run(context.Background(), s, loop.Deps{Backend: pages(c), Clock: c})
}

// BenchmarkFourHours measures the whole loop; BenchmarkFourHoursFloor only makes the
// calls.
func BenchmarkFourHours(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if res := fourHours(); res.Status != loop.StatusDone {
			b.Fatal(res.Details)
		}
	}
}

func BenchmarkFourHoursFloor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		c := clock.NewVirtual()
		backend := pages(c)
		for range longCalls {
			if _, err := backend.Complete(context.Background(), llm.Request{}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
