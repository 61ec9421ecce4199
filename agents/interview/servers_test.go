package interview_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// flaky is a store whose next commits fail: before they are stored, or after.
type flaky struct {
	session.Store
	before, after int
	commits       int
	// meanwhile is done once before the next commit.
	meanwhile func()
	says      string // the session that the error names
}

var errStore = errors.New("the disk is full")

func (f *flaky) Commit(ctx context.Context, n session.Session, c session.Change) (int64, error) {
	f.commits++
	if f.meanwhile != nil {
		do := f.meanwhile
		f.meanwhile = nil
		do()
	}
	if f.before > 0 {
		f.before--
		return 0, fmt.Errorf("session %s: %w", f.says, errStore)
	}
	version, err := f.Store.Commit(ctx, n, c)
	if f.after > 0 && err == nil {
		f.after--
		return 0, errStore
	}
	return version, err
}

var _ = Describe("Two servers on one store", Label("I-18"), func() {
	var (
		p        person
		r        *rig
		one, two *interview.Service
		v        interview.View // the last question of block 1: its answer takes a call
	)
	BeforeEach(func(ctx context.Context) {
		p = meet("lea")
		r = newRig(p)
		one = r.serve()
		r.options.Instance = "two"
		two = r.serve()
		v = p.walk(ctx, one, handle(ctx, one, p.begin()), at(session.Block1, 2))
	})
	retry := func() interview.Submission {
		return interview.Submission{Session: v.SessionID, Event: interview.EventRetry}
	}

	It("do not both pay for one message", func(ctx context.Context) {
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			r.backend = good
			busy := refusal(two.Handle(context.Background(), retry()))
			Expect(busy.Code).To(Equal(interview.CodeBusy))
			Expect(busy.RetryAfter).To(Equal(70*time.Second), "the timeout of the call and a margin")
			Expect(busy.View.AutoContinue).To(BeTrue())
			again := handle(context.Background(), two, p.next(v))
			Expect(again.Repeated).To(BeTrue(), "the answer is stored already")
			Expect(again.AutoContinue).To(BeTrue())
			return good.Complete(ctx, req)
		})
		Expect(handle(ctx, one, p.next(v)).Kind).To(Equal(session.KindMirror))
		Expect(r.ledger(v.SessionID)).To(HaveLen(3))
		Expect(handle(ctx, two, retry()).Repeated).To(BeTrue())
	})

	It("take over from each other once a claim has ended, and the one that was late stores nothing", func(ctx context.Context) {
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			r.backend = good
			free := context.WithoutCancel(ctx) // the call's own timeout fires meanwhile
			Expect(r.clock.Sleep(free, 70*time.Second)).To(Succeed())
			Expect(handle(context.Background(), two, retry()).Kind).To(Equal(session.KindMirror))
			return p.reply(req), nil
		})
		late := handle(ctx, one, p.next(v))
		Expect(late.Kind).To(Equal(session.KindMirror), "it shows what the other one made")
		ledger := r.ledger(v.SessionID)
		Expect(ledger).To(HaveLen(4))
		Expect(ledger[2].Outcome).To(Equal(session.Lost))
		Expect(ledger[3]).To(And(HaveField("Outcome", session.Accepted), HaveField("Repeats", 3)))
		Expect(r.emitted("lost-call")).To(HaveLen(1))
		Expect(p.walk(ctx, two, handle(ctx, two, retry()), nil).Finished).To(BeTrue())
		Expect(r.answers(v.SessionID)).To(Equal(faultFree(p).answers))
	})

	It("claim nothing once a try has failed", func(ctx context.Context) {
		good := r.backend
		r.backend = llm.BackendFunc(failing(llm.Error{Kind: llm.Refused}))
		refusal(one.Handle(ctx, p.next(v)))
		r.backend = good
		Expect(handle(ctx, two, retry()).Kind).To(Equal(session.KindMirror))
	})

	It("claim the wait before an attempt as well, when it is longer than a call may take", func(ctx context.Context) {
		r.options = interview.Options{Instance: "one", CallTimeout: 2 * time.Second}
		one = r.serve()
		good := r.backend
		r.backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			r.backend = good
			r.clock.AfterFunc(20*time.Second, func() {
				busy := refusal(two.Handle(context.Background(), retry()))
				Expect(busy.Code).To(Equal(interview.CodeBusy))
				Expect(busy.RetryAfter).To(Equal(15*time.Second), "the rest of the wait and a margin")
			})
			return llm.Reply{}, &llm.Error{Kind: llm.RateLimited, RetryAfter: 25 * time.Second}
		})
		Expect(handle(ctx, one, p.next(v)).Kind).To(Equal(session.KindMirror))
		Expect(r.ledger(v.SessionID)).To(HaveLen(4))
	})

	It("give way to the one that was first with an answer to the same message", func(ctx context.Context) {
		r.store = &flaky{Store: r.store, meanwhile: func() {
			handle(ctx, two, p.next(v))
		}}
		one = r.serve()
		sub := p.next(v)
		sub.ID = "of another window"
		got := handle(ctx, one, sub)
		Expect(got.Repeated).To(BeTrue())
		Expect(got.Kind).To(Equal(session.KindMirror))
		Expect(r.ledger(v.SessionID)).To(HaveLen(3))
	})

	It("do not treat a message as an answer to a later question", func(ctx context.Context) {
		r.store = &flaky{Store: r.store, meanwhile: func() {
			handle(ctx, two, p.next(v))
		}}
		one = r.serve()
		failed := refusal(one.Handle(ctx, interview.Submission{Session: v.SessionID, ID: "other", Message: "in haste"}))
		Expect(failed.Code).To(Equal(interview.CodeOutOfOrder))
		Expect(failed.View.Kind).To(Equal(session.KindMirror))
	})
})

var _ = Describe("A store that fails", func() {
	var (
		p person
		r *rig
		f *flaky
		s *interview.Service
		v interview.View
	)
	BeforeEach(func(ctx context.Context) {
		p = meet("lea")
		r = newRig(p)
		f = &flaky{Store: r.store}
		r.store = f
		s = r.serve()
		v = p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, 2))
	})

	It("before the answer is stored changes nothing, and the submission can be repeated", func(ctx context.Context) {
		f.before = 1
		calls := len(r.calls)
		failed := refusal(s.Handle(ctx, p.next(v)))
		Expect(failed.Code).To(Equal(interview.CodeStore))
		Expect(failed).To(MatchError(errStore))
		Expect(r.calls).To(HaveLen(calls), "nothing is paid for what is not stored")
		last := payloads[interview.Submitted](r, "submission")
		Expect(last[len(last)-1]).To(And(HaveField("Answered", false), HaveField("Queued", false), HaveField("Code", "store_failed")))
		got := handle(ctx, s, p.next(v))
		Expect(got.Repeated).To(BeFalse())
		Expect(got.Kind).To(Equal(session.KindMirror))
	})

	It("after the answer is stored does not take it twice", func(ctx context.Context) {
		f.after = 1
		refusal(s.Handle(ctx, p.next(v)))
		got := handle(ctx, s, p.next(v))
		Expect(got.Repeated).To(BeTrue())
		Expect(got.AutoContinue).To(BeTrue())
		Expect(handle(ctx, s, p.next(got)).Kind).To(Equal(session.KindMirror))
		ledger := r.ledger(v.SessionID)
		Expect(ledger[2].Outcome).To(Equal(session.Lost), "the call may have been made")
		Expect(ledger[3].Repeats).To(Equal(3))
	})

	DescribeTable("for a moment when a call is paid for does not make it paid twice",
		func(ctx context.Context, before, after int) {
			good := r.backend
			r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				f.before, f.after = before, after
				return good.Complete(ctx, req)
			})
			got := handle(ctx, s, p.next(v))
			Expect(got.Kind).To(Equal(session.KindMirror))
			Expect(r.ledger(v.SessionID)).To(HaveLen(3))
			Expect(r.ledger(v.SessionID)[2].Outcome).To(Equal(session.Accepted))
			Expect(got.MessageID).To(Equal(handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventResume}).MessageID))
		},
		Entry("before it is stored", 2, 0), Entry("after it is stored", 0, 1),
	)

	It("for long when a call is paid for ends with an error, and RETRY makes the call once more", func(ctx context.Context) {
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			f.before = 3
			r.backend = good
			return good.Complete(ctx, req)
		})
		failed := refusal(s.Handle(ctx, p.next(v)))
		Expect(failed.Code).To(Equal(interview.CodeStore))
		Expect(failed.View).To(HaveValue(And(HaveField("MessageID", v.MessageID), HaveField("AutoContinue", true))), "what is not stored is not shown")
		got := handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventRetry})
		Expect(got.Kind).To(Equal(session.KindMirror))
		Expect(r.ledger(v.SessionID)[3].Repeats).To(Equal(3))
	})

	It("takes no part in how long a call took", func(ctx context.Context) {
		f.meanwhile = func() { Expect(r.clock.Sleep(ctx, 5*time.Second)).To(Succeed()) }
		handle(ctx, s, p.next(v))
		Expect(r.ledger(v.SessionID)[2].Latency).To(Equal(time.Second))
	})

	It("is not asked about a session that cannot be", func(ctx context.Context) {
		Expect(refusal(s.Handle(ctx, interview.Submission{Session: "nobody", Event: interview.EventResume})).Code).To(Equal(interview.CodeUnknown))
	})
})
