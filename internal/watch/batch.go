package watch

import (
	"slices"
	"time"
)

// Batches collects changed files until none came for quiet, but not for longer than most, and sends
// them sorted and without duplicates. While nobody receives, a batch grows. It ends when events is
// closed. after is usually time.After.
func Batches(events <-chan string, quiet, most time.Duration, after func(time.Duration) <-chan time.Time) <-chan []string {
	out := make(chan []string)
	go func() {
		defer close(out)
		var batch []string
		var calm, late <-chan time.Time
		var send chan<- []string // nil until the batch is complete
		for {
			select {
			case file, ok := <-events:
				if !ok {
					return
				}
				if len(batch) == 0 {
					late = after(most)
				}
				if i, found := slices.BinarySearch(batch, file); !found {
					batch = slices.Insert(slices.Clone(batch), i, file) // the old one may be on its way
				}
				calm, send = after(quiet), nil
			case <-calm:
				calm, late, send = nil, nil, out
			case <-late:
				calm, late, send = nil, nil, out
			case send <- batch:
				batch, send = nil, nil
			}
		}
	}()
	return out
}
