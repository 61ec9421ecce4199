package interview_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// unnamed is a submission without an id and without the answered message.
func unnamed(v interview.View, text string) interview.Submission {
	return interview.Submission{Session: v.SessionID, Message: text}
}

var _ = Describe("A submission that names neither itself nor a message", Label("I-01", "I-18"), func() {
	const longer = 5 * time.Second
	var (
		p person
		r *rig
		s *interview.Service
	)
	BeforeEach(func() {
		p = meet("lea")
		r = newRig(p)
		s = r.serve()
	})
	reach := func(ctx context.Context, step session.Step, question int) interview.View {
		GinkgoHelper()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(step, question))
		Expect(r.clock.Sleep(ctx, longer)).To(Succeed())
		return v
	}

	It("takes the whole interview", func(ctx context.Context) {
		v := handle(ctx, s, p.begin())
		for !v.Finished {
			Expect(r.clock.Sleep(ctx, longer)).To(Succeed())
			next := p.next(v)
			next.ID, next.ReplyTo = "", ""
			v = handle(ctx, s, next)
			Expect(v.Repeated).To(BeFalse())
		}
		Expect(r.calls).To(HaveLen(24))
		Expect(r.answers(v.SessionID)).To(HaveLen(44))
	})

	It("counts once if it comes twice, and the next text answers the next question", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 0)
		next := handle(ctx, s, unnamed(v, "A"))
		again := handle(ctx, s, unnamed(v, "A"))
		Expect(again.Repeated).To(BeTrue())
		Expect(again.MessageID).To(Equal(next.MessageID))
		Expect(handle(ctx, s, unnamed(v, "B")).QuestionIndex).To(Equal(2))
		Expect(r.answers(v.SessionID)[2:]).To(Equal([]string{"BLOC_01/0: A", "BLOC_01/1: B"}))
	})

	It("may repeat the text of the answer before once the question was there for some time", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 0)
		handle(ctx, s, unnamed(v, "A"))
		Expect(r.clock.Sleep(ctx, longer-1)).To(Succeed())
		Expect(handle(ctx, s, unnamed(v, "A")).Repeated).To(BeTrue())
		Expect(r.clock.Sleep(ctx, 1)).To(Succeed())
		Expect(handle(ctx, s, unnamed(v, "A"))).To(And(HaveField("Repeated", false), HaveField("QuestionIndex", 2)))
	})

	It("counts the time from the message, not from the answer before it", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		answer := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			_ = r.clock.Sleep(ctx, 40*time.Second)
			return answer.Complete(ctx, req)
		})
		Expect(handle(ctx, s, unnamed(v, "A")).Kind).To(Equal(session.KindMirror))
		Expect(handle(ctx, s, unnamed(v, "A")).Repeated).To(BeTrue(), "the client lost its patience during the call")
		Expect(r.answers(v.SessionID)).To(HaveLen(5))
	})

	It("leaves one answer of many at once, and one message of many GO", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		for _, sub := range []interview.Submission{unnamed(v, "A"), {Session: v.SessionID, Event: interview.EventGo}} {
			calls := len(r.calls)
			repeated := 0
			for _, got := range atOnce(8, func(int) (interview.View, error) { return s.Handle(ctx, sub) }) {
				Expect(got.err).NotTo(HaveOccurred())
				if got.view.Repeated {
					repeated++
				}
			}
			Expect(repeated).To(Equal(7))
			Expect(r.calls).To(HaveLen(calls + 1))
			Expect(r.clock.Sleep(ctx, longer)).To(Succeed())
		}
		Expect(r.answers(v.SessionID)).To(HaveLen(5))
	})

	It("leaves one answer of two servers", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 0)
		r.options.Instance = "two"
		servers := []*interview.Service{s, r.serve()}
		got := atOnce(2, func(i int) (interview.View, error) { return servers[i].Handle(ctx, unnamed(v, "A")) })
		Expect(got[0].err).NotTo(HaveOccurred())
		Expect(got[1].err).NotTo(HaveOccurred())
		Expect(got[0].view.Repeated).NotTo(Equal(got[1].view.Repeated))
		Expect(r.answers(v.SessionID)).To(HaveLen(3))
	})

	It("does not go on twice from two messages that wait", func(ctx context.Context) {
		v := reach(ctx, session.Block9, -1) // the mirror; the profile waits again
		goOn := interview.Submission{Session: v.SessionID, Event: interview.EventGo}
		Expect(handle(ctx, s, goOn).Step).To(Equal(session.Block10))
		Expect(handle(ctx, s, goOn)).To(And(HaveField("Repeated", true), HaveField("Step", session.Block10)))
		Expect(handle(ctx, s, unnamed(v, "go")).Repeated).To(BeTrue())
		Expect(r.clock.Sleep(ctx, longer)).To(Succeed())
		Expect(handle(ctx, s, unnamed(v, "go")).Finished).To(BeTrue())
	})

	It("asks for the owed message if it is the same again, and is refused if it is not", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		works := r.backend
		r.backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			return llm.Reply{}, &llm.Error{Kind: llm.Unauthorized}
		})
		Expect(refusal(s.Handle(ctx, unnamed(v, "A"))).Code).To(Equal(interview.CodeBackend))
		Expect(refusal(s.Handle(ctx, unnamed(v, "B"))).Code).To(Equal(interview.CodeOutOfOrder))
		Expect(refusal(s.Handle(ctx, unnamed(v, "A"))).Code).To(Equal(interview.CodeBackend))
		r.backend = works
		Expect(handle(ctx, s, unnamed(v, "A")).Kind).To(Equal(session.KindMirror))
		Expect(r.answers(v.SessionID)[2:]).To(HaveLen(3))
	})

	It("stores each answer once, and reports each repetition", func(ctx context.Context) {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			r := newRig(p)
			s := r.serve()
			v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, 0))
			before, shown, stored := "go", r.clock.Now(), r.answers(v.SessionID)
			for v.Step == session.Block1 {
				text := rapid.SampledFrom([]string{"A", "B", "go"}).Draw(t, "text")
				_ = r.clock.Sleep(ctx, rapid.SampledFrom([]time.Duration{0, time.Second, longer - 1, longer, time.Hour}).Draw(t, "wait"))
				place := fmt.Sprintf("BLOC_01/%d: ", v.QuestionIndex)
				repeats := text == before && r.clock.Now().Sub(shown) < longer
				v = handle(ctx, s, unnamed(v, text))
				Expect(v.Repeated).To(Equal(repeats))
				if !repeats {
					before, shown, stored = text, r.clock.Now(), append(stored, place+text)
				}
				Expect(r.answers(v.SessionID)).To(Equal(stored))
			}
		})
	})
})
