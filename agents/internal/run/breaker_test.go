package run_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

var _ = Describe("Breaker", Label("L-11"), func() {
	// Each letter is what happens: f a failed call, s an answered one, c the
	// cooldown passes.
	DescribeTable("moves between its states",
		func(failures int, happens string, want run.BreakerState, opens int) {
			b := run.Breaker{Failures: failures}
			for _, h := range happens {
				map[rune]func(){'f': b.Failed, 's': b.Succeeded, 'c': b.Cooled}[h]()
			}
			Expect(b.State()).To(Equal(want))
			Expect(b.Opens()).To(Equal(opens))
		},
		Entry("begins closed", 2, "", run.Closed, 0),
		Entry("stays closed below the limit", 2, "f", run.Closed, 0),
		Entry("opens at the limit", 2, "ff", run.Open, 1),
		Entry("an answer begins the count anew", 2, "fsf", run.Closed, 0),
		Entry("cools to half-open", 2, "ffc", run.HalfOpen, 1),
		Entry("closes when the trial call succeeds", 2, "ffcs", run.Closed, 1),
		Entry("opens again when it fails, at once", 2, "ffcf", run.Open, 2),
		Entry("counts from none after closing", 2, "ffcsf", run.Closed, 1),
		Entry("opens a second time after closing", 2, "ffcsff", run.Open, 2),
		Entry("cooling does nothing to a closed one", 2, "fc", run.Closed, 0),
		Entry("switched off it never opens", 0, "fffff", run.Closed, 0),
	)

	It("is given up when it has opened as often as it may", func() {
		b := run.Breaker{Failures: 1, MaxOpens: 2}
		b.Failed()
		Expect(b.GivenUp()).To(BeFalse())
		b.Cooled()
		b.Failed()
		Expect(b.GivenUp()).To(BeTrue())
	})

	It("is never given up without a limit", func() {
		b := run.Breaker{Failures: 1}
		for range 100 {
			b.Failed()
			b.Cooled()
		}
		Expect(b.GivenUp()).To(BeFalse())
		Expect(b.Opens()).To(Equal(100))
	})
})
