package step_test

import (
	"encoding/json"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// parse returns the documents of an answer.
func parse(answer string) []step.Document {
	GinkgoHelper()
	found, err := step.Parse(answer)
	Expect(err).NotTo(HaveOccurred())
	return found
}

// kindsOf returns the kinds of documents, in order.
func kindsOf(found []step.Document) string {
	var all []string
	for _, d := range found {
		all = append(all, string(d.Kind))
	}
	return strings.Join(all, " ")
}

var _ = Describe("A step in JSON", Label("R-01"), func() {
	It("is read with its positions, alone or in a fence, among prose", func() {
		const object = "{\n  \"thought\": \"I look: é first.\",\n  \"action\": \"search\",\n  \"action_input\": {\"query\": \"eval\"}\n}"
		for _, around := range []string{"%", "So I do this:\n%\nand then I wait.\n", "```json\n%\n```\n", "~~~\n%\n~~~", "```yaml\n%\n```\nDone."} {
			found := parse(strings.ReplaceAll(around, "%", object))
			Expect(kindsOf(found)).To(Equal("act"), around)
			d := found[0]
			Expect(d.Thought).To(Equal("I look: é first."))
			Expect(d.Action).To(Equal("search"))
			Expect(d.Input).To(Equal(`{"query":"eval"}`))
			Expect(d.InputPos).To(Equal(step.Pos{Line: d.Line + 3, Column: 19}), around)
		}
	})

	It("may hold the reflection, the next step, the verification and the output", func() {
		found := parse(`{"reflection": "12 is bad", "thought": "I read on", "action": "analyze", "action_input": "target: a.go"}`)
		Expect(kindsOf(found)).To(Equal("reflect act"))
		Expect(found[0].Decision).To(Equal(step.Continue))
		Expect(found[1].Input).To(Equal("target: a.go"))

		found = parse(`{"reflection": "12 is bad", "decision": "done_partial", "reason": "time", "missing": ["a", "b"],
			"output": {"findings": [12]}, "verification": {"completeness": {"check": ["code"]}}}`)
		Expect(kindsOf(found)).To(Equal("reflect verify output"))
		Expect(found[0].Missing).To(Equal("- a\n- b"))
		claims, err := step.ReadVerification(found[1].Text)
		Expect(err).NotTo(HaveOccurred())
		Expect(claims).To(HaveLen(1))
		Expect(found[2].Text).To(Equal("{\n  \"findings\": [\n    12\n  ]\n}"))
	})

	It("may be followed by the output, or by another document", func() {
		Expect(kindsOf(parse("{\"verification\": {\"completeness\": [\"a\"]}}\n---\nAll is well.\n"))).To(Equal("verify output"))
		Expect(kindsOf(parse("{\"reflection\": \"x\", \"decision\": \"continue\"}\n---\n" + act))).To(Equal("reflect act"))
	})

	It("is not any other JSON", func() {
		Expect(kindsOf(parse("{\"status\": \"ok\", \"thought\": 1}\n" + act))).To(Equal("act"))
	})

	It("passes every input to the action as it is", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\n\t\r\"\\/ \u0085\u2028\uFEFF\x7f😀:#")))).Draw(t, "text")
			encoded, err := json.Marshal(map[string]any{"thought": "x", "action": "y", "action_input": map[string]any{"query": text, "n": 12345678901234567}})
			if err != nil {
				t.Fatal(err)
			}
			for _, answer := range []string{string(encoded), strings.ReplaceAll(string(encoded), "/", `\/`)} {
				found, err := step.Parse(answer)
				if err != nil || len(found) != 1 {
					t.Fatalf("%q: %v", answer, err)
				}
				var in struct {
					Query string `yaml:"query"`
					N     int    `yaml:"n"`
				}
				if err := action.Decode(found[0].Input, &in); err != nil {
					t.Fatalf("%q: %v", found[0].Input, err)
				}
				if want := strings.ToValidUTF8(text, "\uFFFD"); in.Query != want || in.N != 12345678901234567 {
					t.Fatalf("got %q, want %q", in.Query, want)
				}
			}
		})
	})
})

var _ = Describe("A step in the plain form", Label("R-01"), func() {
	DescribeTable("is read",
		func(answer, action, input string, column int) {
			found := parse(answer)
			Expect(kindsOf(found)).To(HaveSuffix("act"))
			d := found[len(found)-1]
			Expect(d.Thought).To(Equal("I look: is it there?\nThen I read it."))
			Expect(d.Action).To(Equal(action))
			Expect(d.Input).To(Equal(input))
			Expect(d.InputPos.Column).To(Equal(column))
		},
		Entry("as LangChain writes it", "Thought: I look: is it there?\nThen I read it.\nAction: search\nAction Input: {\"query\": \"eval\"}\n", "search", `{"query":"eval"}`, 15),
		Entry("in bold", "Well.\n\n**thought:** I look: is it there?\nThen I read it.\n\n**Action**: `search`\n**Action Input:**\n```json\n{\"query\": \"eval\"}\n```\n", "search", `{"query":"eval"}`, 1),
		Entry("with prose behind", "THOUGHT: I look: is it there?\nThen I read it.\nACTION: search\naction input: {\"query\":\n \"eval\"}\n\nNow I wait.\n", "search", `{"query":"eval"}`, 15),
		Entry("with headings", "### Thought:\nI look: is it there?\nThen I read it.\n### Action: search\n### Action Input: query: eval\n", "search", "query: eval", 19),
		Entry("after a reflection", "Reflection: 12 calls eval: bad.\nDecision: Continue\nReason: open\nThought: I look: is it there?\nThen I read it.\nAction: search\nAction Input: {}\n", "search", `{}`, 15),
	)

	It("ends before the observation that the model invents", func() {
		found := parse("Thought: I look.\nAction: search\nAction Input: {}\nObservation: two hits\nThought: I know.\n")
		Expect(kindsOf(found)).To(Equal("act reflect"))
		Expect(found[1].Pos).To(Equal(step.Pos{Line: 4, Column: 1}))
	})

	It("is prose if it is incomplete and another document follows", func() {
		Expect(kindsOf(parse("Thought: I look around first.\n\n" + act))).To(Equal("act"))
	})
})

var _ = Describe("A tool call", Label("R-01", "R-03"), func() {
	It("is a reflection and a step, with the inputs of the action", func() {
		found, err := step.Call{Tool: "search", Action: "search", Arguments: `{"thought": "I look", "reflection": "12 is bad", "query": "eval", "scope": "a/b"}`}.Documents()
		Expect(err).NotTo(HaveOccurred())
		Expect(kindsOf(found)).To(Equal("reflect act"))
		Expect(found[0].Decision).To(Equal(step.Continue))
		Expect(found[1].Thought).To(Equal("I look"))
		Expect(found[1].Input).To(Equal(`{"query":"eval","scope":"a/b"}`))
		Expect(found[1].Call).To(Equal("search"))
	})

	It("has the inputs in an argument of their own if a name is taken", func() {
		found, err := step.Call{Tool: "note", Action: "note", Nested: true, Arguments: `{"thought": "I note", "input": {"thought": "hm"}}`}.Documents()
		Expect(err).NotTo(HaveOccurred())
		Expect(found[0].Thought).To(Equal("I note"))
		Expect(found[0].Input).To(Equal(`{"thought":"hm"}`))
	})

	It("decides, with the verification and the output", func() {
		found, err := step.Call{Tool: "done", Decision: step.Done, Arguments: `{"reflection": "all was read", "reason": "complete",
			"verification": {"completeness": {"check": ["code"], "passed": true}}, "output": "Fine."}`}.Documents()
		Expect(err).NotTo(HaveOccurred())
		Expect(kindsOf(found)).To(Equal("reflect verify output"))
		Expect(found[0].Decision).To(Equal(step.Done))
		Expect(found[2].Text).To(Equal("Fine."))
		_, err = step.ReadVerification(`verification: {"compleetness": 1}`)
		inner, _ := errors.AsType[*step.Error](err)
		Expect(found[1].Locate(inner.Pos)).To(Equal(found[1].Pos), "the text was made from JSON")
		Expect(found[1].Line).To(Equal(2))
	})

	DescribeTable("is refused with its name, the place in its arguments and the rule",
		func(call step.Call, message, rule string) {
			_, err := call.Documents()
			Expect(err).To(MatchError(HavePrefix(message)))
			e, _ := errors.AsType[*step.Error](err)
			Expect(e.Rule).To(Equal(rule))
		},
		Entry("no thought", step.Call{Tool: "search", Action: "search", Arguments: `{"query": "x"}`}, `call search: the action "search" has no thought`, "thought-required"),
		Entry("no arguments", step.Call{Tool: "search", Action: "search"}, "call search: ", "thought-required"),
		Entry("an empty thought", step.Call{Tool: "search", Action: "search", Arguments: `{"thought": " "}`}, "call search: ", "thought-required"),
		Entry("broken JSON", step.Call{Tool: "search", Action: "search", Arguments: "{\"thought\": \"a\",\n \"query\": "}, "call search, line 2, column 10: the JSON ends too early", "json"),
		Entry("no object", step.Call{Tool: "search", Action: "search", Arguments: `"x"`}, "call search, line 1, column 1: the arguments must be", "json"),
		Entry("text behind", step.Call{Tool: "search", Action: "search", Arguments: `{"thought": "x"} y`}, "call search, line 1, column 17: found", "json"),
		Entry("an argument beside the nested input", step.Call{Tool: "n", Action: "n", Nested: true, Arguments: `{"thought": "x", "y": 1}`}, "call n, line 1, column 18: unknown argument", "unknown-key"),
		Entry("a done without a reflection", step.Call{Tool: "done", Decision: step.Done, Arguments: `{"output": "x"}`}, "call done: the decision has no reflection", "reflection-required"),
		Entry("a hand-over to nobody", step.Call{Tool: "hand_over", Decision: step.Delegate, Arguments: `{"reason": "x"}`}, "call hand_over: the decision is delegate", "agent-required"),
		Entry("an unknown trigger", step.Call{Tool: "escalate", Decision: step.Escalate, Arguments: `{"trigger": "danger"}`}, "call escalate, line 1, column 13: unknown trigger", "unknown-trigger"),
	)
})
