package work_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/llm"
)

// busy returns an agent that makes tool calls by itself, one in a second, and writes no text
// until its answer.
func busy(calls int, answer llm.Reply) turn {
	return func(ctx context.Context, r *rig, req llm.Request) (llm.Reply, error) {
		for range calls {
			req.OnActivity("Bash")
			req.OnActivity("") // its result
			if err := r.clock.Sleep(ctx, time.Second); err != nil {
				return llm.Reply{}, err
			}
		}
		return answer, nil
	}
}

var _ = Describe("An agent that makes its own tool calls", Label("P-07"), func() {
	It("has each of its tool calls counted and taken for activity", func() {
		r := newLoop(loop.Options{}, busy(1500, llm.Reply{Text: "DONE"}))
		Expect(r.work().Grade).To(Equal(persist.Done))
		Expect(r.meter.calls).To(Equal(1501), "and the call of the agent itself")
		Expect(r.meter.active).To(BeNumerically(">=", 3000))
	})

	It("ends with the segment, and hands on what it said", func() {
		r := newLoop(loop.Options{}, func(ctx context.Context, r *rig, req llm.Request) (llm.Reply, error) {
			req.OnText("The parser is written.")
			return busy(50, llm.Reply{Text: "DONE"})(ctx, r, req)
		})
		r.meter.allowed = 10
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Split))
		Expect(r.meter.calls).To(Equal(10))
		Expect(out.Carry).To(Equal("The last answer was cut off. It ended so:\nThe parser is written."))
	})
})

var _ = Describe("An agent whose permissions refuse a tool call", func() {
	edit := llm.Denial{Tool: "Edit", Detail: "main.go"}

	DescribeTable("needs a person, and is not asked again and again",
		func(turns ...turn) {
			r := newLoop(loop.Options{}, turns...)
			out := r.work()
			Expect(out.Grade).To(Equal(persist.Escalated))
			Expect(out.Details).To(ContainSubstring("its permissions refused 1 tool call: Edit (main.go)"))
		},
		Entry("and that says done", reply(llm.Reply{Text: "All is edited.\nDONE", Denials: []llm.Denial{edit}})),
		Entry("and that says so once", reply(llm.Reply{Text: "I may not.", Denials: []llm.Denial{edit}}), say("DONE")),
	)

	It("needs one also where it makes no progress", func() {
		no := reply(llm.Reply{Text: "I may not."})
		r := newLoop(loop.Options{}, reply(llm.Reply{Text: "I may not.", Denials: []llm.Denial{edit}}), no, no)
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Escalated))
		Expect(out.Details).To(And(ContainSubstring("identical answers"), ContainSubstring("Edit (main.go)")))
	})
})

var _ = Describe("A loop whose answer uses the budget up", func() {
	It("is done if its answer reports it", func() {
		caps := llm.Caps{Tokens: 10}
		r := newLoop(loop.Options{}, say("It is built.\nDONE"))
		r.plan.Limits.Budget, r.deps.Budget = caps, llm.NewBudget(caps, nil, 0)
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Done))
		Expect(out.Prose).To(Equal("It is built."))
	})

	It("is capped if not, with its answer", func() {
		caps := llm.Caps{Tokens: 10}
		r := newLoop(loop.Options{}, say("The half of it is built."))
		r.plan.Limits.Budget, r.deps.Budget = caps, llm.NewBudget(caps, nil, 0)
		out := r.work()
		Expect(out.Capped).To(Equal("tokens"))
		Expect(out.Answer).To(Equal("The half of it is built."))
		Expect(out.Carry).To(ContainSubstring("The half of it is built."))
	})

	It("is not done if permissions refused a tool call", func() {
		caps := llm.Caps{Tokens: 10}
		r := newLoop(loop.Options{}, reply(llm.Reply{Text: "DONE", Usage: &llm.Usage{Output: 15}, Denials: []llm.Denial{{Tool: "Edit"}}}))
		r.plan.Limits.Budget, r.deps.Budget = caps, llm.NewBudget(caps, nil, 0)
		Expect(r.work().Grade).NotTo(Equal(persist.Done))
	})
})

var _ = It("reports that a loop over a backend without tools changes nothing", func() {
	r := newLoop(loop.Options{}, say("DONE"))
	Expect(r.work().Inert).To(BeFalse())
	r = newLoop(loop.Options{}, say("DONE"))
	r.deps.Inert = true
	Expect(r.work().Inert).To(BeTrue())
})
