package react_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// answering returns a function that answers questions in order.
func answering(questions *[]string, answers ...string) func(context.Context, string) (string, bool) {
	return func(_ context.Context, question string) (string, bool) {
		*questions = append(*questions, question)
		if len(answers) == 0 {
			return "", false
		}
		answer := answers[0]
		answers = answers[1:]
		return answer, true
	}
}

var _ = Describe("An answer of a person", Label("R-07"), func() {
	It("continues an agent that escalates, is blocked or is stuck", func() {
		var questions []string
		r := newRig(deciding("escalate"), deciding("blocked"), searching, goingOn, searching, goingOn, searching, goingOn, searching, ended)
		r.options.MaxIterations = 3
		r.deps.Answer = answering(&questions, "go on", "try again", "look elsewhere")
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(questions).To(Equal([]string{
			"because of line 12", "because of line 12", "stopped after 3 times the same action with the same observation (stuck 3)",
		}))
		Expect(r.asked(2)).To(Equal("A person answered:\n| go on\n\nWrite the next step: thought, action and action_input. End the answer there."))
		Expect(res.Transcript[0].Answer).To(Equal("go on"))
		Expect(r.emitted(event.HandOver)).To(HaveLen(3))
		Expect(r.emitted(event.Guard)).To(ConsistOf(HaveField("Name", "stuck")))
	})

	It("gives the iterations anew", func() {
		var questions []string
		r := newRig(searching, goingOn, searching, goingOn, searching, goingOn, searching, ended)
		r.options.MaxIterations, r.options.Stuck = 2, -1
		r.deps.Answer = answering(&questions, "take two more")
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(res.Iterations).To(Equal(4))
		Expect(questions).To(HaveLen(1))
	})

	It("is the result of the call that escalated", func() {
		var questions []string
		r := newToolRig(calling("escalate", args{"reason": "Which branch?"}), calling("blocked", args{"reason": "x"}))
		r.deps.Answer = answering(&questions, "main")
		Expect(r.run().Status).To(Equal(react.StatusBlocked))
		Expect(questions).To(Equal([]string{"Which branch?", "x"}))
		Expect(r.requests[1].Messages[3].Role).To(Equal(llm.ToolRole))
		Expect(r.requests[1].Messages[3].Content).To(HavePrefix("A person answered:\n| main"))
	})
})
