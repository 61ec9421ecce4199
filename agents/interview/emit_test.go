package interview_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// line is one line of the log.
type line map[string]any

// lines reads the log of a service.
func lines(log *bytes.Buffer) (all []line) {
	GinkgoHelper()
	for text := range strings.Lines(log.String()) {
		var l line
		Expect(json.Unmarshal([]byte(text), &l)).To(Succeed())
		all = append(all, l)
	}
	return all
}

// logged returns the lines with a message.
func (r *rig) logged(log *bytes.Buffer, message string) (found []line) {
	GinkgoHelper()
	for _, l := range lines(log) {
		if l["msg"] == message {
			found = append(found, l)
		}
	}
	return found
}

var _ = Describe("The events and logs of an interview", func() {
	var (
		p   person
		r   *rig
		log *bytes.Buffer
	)
	BeforeEach(func() {
		p = meet("lea")
		r = newRig(p)
		log = &bytes.Buffer{}
		r.log = slog.New(slog.NewJSONHandler(log, nil))
	})

	It("include the lines that operators need, without any message text", Label("I-16"), func(ctx context.Context) {
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), nil)

		blocks := r.logged(log, "block started")
		Expect(blocks).To(HaveLen(11), "block 2 has two parts")
		Expect(blocks[1]).To(And(HaveKeyWithValue("block", 2.0), HaveKeyWithValue("part", "A"), HaveKeyWithValue("candidate", p.Candidate)))
		Expect(r.logged(log, "question served from queue")).To(HaveLen(len(r.queued())))
		Expect(r.logged(log, "questions generated")).To(HaveLen(12))
		Expect(r.logged(log, "mirror generated")).To(HaveLen(9))
		calls := r.logged(log, "call")
		Expect(calls).To(HaveLen(24))
		for i, c := range r.ledger(v.SessionID) {
			Expect(calls[i]).To(And(
				HaveKeyWithValue("purpose", string(c.Purpose)), HaveKeyWithValue("step", string(c.Step)),
				HaveKeyWithValue("block", float64(c.Step.Block())), HaveKeyWithValue("outcome", "accepted"),
				HaveKeyWithValue("input", float64(c.Counted.Input)), HaveKeyWithValue("output", float64(c.Counted.Output)),
				HaveKeyWithValue("cost", c.Cost.String()), HaveKeyWithValue("level", "INFO"),
			))
		}
		for _, a := range r.answers(v.SessionID) {
			_, text, _ := strings.Cut(a, ": ")
			if len(text) > 8 {
				Expect(log.String()).NotTo(ContainSubstring(text))
			}
		}
	})

	It("names a session by the beginning of its id only, for who knows the id may take the interview", func(ctx context.Context) {
		s, err := interview.New(interview.Options{}, interview.Deps{Store: r.store, Backend: r.backend, Clock: r.clock, Sink: r, Log: r.log})
		Expect(err).NotTo(HaveOccurred())
		id := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, 1)).SessionID
		Expect(log.String()).To(ContainSubstring(id[:8]))
		Expect(log.String()).NotTo(ContainSubstring(id[:9]))
		for _, e := range r.events {
			Expect(e).NotTo(HaveField("Attrs", ContainElement(id)))
			Expect(e.Detail).NotTo(ContainSubstring(id))
		}
		for _, req := range r.calls {
			Expect(req.Tags).NotTo(ContainElement(id))
		}
	})

	It("warns of calls that went wrong and of messages that failed", func(ctx context.Context) {
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, 2))
		r.backend = llm.BackendFunc(failing(llm.Error{Kind: llm.Unauthorized, Message: "the key sk-1 is wrong"}))
		refusal(s.Handle(ctx, p.next(v)))
		calls := r.logged(log, "call")
		Expect(calls[len(calls)-1]).To(And(HaveKeyWithValue("level", "WARN"), HaveKeyWithValue("fault", "unauthorized")))
		Expect(r.logged(log, "message failed")).To(ConsistOf(HaveKeyWithValue("code", "backend_failed")))
		Expect(log.String()).NotTo(ContainSubstring("sk-1"))
	})

	It("report a failing store to operators, without the session's id", func(ctx context.Context) {
		f := &flaky{Store: r.store}
		r.store = f
		s, err := interview.New(interview.Options{}, interview.Deps{Store: f, Backend: r.backend, Clock: r.clock, Log: r.log})
		Expect(err).NotTo(HaveOccurred())
		v := handle(ctx, s, p.begin())
		f.before, f.says = 1, v.SessionID
		refusal(s.Handle(ctx, p.next(v)))
		failed := r.logged(log, "store failed")
		Expect(failed).To(ConsistOf(HaveKeyWithValue("error", "store the step: session "+v.SessionID[:8]+": the disk is full")))
	})

	It("describe a call as the ledger does, even if the process crashes before it is stored", func(ctx context.Context) {
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, 2))
		verdicts := len(r.emitted("validator"))
		life := &mortal{left: 4} // the first write, the call, and nothing of the second write
		r.store, r.backend = mortalStore{r.store, life}, &mortalBackend{Backend: r.backend, life: life}
		refusal(r.serve().Handle(ctx, p.next(v)))
		Expect(r.emitted("validator")).To(HaveLen(verdicts))
		life.reborn(-1)
		handle(ctx, r.serve(), interview.Submission{Session: v.SessionID, Event: interview.EventRetry})
		Expect(r.emitted("lost-call")).To(HaveLen(1))
		Expect(r.emitted("validator")).To(HaveLen(verdicts + 1))
	})

	It("is each commit, each move and each submission, in order", Label("I-16"), func(ctx context.Context) {
		s := r.serve()
		v := handle(ctx, s, p.begin())
		submissions := 1
		for !v.Finished {
			v = handle(ctx, s, p.next(v))
			submissions++
		}
		handle(ctx, s, interview.Submission{Session: v.SessionID, Event: interview.EventResume})

		for i, commit := range payloads[interview.Committed](r, "commit") {
			Expect(commit.Version).To(Equal(i + 1))
		}
		events := r.emitted("submission")
		Expect(events).To(HaveLen(submissions + 1))
		calls, answered, queued := 0, 0, 0
		for i, e := range events {
			Expect(e.N).To(Equal(i + 1))
		}
		ended := payloads[interview.Submitted](r, "submission")
		for _, s := range ended {
			Expect(s.Code).To(BeEmpty())
			Expect(s.Repeated).To(BeFalse())
			calls += s.Calls
			if s.Answered {
				answered++
			}
			if s.Queued {
				queued++
				Expect(s).To(And(HaveField("Calls", 0), HaveField("Kind", "question")))
			}
		}
		Expect(calls).To(Equal(24))
		Expect(answered).To(Equal(len(r.answers(v.SessionID))))
		Expect(queued).To(Equal(8*2+8), "of 8 batches of three and one of nine, the first comes with the call")
		Expect(ended[len(ended)-1]).To(And(HaveField("Step", "STEP_99_MATCHING"), HaveField("Phase", "finished"), HaveField("Question", -1)))

		var steps []string
		var ends int
		for _, e := range r.emitted("interview") {
			if moved, ok := event.Read[interview.Moved](&e); ok {
				steps = append(steps, moved.Step+" "+moved.Phase)
			}
			if e.Kind == event.End {
				ends++
			}
		}
		Expect(ends).To(Equal(1))
		Expect(steps[:8]).To(Equal([]string{
			"STEP_01_IDENTITY asking", "STEP_02_TONE asking", "STEP_03_PREAMBULE owing", "STEP_03_PREAMBULE waiting",
			"BLOC_01 owing", "BLOC_01 asking", "BLOC_01 owing", "BLOC_01 reflecting",
		}))
		Expect(steps[len(steps)-4:]).To(Equal([]string{"BLOC_10 owing", "BLOC_10 waiting", "STEP_99_MATCHING owing", "STEP_99_MATCHING finished"}))
	})

	It("report messages omitted from the history", Label("I-12"), func(ctx context.Context) {
		r.options.History.Messages = 4
		s := r.serve()
		v := p.walk(ctx, s, handle(ctx, s, p.begin()), nil)
		trimmed := 0
		for _, c := range r.ledger(v.SessionID) {
			if c.Trimmed > 0 {
				trimmed++
			}
		}
		Expect(trimmed).To(BeNumerically(">", 10))
		Expect(r.emitted("trimmed")).To(HaveLen(trimmed))
		Expect(r.emitted("history-over")).To(BeEmpty())
	})

	It("report a history that is too large even after trimming", Label("I-12"), func(ctx context.Context) {
		r.options.History.Tokens = 10
		s := r.serve()
		p.walk(ctx, s, handle(ctx, s, p.begin()), at(session.Block1, -1))
		Expect(r.emitted("history-over")).NotTo(BeEmpty())
	})
})

// queued returns the submissions that were shown a question from a queue.
func (r *rig) queued() (all []event.Event) {
	for _, e := range r.emitted("submission") {
		if s, _ := event.Read[interview.Submitted](&e); s.Queued {
			all = append(all, e)
		}
	}
	return all
}

// payloads returns the payloads of the events with a name.
func payloads[T event.Payload](r *rig, name string) (all []T) {
	GinkgoHelper()
	for _, e := range r.emitted(name) {
		payload, ok := event.Read[T](&e)
		Expect(ok).To(BeTrue(), "%s has other attributes: %v", name, e.Attrs)
		all = append(all, payload)
	}
	return all
}
