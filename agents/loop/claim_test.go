package loop_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// read runs the loop for one answer and returns how it ended, with the note on the answer.
func read(mode loop.Mode, reply llm.Reply) (result loop.Result, note string) {
	s := loop.Defaults()
	s.Prompt, s.Mode, s.MaxIterations = "Task", mode, 1
	return loop.Run(context.Background(), s, loop.Deps{
		Backend: llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) { return reply, nil }),
		Clock:   clock.NewVirtual(),
		Sink: event.SinkFunc(func(e event.Event) {
			if e.Kind == event.Verdict && e.Name == "completion" {
				note = e.Detail
			}
		}),
	}), note
}

var _ = Describe("Completion by markers", Label("L-08"), func() {
	DescribeTable("finds the marker on a line of its own",
		func(text string, want loop.Status) {
			result, _ := read(loop.Marker, llm.Reply{Text: text})
			Expect(result.Status).To(Equal(want))
		},
		Entry("alone", "DONE", loop.StatusDone),
		Entry("last line", "All of it works.\nDONE", loop.StatusDone),
		Entry("first line", "DONE\nAll of it works.", loop.StatusDone),
		Entry("space around it", "ok\n \t DONE \u00a0\r\nbye", loop.StatusDone),
		Entry("in a sentence", "I am not DONE yet.", loop.StatusMaxIterations),
		Entry("in a word", "ABANDONED", loop.StatusMaxIterations),
		Entry("lower case", "done", loop.StatusMaxIterations),
		Entry("with a full stop", "All of it works.\nDONE.\n", loop.StatusDone),
		Entry("emphasised", "**DONE**", loop.StatusDone),
		Entry("as code, emphasised, with a full stop", "ok\n__`DONE`.__\n\n", loop.StatusDone),
		Entry("emphasised before the last line", "**DONE**\nwith the first half", loop.StatusMaxIterations),
		Entry("emphasised in a code block", "```\n**DONE**\n```", loop.StatusMaxIterations),
		Entry("emphasised in a sentence", "It is **DONE**", loop.StatusMaxIterations),
		Entry("blocked before an emphasised one", "BLOCKED: which vault?\n**DONE**", loop.StatusBlocked),
		Entry("quoted", "> DONE", loop.StatusMaxIterations),
		Entry("empty", "", loop.StatusMaxIterations),
		Entry("in a code block", "```\nDONE\n```", loop.StatusMaxIterations),
		Entry("in a code block with a language", "```sh\nDONE\n```\n", loop.StatusMaxIterations),
		Entry("in a block of tildes", "~~~\nDONE\n~~~", loop.StatusMaxIterations),
		Entry("after a code block", "```\nx\n```\nDONE", loop.StatusDone),
		Entry("in a block that is never closed", "```\nx\nDONE", loop.StatusMaxIterations),
		Entry("a shorter fence does not close", "````\n```\nDONE\n````", loop.StatusMaxIterations),
		Entry("a longer fence closes", "```\n`````\nDONE", loop.StatusDone),
		Entry("the other fence does not close", "```\n~~~\nDONE\n```", loop.StatusMaxIterations),
		Entry("a fence with text does not close", "```\n```sh\nDONE\n```", loop.StatusMaxIterations),
		Entry("two backticks are not a fence", "``\nDONE", loop.StatusDone),
		Entry("code in a line is not a fence", "```x```\nDONE", loop.StatusDone),
		Entry("indented by three a fence opens", "   ```\nDONE", loop.StatusMaxIterations),
		Entry("indented by four it does not", "    ```\nDONE", loop.StatusDone),
		Entry("blocked", "BLOCKED: which vault?", loop.StatusBlocked),
		Entry("blocked wins over done", "DONE\nBLOCKED: which vault?", loop.StatusBlocked),
		Entry("blocked in a sentence", "I was BLOCKED: no.", loop.StatusMaxIterations),
		Entry("blocked in a code block", "```\nBLOCKED: x\n```", loop.StatusMaxIterations),
	)

	It("notes a marker that does not count", func() {
		_, note := read(loop.Marker, llm.Reply{Text: "**DONE**\nwith the first half"})
		Expect(note).To(Equal(`the line "**DONE**" is not the marker DONE; it needs a line of its own without other characters`))
	})

	It("takes what follows the blocked marker as the summary", func() {
		result, _ := read(loop.Marker, llm.Reply{Text: "x\n  BLOCKED:  which vault? \ny"})
		Expect(result.Summary).To(Equal("which vault?"))
	})
})

var _ = Describe("Completion by a JSON object", Label("L-08"), func() {
	DescribeTable("reads the last JSON object",
		func(text string, want loop.Status, summary string) {
			result, note := read(loop.JSON, llm.Reply{Text: text})
			Expect(result.Status).To(Equal(want), note)
			Expect(result.Summary).To(Equal(summary))
		},
		Entry("bare", `{"status":"done","summary":"all"}`, loop.StatusDone, "all"),
		Entry("after prose", `Here: {"status":"done"}`, loop.StatusDone, ""),
		Entry("before prose", `{"status":"done"} Bye.`, loop.StatusDone, ""),
		Entry("fenced", "x\n```json\n{\"status\": \"done\",\n \"summary\": \"all\"}\n```\n", loop.StatusDone, "all"),
		Entry("completed", `{"status":"completed","summary":"all"}`, loop.StatusDone, "all"),
		Entry("continue", `{"status":"continue","summary":"half"}`, loop.StatusMaxIterations, "half"),
		Entry("blocked", `{"status":"blocked","summary":"key?"}`, loop.StatusBlocked, "key?"),
		Entry("escalate", `{"status":"escalate","summary":"key?"}`, loop.StatusBlocked, "key?"),
		Entry("the last counts", `{"status":"done"} but {"status":"continue"}`, loop.StatusMaxIterations, ""),
		Entry("the last counts, the other way", `{"status":"continue"} then {"status":"done"}`, loop.StatusDone, ""),
		Entry("the last one has no status", `{"status":"done"} {"x":1}`, loop.StatusMaxIterations, ""),
		Entry("an inner one does not count", `{"step":{"status":"done"}}`, loop.StatusMaxIterations, ""),
		Entry("the outer one counts", `{"step":{"status":"continue"},"status":"done"}`, loop.StatusDone, ""),
		Entry("a broken last one is not one", `{"status":"continue"} {"status":"done",}`, loop.StatusMaxIterations, ""),
		Entry("cut off", `{"status": "done", "summary": `, loop.StatusMaxIterations, ""),
		Entry("inside one that is cut off", `{"steps":[{"status":"done"},`, loop.StatusMaxIterations, ""),
		Entry("inside a text that is cut off", `{"a":"x {"`, loop.StatusMaxIterations, ""),
		Entry("braces of prose before it", `A set {a, b} and { here: {"status":"done"}`, loop.StatusDone, ""),
		Entry("braces of code before it", "func f() { return map[string]int{\"a\": 1} }\n{\"status\":\"done\"}", loop.StatusDone, ""),
		Entry("a line that ends in a text", "{\"oops\n{\"status\":\"done\"}", loop.StatusDone, ""),
		Entry("escapes", `{"status":"\u0064one","summary":"a \"b\" {"}`, loop.StatusDone, `a "b" {`),
		Entry("in an array", `[{"status":"done"}]`, loop.StatusDone, ""),
		Entry("a repeated name: the last value", `{"status":"done","status":"continue"}`, loop.StatusMaxIterations, ""),
		Entry("bytes that are not UTF-8", "{\"status\":\"done\",\"summary\":\"a\xffb\"}", loop.StatusDone, "a\ufffdb"),
		Entry("a summary that is not text", `{"status":"done","summary":{"a":1}}`, loop.StatusDone, ""),
		Entry("a status that is not text", `{"status":true}`, loop.StatusMaxIterations, ""),
		Entry("another case", `{"status":"Done"}`, loop.StatusMaxIterations, ""),
		Entry("no object", "DONE", loop.StatusMaxIterations, ""),
		Entry("nested too deep", strings.Repeat(`{"a":`, 10_100), loop.StatusMaxIterations, ""),
		Entry("after one that is nested too deep", strings.Repeat(`{"a":`, 10_001)+`! {"status":"done"}`, loop.StatusDone, ""),
		Entry("empty object", "{}", loop.StatusMaxIterations, ""),
		Entry("empty", "", loop.StatusMaxIterations, ""),
	)

	DescribeTable("notes why an answer is not done",
		func(text, want string) {
			_, note := read(loop.JSON, llm.Reply{Text: text})
			Expect(note).To(ContainSubstring(want))
		},
		Entry("unknown status", `{"status":"finished"}`, `"finished" is not known`),
		Entry("no status", `{"a":1}`, "no status"),
		Entry("no object", `done`, "no JSON object"),
	)

	DescribeTable("has no note for a known status",
		func(text string) {
			_, note := read(loop.JSON, llm.Reply{Text: text})
			Expect(note).To(BeEmpty())
		},
		Entry("continue", `{"status":"continue"}`),
		Entry("done", `{"status":"done"}`),
	)
})

var _ = Describe("The prose of an answer", Label("L-08"), func() {
	DescribeTable("leaves out the marker, and only where it is one",
		func(text, want string) {
			result, _ := read(loop.Marker, llm.Reply{Text: text})
			Expect(result.Prose).To(Equal(want))
		},
		Entry("last line", "All of it works.\nDONE", "All of it works."),
		Entry("twice", "DONE\nAll of it works.\n DONE \n", "All of it works."),
		Entry("in a sentence", "I am DONE", "I am DONE"),
		Entry("in a code block", "```\nDONE\n```\n", "```\nDONE\n```"),
		Entry("none", "x", "x"),
	)

	DescribeTable("leaves out the object with its fence",
		func(text, want string) {
			result, _ := read(loop.JSON, llm.Reply{Text: text})
			Expect(result.Prose).To(Equal(want))
		},
		Entry("bare", `{"status":"done"}`, ""),
		Entry("after prose", "All works.\n{\"status\":\"done\"}\nBye.", "All works.\n\nBye."),
		Entry("fenced", "All works.\n```json\n{\"status\":\"done\"}\n```\nBye.", "All works.\nBye."),
		Entry("fenced with more beside it", "```\nx\n{\"a\":1}\n```\n", "```\nx\n\n```"),
		Entry("no object", "All works {.", "All works {."),
		Entry("empty", "", ""),
	)
})

var _ = Describe("An answer that was cut off", Label("L-08"), func() {
	It("is never done, and the note gives the reason", func() {
		result, note := read(loop.Marker, llm.Reply{Text: "DONE", Finish: llm.FinishLength})
		Expect(result.Status).To(Equal(loop.StatusMaxIterations))
		Expect(note).To(ContainSubstring("finish reason length"))
	})

	It("still hands over to a person", func() {
		result, note := read(loop.Marker, llm.Reply{Text: "BLOCKED: x", Finish: llm.FinishLength})
		Expect(result.Status).To(Equal(loop.StatusBlocked))
		Expect(note).To(BeEmpty())
	})
})
