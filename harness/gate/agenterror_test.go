package gate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("The error of a trial", Label("H-04"), func() {
	It("distinguishes an agent that cannot be run from a failure of the harness", func() {
		f := facts(func(f *measure.Facts) { f.Run.Error, f.Run.AgentError = "no such program", true })
		Expect(judge(expect.Expect{Status: "done"}, f)).To(HaveExactElements(
			gate.Finding{Severity: gate.Broken, Rule: "agent", Message: "the agent could not be run", At: "drive", Evidence: "no such program"}))
	})

	It("does not call an agent that got a message one that could not be run", func() {
		f := facts(func(f *measure.Facts) {
			f.Run.Error, f.Run.AgentError, f.Turns = "its answer has nothing at $.reply", true, []measure.TurnFacts{{N: 1, Error: "nothing"}}
		})
		Expect(judge(expect.Expect{}, f)).To(HaveExactElements(HaveField("Message", "the agent could not be judged")))
	})

	It("shows the requests that the backend refused with the error of an agent", func() {
		f := facts(func(f *measure.Facts) {
			f.Run.Error, f.Run.AgentError = "it ended early", true
			f.Script.Unexpected, f.Script.Invalid = []string{"no /v1/chatt"}, []string{"no model"}
			f.Script.Strays = f.Script.Unexpected
			f.Script.Warnings, f.Script.Unused = []string{"no /v1"}, []string{"replies[0]: 1 of 1 left"}
		})
		found := judge(expect.Expect{Status: "done"}, f)
		Expect(found).To(HaveExactElements(
			And(HaveField("Rule", "unexpected-call"), HaveField("Message", ContainSubstring("base URL"))),
			HaveField("Rule", "invalid-request"), HaveField("Rule", "agent"), HaveField("Rule", "advice")))
		Expect(gate.VerdictOf(found)).To(Equal(gate.Error))
		Expect(judge(expect.Expect{Allow: []string{"unexpected-call", "invalid-request"}}, f)[0].Rule).To(Equal("agent"))
		f.Run.AgentError = false
		Expect(judge(expect.Expect{}, f)).To(HaveExactElements(HaveField("Rule", "harness")))
	})
})
