package loop

import (
	"github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = ginkgo.Describe("The circuit breaker", ginkgo.Label("L-11"), func() {
	// Each letter is an event: f a failed call, s an answered one, c the end of the cooldown.
	ginkgo.DescribeTable("moves between its states",
		func(failures int, happens string, want breakerState, opens int) {
			b := breaker{failures: failures}
			for _, h := range happens {
				map[rune]func(){'f': b.fail, 's': b.succeed, 'c': b.cool}[h]()
			}
			Expect(b.current()).To(Equal(want))
			Expect(b.opens).To(Equal(opens))
		},
		ginkgo.Entry("begins closed", 2, "", breakerClosed, 0),
		ginkgo.Entry("stays closed below the limit", 2, "f", breakerClosed, 0),
		ginkgo.Entry("opens at the limit", 2, "ff", breakerOpen, 1),
		ginkgo.Entry("counts anew after an answer", 2, "fsf", breakerClosed, 0),
		ginkgo.Entry("is half-open after the cooldown", 2, "ffc", breakerHalfOpen, 1),
		ginkgo.Entry("closes when the trial call succeeds", 2, "ffcs", breakerClosed, 1),
		ginkgo.Entry("opens again when the trial call fails", 2, "ffcf", breakerOpen, 2),
		ginkgo.Entry("counts from zero after closing", 2, "ffcsf", breakerClosed, 1),
		ginkgo.Entry("opens a second time after closing", 2, "ffcsff", breakerOpen, 2),
		ginkgo.Entry("ignores a cooldown while closed", 2, "fc", breakerClosed, 0),
		ginkgo.Entry("never opens if it is off", 0, "fffff", breakerClosed, 0),
	)

	ginkgo.DescribeTable("gives up at the last opening that is allowed",
		func(maxOpens, opens int, want bool) {
			b := breaker{failures: 1, maxOpens: maxOpens}
			for range opens {
				b.cool()
				b.fail()
			}
			Expect(b.givenUp()).To(Equal(want))
		},
		ginkgo.Entry("before it", 2, 1, false),
		ginkgo.Entry("at it", 2, 2, true),
		ginkgo.Entry("never without a limit", 0, 100, false),
	)
})
