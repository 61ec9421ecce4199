package interview_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// at stops a walk at a step and, of its questions, at one.
func at(step session.Step, question int) func(interview.View) bool {
	return func(v interview.View) bool {
		return v.Step == step && v.QuestionIndex == question && !v.AutoContinue
	}
}

var _ = Describe("A submission", func() {
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
	// reach takes a new interview to a question.
	reach := func(ctx context.Context, step session.Step, question int) interview.View {
		GinkgoHelper()
		return p.walk(ctx, s, handle(ctx, s, p.begin()), at(step, question))
	}

	Describe("that comes twice", Label("I-18"), func() {
		It("changes nothing if its id is known, and shows what follows", func(ctx context.Context) {
			v := reach(ctx, session.Block1, 0)
			sub := p.next(v)
			sub.ReplyTo = ""
			next := handle(ctx, s, sub)
			Expect(next.QuestionIndex).To(Equal(1))
			sub.Message = "another text"
			again := handle(ctx, s, sub)
			Expect(again.Repeated).To(BeTrue())
			again.Repeated = false
			Expect(again).To(Equal(next))
			Expect(r.answers(v.SessionID)).To(HaveLen(3), "identity, tone and one question")
			Expect(r.emitted("repeated")).To(HaveLen(1))
		})

		It("changes nothing if it replies to an answered question", func(ctx context.Context) {
			v := reach(ctx, session.Block1, 0)
			sub := p.next(v)
			sub.ID = ""
			next := handle(ctx, s, sub)
			again := handle(ctx, s, sub)
			Expect(again.Repeated).To(BeTrue())
			Expect(again.MessageID).To(Equal(next.MessageID))
			Expect(r.answers(v.SessionID)).To(HaveLen(3))
		})

		It("changes nothing if its id is known, even if it replies to the current question", func(ctx context.Context) {
			v := reach(ctx, session.Block1, 0)
			sub := p.next(v)
			next := handle(ctx, s, sub)
			sub.ReplyTo = next.MessageID
			Expect(handle(ctx, s, sub).Repeated).To(BeTrue())
			Expect(r.answers(v.SessionID)).To(HaveLen(3))
		})

		It("is known by its id wherever the interview stands", func(ctx context.Context) {
			v := reach(ctx, session.Block1, 0)
			sub := p.next(v)
			sub.ReplyTo = ""
			end := p.walk(ctx, s, handle(ctx, s, sub), nil)
			Expect(end.Finished).To(BeTrue())
			again := handle(ctx, s, sub)
			Expect(again.Repeated).To(BeTrue())
			Expect(again.Finished).To(BeTrue())
		})

		It("leaves one answer, however many come at once", func(ctx context.Context) {
			v := reach(ctx, session.Block1, 2) // the last question: its answer takes a call
			sub := p.next(v)
			calls := len(r.calls)
			views := atOnce(8, func(int) (interview.View, error) { return s.Handle(ctx, sub) })
			repeated := 0
			for _, got := range views {
				Expect(got.err).NotTo(HaveOccurred())
				Expect(got.view.Kind).To(Equal(session.KindMirror), "each sees the result of the first")
				if got.view.Repeated {
					repeated++
				}
			}
			Expect(repeated).To(Equal(7))
			events := r.emitted("submission")
			for i, e := range events[len(events)-8:] {
				Expect(e.N).To(Equal(len(events)-7+i), "they are emitted in the order of their turns")
				submitted, _ := event.Read[interview.Submitted](&e)
				Expect(submitted.Repeated).To(Equal(i > 0))
			}
			Expect(r.calls).To(HaveLen(calls + 1))
			Expect(r.answers(v.SessionID)).To(HaveLen(5))
		})

		It("leaves one answer if two different ones come at once for one message", func(ctx context.Context) {
			v := reach(ctx, session.Block1, 0)
			views := atOnce(2, func(i int) (interview.View, error) {
				sub := p.next(v)
				sub.ID = []string{"left", "right"}[i]
				return s.Handle(ctx, sub)
			})
			Expect(views[0].err).NotTo(HaveOccurred())
			Expect(views[1].err).NotTo(HaveOccurred())
			Expect(views[0].view.Repeated).NotTo(Equal(views[1].view.Repeated))
			Expect(r.answers(v.SessionID)).To(HaveLen(3))
		})

		It("makes one message of any number of GO and RETRY", func(ctx context.Context) {
			v := p.walk(ctx, s, handle(ctx, s, p.begin()), func(v interview.View) bool { return v.State == "waiting_go" })
			calls := len(r.calls)
			sub := p.next(v)
			views := atOnce(6, func(i int) (interview.View, error) {
				if i%2 == 1 {
					return s.Handle(ctx, interview.Submission{Session: v.SessionID, Event: interview.EventRetry})
				}
				return s.Handle(ctx, sub)
			})
			for _, got := range views {
				Expect(got.err).NotTo(HaveOccurred())
			}
			Expect(r.calls).To(HaveLen(calls + 1))
			Expect(handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventResume}).QuestionIndex).To(Equal(0))
		})
	})

	It("that had to wait and names no message is not taken for an answer to the next one", Label("I-18"), func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		inCall, goOn := make(chan struct{}), make(chan struct{})
		r.backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			close(inCall)
			<-goOn
			return p.reply(r.calls[len(r.calls)-1]), nil
		})
		first := make(chan error)
		go func() {
			_, err := s.Handle(ctx, p.next(v))
			first <- err
		}()
		<-inCall
		second := make(chan outcome)
		go func() {
			got, err := s.Handle(ctx, interview.Submission{Session: v.SessionID, ID: "second", Message: "in haste"})
			second <- outcome{got, err}
		}()
		Eventually(s.Queued).WithArguments(v.SessionID).Should(Equal(2))
		close(goOn)
		Expect(<-first).NotTo(HaveOccurred())
		got := <-second
		failed := refusal(got.view, got.err)
		Expect(failed.Code).To(Equal(interview.CodeOutOfOrder))
		Expect(failed.View.Kind).To(Equal(session.KindMirror))
		Expect(r.answers(v.SessionID)).To(HaveLen(5))
	})

	DescribeTable("that does not fit is refused, with where the interview stands",
		func(ctx context.Context, step session.Step, question int, sub interview.Submission, code interview.Code, text string) {
			v := reach(ctx, step, question)
			sub.Session = v.SessionID
			if sub.ID == "" && sub.ReplyTo == "" {
				sub.ID = "x"
			}
			before, commits := r.remains(v.SessionID), len(r.emitted("commit"))
			failed := refusal(s.Handle(ctx, sub))
			Expect(failed.Code).To(Equal(code))
			Expect(failed.Message).To(ContainSubstring(text))
			Expect(failed.View).To(HaveValue(Equal(v)))
			Expect(r.remains(v.SessionID)).To(Equal(before), "nothing changed")
			Expect(r.emitted("commit")).To(HaveLen(commits))
		},
		Entry("GO at a question", session.Block1, 0, interview.Submission{Event: interview.EventGo},
			interview.CodeOutOfOrder, "a question is shown; it takes an answer, not GO"),
		Entry("START_BLOC_1 at a mirror", session.Block1, -1, interview.Submission{Event: interview.EventStartBlock1},
			interview.CodeOutOfOrder, "START_BLOC_1 follows the preamble only"),
		Entry("START_MATCHING at the preamble", session.Preamble, -1, interview.Submission{Event: interview.EventStartMatching},
			interview.CodeOutOfOrder, "START_MATCHING follows the profile only"),
		Entry("START_BLOC_1 at the profile", session.Block10, -1, interview.Submission{Event: interview.EventStartBlock1},
			interview.CodeOutOfOrder, "START_BLOC_1 follows the preamble only"),
		Entry("a message while it waits", session.Preamble, -1, interview.Submission{Message: "what now?"},
			interview.CodeOutOfOrder, `send the event GO or write "go"`),
		Entry("a reply to an unknown message", session.Block1, 0, interview.Submission{Message: "x", ReplyTo: "m999"},
			interview.CodeOutOfOrder, "no such message was shown yet; the last one is m6"),
		Entry("an answer to a finished interview", session.Matching, -1, interview.Submission{Message: "thanks"},
			interview.CodeFinished, "nothing follows"),
		Entry("GO in a finished interview", session.Matching, -1, interview.Submission{Event: interview.EventGo},
			interview.CodeFinished, "nothing follows"),
		Entry("another candidate's", session.Block1, 0, interview.Submission{Message: "x", Candidate: "somebody"},
			interview.CodeInvalid, "another candidate"),
	)

	DescribeTable("goes on where the interview waits",
		func(ctx context.Context, step session.Step, sub interview.Submission, next session.Step) {
			v := reach(ctx, step, -1)
			sub.Session, sub.ReplyTo = v.SessionID, v.MessageID
			got := handle(ctx, s, sub)
			Expect(got.Step).To(Equal(next))
			for _, a := range r.answers(v.SessionID) {
				Expect(a).NotTo(HavePrefix(string(step)), "no answer is kept")
			}
		},
		Entry("GO", session.Preamble, interview.Submission{Event: interview.EventGo}, session.Block1),
		Entry("START_BLOC_1", session.Preamble, interview.Submission{Event: interview.EventStartBlock1}, session.Block1),
		Entry("the word", session.Preamble, interview.Submission{Message: " Go!\r\n"}, session.Block1),
		Entry("GO at the profile", session.Block10, interview.Submission{Event: interview.EventGo}, session.Matching),
		Entry("START_MATCHING", session.Block10, interview.Submission{Event: interview.EventStartMatching}, session.Matching),
	)

	It("is a comment at a mirror, whatever its text", func(ctx context.Context) {
		v := reach(ctx, session.Block1, -1)
		handle(ctx, s, interview.Submission{Session: v.SessionID, ReplyTo: v.MessageID, Message: "go"})
		Expect(r.answers(v.SessionID)).To(ContainElement("BLOC_01/-1: go"))
	})

	It("RESUME returns the current view and changes nothing, however often", Label("I-14"), func(ctx context.Context) {
		v := handle(ctx, s, p.begin())
		for !v.Finished {
			commits := len(r.emitted("commit"))
			s = r.serve() // a restart in between makes no difference
			for range 2 {
				Expect(handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventResume})).To(Equal(v))
			}
			Expect(r.emitted("commit")).To(HaveLen(commits))
			v = handle(ctx, s, p.next(v))
		}
	})

	It("RETRY without an owed call returns the current view", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 1)
		got := handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventRetry})
		Expect(got.Repeated).To(BeTrue())
		Expect(got.MessageID).To(Equal(v.MessageID))
	})

	It("of a client that leaves during the call is carried out all the same", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		leaving, leave := context.WithCancel(ctx)
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			leave()
			if err := ctx.Err(); err != nil {
				return llm.Reply{}, err
			}
			return good.Complete(ctx, req)
		})
		_, err := s.Handle(leaving, p.next(v))
		Expect(err).NotTo(HaveOccurred())
		got := handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventResume})
		Expect(got.Kind).To(Equal(session.KindMirror))
	})

	It("of a client that leaves while it waits for its turn has no effect", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		left, leave := context.WithCancelCause(ctx)
		gone := errors.New("gone")
		r.backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
			leave(gone)
			_, err := s.Handle(left, interview.Submission{Session: v.SessionID, ID: "b", Message: "b"})
			Expect(err).To(MatchError(gone))
			return p.reply(r.calls[len(r.calls)-1]), nil
		})
		handle(ctx, s, p.next(v))
		Expect(r.answers(v.SessionID)).To(HaveLen(5))
		Expect(s.Queued(v.SessionID)).To(BeZero(), "no lock is left behind")
	})

	It("is rejected once the service shuts down, which waits for submissions in progress", func(ctx context.Context) {
		v := reach(ctx, session.Block1, 2)
		down := make(chan error, 1)
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			go func() { down <- s.Shutdown(context.Background()) }()
			Eventually(func() error {
				_, err := s.Handle(ctx, interview.Submission{Session: v.SessionID, Event: interview.EventResume})
				return err
			}).Should(HaveField("Code", interview.CodeBusy))
			short, cancel := context.WithTimeout(context.Background(), time.Millisecond) // not of the virtual clock
			defer cancel()
			Expect(s.Shutdown(short)).To(MatchError(context.DeadlineExceeded))
			Expect(down).To(BeEmpty())
			return good.Complete(ctx, req)
		})
		handle(ctx, s, p.next(v))
		Eventually(down).Should(Receive(BeNil()))
		Expect(s.Shutdown(ctx)).To(Succeed())
	})

	It("starts an interview of its own with each START", func(ctx context.Context) {
		a := handle(ctx, s, interview.Submission{})
		b := handle(ctx, s, interview.Submission{Event: interview.EventStart, Language: session.English})
		Expect(a.SessionID).NotTo(Equal(b.SessionID))
		Expect(a.Language).To(Equal(session.French))
		Expect(b.Language).To(Equal(session.English))
		Expect(a.ExpectsAnswer).To(BeTrue())
		stored, err := r.store.Load(ctx, a.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Candidate).To(MatchRegexp(`^candidate-[0-9a-f]{12}$`))
	})

	It("starts with a random id", func(ctx context.Context) {
		s, err := interview.New(interview.Options{}, interview.Deps{Store: r.store, Backend: r.backend, Clock: r.clock})
		Expect(err).NotTo(HaveOccurred())
		a, b := handle(ctx, s, interview.Submission{}).SessionID, handle(ctx, s, interview.Submission{}).SessionID
		Expect(len(a)).To(BeNumerically(">=", 26), "26 characters of base 32 are 130 bits")
		Expect(strings.HasPrefix(b, a[:8])).To(BeFalse())
	})
})

// outcome contains the results of Handle.
type outcome struct {
	view interview.View
	err  error
}

// atOnce calls f from so many goroutines at once.
func atOnce(n int, f func(i int) (interview.View, error)) []outcome {
	all := make([]outcome, n)
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-start
			all[i].view, all[i].err = f(i)
		})
	}
	ready.Wait()
	close(start)
	done.Wait()
	return all
}
