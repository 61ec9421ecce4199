package detect

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
)

// limited is a Detector that bounds the number of concurrent calls.
type limited interface {
	Detector
	// AtOnce returns the maximal number of concurrent Detect calls, at least 1.
	AtOnce() int
}

// RunOptions configures a run.
type RunOptions struct {
	// Workers is the number of items that are judged concurrently; less than 1 means 1. A detector
	// with a method AtOnce() int can lower it.
	Workers int
	// Clock measures latencies; default clock.Real().
	Clock clock.Clock
}

// Answer is the answer of one detector for an item. If it failed, only Calls and CostEUR of its
// Prediction are set, and it must not be taken for "clean".
type Answer struct {
	Prediction Prediction
	Err        error
}

// Result contains the answers of all detectors for an item.
type Result struct {
	Item Item
	// Answers are in the order of the detectors.
	Answers []Answer
}

// ahead is the number of items per worker that may wait for an earlier one. It bounds the memory of
// a run.
const ahead = 4

// Run asks the detectors about each item and yields their answers in the order of the items. Errors
// of items are yielded in place. Items are read on demand.
//
// When ctx ends, pending items are abandoned and the sequence ends after the last complete result;
// the caller checks ctx. No goroutine is left when the iteration is over.
func Run(ctx context.Context, items iter.Seq2[Item, error], detectors []Detector, o RunOptions) iter.Seq2[Result, error] {
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	workers := max(1, o.Workers)
	for _, d := range detectors {
		if l, ok := d.(limited); ok {
			workers = min(workers, max(1, l.AtOnce()))
		}
	}
	return func(yield func(Result, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		queue := make(chan *job, workers*ahead) // in the order of the items
		jobs := make(chan *job, cap(queue)+1)   // the queue and the item that collect waits for
		var pool sync.WaitGroup
		pool.Go(func() { feed(ctx, items, jobs, queue) })
		for range workers {
			pool.Go(func() {
				for j := range jobs {
					j.done <- j.run(ctx, detectors, o.Clock)
				}
			})
		}
		defer pool.Wait()
		defer cancel()
		collect(queue, yield)
	}
}

// job is an item in the queue.
type job struct {
	item Item
	err  error        // of reading it
	done chan outcome // buffered for one
}

type outcome struct {
	answers []Answer
	givenUp bool // the context ended before the detectors had answered
}

// feed sends each item to the queue, which limits how far workers run ahead, and then to the
// workers.
func feed(ctx context.Context, items iter.Seq2[Item, error], jobs, queue chan<- *job) {
	defer close(queue)
	defer close(jobs)
	for item, err := range items {
		j := &job{item: item, err: err, done: make(chan outcome, 1)}
		if err != nil {
			j.done <- outcome{}
		}
		select {
		case queue <- j:
		case <-ctx.Done():
			return
		}
		if err == nil {
			jobs <- j
		}
	}
}

// run asks the detectors one after another.
func (j *job) run(ctx context.Context, detectors []Detector, c clock.Clock) outcome {
	answers := make([]Answer, len(detectors))
	for i, d := range detectors {
		if clock.Err(ctx) != nil {
			return outcome{givenUp: true}
		}
		answers[i] = ask(ctx, d, j.item, c)
	}
	// Answers of a detector that is being stopped are not reliable.
	return outcome{answers: answers, givenUp: clock.Err(ctx) != nil}
}

// ask asks one detector. A panic fails this item only.
func ask(ctx context.Context, d Detector, item Item, c clock.Clock) (a Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = Answer{Err: fmt.Errorf("detector %s panicked: %v", d.Name(), p)}
		}
	}()
	began := c.Now()
	p, err := d.Detect(ctx, item)
	if err != nil {
		return Answer{Prediction: Prediction{Calls: p.Calls, CostEUR: p.CostEUR}, Err: err}
	}
	p.Took = c.Now().Sub(began)
	return Answer{Prediction: p}
}

// collect yields the results in the order of the queue, up to the first abandoned one.
func collect(queue <-chan *job, yield func(Result, error) bool) {
	for j := range queue {
		out := <-j.done
		if out.givenUp || !yield(Result{Item: j.item, Answers: out.answers}, j.err) {
			return
		}
	}
}
