package watch

import (
	"slices"
	"time"
)

// Batches collects changed files until no file changed for quiet, but at most for most, and sends them
// sorted and without duplicates. A batch grows until it is received. Batches ends when events is closed.
// after is usually time.After.
func Batches(events <-chan string, quiet, most time.Duration, after func(time.Duration) <-chan time.Time) <-chan []string {
	out := make(chan []string)
	go func() {
		defer close(out)
		var batch []string
		var idle, late <-chan time.Time
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
				idle, send = after(quiet), nil
			case <-idle:
				idle, late, send = nil, nil, out
			case <-late:
				idle, late, send = nil, nil, out
			case send <- batch:
				batch, send = nil, nil
			}
		}
	}()
	return out
}
