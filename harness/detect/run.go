package detect

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
)

// Limited is a Detector that cannot look at any number of items at once.
type limited interface {
	Detector
	// AtOnce is how many Detect calls may be under way; at least 1.
	AtOnce() int
}

// RunOptions are how a run is carried out.
type RunOptions struct {
	// Workers is how many items are under way at once; less than 1 means 1. A
	// Limited detector lowers it.
	Workers int
	// Clock measures how long a detector takes; default clock.Real().
	Clock clock.Clock
}

// Answer is the answer of one detector for an item. If it failed, only Calls and
// CostEUR of its Prediction count, and it must not be taken for "clean".
type Answer struct {
	Prediction Prediction
	Err        error
}

// Result has the answers of the detectors for an item.
type Result struct {
	Item Item
	// Answers are in the order of the detectors.
	Answers []Answer
}

// ahead is how many items may wait for an earlier one, for each worker. With the
// size of an item it bounds the memory of a run whatever its length.
const ahead = 4

// Run asks the detectors about each item, and yields what they said in the order
// of the items. What is wrong with items comes in between as it was read. Items
// are read as they are needed.
//
// When ctx ends, items under way are given up and the results end with the last
// one that was whole; the caller sees it by the context. Nothing is under way any
// more when the iteration is over.
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
		jobs := make(chan *job, cap(queue)+1)   // what is in the queue, and the one that is waited for
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

// job is an item on its way through the workers.
type job struct {
	item Item
	err  error        // of reading it
	done chan outcome // buffered for one
}

type outcome struct {
	answers []Answer
	givenUp bool // the context ended before the detectors had answered
}

// feed hands out the items, first to the queue, which bounds how far workers may
// run ahead, then to the workers.
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
	// Whatever a detector says while it is being stopped is not to be trusted.
	return outcome{answers: answers, givenUp: clock.Err(ctx) != nil}
}

// ask asks one detector. One that panics has failed on this item, not on all.
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

// collect yields the results in the order of the queue, up to the first that was
// given up.
func collect(queue <-chan *job, yield func(Result, error) bool) {
	for j := range queue {
		out := <-j.done
		if out.givenUp || !yield(Result{Item: j.item, Answers: out.answers}, j.err) {
			return
		}
	}
}
