package step_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

const (
	act     = "thought: I look at the routes first.\naction: search\n"
	reflect = "reflection: Line 4 opens the file.\ndecision: continue\n"
	end     = "reflection: Line 4 opens the file.\ndecision: done\n"
	chain   = "verification:\n  completeness: ✓ all of it\n"
)

// kinds are the kinds of the documents of an answer, with the lines on which they begin.
func kinds(answer string) []any {
	GinkgoHelper()
	found, err := step.Parse(answer)
	Expect(err).NotTo(HaveOccurred())
	all := []any{}
	for _, d := range found {
		all = append(all, d.Kind, d.Line)
	}
	return all
}

// only is the document of an answer that has one.
func only(answer string) step.Document {
	GinkgoHelper()
	found, err := step.Parse(answer)
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(HaveLen(1))
	return found[0]
}

var _ = Describe("Parse", Label("R-01"), func() {
	It("reads every field of a step", func() {
		Expect(only("step: 3\nthought: |\n  Look first.\n  Then act.\naction: search\naction_input:\n  query: x\ntrigger: security-risk\n")).To(Equal(step.Document{
			Kind: step.Act, Pos: step.Pos{Line: 1, Column: 1},
			Step: 3, Thought: "Look first.\nThen act.", Action: "search",
			Input: "query: x", InputPos: step.Pos{Line: 7, Column: 3}, Trigger: "security-risk",
		}))
	})

	It("reads every field of a reflection", func() {
		Expect(only("observation: |\n  two hits\nreflection: Both are in a.go.\ndecision: delegate\nreason: 'not mine'\n" +
			"trigger: ambiguity\nagent_id: triage\ntask: look at a.go\nmissing: the tests\n")).To(Equal(step.Document{
			Kind: step.Reflect, Pos: step.Pos{Line: 1, Column: 1},
			Observation: "two hits", Reflection: "Both are in a.go.", Decision: step.Delegate, Reason: "not mine",
			Trigger: "ambiguity", AgentID: "triage", Task: "look at a.go", Missing: "the tests",
		}))
	})

	It("reads a whole run in one fence, with comments between the documents", func() {
		found, err := step.Parse("```yaml\n# Iteration 1\nstep: 1\n" + act + "---\n" + reflect + "---\n# Iteration 2\n" + act + "...\n---\n" + end +
			"---\n# Verification\n" + chain + "  correctness: ✓\n---\n# Report\nAll is well.\n```\n")
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(HaveLen(6))
		Expect(found[4].Kind).To(Equal(step.Verify))
		Expect(found[4].Text).To(Equal("verification:\n  completeness: ✓ all of it\n  correctness: ✓"))
		Expect(found[4].Pos).To(Equal(step.Pos{Line: 19, Column: 1}))
		Expect(found[5].Kind).To(Equal(step.Output))
		Expect(found[5].Text).To(Equal("# Report\nAll is well."))
		Expect(found[5].Pos).To(Equal(step.Pos{Line: 23, Column: 1}))
	})

	DescribeTable("distinguishes documents from the prose around them",
		func(answer string, want ...any) { Expect(kinds(answer)).To(Equal(append([]any{}, want...))) },
		Entry("bare", act, step.Act, 1),
		Entry("prose before", "I begin.\n\n"+act, step.Act, 3),
		Entry("prose right before", "Here is my step:\n"+act, step.Act, 2),
		Entry("a word with a colon before a blank line", "Note: short.\n\n"+act, step.Act, 3),
		Entry("a Markdown heading before", "## Step\n"+act, step.Act, 2),
		Entry("prose right behind", act+"I wait for it.\n", step.Act, 1),
		Entry("a word with a colon behind a blank line", act+"\nNote: I wait for it.\n", step.Act, 1),
		Entry("prose between", act+"---\nand then\n\n"+reflect, step.Act, 1, step.Reflect, 6),
		Entry("between --- without prose", "---\n---\n"+act+"---\n---\n", step.Act, 3),
		Entry("a separator with a comment", act+"--- # next\n"+reflect, step.Act, 1, step.Reflect, 4),
		Entry("a reason before the reflection", "reason: it is clear\n"+reflect, step.Reflect, 1),
		Entry("a reason before the reflection, with a blank line", "reason: it is clear\n\n"+reflect, step.Reflect, 1),
		Entry("a reason in prose", "reason: it is clear\n\nNote: well.\n\n"+reflect, step.Reflect, 5),
		Entry("a fence", "Now:\n```yaml\n"+act+"```\nThat is it.\n", step.Act, 3),
		Entry("a fence without a tag", "```\n\n# one\n"+act+"```\n", step.Act, 4),
		Entry("a fence of tildes with any tag", "~~~step\n"+act+"~~~\n", step.Act, 2),
		Entry("a long fence", "`````yml\n"+act+"`````\n", step.Act, 2),
		Entry("a fence that is not closed", "```yaml\n"+act, step.Act, 2),
		Entry("prose in a yaml fence", "```yaml\nNow I look:\n\n"+act+"```\n", step.Act, 4),
		Entry("two fences", "```yaml\n"+act+"```\nthen\n```yaml\n"+reflect+"```\n", step.Act, 2, step.Reflect, 7),
		Entry("an indented fence", "1. Now:\n   ```yaml\n   thought: a\n   action: b\n   ```\n", step.Act, 3),
		Entry("a fence of code before", "```go\nfunc f() {\naction: nothing\n}\n```\n"+act, step.Act, 6),
		Entry("a fence of code that looks like a step", "```json\n{\n}\nthought: no\naction: no\n```\n"+act, step.Act, 7),
		Entry("a fence in a longer fence", "````text\nx\n```\naction: no\n````\n"+act, step.Act, 6),
		Entry("code in a line", "```thought: x```\n"+act, step.Act, 2),
		Entry("a fence in a block text", "thought: |\n  ```\n  x\n  ```\naction: a\n", step.Act, 1),
		Entry("separators in a block text", "thought: |\n  a\n  ---\n  b\naction: a\n", step.Act, 1),
		Entry("quoted keys", "\"thought\": x\n'action' : y\n", step.Act, 1),
		Entry("a byte order mark and CR LF", "\uFEFFthought: |\r\n  a\r\naction: b\r\n---\r\n"+reflect, step.Act, 1, step.Reflect, 5),
		Entry("a directive", "%YAML 1.2\n---\n"+act, step.Act, 3),
		Entry("other keys of YAML around", "name: CI\non: push\n---\n"+act, step.Act, 4),
	)

	It("leaves block texts as they are", func() {
		Expect(only("thought: |\r\n  one\r\n\r\n    two\r\n  # no comment\r\naction: a\r\n").Thought).To(Equal("one\n\n  two\n# no comment"))
	})

	DescribeTable("reads what YAML refuses and models write",
		func(value, want string) { Expect(only("thought: " + value + "\naction: a\n").Thought).To(Equal(want)) },
		Entry("a character in two escapes, as in JSON", `"a \ud83d\ude00 b"`, "a \U0001F600 b"),
		Entry("control characters", "a\x00\x1b[2Jb", "a\x00\x1b[2Jb"),
		Entry("line breaks of Unicode within a line", "|\n  a\u2028b\u0085c\n  d", "a\u2028b\u0085c\nd"),
		Entry("a blank line with a tab", "|\n  a\n\t\n  b", "a\n\nb"),
	)

	DescribeTable("takes the input of an action as it stands",
		func(value, want string, line, column int) {
			d := only("thought: x\naction: y\naction_input:" + value)
			Expect(d.Input).To(Equal(want))
			Expect(d.InputPos).To(Equal(step.Pos{Line: line, Column: column}))
		},
		Entry("a mapping", "\n  a: 1\n  b:\n    - c\n", "a: 1\nb:\n  - c", 4, 3),
		Entry("a mapping with comments and blank lines", " # what for\n\n# here\n    a: 1\n\n# there\n    b: 2\n", "a: 1\n\n# there\nb: 2", 6, 5),
		Entry("a flow mapping", " {a: 1, b: [2]} # why\n", "{a: 1, b: [2]}", 3, 15),
		Entry("a flow mapping with its bracket at the margin", " {\n  a: \"}\",\n  b: it's # }\n}\n", "{\n  a: \"}\",\n  b: it's # }\n}", 3, 15),
		Entry("quotes in a flow mapping", ` {a: "\"}", b: '}'}`, `{a: "\"}", b: '}'}`, 3, 15),
		Entry("a list at the margin", "\n- a\n- b: 1\n  c: 2\n", "- a\n- b: 1\n  c: 2", 4, 1),
		Entry("a scalar", " all of it\n", "all of it", 3, 15),
		Entry("a quoted scalar", " \"all: of it\"\n", "\"all: of it\"", 3, 15),
		Entry("a scalar of two lines", " all\n  of it\n\n", "all\n  of it", 3, 15),
		Entry("a block text", " |\n   a: 1\n   # note\n     b\n", "a: 1\n# note\n  b", 4, 4),
		Entry("a folded block text", " >-\n  a: 1\n", "a: 1", 4, 3),
	)

	It("has no input where nothing is given", func() {
		Expect(only("thought: x\naction: y\naction_input:\n").Input).To(BeEmpty())
		Expect(only("thought: x\naction_input:\naction: y\n").Action).To(Equal("y"))
		Expect(only("```yaml\nthought: x\naction: y\naction_input:\n```\n").Input).To(BeEmpty())
	})

	It("takes off the margin of an indented fence", func() {
		found, err := step.Parse("- so:\n  ```yaml\n  thought: x\n  action: y\n  action_input:\n    a: |\n      b\n  ---\n  " +
			strings.ReplaceAll(strings.TrimSuffix(chain, "\n"), "\n", "\n  ") + "\n  ---\n  out\n    put\n  ```\n")
		Expect(err).NotTo(HaveOccurred())
		Expect(found[0].Input).To(Equal("a: |\n  b"))
		Expect(found[0].InputPos).To(Equal(step.Pos{Line: 6, Column: 5}))
		Expect(found[1].Text).To(Equal(strings.TrimSuffix(chain, "\n")))
		Expect(found[2].Text).To(Equal("out\n  put"))
	})

	It("accepts missing parts as a text or a list", func() {
		const partial = "reflection: Line 4 is open.\ndecision: done_partial\nmissing:"
		Expect(only(partial + " \"the tests\"\n").Missing).To(Equal("the tests"))
		Expect(only(partial + " |\n  the tests\n  the docs\n").Missing).To(Equal("the tests\nthe docs"))
		Expect(only(partial + " [the tests, the docs]\n").Missing).To(Equal("[the tests, the docs]"))
		Expect(only(partial + "\n- the tests\n- the docs\n").Missing).To(Equal("- the tests\n- the docs"))
	})

	It("takes a value that is null for none", func() {
		d := only("step:\nthought: x\naction: y\ntrigger: null\naction_input: {}\n")
		Expect(d.Trigger).To(BeEmpty())
		Expect(d.Step).To(BeZero())
		Expect(d.Input).To(Equal("{}"))
	})

	It("allows a decision that needs no reflection", func() {
		for _, d := range []string{"escalate", "blocked", "delegate\nagent_id: x"} {
			Expect(only("decision: " + d + "\nreason: two readings\n").Reason).To(Equal("two readings"))
		}
	})

	It("allows a thought that only names a trigger", func() {
		Expect(only("thought: Two readings.\ntrigger: ambiguity\n").Trigger).To(Equal("ambiguity"))
	})

	It("returns the documents before an error", func() {
		found, err := step.Parse(act + "---\n" + reflect + "---\naction: x\n")
		Expect(err).To(HaveOccurred())
		Expect(found).To(HaveLen(2))
	})
})

var _ = Describe("Final", func() {
	DescribeTable("takes the whole answer as the output",
		func(answer, want string) {
			found, err := step.Final(answer)
			Expect(err).NotTo(HaveOccurred())
			Expect(found).To(HaveLen(1))
			Expect(found[0].Kind).To(Equal(step.Output))
			Expect(found[0].Text).To(Equal(want))
		},
		Entry("prose", "\nAll is well.\n", "All is well."),
		Entry("with what looks like a step", "Do this:\n"+act, "Do this:\n"+strings.TrimSpace(act)),
		Entry("with what looks like a broken step", "---\n# Rules\n\nList:\n\naction: x\n", "# Rules\n\nList:\n\naction: x"),
		Entry("a fence", "```json\n{}\n```", "{}"),
		Entry("other YAML", "name: x\naction: y\n", "name: x\naction: y"),
	)

	It("reads an answer as ever that begins with a step or has a verification", func() {
		for answer, want := range map[string][]step.Kind{
			act:                           {step.Act},
			"```yaml\n" + reflect + "```": {step.Reflect},
			"Once more:\n" + chain + "---\nAll is well.\n": {step.Verify, step.Output},
		} {
			found, err := step.Final(answer)
			Expect(err).NotTo(HaveOccurred())
			var got []step.Kind
			for _, d := range found {
				got = append(got, d.Kind)
			}
			Expect(got).To(Equal(want))
		}
		_, err := step.Final("action: x\n")
		Expect(err).To(MatchError(ContainSubstring("no thought")))
		_, err = step.Final(" \n---\n")
		Expect(err).To(MatchError(ContainSubstring("no step")))
	})
})

var _ = Describe("The output", func() {
	output := func(rest string) step.Document {
		GinkgoHelper()
		found, err := step.Parse(rest)
		Expect(err).NotTo(HaveOccurred())
		Expect(found[len(found)-1].Kind).To(Equal(step.Output))
		return found[len(found)-1]
	}

	DescribeTable("consists of the text after the verification",
		func(rest, want string, line int) {
			d := output(end + "---\n" + chain + rest)
			Expect(d.Text).To(Equal(want))
			Expect(d.Pos).To(Equal(step.Pos{Line: line, Column: 1}))
		},
		Entry("behind a separator", "---\n\nAll is well.\n\n", "All is well.", 8),
		Entry("with separators in it", "---\na\n---\nb\n---\n", "a\n---\nb\n---", 7),
		Entry("that looks like a step", "---\nthought: x\nthought: y\n", "thought: x\nthought: y", 7),
		Entry("without a separator", "{\"a\": 1}\n", "{\"a\": 1}", 6),
		Entry("that begins with a heading", "# Report\ntext\n", "# Report\ntext", 6),
		Entry("behind a blank line and a heading", "\n## Report\ntext\n", "## Report\ntext", 7),
		Entry("in a fence", "```json\n{\n}\n```\n", "{\n}", 7),
		Entry("in a fence behind a separator", "---\n\n~~~\na\n~~~\n\n", "a", 9),
		Entry("in a fence that is not closed", "```json\n{}\n", "```json\n{}", 6),
		Entry("in more than a fence", "```json\n{}\n```\nand\n", "```json\n{}\n```\nand", 6),
		Entry("in two fences", "---\n```\na\n```\n```\nb\n```\n", "```\na\n```\n```\nb\n```", 7),
		Entry("with indentation", "---\n  a\n  b", "  a\n  b", 7),
	)

	It("is behind the fence of the verification", func() {
		Expect(output("```yaml\n" + chain + "```\nAll is well.\n").Text).To(Equal("All is well."))
		Expect(output("```yaml\n" + chain + "---\n```\n\n---\nAll is well.\n").Text).To(Equal("All is well."))
		Expect(output("```yaml\n" + chain + "```\n```json\n[]\n```\n").Text).To(Equal("[]"))
	})

	It("goes to the end of the fence in which it stands, whatever fences it contains", func() {
		Expect(output("```yaml\n" + chain + "---\nRun:\n```sh\nmake\n```\nand go.\n```\nBye.\n").Text).To(Equal("Run:\n```sh\nmake\n```\nand go."))
		Expect(output("~~~yaml\n" + chain + "---\nRun:\n```sh\nmake\n```\n").Text).To(Equal("Run:\n```sh\nmake\n```"))
		Expect(output("```yaml\n" + chain + "---\nRun").Text).To(Equal("Run"))
	})

	It("is none where nothing remains", func() {
		Expect(kinds(chain)).To(Equal([]any{step.Verify, 1}))
		Expect(kinds(chain + "---\n\n")).To(Equal([]any{step.Verify, 1}))
		Expect(kinds("```yaml\n" + chain + "---\n```\n")).To(Equal([]any{step.Verify, 2}))
		Expect(kinds(chain + "```\n\n```\n")).To(Equal([]any{step.Verify, 1}))
	})
})
