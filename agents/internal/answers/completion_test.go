package answers_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/answers"
)

var markers = answers.Markers{Done: "DONE", Blocked: "BLOCKED:"}

var _ = Describe("Markers", Label("L-08"), func() {
	DescribeTable("finds the marker on a line of its own",
		func(text string, want answers.State) { Expect(markers.Read(text).State).To(Equal(want)) },
		Entry("alone", "DONE", answers.Done),
		Entry("last line", "All of it works.\nDONE", answers.Done),
		Entry("first line", "DONE\nAll of it works.", answers.Done),
		Entry("space around it", "ok\n \t DONE \u00a0\r\nbye", answers.Done),
		Entry("in a sentence", "I am not DONE yet.", answers.Continue),
		Entry("in a word", "ABANDONED", answers.Continue),
		Entry("lower case", "done", answers.Continue),
		Entry("with a full stop", "DONE.", answers.Continue),
		Entry("emphasised", "**DONE**", answers.Continue),
		Entry("quoted", "> DONE", answers.Continue),
		Entry("empty", "", answers.Continue),
		Entry("in a code block", "```\nDONE\n```", answers.Continue),
		Entry("in a code block with a language", "```sh\nDONE\n```\n", answers.Continue),
		Entry("in a block of tildes", "~~~\nDONE\n~~~", answers.Continue),
		Entry("after a code block", "```\nx\n```\nDONE", answers.Done),
		Entry("in a block that is never closed", "```\nx\nDONE", answers.Continue),
		Entry("a shorter fence does not close", "````\n```\nDONE\n````", answers.Continue),
		Entry("a longer fence closes", "```\n`````\nDONE", answers.Done),
		Entry("the other fence does not close", "```\n~~~\nDONE\n```", answers.Continue),
		Entry("a fence with text does not close", "```\n```sh\nDONE\n```", answers.Continue),
		Entry("two backticks are no fence", "``\nDONE", answers.Done),
		Entry("code in a line is no fence", "```x```\nDONE", answers.Done),
		Entry("indented by three a fence opens", "   ```\nDONE", answers.Continue),
		Entry("indented by four it does not", "    ```\nDONE", answers.Done),
		Entry("blocked", "BLOCKED: which vault?", answers.Blocked),
		Entry("blocked wins over done", "DONE\nBLOCKED: which vault?", answers.Blocked),
		Entry("blocked in a sentence", "I was BLOCKED: no.", answers.Continue),
		Entry("blocked in a code block", "```\nBLOCKED: x\n```", answers.Continue),
	)

	It("takes what follows the blocked marker as the summary", func() {
		Expect(markers.Read("x\n  BLOCKED:  which vault? \ny").Summary).To(Equal("which vault?"))
	})

	It("never blocks without a blocked marker", func() {
		Expect(answers.Markers{Done: "DONE"}.Read("anything").State).To(Equal(answers.Continue))
	})
})

var _ = Describe("ReadObject", Label("L-08"), func() {
	DescribeTable("reads the last JSON object",
		func(text string, want answers.State, summary string) {
			v := answers.ReadObject(text)
			Expect(v.State).To(Equal(want), v.Note)
			Expect(v.Summary).To(Equal(summary))
		},
		Entry("bare", `{"status":"done","summary":"all"}`, answers.Done, "all"),
		Entry("after prose", `Here: {"status":"done"}`, answers.Done, ""),
		Entry("before prose", `{"status":"done"} Bye.`, answers.Done, ""),
		Entry("fenced", "x\n```json\n{\"status\": \"done\",\n \"summary\": \"all\"}\n```\n", answers.Done, "all"),
		Entry("continue", `{"status":"continue","summary":"half"}`, answers.Continue, "half"),
		Entry("blocked", `{"status":"blocked","summary":"key?"}`, answers.Blocked, "key?"),
		Entry("escalate", `{"status":"escalate","summary":"key?"}`, answers.Blocked, "key?"),
		Entry("the last counts", `{"status":"done"} but {"status":"continue"}`, answers.Continue, ""),
		Entry("the last counts, the other way", `{"status":"continue"} then {"status":"done"}`, answers.Done, ""),
		Entry("the last one has no status", `{"status":"done"} {"x":1}`, answers.Continue, ""),
		Entry("an inner one does not count", `{"step":{"status":"done"}}`, answers.Continue, ""),
		Entry("the outer one counts", `{"step":{"status":"continue"},"status":"done"}`, answers.Done, ""),
		Entry("a broken last one is not one", `{"status":"continue"} {"status":"done",}`, answers.Continue, ""),
		Entry("cut off", `{"status": "done", "summary": `, answers.Continue, ""),
		Entry("inside one that is cut off", `{"steps":[{"status":"done"},`, answers.Continue, ""),
		Entry("inside a text that is cut off", `{"a":"x {"`, answers.Continue, ""),
		Entry("braces of prose before it", `A set {a, b} and { here: {"status":"done"}`, answers.Done, ""),
		Entry("braces of code before it", "func f() { return map[string]int{\"a\": 1} }\n{\"status\":\"done\"}", answers.Done, ""),
		Entry("a line that ends in a text", "{\"oops\n{\"status\":\"done\"}", answers.Done, ""),
		Entry("escapes", `{"status":"\u0064one","summary":"a \"b\" {"}`, answers.Done, `a "b" {`),
		Entry("in an array", `[{"status":"done"}]`, answers.Done, ""),
		Entry("a repeated name: the last value", `{"status":"done","status":"continue"}`, answers.Continue, ""),
		Entry("bytes that are not UTF-8", "{\"status\":\"done\",\"summary\":\"a\xffb\"}", answers.Done, "a\ufffdb"),
		Entry("a summary that is no text", `{"status":"done","summary":{"a":1}}`, answers.Done, ""),
		Entry("a status that is no text", `{"status":true}`, answers.Continue, ""),
		Entry("another case", `{"status":"Done"}`, answers.Continue, ""),
		Entry("no object", "DONE", answers.Continue, ""),
		Entry("nested too deep", strings.Repeat(`{"a":`, 10_100), answers.Continue, ""),
		Entry("after one that is nested too deep", strings.Repeat(`{"a":`, 10_001)+`! {"status":"done"}`, answers.Done, ""),
		Entry("empty object", "{}", answers.Continue, ""),
		Entry("empty", "", answers.Continue, ""),
	)

	DescribeTable("notes why an answer is not done",
		func(text, note string) { Expect(answers.ReadObject(text).Note).To(ContainSubstring(note)) },
		Entry("unknown status", `{"status":"finished"}`, `"finished" is not known`),
		Entry("no status", `{"a":1}`, "no status"),
		Entry("no object", `done`, "no JSON object"),
	)

	It("has no note for a status that is known", func() {
		Expect(answers.ReadObject(`{"status":"continue"}`).Note).To(BeEmpty())
		Expect(answers.ReadObject(`{"status":"done"}`).Note).To(BeEmpty())
	})
})

var _ = Describe("Prose", Label("L-08"), func() {
	DescribeTable("leaves out the marker, and only where it is one",
		func(text, want string) { Expect(markers.Prose(text)).To(Equal(want)) },
		Entry("last line", "All of it works.\nDONE", "All of it works.\n"),
		Entry("twice", "DONE\nAll of it works.\n DONE \n", "All of it works.\n"),
		Entry("in a sentence", "I am DONE", "I am DONE"),
		Entry("in a code block", "```\nDONE\n```\n", "```\nDONE\n```\n"),
		Entry("none", "x", "x"),
	)

	DescribeTable("leaves out the object with its fence",
		func(text, want string) { Expect(answers.ObjectProse(text)).To(Equal(want)) },
		Entry("bare", `{"status":"done"}`, ""),
		Entry("after prose", "All works.\n{\"status\":\"done\"}\nBye.", "All works.\n\nBye."),
		Entry("fenced", "All works.\n```json\n{\"status\":\"done\"}\n```\nBye.", "All works.\nBye."),
		Entry("fenced with more beside it", "```\nx\n{\"a\":1}\n```\n", "```\nx\n\n```\n"),
		Entry("no object", "All works {.", "All works {."),
		Entry("empty", "", ""),
	)
})

var _ = Describe("CutOff", Label("L-08"), func() {
	It("is never done, and says why", func() {
		v := markers.Read("DONE").CutOff("finish reason length")
		Expect(v.State).To(Equal(answers.Continue))
		Expect(v.Note).To(ContainSubstring("length"))
	})

	It("leaves the other states", func() {
		Expect(markers.Read("BLOCKED: x").CutOff("length")).To(Equal(markers.Read("BLOCKED: x")))
		Expect(markers.Read("x").CutOff("length")).To(Equal(answers.Verdict{}))
	})
})
