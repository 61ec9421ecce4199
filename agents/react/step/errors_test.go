package step_test

import (
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// wrong returns the place and rule of the error in an answer (line:column rule), and its message.
func wrong(answer string) (place, message string) {
	GinkgoHelper()
	_, err := step.Parse(answer)
	Expect(err).To(HaveOccurred())
	e, ok := errors.AsType[*step.Error](err)
	Expect(ok).To(BeTrue())
	return fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Rule), e.Message
}

var _ = Describe("What is refused", Label("R-01"), func() {
	DescribeTable("with its place, its rule and what to write instead",
		func(answer, place, message string) {
			at, got := wrong(answer)
			Expect(at).To(Equal(place))
			Expect(got).To(ContainSubstring(message))
		},
		Entry("an action without a thought", "step: 1\naction: search\n", "2:1 thought-required", `the action "search" has no thought`),
		Entry("an action with an empty thought", "thought: |\n\naction: search\n", "3:1 thought-required", "write thought:"),
		Entry("an action with a null thought", "thought: ~\naction: search\n", "2:1 thought-required", ""),
		Entry("an input alone", "action_input: {}\n", "1:1 thought-required", "the step has no thought"),
		Entry("a thought without an action", "thought: well\n", "1:1 action-required", "write action:"),
		Entry("a thought with an input", "thought: well\naction_input: {}\n", "2:1 action-required", "without an action"),
		Entry("a number alone", "step: 1\n", "1:1 action-required", "neither thought nor action"),
		Entry("no decision", "reflection: x\n", "1:1 decision-required", "one of continue, done"),
		Entry("no reflection", "observation: x\ndecision: continue\n", "2:1 reflection-required", "write reflection:"),
		Entry("a delegation to nobody", "reflection: x\ndecision: delegate\n", "2:1 agent-required", "agent_id"),
		Entry("an unknown decision", "reflection: x\ndecision: dnoe\n", "2:11 unknown-decision", `did you mean "done"?`),
		Entry("another unknown decision", "reflection: x\ndecision: \"go\"\n", "2:11 unknown-decision", "one of continue, done, escalate, done_partial, delegate, blocked"),
		Entry("an unknown trigger", "thought: x\naction: y\ntrigger: ambiguty\n", "3:10 unknown-trigger", `did you mean "ambiguity"?`),
		Entry("a number that is none", "step: one\nthought: x\naction: y\n", "1:7 bad-value", "a whole number"),
		Entry("a negative number", "step: -1\nthought: x\naction: y\n", "1:7 bad-value", ""),
		Entry("an unknown key", "thought: x\nactoin: y\n", "2:1 unknown-key", `did you mean "action"?`),
		Entry("an unknown key in front", "thougth: x\naction: y\n", "1:1 unknown-key", `did you mean "thought"?`),
		Entry("an unknown key like none", "thought: x\nmood: y\n", "2:1 unknown-key", "the keys are step, thought, action"),
		Entry("an unknown key behind a blank line in a fence", "```yaml\nthought: x\naction: y\n\nmood: z\n```\n", "5:1 unknown-key", ""),
		Entry("an unknown key right behind an input", "thought: x\naction: y\naction_input:\n  a: b\nmood: z\n", "5:1 unknown-key", ""),
		Entry("an unknown key behind a blank line, where one lacks", "thought: x\n\nactoin: y\n", "1:1 action-required", `ends at line 3, because "actoin: y" is neither indented nor a key; did you mean "action"?`),
		Entry("a key in another case", "thought: x\nAction: y\n", "2:1 unknown-key", `did you mean "action"?`),
		Entry("a key twice", "thought: x\nthought: y\naction: z\n", "2:1 duplicate-key", "first on line 1"),
		Entry("an observation in a step", "thought: x\naction: y\nobservation: z\n", "3:1 mixed-kinds", "wait for what the action comes to"),
		Entry("a step in a reflection", "reflection: x\ndecision: continue\nthought: y\n", "3:1 mixed-kinds", "put --- on a line of its own"),
		Entry("a verification in a reflection", "reflection: x\ndecision: done\nverification:\n  a: b\n", "3:1 mixed-kinds", "put ---"),
		Entry("a verification with a number", "step: 1\nverification:\n  a: b\n", "2:1 mixed-kinds", "a document of its own"),
		Entry("a decision in a verification", "verification:\n  a: b\ndecision: done\n", "3:1 mixed-kinds", "put --- before"),
		Entry("prose in a document in a fence", "```yaml\nthought: x\nand then\naction: y\n```\n", "3:1 not-a-key", "indent the lines of a text"),
		Entry("a text that is not indented", "thought: |\nI look.\naction: y\n", "1:1 thought-required", `ends at line 2, because "I look."`),
		Entry("a list", "thought: [a]\naction: y\n", "1:10 not-text", "thought: |"),
		Entry("a list below", "thought:\n  - a\naction: y\n", "2:3 not-text", "thought: |"),
		Entry("a mapping", "thought: {a: b}\naction: y\n", "1:10 not-text", ""),
		Entry("an alias", "thought: *a\naction: y\n", "1:10 not-text", ""),
		Entry("a tag", "thought: !!str a\naction: y\n", "1:10 not-text", ""),
		Entry("an at sign", "thought: @a\naction: y\n", "1:10 not-text", "quote it"),
		Entry("a back quote", "thought: `a` is\naction: y\n", "1:10 not-text", "quote it"),
		Entry("a colon", "thought: é: b\naction: y\n", "1:11 colon", "thought: |"),
		Entry("a colon at the end", "thought: so:\naction: y\n", "1:12 colon", ""),
		Entry("a colon in a further line", "thought: a\n  so: b\naction: y\n", "2:5 colon", ""),
		Entry("a text behind a comment", "thought: a # b\n  c\naction: y\n", "2:3 indentation", "ended by a comment"),
		Entry("a line between two indentations", "thought: |\n   a\n b\naction: y\n", "3:2 indentation", `"thought"`),
		Entry("a line behind a quoted text", "thought: \"a\"\n  b\naction: y\n", "2:3 indentation", ""),
		Entry("a tab as indentation", "thought: |\n\ta\naction: y\n", "2:1 tab", "with spaces"),
		Entry("a tab in the indentation", "thought: |\n  a\n \tb\naction: y\n", "3:2 tab", "with spaces"),
		Entry("a tab before a plain text", "thought:\n\ta\naction: y\n", "2:1 tab", "with spaces"),
		Entry("a tab before an input", "thought: x\naction: y\naction_input:\n\ta: b\n", "4:1 tab", "with spaces"),
		Entry("a tab within an input", "thought: x\naction: y\naction_input:\n  a: b\n\tc: d\n", "5:1 tab", "with spaces"),
		Entry("a header of a block text with a text", "thought: | so\n  a\naction: y\n", "1:11 block-header", "on the next line"),
		Entry("a header of a block text with two signs", "thought: |+-\n  a\naction: y\n", "1:12 block-header", ""),
		Entry("a header of an input with a text", "thought: x\naction: y\naction_input: >9a\n  a\n", "3:17 block-header", ""),
		Entry("a quote that is not closed", "thought: \"a\naction: y\n", "1:10 quote", "is not closed"),
		Entry("a single quote that is not closed", "thought: 'a\n  b", "1:10 quote", "is not closed"),
		Entry("a text behind a quote", "thought: \"a\" b\naction: y\n", "1:13 quote", "behind the closing quote"),
		Entry("a text with a colon behind a quote", "thought: \"a\" and b: c\naction: y\n", "1:13 quote", `found "and b: c" behind the closing quote`),
		Entry("an unknown escape", "thought: \"é\\d\"\naction: y\n", "1:12 escape", `write a backslash as \\`),
		Entry("half an escape", "thought: \"\\u00g0\"\naction: y\n", "1:11 escape", ""),
		Entry("half a surrogate pair", "thought: \"\\ud83d x\"\naction: y\n", "1:11 escape", ""),
		Entry("a bracket that is not closed", "thought: x\naction: y\naction_input: {a: [b}\n", "3:15 brackets", "not closed"),
		Entry("a bracket that a separator ends", "thought: x\naction: y\naction_input: {\n---\n", "3:15 brackets", "not closed"),
		Entry("a text behind a bracket", "thought: x\naction: y\naction_input: {a: b} c\n", "3:21 brackets", "behind the closing bracket"),
		Entry("nothing", "", "1:1 no-step", "the answer has no step"),
		Entry("prose", "All is done.\n", "1:1 no-step", "write thought: and action:"),
		Entry("a thought in the plain form that leads to nothing", "So:\n**Thought:** I look.\n", "2:1 action-required", "write action:"),
		Entry("a plain action without a thought", "Action: search\nAction Input: {}\n", "1:1 thought-required", `the action "search" has no thought`),
		Entry("a plain decision that is none", "**Reflection:** x\n**Decision:** dnoe\n", "2:15 unknown-decision", `did you mean "done"?`),
		Entry("a plain trigger that is none", "Thought: x\nTrigger: danger\n", "2:10 unknown-trigger", "security-risk"),
		Entry("an indented step", "  thought: a\n  action: b\n", "1:3 no-step", "at the beginning of the line"),
		Entry("a step in JSON without an action", "```json\n{\"thought\": \"a\"}\n```\n", "2:1 action-required", "write action:"),
		Entry("JSON without a thought", "{\n  \"action\": \"search\"}\n", "2:3 thought-required", `the action "search" has no thought`),
		Entry("JSON with an unknown key", "So:\n{\"thought\": \"a\",\n \"actoin\": \"b\"}\n", "3:2 unknown-key", `did you mean "action"?`),
		Entry("JSON with a key twice", "{\"thought\": \"a\", \"thought\": \"b\"}", "1:18 duplicate-key", "given twice"),
		Entry("JSON that is cut", "{\"thought\": \"a\",\n \"action\": \"se", "2:15 json", "ends too early"),
		Entry("JSON with a line break in a text", "{\"thought\": \"a\nb\"}", "1:15 json", "escape"),
		Entry("JSON with a text that is none", "{\"thought\": [\"é\"],\n\"action\": 1}", "1:13 not-text", "thought must be a string"),
		Entry("JSON with an unknown decision", "{\"reflection\": \"é\", \"decision\": \"dnoe\"}", "1:33 unknown-decision", `did you mean "done"?`),
		Entry("JSON that is too deep", "{\"thought\": \"a\", \"action_input\": "+strings.Repeat("[", 65)+strings.Repeat("]", 65)+"}", "1:34 too-deep", "64 levels"),
		Entry("JSON with a verification that is none", "{\"verification\": true}", "1:18 no-verification", "completeness"),
	)

	It("names the line that was to begin a step behind any number of lines that were not", func() {
		for _, prose := range []string{"Action\n", "My action: a\n", ": a\n"} {
			at, message := wrong(strings.Repeat(prose, 200) + "> Thought: I look.\n")
			Expect(at).To(Equal("201:3 no-step"), prose)
			Expect(message).To(ContainSubstring(`line 201 has "Thought"`))
		}
	})

	It("describes the place in words", func() {
		_, err := step.Parse("thought: x\nactoin: y\n")
		Expect(err).To(MatchError(`line 2, column 1: unknown key "actoin"; did you mean "action"?`))
	})

	It("limits the size, the number of documents and the nesting", func() {
		const maxBytes, maxDocuments, maxDepth = 4 << 20, 64, 64
		at, message := wrong(strings.Repeat(" ", maxBytes+1))
		Expect(at).To(Equal("1:1 too-large"))
		Expect(message).To(ContainSubstring("4194305 bytes; at most 4194304 are read"))

		at, _ = wrong(strings.Repeat(act+"---\n", maxDocuments+1))
		Expect(at).To(Equal(fmt.Sprintf("%d:1 too-many-documents", 3*maxDocuments+1)))
		found, err := step.Parse(strings.Repeat(act+"---\n", maxDocuments))
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(HaveLen(maxDocuments))

		at, _ = wrong(act + "action_input: " + strings.Repeat("[", maxDepth+1))
		Expect(at).To(Equal("3:79 too-deep"))
		Expect(only(act + "action_input: " + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)).Input).To(HaveLen(2 * maxDepth))

		at, _ = wrong(act + "action_input:\n" + stairs(maxDepth+1))
		Expect(at).To(Equal("68:66 too-deep"))
		Expect(only(act + "action_input:\n" + stairs(maxDepth)).Input).NotTo(BeEmpty())
	})

	It("does not let a message carry what moves a cursor", func() {
		_, message := wrong("thought: x\nmood\u202e\u00e9: y\x1b[2J\n")
		Expect(message).NotTo(ContainSubstring("\u202e"))
	})
})

// stairs are mappings in each other.
func stairs(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String()
}

var _ = Describe("Pos.In", func() {
	It("is the place in the answer of a place in a piece of it", func() {
		p := step.Pos{Line: 4, Column: 3}
		Expect(p.In(step.Pos{Line: 1, Column: 5})).To(Equal(step.Pos{Line: 4, Column: 7}))
		Expect(p.In(step.Pos{Line: 3, Column: 5})).To(Equal(step.Pos{Line: 6, Column: 7}))
	})
})
