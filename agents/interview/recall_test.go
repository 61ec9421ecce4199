package interview_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// counting counts the reads of all messages.
type counting struct {
	session.Store
	reads int
}

func (c *counting) Messages(ctx context.Context, id string) ([]session.Message, error) {
	c.reads++
	return c.Store.Messages(ctx, id)
}

var _ = Describe("The cache of messages", func() {
	It("is filled from the store once after a restart, and dropped at the end", func(ctx context.Context) {
		p := meet("lea")
		r := newRig(p)
		c := &counting{Store: r.store}
		r.store = c
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block3, 0))
		Expect(c.reads).To(BeZero())
		Expect(s.Remembered(v.SessionID)).To(BeTrue())
		s = r.serve()
		p.walk(ctx, s, v, nil)
		Expect(c.reads).To(Equal(1))
		Expect(s.Remembered(v.SessionID)).To(BeFalse())
	})

	It("does not change the requests, even if another server adds messages", func(ctx context.Context) {
		p := meet("lea")
		one, two := newRig(p), newRig(p)
		alone := one.serve()
		p.walk(ctx, alone, handle(ctx, alone, p.begin()), nil)

		left, right := two.serve(), two.serve()
		v := handle(ctx, left, p.begin())
		for turn := 0; !v.Finished; turn++ {
			s := left
			if turn%5 > 2 { // neither in step with the questions nor with the calls
				s = right
			}
			v = handle(ctx, s, p.next(v))
		}
		Expect(two.calls).To(Equal(one.calls))
	})

	It("is bounded", func() {
		Expect(interview.RecallsAfter(10, 100<<10)).To(Equal(10 * 100 << 10))
		Expect(interview.RecallsAfter(400, 100<<10)).To(And(BeNumerically("<=", 16<<20), BeNumerically(">", 8<<20)))
	})
})
