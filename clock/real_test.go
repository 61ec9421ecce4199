package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
)

var _ = Describe("the machine's clock", func() {
	var machine clock.Clock
	BeforeEach(func() { machine = clock.Real() })

	It("returns at once from a sleep of nothing", func(ctx context.Context) {
		Expect(machine.Sleep(ctx, 0)).To(Succeed())
		Expect(machine.Sleep(ctx, -time.Hour)).To(Succeed())
	})

	DescribeTable("gives the cause of a context that ended",
		func(ctx context.Context, d time.Duration) {
			stop := errors.New("the user stopped")
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(stop)
			Expect(machine.Sleep(ctx, d)).To(BeIdenticalTo(stop))
		},
		Entry("in no sleep", time.Duration(0)), Entry("in a sleep", time.Hour), Entry("in one without end", clock.Forever),
	)
})

// In a synctest bubble the machine's clock stands still until all wait, so that
// minutes can be tested without waiting; it needs a plain test.
func TestRealTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, machine := NewWithT(t), clock.Real()
		start := machine.Now()
		g.Expect(machine.Sleep(t.Context(), time.Minute)).To(Succeed())
		g.Expect(machine.Now().Sub(start)).To(Equal(time.Minute))

		for _, d := range []time.Duration{time.Hour, clock.Forever} {
			ctx, cancel := machine.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			g.Expect(machine.Sleep(ctx, d)).To(BeIdenticalTo(context.DeadlineExceeded))
			g.Expect(clock.Err(ctx)).To(BeIdenticalTo(context.DeadlineExceeded))
		}
		g.Expect(machine.Now().Sub(start)).To(Equal(3 * time.Minute))

		fired := make(chan time.Time, 1)
		machine.AfterFunc(time.Minute, func() { fired <- machine.Now() })
		machine.AfterFunc(time.Second, func() { panic("stopped, and fired") })()
		g.Expect((<-fired).Sub(start)).To(Equal(4 * time.Minute))
	})
}
