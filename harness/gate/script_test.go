package gate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("A mismatch with the script", Label("H-04"), func() {
	script := func(s measure.ScriptFacts) measure.Facts { return facts(func(f *measure.Facts) { f.Script = s }) }

	DescribeTable("names the reply that was not requested as often as planned",
		func(entry, message, evidence, at string) {
			found := judge(expect.Expect{}, script(measure.ScriptFacts{Unused: []string{entry}}))
			Expect(found).To(HaveExactElements(gate.Finding{
				Severity: gate.Failing, Rule: "unused-line", Message: message, Evidence: evidence, At: at,
			}))
		},
		Entry("the only delivery", "replies[1]: 1 of 1 left", "the scripted reply replies[1] was never requested", "", "backend.replies[1]"),
		Entry("a rule", "rules[0]: never used", "the scripted reply rules[0] was never requested", "", "backend.rules[0]"),
		Entry("one of several", "replies[0]: 2 of 3 left", "the scripted reply replies[0] was requested 1 of 3 times", "", "backend.replies[0]"),
		Entry("a fault without another attempt",
			"replies[0]: 1 of 1 left; its fault was injected, but the agent did not try again",
			"the scripted reply replies[0] was never delivered", "its fault was injected, but the agent did not try again", "backend.replies[0]"),
		Entry("a client that left early", "rules[0]: never used; it was requested, but the client left before it had the whole answer",
			"the scripted reply rules[0] was never delivered", "it was requested, but the client left before it had the whole answer", "backend.rules[0]"),
		Entry("another form", "something else", "a scripted reply was never requested", "something else", ""),
	)

	DescribeTable("is at the reply nearest to an unexpected call",
		func(entry, at string) {
			found := judge(expect.Expect{}, script(measure.ScriptFacts{Unexpected: []string{entry}}))
			Expect(found).To(HaveExactElements(And(HaveField("At", at), HaveField("Evidence", entry))))
		},
		Entry("the one that is next",
			`call 1: this call (turn 0, user "Hi") is not the one that replies[2] expects: when.user.contains: expected "a", got "b"`, "backend.replies[2]"),
		Entry("the last one", `call 2: the script has no line left for this call (turn 1, user "x"): all replies up to replies[11] are used`, "backend.replies[11]"),
		Entry("the closest rule", `call 2: no rule answers this call (turn 1, user "x"); the closest is rules[3]: in: expected "a", got "b"`, "backend.rules[3]"),
		Entry("not one that the agent quotes",
			`call 2: no rule answers this call (turn 1, user "say \"the closest is rules[9]\""…); the closest is rules[0]: turn: expected 1, got 2`, "backend.rules[0]"),
		Entry("none", "call 1: the path /x is unknown", ""),
	)

	It("only notes a reply that a perturbed run did not request, also with expectations", func() {
		found := perturbed(record.Scenario{Expect: expect.Expect{Status: "done"}}, func(f *measure.Facts) {
			f.Script.Unused = []string{"replies[0]: 1 of 1 left"}
		})
		Expect(found).To(HaveExactElements(
			HaveField("Rule", "status"), And(HaveField("Rule", "unused-line"), HaveField("Severity", gate.Info))))
	})

	It("only notes a fault of the script that a perturbed run did not reach", func() {
		unfired := func(f *measure.Facts) {
			f.Script.Unfired = []string{"replies[0]: status (fired 0 of 1)", "call=2:timeout: no such call was made"}
		}
		Expect(perturbed(record.Scenario{}, unfired)).To(HaveExactElements(
			And(HaveField("Severity", gate.Broken), HaveField("Evidence", HavePrefix("call=2:timeout"))),
			gate.Finding{
				Severity: gate.Info, Rule: "unfired-fault", Message: "a fault of the script did not fire in this perturbed run",
				At: "backend.replies[0]", Evidence: "replies[0]: status (fired 0 of 1)",
			}))
		Expect(judge(expect.Expect{}, facts(unfired))).To(HaveEach(HaveField("Severity", gate.Broken)))
	})

	It("names who would have refused an invalid request", func() {
		found := judge(expect.Expect{}, script(measure.ScriptFacts{Invalid: []string{"call 1: MCP call 1", "f does not match"}, InvalidTools: []string{"f does not match"}}))
		Expect(found).To(HaveExactElements(
			HaveField("Message", "a provider would have refused this request"),
			HaveField("Message", "an MCP server would have refused this message")))
	})

	It("passes on advice, with the line that calls a tool that was not offered", func() {
		const unoffered = `replies[1]: the request does not offer the tool "x" that this line calls; it offers no tools`
		found := judge(expect.Expect{}, script(measure.ScriptFacts{Warnings: []string{"no /v1", unoffered}, UnofferedTools: []string{unoffered}}))
		Expect(found).To(HaveExactElements(
			gate.Finding{Severity: gate.Info, Rule: gate.AdviceRule, Message: "no /v1"},
			gate.Finding{Severity: gate.Info, Rule: gate.AdviceRule, Message: unoffered, At: "backend.replies[1]"}))
		Expect(gate.VerdictOf(found)).To(Equal(gate.Pass))
	})

	It("only notes what was not requested after an unexpected call, unless that call is allowed", func() {
		both := script(measure.ScriptFacts{Unused: []string{"replies[0]: 1 of 1 left"}, Unexpected: []string{"call 1: x"}})
		Expect(judge(expect.Expect{}, both)).To(HaveExactElements(
			And(HaveField("Rule", "unexpected-call"), HaveField("Severity", gate.Failing)),
			And(HaveField("Rule", "unused-line"), HaveField("Severity", gate.Info))))
		Expect(judge(expect.Expect{Allow: []string{"unexpected-call"}}, both)).To(ContainElement(
			And(HaveField("Rule", "unused-line"), HaveField("Severity", gate.Failing))))
	})
})

var _ = DescribeTable("The line of a key",
	func(key string, line int) {
		where := map[string]int{"name": 1, "backend.replies": 7, "backend.replies[1]": 9, "expect.calls_by": 12}
		Expect(gate.LineOf(where, key)).To(Equal(line))
	},
	Entry("itself", "backend.replies[1]", 9),
	Entry("that of the list for an element beyond the recorded ones", "backend.replies[300]", 7),
	Entry("that of the mapping for a member", `expect.calls_by["a.b"]`, 12),
	Entry("none", "expect.status", 0),
	Entry("an empty key", "", 0),
)
