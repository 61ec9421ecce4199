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
	Entry("and user messages follow each other", generations([2]string{prompt(askFirst, askSecond), sayTwo}),
		[]string{"first", "second"}, []string{"two"}, "join them to one turn"),
)

var _ = It("does not count an earlier answer without content among those that the script gives", func() {
	empty := `{"role":"assistant","content":""}`
	conversations, _, err := read(incident.Langfuse, generations([2]string{prompt(askFirst, empty, askSecond), sayTwo}))
	Expect(err).NotTo(HaveOccurred())
	_, err = incident.Write(conversations[0], incident.Options{})
	Expect(err).To(MatchError("import " + conversations[0].File + ": conversation t has no answer that a script could repeat\n" +
		"  The script ends before call 1 of 2: its answer is not in the file."))
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
