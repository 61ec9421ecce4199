package loop_test

import (
	"context"
	"errors"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// memory is an agent that stores sessions: it gives its turns in order and remembers the sessions that
// it began.
type memory struct {
	*rig
	lost map[string]bool
	// closed is the number of calls that fail before the agent reports a session.
	closed int
}

func (m *memory) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	id := "new-" + string(rune('a'+len(m.requests)))
	if req.Session != nil {
		id = req.Session.ID
	}
	unopened := func(kind llm.ErrorKind) (llm.Reply, error) {
		m.requests = append(m.requests, req)
		m.turns = slices.Insert(slices.Clone(m.turns), len(m.requests)-1, nil) // no turn is used up
		return llm.Reply{}, &llm.Error{Kind: kind, Backend: "fake", Message: "no session " + id}
	}
	switch {
	case m.lost[id]:
		return unopened(llm.NoSession)
	case m.closed > 0:
		m.closed--
		return unopened(llm.Unavailable)
	}
	if req.OnSession != nil {
		req.OnSession(id)
	}
	reply, err := m.rig.Complete(ctx, req)
	if err == nil {
		reply.Session = &llm.Session{ID: id}
	}
	return reply, err
}

// sessions returns the ids of the sessions that the calls continued.
func (m *memory) sessions() []string {
	var ids []string
	for _, req := range m.requests {
		id := ""
		if req.Session != nil {
			id = req.Session.ID
		}
		ids = append(ids, id)
	}
	return ids
}

var _ = Describe("A session of a command-line agent", Label("L-01"), func() {
	const goOn, note = "Go on.", "Your last turn was cut off. Some of its work may be done already: check before you repeat it.\n\n"
	remember := func(o loop.Options, turns ...turn) *memory {
		o.ContinuePrompt = goOn
		m := &memory{rig: newRig(o, turns...), lost: map[string]bool{}}
		m.deps.Backend = m
		return m
	}
	failing := fail(llm.Unavailable, "reset")

	It("is continued with the next prompt alone", func() {
		m := remember(loop.Options{System: "Be brief."}, say("half"), say("most"), say("all\nDONE"))
		var begun []string
		m.deps.OnSession = func(id string) { begun = append(begun, id) }
		res := m.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(m.sessions()).To(Equal([]string{"", "new-a", "new-a"}))
		Expect(m.sent(1)).To(Equal([]string{"Be brief.", "Task"}))
		Expect(m.sent(3)).To(Equal([]string{"Be brief.", goOn}))
		Expect(begun).To(Equal([]string{"new-a"}), "once")
		first, last := res.Transcript[0], res.Transcript[2]
		Expect(first).To(And(HaveField("Session.ID", "new-a"), HaveField("Continued", false), HaveField("Prompt", "Task")))
		Expect(last).To(And(HaveField("Session.ID", "new-a"), HaveField("Continued", true), HaveField("Prompt", goOn)))
	})

	It("gets the steps of a refused completion without the task", func() {
		m := remember(loop.Options{StopGuard: "balanced"},
			say("The parser is written. I will write the tests later.\nDONE"), say("The tests are written and pass.\nDONE"))
		Expect(m.run().Status).To(Equal(loop.StatusDone))
		Expect(m.sent(2)).To(HaveLen(1))
		Expect(m.sent(2)[0]).To(And(ContainSubstring("The work is not finished yet"), Not(ContainSubstring("Task"))))
	})

	It("is a new one in each call with history fresh", func() {
		m := remember(loop.Options{History: loop.Fresh}, say("half"), say("all\nDONE"))
		res := m.run()
		Expect(m.sessions()).To(Equal([]string{"", ""}))
		Expect(m.sent(2)).To(Equal([]string{"Task"}))
		Expect(res.Transcript[1].Session.ID).To(Equal("new-b"))
	})

	It("that the agent does not have is replaced by a new one with the whole prompt, in the same iteration", func() {
		m := remember(loop.Options{}, say("half"), say("all\nDONE"))
		m.deps.OnIteration = func(loop.Entry) { m.lost["new-a"] = true }
		res := m.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(res.Iterations).To(Equal(2))
		Expect(m.sessions()).To(Equal([]string{"", "new-a", ""}))
		Expect(m.sent(3)).To(Equal([]string{"Task"}))
		Expect(res.Transcript[1]).To(And(HaveField("Session.ID", "new-c"), HaveField("Continued", false)))
		Expect(m.emitted(event.State)).To(ConsistOf(And(HaveField("Name", "session"), HaveField("Detail", ContainSubstring("no session new-a")))))
	})

	It("is continued after a failed call, and given up after two", func() {
		m := remember(loop.Options{ErrorLimit: new(0)}, failing, failing, say("all\nDONE"))
		res := m.run()
		Expect(res.Status).To(Equal(loop.StatusDone))
		Expect(m.sessions()).To(Equal([]string{"", "new-a", ""}))
		Expect(m.sent(2)).To(Equal([]string{note + "Task"}))
		Expect(res.Totals).To(HaveField("TokensUnknown", 3), "an agent that began a session may have been billed")
		Expect(m.sent(3)).To(Equal([]string{"Task"}))
		Expect(res.Transcript[0]).To(And(HaveField("Error", Not(BeEmpty())), HaveField("Session.ID", "new-a")))
	})

	It("does not repeat the note about failed calls", func() {
		m := remember(loop.Options{ErrorLimit: new(0)}, say("half"), failing, say("more"), failing, say("all\nDONE"))
		Expect(m.run().Status).To(Equal(loop.StatusDone))
		Expect(m.sent(3)).To(Equal([]string{note + goOn}))
		Expect(m.sent(4)).To(Equal([]string{goOn}))
		Expect(m.sent(5)).To(Equal([]string{note + goOn}))
	})

	It("keeps the total of a session when a call is interrupted", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		m := remember(loop.Options{}, answer(time.Second, llm.Reply{Text: "half"}), func(context.Context, clock.Clock) (llm.Reply, error) {
			cancel(errors.New("ctrl-c"))
			return llm.Reply{}, errors.New("ctrl-c")
		})
		res := m.runIn(ctx)
		Expect(res.Status).To(Equal(loop.StatusInterrupted))
		Expect(res.Transcript[1].Session.ID).To(Equal("new-a"))
	})

	Describe("of an earlier run", func() {
		hand := func(turns ...turn) *memory {
			m := remember(loop.Options{ErrorLimit: new(0)}, turns...)
			m.deps.Session, m.deps.Turn = &llm.Session{ID: "s-1"}, "It was refused."
			return m
		}

		It("is continued with the given turn, and returned", func() {
			m := hand(say("half"), say("all\nDONE"))
			res := m.run()
			Expect(m.sessions()).To(Equal([]string{"s-1", "s-1"}))
			Expect(m.sent(1)).To(Equal([]string{"It was refused."}))
			Expect(m.sent(2)).To(Equal([]string{goOn}))
			Expect(res.Transcript[0].Continued).To(BeTrue())
			Expect(res.Session).To(Equal(&llm.Session{ID: "s-1"}))
		})

		It("is replaced by a new one with the whole prompt if the agent does not have it", func() {
			m := hand(say("all\nDONE"))
			m.lost["s-1"] = true
			res := m.run()
			Expect(m.sessions()).To(Equal([]string{"s-1", ""}))
			Expect(m.sent(2)).To(Equal([]string{"Task"}))
			Expect(res.Session.ID).To(Equal("new-b"))
		})

		It("is given up if its first call fails, unless the backend is down", func() {
			m := hand(fail(llm.InvalidRequest, "the prompt is too long"), say("all\nDONE"))
			m.run()
			Expect(m.sessions()).To(Equal([]string{"s-1", ""}))
			m = hand(failing, fail(llm.RateLimited, "later"), say("all\nDONE"))
			m.run()
			Expect(m.sessions()).To(Equal([]string{"s-1", "s-1", ""}), "two failures in a row, as ever")
		})

		It("is continued after the backend was down before the agent opened it", func() {
			m := hand(say("half"), say("all\nDONE"))
			m.closed = 1
			m.run()
			Expect(m.sessions()).To(Equal([]string{"s-1", "s-1", "s-1"}))
		})

		It("is ignored with history fresh", func() {
			m := remember(loop.Options{History: loop.Fresh}, say("all\nDONE"))
			m.deps.Session, m.deps.Turn = &llm.Session{ID: "s-1"}, "It was refused."
			Expect(m.run().Session).To(BeNil())
			Expect(m.sessions()).To(Equal([]string{""}))
			Expect(m.sent(1)).To(Equal([]string{"Task"}))
		})
	})
})
