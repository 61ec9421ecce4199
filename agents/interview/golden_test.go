package interview_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/scenarios/cast"
)

var _ = Describe("The golden path", func() {
	for _, name := range cast.Names() {
		It("takes 24 calls for "+name+", and none for a question that is queued", func(ctx context.Context) {
			p := meet(name)
			r := newRig(p)
			s := r.serve()
			v := handle(ctx, s, p.begin())
			made := 0
			for !v.Finished {
				before := v
				v = handle(ctx, s, p.next(v))
				calls := len(r.ledger(v.SessionID)) - made
				made += calls
				Expect(calls).To(BeNumerically("<=", 1), "after %s", before.MessageID)
				if v.Kind == session.KindQuestion && v.QuestionIndex > 0 && v.Step != session.Block2A {
					Expect(calls).To(BeZero(), "%s question %d was queued", v.Step, v.QuestionIndex)
				}
			}
			purposes := map[session.Purpose]int{}
			for _, c := range r.ledger(v.SessionID) {
				purposes[c.Purpose]++
				Expect(c.Outcome).To(Equal(session.Accepted), "call %d", c.N)
				Expect(c.Attempt).To(Equal(1))
				Expect(c.Warnings).To(BeEmpty(), "call %d", c.N)
			}
			Expect(purposes).To(Equal(map[session.Purpose]int{
				session.PurposePreamble: 1, session.PurposeQuestions: 9, session.PurposeAdaptive: 3,
				session.PurposeMirror: 9, session.PurposeProfile: 1, session.PurposeMatching: 1,
			}))
			Expect(r.calls).To(HaveLen(24), "the ledger has them all")
		})
	}
})
