package interview_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

var _ = Describe("The golden path", func() {
	for _, name := range kind.Personas() {
		if p, err := kind.LoadPersona(name); err == nil && p.SharedReplies {
			continue // its replies depend on the request; the scenario interview/persona-NAME covers it
		}
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

	It("stores with each message its size, its time and the call that wrote it, and with each answer its message", func(ctx context.Context) {
		p := meet("lea")
		r := newRig(p)
		s := r.serve()
		id := p.walk(ctx, s, handle(ctx, s, p.begin()), nil).SessionID
		messages, err := r.store.Messages(ctx, id)
		Expect(err).NotTo(HaveOccurred())
		written := map[int]int{}
		for i, m := range messages {
			Expect(m.Tokens).To(Equal(len(m.Text)/4), m.ID())
			Expect(m.At).NotTo(BeTemporally("<", messages[max(i-1, 0)].At))
			written[m.Call]++
		}
		for _, c := range r.ledger(id) {
			Expect(written[c.N]).To(Equal(1), "call %d wrote one message", c.N)
		}
		answers, err := r.store.Answers(ctx, id)
		Expect(err).NotTo(HaveOccurred())
		for _, a := range answers {
			Expect(messages[a.Message-1].Text).To(Equal(a.Text))
			Expect(messages[a.Message-1].Step).To(Equal(a.Step))
		}
		stored, err := r.store.Load(ctx, id)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Updated.Sub(stored.Created)).To(Equal(24 * time.Second))
		Expect(stored.Owed).To(BeNil())
	})
})
