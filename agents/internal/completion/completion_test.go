package completion_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/completion"
)

var markers = completion.Markers{Done: "DONE", Blocked: "BLOCKED:"}

var _ = Describe("Markers", Label("L-08"), func() {
	DescribeTable("finds the marker on a line of its own",
		func(text string, want completion.State) { Expect(markers.Read(text).State).To(Equal(want)) },
		Entry("alone", "DONE", completion.Done),
		Entry("last line", "All of it works.\nDONE", completion.Done),
		Entry("first line", "DONE\nAll of it works.", completion.Done),
		Entry("space around it", "ok\n \t DONE \u00a0\r\nbye", completion.Done),
		Entry("in a sentence", "I am not DONE yet.", completion.Continue),
		Entry("in a word", "ABANDONED", completion.Continue),
		Entry("lower case", "done", completion.Continue),
		Entry("with a full stop", "DONE.", completion.Continue),
		Entry("emphasised", "**DONE**", completion.Continue),
		Entry("quoted", "> DONE", completion.Continue),
		Entry("empty", "", completion.Continue),
		Entry("in a code block", "```\nDONE\n```", completion.Continue),
		Entry("in a code block with a language", "```sh\nDONE\n```\n", completion.Continue),
		Entry("in a block of tildes", "~~~\nDONE\n~~~", completion.Continue),
		Entry("after a code block", "```\nx\n```\nDONE", completion.Done),
		Entry("in a block that is never closed", "```\nx\nDONE", completion.Continue),
		Entry("a shorter fence does not close", "````\n```\nDONE\n````", completion.Continue),
		Entry("a longer fence closes", "```\n`````\nDONE", completion.Done),
		Entry("the other fence does not close", "```\n~~~\nDONE\n```", completion.Continue),
		Entry("a fence with text does not close", "```\n```sh\nDONE\n```", completion.Continue),
		Entry("two backticks are no fence", "``\nDONE", completion.Done),
		Entry("code in a line is no fence", "```x```\nDONE", completion.Done),
		Entry("indented by three a fence opens", "   ```\nDONE", completion.Continue),
		Entry("indented by four it does not", "    ```\nDONE", completion.Done),
		Entry("blocked", "BLOCKED: which vault?", completion.Blocked),
		Entry("blocked wins over done", "DONE\nBLOCKED: which vault?", completion.Blocked),
		Entry("blocked in a sentence", "I was BLOCKED: no.", completion.Continue),
		Entry("blocked in a code block", "```\nBLOCKED: x\n```", completion.Continue),
	)

	It("takes what follows the blocked marker as the summary", func() {
		Expect(markers.Read("x\n  BLOCKED:  which vault? \ny").Summary).To(Equal("which vault?"))
	})

	It("never blocks without a blocked marker", func() {
		Expect(completion.Markers{Done: "DONE"}.Read("anything").State).To(Equal(completion.Continue))
	})
})

var _ = Describe("ReadObject", Label("L-08"), func() {
	DescribeTable("reads the last JSON object",
		func(text string, want completion.State, summary string) {
			v := completion.ReadObject(text)
			Expect(v.State).To(Equal(want), v.Note)
			Expect(v.Summary).To(Equal(summary))
		},
		Entry("bare", `{"status":"done","summary":"all"}`, completion.Done, "all"),
		Entry("after prose", `Here: {"status":"done"}`, completion.Done, ""),
		Entry("before prose", `{"status":"done"} Bye.`, completion.Done, ""),
		Entry("fenced", "x\n```json\n{\"status\": \"done\",\n \"summary\": \"all\"}\n```\n", completion.Done, "all"),
		Entry("continue", `{"status":"continue","summary":"half"}`, completion.Continue, "half"),
		Entry("blocked", `{"status":"blocked","summary":"key?"}`, completion.Blocked, "key?"),
		Entry("escalate", `{"status":"escalate","summary":"key?"}`, completion.Blocked, "key?"),
		Entry("the last counts", `{"status":"done"} but {"status":"continue"}`, completion.Continue, ""),
		Entry("the last counts, the other way", `{"status":"continue"} then {"status":"done"}`, completion.Done, ""),
		Entry("the last one has no status", `{"status":"done"} {"x":1}`, completion.Continue, ""),
		Entry("an inner one does not count", `{"step":{"status":"done"}}`, completion.Continue, ""),
		Entry("the outer one counts", `{"step":{"status":"continue"},"status":"done"}`, completion.Done, ""),
		Entry("a broken last one is not one", `{"status":"continue"} {"status":"done",}`, completion.Continue, ""),
		Entry("cut off", `{"status": "done", "summary": `, completion.Continue, ""),
		Entry("inside one that is cut off", `{"steps":[{"status":"done"},`, completion.Continue, ""),
		Entry("inside a text that is cut off", `{"a":"x {"`, completion.Continue, ""),
		Entry("braces of prose before it", `A set {a, b} and { here: {"status":"done"}`, completion.Done, ""),
		Entry("braces of code before it", "func f() { return map[string]int{\"a\": 1} }\n{\"status\":\"done\"}", completion.Done, ""),
		Entry("a line that ends in a text", "{\"oops\n{\"status\":\"done\"}", completion.Done, ""),
		Entry("escapes", `{"status":"\u0064one","summary":"a \"b\" {"}`, completion.Done, `a "b" {`),
		Entry("in an array", `[{"status":"done"}]`, completion.Done, ""),
		Entry("a repeated name: the last value", `{"status":"done","status":"continue"}`, completion.Continue, ""),
		Entry("bytes that are not UTF-8", "{\"status\":\"done\",\"summary\":\"a\xffb\"}", completion.Done, "a\ufffdb"),
		Entry("a summary that is no text", `{"status":"done","summary":{"a":1}}`, completion.Done, ""),
		Entry("a status that is no text", `{"status":true}`, completion.Continue, ""),
		Entry("another case", `{"status":"Done"}`, completion.Continue, ""),
		Entry("no object", "DONE", completion.Continue, ""),
		Entry("nested too deep", strings.Repeat(`{"a":`, 10_100), completion.Continue, ""),
		Entry("after one that is nested too deep", strings.Repeat(`{"a":`, 10_001)+`! {"status":"done"}`, completion.Done, ""),
		Entry("empty object", "{}", completion.Continue, ""),
		Entry("empty", "", completion.Continue, ""),
	)

	DescribeTable("notes why an answer is not done",
		func(text, note string) { Expect(completion.ReadObject(text).Note).To(ContainSubstring(note)) },
		Entry("unknown status", `{"status":"finished"}`, `"finished" is not known`),
		Entry("no status", `{"a":1}`, "no status"),
		Entry("no object", `done`, "no JSON object"),
	)

	It("has no note for a status that is known", func() {
		Expect(completion.ReadObject(`{"status":"continue"}`).Note).To(BeEmpty())
		Expect(completion.ReadObject(`{"status":"done"}`).Note).To(BeEmpty())
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
		func(text, want string) { Expect(completion.ObjectProse(text)).To(Equal(want)) },
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
		Expect(v.State).To(Equal(completion.Continue))
		Expect(v.Note).To(ContainSubstring("length"))
	})

	It("leaves the other states", func() {
		Expect(markers.Read("BLOCKED: x").CutOff("length")).To(Equal(markers.Read("BLOCKED: x")))
		Expect(markers.Read("x").CutOff("length")).To(Equal(completion.Verdict{}))
	})
})
