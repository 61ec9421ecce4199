package interview_test

import (
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// turn answers one call of a backend.
type turn func(ctx context.Context, req llm.Request) (llm.Reply, error)

// failing fails with an error.
func failing(e llm.Error) turn {
	return func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, &e }
}

// saying answers with a text.
func saying(text string) turn {
	return func(context.Context, llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: text, Finish: llm.FinishStop}, nil
	}
}

// The mirrors of block 1: one section is longer than it should be, and than it may
// be.
const (
	aside        = " et aussi tout le reste de ce que tu portes avec toi"
	validation   = "3️⃣ Validation ouverte\nDis-moi si ça te parle, ou s'il y a une nuance importante que je n'ai pas vue."
	reading      = "1️⃣ Lecture implicite\nTu avances quand le cap est clair et que tu peux choisir le chemin."
	deduction    = "2️⃣ Déduction personnalisée\nUn cadre simple te rend plus libre qu'un cadre vague."
	goodMirror   = reading + "\n\n" + deduction + "\n\n" + validation
	longMirror   = reading + aside + "\n\n" + deduction + "\n\n" + validation
	longerMirror = reading + aside + "\n\n" + deduction + aside + aside + "\n\n" + validation
	badMirror    = reading + "\n\n" + deduction
)

var _ = Describe("A call", func() {
	var (
		p person
		r *rig
		s *interview.Service
		v interview.View // the last question of block 1: its answer takes the call for the mirror
	)
	// prepare makes the next calls take turns.
	prepare := func(ctx context.Context, o interview.Options, turns ...turn) {
		GinkgoHelper()
		p = meet("lea")
		r = newRig(p)
		o.Instance = "one"
		r.options = o
		s = r.serve()
		v = p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, 2))
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if len(turns) == 0 {
				return good.Complete(ctx, req)
			}
			now := turns[0]
			turns = turns[1:]
			return now(ctx, req)
		})
	}
	// entries are those of the mirror in the ledger.
	entries := func() []session.Call {
		GinkgoHelper()
		return r.ledger(v.SessionID)[2:]
	}
	outcomes := func() (all []session.Outcome) {
		for _, c := range entries() {
			all = append(all, c.Outcome)
		}
		return all
	}
	retry := func() interview.Submission {
		return interview.Submission{Session: v.SessionID, Event: interview.EventRetry}
	}

	DescribeTable("that fails for a while is made again after a wait", Label("I-09"),
		func(ctx context.Context, kind llm.ErrorKind, after time.Duration, times int, wait time.Duration) {
			turns := make([]turn, times)
			for i := range turns {
				turns[i] = failing(llm.Error{Kind: kind, RetryAfter: after})
			}
			prepare(ctx, interview.Options{}, turns...)
			start := r.clock.Now()
			got := handle(ctx, s, p.next(v))
			Expect(got.Kind).To(Equal(session.KindMirror))
			Expect(r.clock.Now().Sub(start)).To(Equal(wait + time.Second))
			Expect(entries()).To(HaveLen(times + 1))
			for i, c := range entries()[:times] {
				Expect(c.Outcome).To(Equal(session.Broken))
				Expect(c.Fault).To(Equal(string(kind)))
				Expect(c.Attempt).To(Equal(i + 1))
				Expect(c.Repeats).To(BeZero())
			}
			Expect(r.emitted("transport-retry")).To(HaveLen(times))
			Expect(r.calls[len(r.calls)-1].Tags).To(HaveKeyWithValue("attempt", string(rune('1'+times))))
		},
		Entry("once", llm.Unavailable, time.Duration(0), 1, time.Second),
		Entry("twice, after twice the wait", llm.Unavailable, time.Duration(0), 2, 3*time.Second),
		Entry("a timeout", llm.Timeout, time.Duration(0), 1, time.Second),
		Entry("a connection that was cut", llm.Truncated, time.Duration(0), 1, time.Second),
		Entry("a limit, as long as the backend asks", llm.RateLimited, 20*time.Second, 2, 40*time.Second),
		Entry("not sooner than the backoff", llm.RateLimited, time.Millisecond, 1, time.Second),
		Entry("an answer without form, once", llm.Malformed, time.Duration(0), 1, time.Second),
	)

	DescribeTable("that cannot be mended ends the try with an error, and RETRY makes it", Label("I-09"),
		func(ctx context.Context, failure llm.Error, calls int) {
			turns := make([]turn, 9)
			for i := range turns {
				turns[i] = failing(failure)
			}
			prepare(ctx, interview.Options{}, turns[:calls]...)
			answers := r.answers(v.SessionID)
			failed := refusal(s.Handle(ctx, p.next(v)))
			Expect(failed.Code).To(Equal(interview.CodeBackend))
			Expect(failed.RetryAfter).To(Equal(failure.RetryAfter))
			Expect(failed.Message).NotTo(ContainSubstring("secret"), "what providers write is not for candidates")
			Expect(llm.KindOf(failed)).To(Equal(failure.Kind))
			Expect(failed.View.AutoContinue).To(BeTrue())
			Expect(failed.View.MessageID).To(Equal(v.MessageID))
			Expect(entries()).To(HaveLen(calls))
			Expect(r.answers(v.SessionID)).To(HaveLen(len(answers)+1), "the answer is stored")
			Expect(r.emitted("exhausted")).To(HaveLen(1))

			s = r.serve() // and also after a restart
			got := handle(ctx, s, retry())
			Expect(got.Kind).To(Equal(session.KindMirror))
			Expect(entries()).To(HaveLen(calls + 1))
			Expect(entries()[calls].Attempt).To(Equal(calls + 1))
			Expect(entries()[calls].Repeats).To(BeZero(), "no call was lost")
		},
		Entry("unavailable", llm.Error{Kind: llm.Unavailable, Message: "secret"}, 3),
		Entry("timeout", llm.Error{Kind: llm.Timeout}, 3),
		Entry("rate-limited", llm.Error{Kind: llm.RateLimited, RetryAfter: 2 * time.Second}, 3),
		Entry("rate-limited for long", llm.Error{Kind: llm.RateLimited, RetryAfter: time.Hour}, 1),
		Entry("malformed", llm.Error{Kind: llm.Malformed}, 2),
		Entry("unauthorized", llm.Error{Kind: llm.Unauthorized}, 1),
		Entry("invalid-request", llm.Error{Kind: llm.InvalidRequest}, 1),
		Entry("refused", llm.Error{Kind: llm.Refused}, 1),
		Entry("failed", llm.Error{Kind: llm.Failed}, 1),
		Entry("script-exhausted", llm.Error{Kind: llm.ScriptExhausted}, 1),
		Entry("unexpected-call", llm.Error{Kind: llm.UnexpectedCall}, 1),
	)

	It("gets fresh retries with each RETRY", func(ctx context.Context) {
		down := failing(llm.Error{Kind: llm.Unavailable})
		prepare(ctx, interview.Options{TransportRetries: 1}, down, down, down, down, down)
		refusal(s.Handle(ctx, p.next(v)))
		Expect(entries()).To(HaveLen(2))
		refusal(s.Handle(ctx, retry()))
		Expect(entries()).To(HaveLen(4))
		Expect(handle(ctx, s, retry()).Kind).To(Equal(session.KindMirror))
		Expect(entries()).To(HaveLen(6))
		Expect(entries()[5].Attempt).To(Equal(6))
	})

	DescribeTable("is made again after a wait that doubles, to half a minute",
		func(ctx context.Context, first time.Duration, want time.Duration) {
			down := failing(llm.Error{Kind: llm.Unavailable})
			prepare(ctx, interview.Options{TransportRetries: 3, Backoff: first}, down, down, down)
			start := r.clock.Now()
			handle(ctx, s, p.next(v))
			Expect(r.clock.Now().Sub(start)).To(Equal(want + time.Second))
		},
		Entry("doubled", 2*time.Second, (2+4+8)*time.Second),
		Entry("doubled up to 30 s", 20*time.Second, (20+30+30)*time.Second),
		Entry("30 s at most", time.Hour, (30+30+30)*time.Second),
	)

	It("is never made again if that is not wanted", func(ctx context.Context) {
		prepare(ctx, interview.Options{TransportRetries: -1, ValidationRetries: -1}, failing(llm.Error{Kind: llm.Unavailable}), saying(badMirror), saying(longMirror))
		refusal(s.Handle(ctx, p.next(v)))
		Expect(entries()).To(HaveLen(1))
		Expect(refusal(s.Handle(ctx, retry())).Code).To(Equal(interview.CodeReply))
		Expect(entries()).To(HaveLen(2))
		Expect(handle(ctx, s, retry()).Response).To(Equal(longMirror))
		Expect(entries()[2].Warnings).To(HaveLen(1))
	})

	It("ends at its own timeout", func(ctx context.Context) {
		prepare(ctx, interview.Options{CallTimeout: 5 * time.Second}, func(ctx context.Context, _ llm.Request) (llm.Reply, error) {
			return llm.Reply{}, r.clock.Sleep(ctx, time.Hour)
		})
		handle(ctx, s, p.next(v))
		Expect(entries()[0]).To(And(HaveField("Fault", "timeout"), HaveField("Latency", 5*time.Second)))
	})

	It("survives a backend that panics or fails in its own way", func(ctx context.Context) {
		prepare(ctx, interview.Options{},
			func(context.Context, llm.Request) (llm.Reply, error) { panic("boom") },
			func(context.Context, llm.Request) (llm.Reply, error) { return llm.Reply{}, errors.New("odd") })
		Expect(refusal(s.Handle(ctx, p.next(v))).Code).To(Equal(interview.CodeBackend))
		Expect(refusal(s.Handle(ctx, retry())).Code).To(Equal(interview.CodeBackend))
		Expect(entries()).To(HaveEach(HaveField("Fault", "failed")))
		Expect(handle(ctx, s, retry()).Kind).To(Equal(session.KindMirror))
	})

	It("whose text is refused is made again with the reason in a copy of the conversation", Label("I-09"), func(ctx context.Context) {
		prepare(ctx, interview.Options{}, saying(badMirror))
		before := r.remains(v.SessionID).messages
		got := handle(ctx, s, p.next(v))
		Expect(got.Kind).To(Equal(session.KindMirror))
		Expect(outcomes()).To(Equal([]session.Outcome{session.Rejected, session.Accepted}))
		Expect(entries()[0].Fault).To(Equal("section-missing"))

		first, second := r.calls[len(r.calls)-2].Messages, r.calls[len(r.calls)-1].Messages
		Expect(second[:len(first)]).To(Equal(first), "the conversation is the same")
		Expect(second).To(HaveLen(len(first) + 2))
		Expect(second[len(first)]).To(Equal(llm.Message{Role: llm.Assistant, Content: badMirror}))
		Expect(second[len(first)+1].Role).To(Equal(llm.System))
		Expect(second[len(first)+1].Content).To(And(
			ContainSubstring("Motif : il manque la section 3 (validation ouverte)"), Not(ContainSubstring("missing"))))
		Expect(entries()[0].Detail).To(Equal("section 3 (open validation) is missing"), "operators read English")
		after := r.remains(v.SessionID).messages
		Expect(after[:len(before)]).To(Equal(before))
		Expect(after).To(HaveLen(len(before)+2), "the answer and the mirror, and nothing of the retry")
		Expect(r.emitted("validation-retry")).To(HaveLen(1))
		Expect(r.emitted("validator")).To(ContainElement(HaveField("Attrs", And(
			HaveKeyWithValue("valid", false), HaveKeyWithValue("rule", "section-missing"), HaveKeyWithValue("step", "BLOC_01"),
		))))
	})

	It("whose texts are refused twice gives way to a text of the prompts", Label("I-09"), func(ctx context.Context) {
		prepare(ctx, interview.Options{}, saying(badMirror), saying(badMirror))
		got := handle(ctx, s, p.next(v))
		Expect(got.Kind).To(Equal(session.KindMirror))
		Expect(got.Response).To(ContainSubstring("lecture hâtive"))
		Expect(got.Response).To(ContainSubstring("Dis-moi si ça te parle"), "in the register that was chosen")
		Expect(outcomes()).To(Equal([]session.Outcome{session.Rejected, session.Rejected}))
		Expect(r.emitted("fallback")).To(HaveLen(1))
		Expect(r.emitted("exhausted")).To(BeEmpty())
		stored, err := r.store.Load(ctx, v.SessionID)
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Fallbacks).To(Equal([]session.Fallback{{
			Purpose: session.PurposeMirror, Step: session.Block1, Message: stored.Shown, Refused: 2, Rule: "section-missing",
		}}))
		Expect(handle(ctx, s, p.next(got)).Step).To(Equal(session.Block2A))
	})

	It("counts refused texts of one message together, whatever the retries", Label("I-09"), func(ctx context.Context) {
		prepare(ctx, interview.Options{ValidationRetries: -1}, saying(badMirror), saying(badMirror))
		failed := refusal(s.Handle(ctx, p.next(v)))
		Expect(failed.Code).To(Equal(interview.CodeReply))
		Expect(failed.View.AutoContinue).To(BeTrue())
		Expect(handle(ctx, s, retry()).Response).To(ContainSubstring("lecture hâtive"))
	})

	It("that was cut off at its length is refused; one that the filter stopped has failed", func(ctx context.Context) {
		prepare(ctx, interview.Options{},
			func(context.Context, llm.Request) (llm.Reply, error) {
				return llm.Reply{Text: goodMirror, Finish: llm.FinishLength}, nil
			},
			func(context.Context, llm.Request) (llm.Reply, error) {
				return llm.Reply{Text: goodMirror, Finish: llm.FinishContentFilter}, nil
			})
		Expect(refusal(s.Handle(ctx, p.next(v))).Code).To(Equal(interview.CodeBackend))
		Expect(entries()[0]).To(And(HaveField("Outcome", session.Rejected), HaveField("Fault", "truncated")))
		Expect(entries()[1]).To(And(HaveField("Outcome", session.Broken), HaveField("Fault", "refused")))
		Expect(r.emitted("refused")).To(HaveLen(1))
	})

	It("has budgets of their own for failures and for texts", Label("I-09"), func(ctx context.Context) {
		down := failing(llm.Error{Kind: llm.Unavailable})
		prepare(ctx, interview.Options{}, down, saying(badMirror), down)
		Expect(handle(ctx, s, p.next(v)).Kind).To(Equal(session.KindMirror))
		Expect(outcomes()).To(Equal([]session.Outcome{session.Broken, session.Rejected, session.Broken, session.Accepted}))
	})

	DescribeTable("with warnings only is tried once more, and the best text is used",
		func(ctx context.Context, turns []turn, used string, want []session.Outcome, warnings int) {
			prepare(ctx, interview.Options{}, turns...)
			Expect(handle(ctx, s, p.next(v)).Response).To(Equal(used))
			Expect(outcomes()).To(Equal(want))
			for _, c := range entries() {
				if c.Outcome == session.Accepted {
					Expect(c.Warnings).To(HaveLen(warnings))
					Expect(c.Fault).To(BeEmpty())
				}
			}
		},
		Entry("a better one", []turn{saying(longMirror), saying(goodMirror)}, goodMirror, []session.Outcome{session.Rejected, session.Accepted}, 0),
		Entry("no better one", []turn{saying(longMirror), saying(longMirror)}, longMirror, []session.Outcome{session.Rejected, session.Accepted}, 1),
		Entry("a worse one", []turn{saying(longMirror), saying(longerMirror)}, longMirror, []session.Outcome{session.Accepted, session.Rejected}, 1),
		Entry("a useless one", []turn{saying(longMirror), saying(badMirror)}, longMirror, []session.Outcome{session.Accepted, session.Rejected}, 1),
		Entry("none", []turn{saying(longMirror), failing(llm.Error{Kind: llm.Unauthorized})}, longMirror, []session.Outcome{session.Accepted, session.Broken}, 1),
	)

	It("preserves a text with warnings across a crash", func(ctx context.Context) {
		prepare(ctx, interview.Options{}, saying(longMirror), failing(llm.Error{Kind: llm.Unavailable}))
		life := &mortal{left: -1}
		r.store = mortalStore{r.store, life}
		s = r.serve()
		good := r.backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if req.Tags["attempt"] == "3" {
				life.reborn(0)
			}
			return good.Complete(ctx, req)
		})
		refusal(s.Handle(ctx, p.next(v)))
		life.reborn(-1)
		r.backend = llm.BackendFunc(failing(llm.Error{Kind: llm.Refused}))
		Expect(handle(ctx, r.serve(), retry()).Response).To(Equal(longMirror))
		Expect(outcomes()).To(Equal([]session.Outcome{session.Accepted, session.Broken, session.Lost, session.Broken}))
	})

	It("is not lost if the process dies in the wait after it", func(ctx context.Context) {
		prepare(ctx, interview.Options{}, failing(llm.Error{Kind: llm.Unavailable}))
		life := &mortal{left: -1}
		r.store = mortalStore{r.store, life}
		r.clock.AfterFunc(500*time.Millisecond, func() { life.reborn(0) })
		refusal(r.serve().Handle(ctx, p.next(v)))
		life.reborn(-1)
		handle(ctx, r.serve(), retry())
		Expect(outcomes()).To(Equal([]session.Outcome{session.Broken, session.Accepted}))
		Expect(entries()[1].Repeats).To(BeZero())
	})

	It("names the lost call that it repeats, unlike the next attempt", func(ctx context.Context) {
		prepare(ctx, interview.Options{})
		life := &mortal{left: 3}
		inner, backend := r.store, r.backend
		r.store, r.backend = mortalStore{inner, life}, &mortalBackend{Backend: backend, life: life}
		refusal(r.serve().Handle(ctx, p.next(v)))
		r.store, r.backend = inner, backend
		r.backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			r.backend = backend
			return llm.Reply{}, &llm.Error{Kind: llm.Unavailable}
		})
		handle(ctx, r.serve(), retry())
		Expect(outcomes()).To(Equal([]session.Outcome{session.Lost, session.Broken, session.Accepted}))
		Expect(entries()[1].Repeats).To(Equal(entries()[0].N))
		Expect(entries()[2].Repeats).To(BeZero())
	})

	It("enters tokens and cost as reported, else as counted", Label("I-11"), func(ctx context.Context) {
		reported := &llm.Usage{Input: 9000, Output: 1000, Source: llm.UsageReported}
		prepare(ctx, interview.Options{Model: "asked"},
			failing(llm.Error{Kind: llm.Unavailable}),
			failing(llm.Error{Kind: llm.Truncated, Partial: "1️⃣ Lecture"}),
			func(context.Context, llm.Request) (llm.Reply, error) {
				return llm.Reply{Text: badMirror, Finish: llm.FinishStop, Usage: reported, Model: "asked-2026"}, nil
			})
		handle(ctx, s, p.next(v))
		nothing, partial, reportedCall, counted := entries()[0], entries()[1], entries()[2], entries()[3]
		Expect(nothing.Cost).To(HaveValue(Equal(quantity.Money{Currency: quantity.EUR})), "providers do not bill calls that did not begin")
		Expect(partial.Cost).To(BeNil(), "unknown is not nothing")
		Expect(partial.Counted.Output).To(BeNumerically(">", 0))
		Expect(reportedCall.Reported).To(Equal(reported))
		Expect(reportedCall.Model).To(Equal("asked-2026"))
		Expect(reportedCall.Cost).To(HaveValue(Equal(quantity.Money{Amount: 0.01, Currency: quantity.EUR})))
		Expect(r.emitted("usage-differs")).To(HaveLen(1))

		input := 3
		sent := r.calls[len(r.calls)-1]
		for _, m := range sent.Messages {
			input += 3 + len(m.Role)/4 + len(m.Content)/4
		}
		Expect(counted.Counted).To(Equal(llm.Usage{
			Input: input, Output: len(p.texts["mirror BLOC_01"]) / 4, Source: llm.UsageCounted,
		}))
		Expect(counted.Cost).To(HaveValue(Equal(quantity.Money{Amount: float64(counted.Counted.Total()) / 1e6, Currency: quantity.EUR})))
		Expect(sent.Model).To(Equal("asked"))
		Expect(counted.Model).To(Equal("asked"))
		Expect(counted.Prompt).To(Equal(sent.Tags["prompt"]))
		Expect(counted.Latency).To(Equal(time.Second))
		Expect(counted.Sent + counted.Trimmed).To(Equal(len(r.remains(v.SessionID).messages) - 1))
	})

	It("whose text is not UTF-8 is refused", func(ctx context.Context) {
		prepare(ctx, interview.Options{}, saying(strings.Replace(goodMirror, "cap", "c\xe2p", 1)))
		handle(ctx, s, p.next(v))
		Expect(entries()[0]).To(And(HaveField("Outcome", session.Rejected), HaveField("Fault", "encoding")))
	})

	It("sends no control characters on, which some stores do not take", func(ctx context.Context) {
		prepare(ctx, interview.Options{}, saying("\x00"+strings.ReplaceAll(goodMirror, "\n", "\r\n")+"\x1b\u0085"))
		Expect(handle(ctx, s, p.next(v)).Response).To(Equal(goodMirror))
	})
})
