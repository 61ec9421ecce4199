package work_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

func newLoop(o loop.Options, turns ...turn) *rig { return newRig(plan.Worker{Loop: &o}, turns...) }

var _ = Describe("A runner loop", func() {
	It("does a task with its prompt, reserves each call with the meter, and tags its calls", func() {
		r := newLoop(loop.Options{System: "Be brief."}, say("working"), say("It is built.\nDONE"))
		r.meter.onCall = func(int) { Expect(r.requests).To(HaveLen(r.meter.calls), "told before the call") }
		out := r.work()
		Expect(out).To(Equal(persist.Outcome{
			Grade: persist.Done, Answer: "It is built.\nDONE", Prose: "It is built.", Details: "completed in iteration 2", Usage: &llm.Usage{Input: 20, Output: 10},
			Used: &persist.Used{Calls: 2, Tokens: 30, Currency: "USD", CostUnknown: "no prices are given"},
		}))
		Expect(r.meter.calls).To(Equal(2))
		Expect(r.meter.active).To(BeNumerically(">=", 2))
		Expect(r.requests[0].Messages[1].Content).To(Equal("Goal: ship.\n\nBuild it.\n\nWhen everything is finished, write DONE on a line of its own. " +
			"While work is left, do not write it, and say what is left. If you need a person, write a line that begins with BLOCKED: and say why."))
		Expect(r.requests[1].Purpose).To(Equal("loop"))
		Expect(r.requests[1].Tags).To(Equal(map[string]string{"task": "build", "attempt": "2", "segment": "3"}))
		Expect(r.kinds()).To(Equal([]event.Kind{event.Iteration}))
		Expect(r.events[0].Attrs).To(HaveKeyWithValue("task", "build"))
	})

	It("describes how to end in the form that the plan selects", func() {
		r := newLoop(loop.Options{Mode: loop.JSON}, say(`{"status": "done"}`))
		Expect(r.work().Grade).To(Equal(persist.Done))
		Expect(r.requests[0].Messages[0].Content).To(ContainSubstring(`{"status": "continue", "summary": "..."}`))
	})

	It("describes how to end, and what the last answer was, in the language of the plan", func() {
		r := newLoop(loop.Options{MaxIterations: new(1)}, say("La moitié est faite."))
		r.plan.Goal = "Un analyseur pour les prix, avec ses tests et sa documentation."
		Expect(r.work().Carry).To(Equal("La dernière réponse était :\nLa moitié est faite."))
		Expect(r.requests[0].Messages[0].Content).To(ContainSubstring("Quand tout est terminé, écris DONE"))
	})

	It("counts the tool calls that an answer asks for", func() {
		r := newLoop(loop.Options{}, reply(llm.Reply{Text: "x", ToolCalls: make([]llm.ToolCall, 3)}), say("DONE"))
		Expect(r.work().Grade).To(Equal(persist.Done))
		Expect(r.meter.calls).To(Equal(5))
	})

	It("ends with the segment, keeps the answer that is there, and goes on from it", func() {
		r := newLoop(loop.Options{ErrorLimit: new(0)}, say("half of it"), say("never asked for"))
		r.meter.allowed = 1
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Split))
		Expect(out.Carry).To(Equal("The last answer was:\nhalf of it"))
		Expect(r.requests).To(HaveLen(1), "the call that was not allowed was not made")
	})

	It("does not lose a done answer with more tool calls than are left", func() {
		r := newLoop(loop.Options{}, reply(llm.Reply{Text: "DONE", ToolCalls: make([]llm.ToolCall, 3)}))
		r.meter.allowed = 1
		Expect(r.work().Grade).To(Equal(persist.Done))
	})

	DescribeTable("reports errors that may pass", func(kind llm.ErrorKind, later bool) {
		Expect(newLoop(loop.Options{}, fail(&llm.Error{Kind: kind})).work().Later).To(Equal(later))
	},
		Entry("a backend that is away", llm.Unavailable, true),
		Entry("one that is asked too often", llm.RateLimited, true),
		Entry("one that does not answer", llm.Timeout, true),
		Entry("not one that talks nonsense", llm.Malformed, false),
	)

	DescribeTable("is graded by how it ended", func(o loop.Options, turns []turn, want persist.Grade, details string) {
		out := newLoop(o, turns...).work()
		Expect(out.Grade).To(Equal(want), "%+v", out)
		Expect(out.Details).To(ContainSubstring(details))
	},
		Entry("in need of a person", loop.Options{}, []turn{say("BLOCKED: no access")}, persist.Escalated, "no access"),
		Entry("too many iterations", loop.Options{MaxIterations: new(1)}, []turn{say("a")}, persist.Failed, "max_iterations"),
		Entry("no progress", loop.Options{}, []turn{say("a"), say("a"), say("a")}, persist.Failed, "identical"),
		Entry("its own timeout", loop.Options{Timeout: new(quantity.Duration(time.Second))}, []turn{say("a"), say("b")}, persist.Failed, "timeout 1s"),
		Entry("refused by the stop guard", loop.Options{StopGuard: "strict", ContinuationLimit: new(0)}, []turn{say("I will add the tests next.\nDONE")}, persist.Failed, "continuation_limit"),
		Entry("an error that may pass", loop.Options{}, []turn{fail(&llm.Error{Kind: llm.Unavailable})}, persist.Failed, "unavailable"),
		Entry("a wrong key", loop.Options{}, []turn{fail(&llm.Error{Kind: llm.Unauthorized})}, persist.Blocked, "unauthorized"),
		Entry("a wrong request", loop.Options{}, []turn{fail(&llm.Error{Kind: llm.InvalidRequest})}, persist.Blocked, "invalid-request"),
		Entry("a refusal", loop.Options{}, []turn{fail(&llm.Error{Kind: llm.Refused})}, persist.Blocked, "refused"),
		Entry("a script without a line", loop.Options{}, nil, persist.Blocked, "script-exhausted"),
		Entry("settings that are not valid", loop.Options{Marker: "\n"}, nil, persist.Blocked, "settings of the loop"),
	)

	DescribeTable("names the cap of the run that tripped, and none of its own", func(own, run llm.Caps, want string) {
		r := newLoop(loop.Options{Budget: &own, NoProgressLimit: new(0)}, say("a"), say("b"), say("c"), say("DONE"))
		r.plan.Limits.Budget = run
		r.deps.Budget = llm.NewBudget(run, nil, 0)
		out := r.work()
		Expect(out.Capped).To(Equal(want))
		if want == "none" {
			Expect(out.Grade).To(Equal(persist.Done))
			return
		}
		Expect(out.Grade).To(Equal(persist.Failed))
	},
		Entry("the run's calls", llm.Caps{}, llm.Caps{Calls: 2}, "calls"),
		Entry("the run's tokens", llm.Caps{Calls: 9}, llm.Caps{Tokens: 20}, "tokens"),
		Entry("its own calls", llm.Caps{Calls: 2}, llm.Caps{Calls: 3}, ""),
		Entry("both at once", llm.Caps{Calls: 2}, llm.Caps{Calls: 2}, "calls"),
	)

	It("does not report its usage if that of a call is unknown", func() {
		r := newLoop(loop.Options{}, say("a"), reply(llm.Reply{Text: "DONE"}))
		Expect(r.work().Usage).To(BeNil())
		r = newLoop(loop.Options{ErrorLimit: new(0)}, fail(&llm.Error{Kind: llm.Unavailable}), say("DONE"))
		Expect(r.work().Usage).To(Equal(&llm.Usage{Input: 10, Output: 5}), "a call that failed before it began is not billed")
		r = newLoop(loop.Options{ErrorLimit: new(0)}, fail(&llm.Error{Kind: llm.Truncated, Partial: "a"}), say("DONE"))
		Expect(r.work().Usage).To(BeNil())
		r = newLoop(loop.Options{ErrorLimit: new(0)}, fail(&llm.Error{Kind: llm.Truncated, Usage: &llm.Usage{Input: 1}}), say("DONE"))
		Expect(r.work().Usage).To(Equal(&llm.Usage{Input: 11, Output: 5}))
	})

	It("hands the end of a long answer on", func() {
		r := newLoop(loop.Options{MaxIterations: new(1)}, say(strings.Repeat("é", 10_000)+"the end"))
		carry := r.work().Carry
		Expect(carry).To(HaveSuffix("éthe end"))
		Expect(len([]rune(carry))).To(BeNumerically("<", 4100))
	})

	It("does not know what a call cost that ended after the agent had begun", func() {
		for begins, unknown := range map[bool]string{true: "the backend reported no usage", false: ""} {
			r := newLoop(loop.Options{}, func(_ context.Context, _ *rig, req llm.Request) (llm.Reply, error) {
				if begins {
					req.OnSession("s-1")
				}
				return llm.Reply{}, errTest
			})
			Expect(r.work().Used).To(HaveField("TokensUnknown", unknown))
		}
	})

	It("is the default worker of a plan", func() {
		r := newRig(plan.Worker{Command: []string{"true"}}, say("DONE"))
		workers, err := work.Build(r.plan, r.deps)
		Expect(err).NotTo(HaveOccurred())
		Expect(workers["default"].Work(GinkgoT().Context(), r.assignment()).Grade).To(Equal(persist.Done))
	})

	It("is not built without a backend, nor a worker that is nothing", func() {
		_, err := work.Build(plan.Plan{}, work.Deps{})
		Expect(err).To(MatchError("worker default: no backend is given"))
		r := newRig(plan.Worker{})
		_, err = work.Build(r.plan, r.deps)
		Expect(err).To(MatchError(ContainSubstring("worker w: the worker needs one of loop, react, command")))
	})

	It("continues the session of the attempt before, if it is one of the same agent", func() {
		for agent, want := range map[string]string{"claude": "s-1", "codex": ""} {
			var sent []string
			r := newLoop(loop.Options{}, func(_ context.Context, _ *rig, req llm.Request) (llm.Reply, error) {
				session := cmp.Or(req.Session, &llm.Session{})
				sent = append(sent, session.ID, req.Messages[0].Content)
				req.OnSession("s-2")
				return llm.Reply{Text: "All is built.\nDONE", Session: &llm.Session{ID: "s-2"}}, nil
			})
			r.deps.BackendID, r.deps.Conversational = "claude", false
			var began []persist.Session
			out := r.workOn(func(a *persist.Assignment) {
				a.Session, a.Turn = &persist.Session{Agent: agent, Session: llm.Session{ID: "s-1"}}, "It was refused."
				a.Began = func(s persist.Session) { began = append(began, s) }
			})
			Expect(sent[0]).To(Equal(want))
			if want == "" {
				Expect(sent[1]).To(HavePrefix("Goal: ship."))
			} else {
				Expect(sent[1]).To(HavePrefix("It was refused."))
			}
			Expect(began).To(Equal([]persist.Session{{Agent: "claude", Session: llm.Session{ID: "s-2"}}}))
			Expect(out.Session).To(Equal(&persist.Session{Agent: "claude", Session: llm.Session{ID: "s-2"}}))
		}
	})
})

var errTest = errors.New("for a test")
