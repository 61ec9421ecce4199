package store_test

import (
	"errors"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

func concurrency(open sessionOpener) {
	concurrentWriters(open)
	concurrentReaders(open)
}

func concurrentWriters(open sessionOpener) {
	It("lets one of several writers win each version", Label("I-18"), func(ctx SpecContext) {
		const writers, rounds = 8, 20
		s := open(ctx)
		n := begin(ctx, s, "a")
		for round := 1; round <= rounds; round++ {
			var won, lost, other atomic.Int32
			together(writers, func(int) {
				switch _, err := s.Commit(ctx, n, stepOf(round)); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, session.ErrConflict):
					lost.Add(1)
				default:
					other.Add(1)
				}
			})
			Expect([]int32{won.Load(), lost.Load(), other.Load()}).To(Equal([]int32{1, writers - 1, 0}))
			n = load(ctx, s, "a")
			Expect(n.Version).To(BeEquivalentTo(round + 1))
		}
		Expect(snapshot(ctx, s, "a").Messages).To(HaveLen(2 * rounds))
	})

	It("lets one of several creators win", func(ctx SpecContext) {
		s := open(ctx)
		var won, lost atomic.Int32
		together(8, func(int) {
			switch err := s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, stepOf(1)); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, session.ErrConflict):
				lost.Add(1)
			}
		})
		Expect([]int32{won.Load(), lost.Load()}).To(Equal([]int32{1, 7}))
		Expect(snapshot(ctx, s, "a").Messages).To(HaveLen(2))
	})

	It("stores concurrent messages of many sessions", func(ctx SpecContext) {
		s := open(ctx)
		together(20, func(i int) {
			defer GinkgoRecover()
			n := begin(ctx, s, string(rune('a'+i)))
			for step := 1; step <= 10; step++ {
				_, err := s.Commit(ctx, n, stepOf(step))
				Expect(err).NotTo(HaveOccurred())
				n.Version++
			}
		})
		for i := range 20 {
			Expect(load(ctx, s, string(rune('a'+i))).Version).To(BeEquivalentTo(11))
		}
	})
}

func concurrentReaders(open sessionOpener) {
	It("shows readers whole commits only", func(ctx SpecContext) {
		const commits = 100
		s := open(ctx)
		n := begin(ctx, s, "a")
		_, err := s.Commit(ctx, n, stepOf(1))
		Expect(err).NotTo(HaveOccurred())
		var done atomic.Bool
		var reads atomic.Int32
		together(3, func(i int) {
			defer GinkgoRecover()
			if i == 0 {
				defer done.Store(true)
				for step := 2; step <= commits; step++ {
					n = load(ctx, s, "a")
					n.Messages, n.Shown = 2*step, step
					_, err := s.Commit(ctx, n, stepOf(step))
					Expect(err).NotTo(HaveOccurred())
				}
				return
			}
			for !done.Load() {
				n := load(ctx, s, "a")
				Expect(n.Queue.Cursor).To(BeEquivalentTo(n.Version - 1))
				messages, err := s.Messages(ctx, "a")
				Expect(err).NotTo(HaveOccurred())
				Expect(len(messages)%2).To(BeZero(), "half of a commit is seen")
				Expect(len(messages)).To(BeNumerically(">=", n.Messages))
				reads.Add(1)
			}
		})
		Expect(reads.Load()).NotTo(BeZero())
	})
}

// together runs f n times at once and waits for all.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
