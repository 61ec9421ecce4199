package incident_test

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

const (
	askFirst  = `{"role":"user","content":"first"}`
	askSecond = `{"role":"user","content":"second"}`
	sayOne    = `{"role":"assistant","content":"one"}`
	sayTwo    = `{"role":"assistant","content":"two"}`
	callA     = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"find","arguments":"{\"n\":1}"}}]}`
	resultA   = `{"role":"tool","tool_call_id":"a","content":"found"}`
)

// generations returns a trace of Langfuse. Each call is its prompt and answer.
func generations(calls ...[2]string) string {
	var all []string
	for i, call := range calls {
		all = append(all, fmt.Sprintf(`{"id":"%d","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:00:%02d.000Z",`+
			`"input":[%s],"output":%s}`, i, i, call[0], call[1]))
	}
	return "[" + strings.Join(all, ",") + "]"
}

func prompt(messages ...string) string { return strings.Join(messages, ",") }

var _ = DescribeTable("answers that only prompts have", func(trace string, turns, answers []string, note string) {
	conversations, _, err := read(incident.Langfuse, trace)
	Expect(err).NotTo(HaveOccurred())
	c := conversations[0]
	var texts []string
	for _, t := range c.Turns {
		text := t.Reply.Text
		for _, call := range t.Reply.ToolCalls {
			text += call.Name + call.Arguments
		}
		texts = append(texts, text)
	}
	Expect(c.Users).To(Equal(turns))
	Expect(texts).To(Equal(answers))
	sc := written(c, incident.Options{})
	notes := strings.Join(sc.Notes, "\n")
	if note == "" {
		Expect(notes).NotTo(ContainSubstring("The prompts have"))
	} else {
		Expect(notes).To(ContainSubstring(note))
	}
	known := !strings.Contains(note, "missing")
	Expect(sc.Incomplete).NotTo(Equal(known))
	Expect(strings.Contains(string(sc.Text), "status: done")).To(Equal(known), string(sc.Text))
	Expect(strings.Contains(string(sc.Text), "at_least: ")).NotTo(Equal(known))
},
	Entry("of an earlier trace", generations([2]string{prompt(askFirst, sayOne, askSecond), sayTwo}),
		[]string{"first", "second"}, []string{"one", "two"}, "The prompts have 1 earlier answer of calls that are not in the file."),
	Entry("between two calls",
		generations([2]string{askFirst, sayOne}, [2]string{prompt(askFirst, sayOne, askSecond, sayTwo, askFirst), sayOne}),
		[]string{"first", "second", "first"}, []string{"one", "two", "one"}, "The prompts have 1 earlier answer of calls"),
	Entry("in two messages", generations([2]string{prompt(askFirst, sayOne, sayTwo, askSecond), sayTwo}),
		[]string{"first", "second"}, []string{"one\ntwo", "two"}, "The prompts have 1 earlier answer of calls"),
	Entry("of a call of a tool at the beginning", generations([2]string{prompt(askFirst, callA, resultA), sayOne}),
		[]string{"first"}, []string{`find{"n":1}`, "one"},
		"1 earlier answer with tool calls (find) of calls that are not in the file. The script gives these, too; more calls may be missing."),
	Entry("of a call of a tool in the middle",
		generations([2]string{prompt(askFirst), strings.ReplaceAll(callA, `"a"`, `"b"`)},
			[2]string{prompt(askFirst, strings.ReplaceAll(callA, `"a"`, `"b"`), strings.ReplaceAll(resultA, `"a"`, `"b"`),
				strings.ReplaceAll(callA, "1", "2"), resultA), sayOne}),
		[]string{"first"}, []string{`find{"n":1}`, `find{"n":2}`, "one"},
		"(find) of calls that are not in the file. The script gives these, too; more calls may be missing."),
	Entry("but not the results of its calls", generations([2]string{prompt(askFirst, resultA), sayOne}),
		[]string{"first"}, []string{"one"}, "the result of the tool call a but not the call, so an answer is missing"),
	Entry("and no call is missing",
		generations([2]string{askFirst, callA}, [2]string{prompt(askFirst, callA, resultA), sayOne}),
		[]string{"first"}, []string{`find{"n":1}`, "one"}, ""),
	Entry("and the calls have other ids there",
		generations([2]string{askFirst, callA}, [2]string{prompt(askFirst, strings.ReplaceAll(callA, `"a"`, `"b"`), resultA), sayOne}),
		[]string{"first"}, []string{`find{"n":1}`, "one"}, ""),
	Entry("and it is a greeting", generations([2]string{prompt(sayOne, askSecond), sayTwo}), []string{"second"}, []string{"two"}, ""),
	Entry("and the model continues it", generations([2]string{prompt(askFirst, sayOne), sayTwo}), []string{"first"}, []string{"two"}, ""),
	Entry("in a window of the history",
		generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("a1|u2|a2|u3|a3|u4", "a4")),
		[]string{"u1", "u2", "u3", "u4"}, []string{"a1", "a2", "a3", "a4"}, "The prompts have 1 earlier answer of calls"),
	Entry("and user messages follow each other", generations([2]string{prompt(askFirst, askSecond), sayTwo}),
		[]string{"first", "second"}, []string{"two"}, "join them to one turn"),
)

var _ = DescribeTable("an earlier answer without content", func(answer, note string) {
	conversations, _, err := read(incident.Langfuse, generations([2]string{prompt(askFirst, answer, askSecond), sayTwo}))
	Expect(err).NotTo(HaveOccurred())
	sc, err := incident.Write(conversations[0], incident.Options{})
	if note != "" {
		Expect(err).To(MatchError("import " + conversations[0].File + ": conversation t has no answer that a script could repeat\n  " + note))
		return
	}
	Expect(err).NotTo(HaveOccurred())
	Expect(sc.Incomplete).To(BeFalse())
	Expect(string(sc.Text)).To(MatchRegexp(`(?s)equals: first\n +text: ''\n.*equals: second\n +text: two\n` +
		`expect:\n  calls: 2\n  status: done`))
},
	Entry("is empty", `{"role":"assistant","content":""}`, ""),
	Entry("lacks the call of a tool", `{"role":"assistant","content":""},`+resultA,
		"The script ends before call 1 of 2: its answer is not in the file."),
	Entry("has only parts of another type", `{"role":"assistant","content":[{"type":"audio"}]}`,
		"The script ends before call 1 of 2: its answer has only parts that import does not read: audio."),
)

var _ = DescribeTable("the turns of prompts with a part of the history", func(trace string, turns []string, calls string, note string) {
	conversations, _, err := read(incident.Langfuse, trace)
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations[0].Users).To(Equal(turns))
	sc := written(conversations[0], incident.Options{})
	Expect(sc.Incomplete).To(Equal(strings.HasPrefix(calls, "\n")))
	Expect(string(sc.Text)).To(ContainSubstring("expect:\n  calls:" + calls))
	Expect(strings.Contains(string(sc.Text), "status: done")).NotTo(Equal(sc.Incomplete))
	Expect(strings.Join(sc.Notes, "\n")).NotTo(ContainSubstring("The prompts have"))
	if note == "" {
		Expect(strings.Join(sc.Notes, "\n")).NotTo(MatchRegexp("other prompts|only parts"))
	} else {
		Expect(sc.Notes).To(ContainElement(HavePrefix(note)))
	}
},
	Entry("which begins with an answer",
		generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("a1|u2|a2|u3", "a3"), said("a2|u3|a3|u4", "a4")),
		[]string{"u1", "u2", "u3", "u4"}, " 4", ""),
	Entry("which begins with a user message",
		generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("u2|a2|u3", "a3"), said("u3|a3|u4", "a4")),
		[]string{"u1", "u2", "u3", "u4"}, " 4", ""),
	Entry("of one exchange", generations(said("u1", "a1"), said("a1|u2", "a2"), said("a2|u3", "a3")), []string{"u1", "u2", "u3"}, " 3", ""),
	Entry("with equal messages", generations(said("u1", "a1"), said("u1|a1|u1", "a2"), said("u1|a2|u1", "a3")), []string{"u1", "u1"},
		"\n    at_least: 3", "The prompts of 1 of 3 calls have only parts of the conversation"),
	Entry("of equal messages that an answer tells apart",
		generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("a1|u2|a2|u2", "a3")),
		[]string{"u1", "u2", "u2"}, " 3", ""),
	Entry("of equal messages with equal answers",
		generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("u1|a1|u2|a2|u2", "a2"), said("a2|u2", "a3")), []string{"u1", "u2", "u2"},
		"\n    at_least: 4", "The prompts of 1 of 4 calls have only parts of the conversation"),
	Entry("again", generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("a1|u2", "a3")), []string{"u1", "u2"}, " 3", ""),
	Entry("of the first and last messages", generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("u1|a2|u3", "a3")), []string{"u1", "u2"},
		"\n    at_least: 3",
		"The prompts of 1 of 3 calls have only parts of the conversation, so turns may be missing; add them below turns."),
	Entry("with another instruction", generations(said("u1", "a1"), said("u1|a1|u2", "a2"), said("u2|Translate it.", "a3")),
		[]string{"u1", "u2"}, " 3", "1 of 3 calls have other prompts"),
	Entry("of a router", generations(said("u1", "x"), said("u1", "a1"), said("u2", "y"), said("u1|a1|u2", "a2")),
		[]string{"u1", "u2"}, " 4", "1 of 4 calls have other prompts"),
)

// said returns a call with the texts of its prompt and its answer. Those of answers begin with a.
func said(texts, answer string) [2]string {
	var all []string
	for _, s := range strings.Split(texts, "|") {
		role := "user"
		if strings.HasPrefix(s, "a") {
			role = "assistant"
		}
		all = append(all, fmt.Sprintf(`{"role":%q,"content":%q}`, role, s))
	}
	return [2]string{prompt(all...), fmt.Sprintf(`{"role":"assistant","content":%q}`, answer)}
}

var _ = DescribeTable("a call of a trace that failed without a known status", func(second, third string, turns []string, note string) {
	trace := strings.TrimSuffix(generations(said("u1", "a1")), "]")
	for i, call := range []string{second, third} {
		if call != "" {
			trace += fmt.Sprintf(`,{"id":"f%d","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:01:%02d.000Z",%s}`, i, i, call)
		}
	}
	conversations, _, err := read(incident.Langfuse, trace+"]")
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(sc.Incomplete).To(BeTrue())
	Expect(string(sc.Text)).To(ContainSubstring("turns:\n      - " + strings.Join(turns, "\n      - ") + "\n#"))
	if note != "" {
		Expect(sc.Notes).To(ContainElement(note))
	} else {
		Expect(strings.Join(sc.Notes, "\n")).NotTo(ContainSubstring("The message"))
	}
},
	Entry("as the last one", failing("u1|a1|u2"), "", []string{"u1"}, `The message "u2" is left out with its calls.`),
	Entry("twice", failing("u1|a1|u2"), failing("u1|a1|u2"), []string{"u1"}, `The message "u2" is left out with its calls.`),
	Entry("before one that succeeded", failing("u1|a1|u2"), succeeding("u1|a1|u2", "a2"), []string{"u1", "u2"}, ""),
)

var _ = It("does not note a message that is left out if no answer is left", func() {
	trace := `[{"id":"f","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:01:00.000Z",` + failing("u1") + "}]"
	conversations, _, err := read(incident.Langfuse, trace)
	Expect(err).NotTo(HaveOccurred())
	_, err = incident.Write(conversations[0], incident.Options{})
	Expect(err).To(MatchError(HaveSuffix("Call 1 is left out: it failed (boom), and its HTTP status is not known.")))
})

func failing(texts string) string {
	return fmt.Sprintf(`"level":"ERROR","statusMessage":"boom","input":[%s]`, said(texts, "")[0])
}

func succeeding(texts, answer string) string {
	call := said(texts, answer)
	return fmt.Sprintf(`"input":[%s],"output":%s`, call[0], call[1])
}

var _ = It("leaves out the messages after an answer that is missing from a trace", func() {
	trace := generations(said("u1", "a1"), said("u1|a1|u2", ""), said("u1|a1|u2|a2|u3", "a3"))
	conversations, _, err := read(incident.Langfuse, strings.Replace(trace, `{"role":"assistant","content":""}`, "null", 1))
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(string(sc.Text)).To(ContainSubstring("turns:\n      - u1\n#"))
	Expect(sc.Notes).To(ContainElement("What the user wrote after the end of the script is left out: 2 messages."))
})

var _ = DescribeTable("pages of Langfuse's API", func(pages []int, total int, note string) {
	var files []string
	for _, page := range pages {
		var all []json.RawMessage
		Expect(json.Unmarshal([]byte(generations([2]string{askFirst, sayOne})), &all)).To(Succeed())
		data, err := json.Marshal(map[string]any{"data": all, "meta": map[string]int{"page": page, "totalPages": total}})
		Expect(err).NotTo(HaveOccurred())
		files = append(files, string(data))
	}
	conversations, _, err := read(incident.Langfuse, files...)
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	if note == "" {
		Expect(sc.Incomplete).To(BeFalse())
		return
	}
	Expect(sc.Notes).To(ContainElement(note))
	Expect(sc.Incomplete).To(BeTrue())
	Expect(string(sc.Text)).To(ContainSubstring("at_least: 1"))
},
	Entry("one of two", []int{2}, 2, "The files have 1 of 2 pages of the API's answer, so calls may be missing; import all pages together."),
	Entry("all", []int{2, 1}, 2, ""),
	Entry("the only one", []int{1}, 1, ""),
)
