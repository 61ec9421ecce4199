package measure_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

// talk builds a trial from requests and answers.
type talk struct{ record.Trial }

func (t *talk) message(m llm.Message) string {
	id := fmt.Sprintf("m%d", len(t.Messages)+1)
	t.Messages = append(t.Messages, record.Message{ID: id, Message: m})
	return id
}

// call adds a call whose request repeats the last one, with its answer and more messages, and its answer.
func (t *talk) call(reply llm.Message, more ...llm.Message) {
	var request []string
	if n := len(t.Calls); n > 0 {
		request = append(append(request, t.Calls[n-1].Messages...), t.Calls[n-1].Reply)
	}
	for _, m := range more {
		request = append(request, t.message(m))
	}
	t.Calls = append(t.Calls, record.Call{N: len(t.Calls) + 1, Messages: request, Reply: t.message(reply)})
}

// mcp adds a call of the tool refund at a scripted MCP server.
func (t *talk) mcp(arguments, failure, fault string) {
	n := 1
	for i := range t.Events {
		if t.Events[i].Kind == event.Tool {
			n++
		}
	}
	t.Events = append(t.Events, record.Event{Event: event.New(n, "", record.ToolCall{
		Server: "shop", Tool: "refund", Arguments: arguments, Error: failure, Fault: fault, Calls: len(t.Calls),
	})})
}

func (t *talk) turn(n int, user string) {
	t.Events = append(t.Events, record.Event{Event: event.New(n, "", record.Turn{User: user, Calls: len(t.Calls)})})
}

func asks(calls ...llm.ToolCall) llm.Message {
	return llm.Message{Role: llm.Assistant, ToolCalls: calls}
}

func said(text string) llm.Message { return llm.Message{Role: llm.Assistant, Content: text} }

func result(id, text string) llm.Message {
	return llm.Message{Role: llm.ToolRole, ToolCallID: id, Content: text}
}

func (t *talk) facts() measure.Facts { return measure.Trial(record.Scenario{}, t.Trial, nil, nil) }

var _ = Describe("Failures of tools that the model is not told of", Label("H-04"), func() {
	const failure = "the tool failed (a scripted fault)"
	user := llm.Message{Role: llm.User, Content: "Refund A-17."}
	done := said("Done.")
	one := llm.ToolCall{ID: "c1", Name: "refund", Arguments: `{"order": "A-17"}`}
	two := llm.ToolCall{ID: "c2", Name: "refund", Arguments: `{"order": "B-18"}`}

	// told returns the facts of a run in which a call fails, and the model is then told something.
	told := func(results ...llm.Message) []string {
		t := &talk{}
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17"}`, failure, "error")
		t.call(done, results...)
		return t.facts().Run.Hidden
	}

	DescribeTable("are found", func(text, shown string) {
		Expect(told(result("c1", text))).To(Equal([]string{"refund (MCP call 1, error): the model was told: " + shown}))
	},
		Entry("in a success", "ok", "ok"),
		Entry("in the golden result", "refunded 20 EUR", "refunded 20 EUR"),
		Entry("in nothing", "", "an empty result"),
		Entry("in a result without errors", `{"error":null}`, `{"error":null}`),
		Entry("on one line", "refunded\n20", "refunded 20"),
	)

	DescribeTable("are not found", func(results ...llm.Message) { Expect(told(results...)).To(BeEmpty()) },
		Entry("in a word for a failure", result("c1", "Error: MCP error -32603")),
		Entry("in French", result("c1", "L'outil n'a pas répondu.")),
		Entry("in the text of the failure, quoted in JSON", result("c1", `{"content":"`+failure+`"}`)),
		Entry("in a result that is marked", llm.Message{Role: llm.ToolRole, ToolCallID: "c1", Content: "ok", ToolError: true}),
		Entry("without a result", user),
		Entry("in the result of another call", result("c9", "ok")),
	)

	It("are not found if the agent repeated the call with success", func() {
		t := &talk{}
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17"}`, failure, "error")
		t.mcp(`{"order":"A-17"}`, "", "")
		t.call(done, result("c1", "refunded 20 EUR"))
		Expect(t.facts().Run.Hidden).To(BeEmpty())
	})

	It("are found if the agent repeated the call in vain", func() {
		t := &talk{}
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17"}`, failure, "error")
		t.mcp(`{"order":"A-17"}`, failure, "exit")
		t.call(done, result("c1", "ok"))
		Expect(t.facts().Run.Hidden).To(HaveLen(2))
	})

	It("are distinguished from parallel calls of the same tool", func() {
		parallel := func(first, second string) []string {
			t := &talk{}
			t.call(asks(one, two), user)
			t.mcp(`{"order":"B-18"}`, "", "")
			t.mcp(`{"order":"A-17"}`, failure, "error")
			t.call(done, result("c1", first), result("c2", second))
			return t.facts().Run.Hidden
		}
		Expect(parallel("it failed", "refunded")).To(BeEmpty())
		Expect(parallel("refunded", "it failed")).To(HaveLen(1))
	})

	It("are not made good by a later call with other arguments", func() {
		t := &talk{}
		t.call(asks(one, two), user)
		t.mcp(`{"order":"A-17"}`, failure, "error")
		t.mcp(`{"order":"B-18"}`, "", "")
		t.call(done, result("c1", "ok"), result("c2", "refunded"))
		Expect(t.facts().Run.Hidden).To(Equal([]string{"refund (MCP call 1, error): the model was told: ok"}))
	})

	DescribeTable("are matched in order if the arguments are equal", func(first, second, told string) {
		again := one
		again.ID = "c2"
		for n, failures := range [][]string{{failure, ""}, {"", failure}} {
			t := &talk{}
			t.call(asks(one, again), user)
			results := []string{first, second}
			for i, e := range failures {
				t.mcp(`{ "order" : "A-17" }`, e, map[bool]string{true: "error"}[e != ""])
				results[i] = map[bool]string{true: first, false: second}[e != ""]
			}
			t.call(done, result("c1", results[0]), result("c2", results[1]))
			want := fmt.Sprintf("refund (MCP call %d, error): the model was told: %s", n+1, told)
			if told == "" {
				Expect(t.facts().Run.Hidden).To(BeEmpty())
			} else {
				Expect(t.facts().Run.Hidden).To(Equal([]string{want}))
			}
		}
	},
		Entry("and hidden", "ok", "refunded 20 EUR", "ok"),
		Entry("and told", "it failed", "refunded 20 EUR", ""),
		Entry("and told for the other one, which may have arrived first", "refunded 20 EUR", "it failed", ""),
	)

	It("are matched with a reply that is not the last one if that asked for other arguments", func() {
		for text, hidden := range map[string]int{"it failed": 0, "ok": 1} {
			t := &talk{}
			t.call(asks(one), user)
			t.Calls = append(t.Calls, record.Call{N: 2, Reply: t.message(asks(two))}) // another conversation of the agent
			t.mcp(`{"order":"A-17"}`, failure, "error")
			t.mcp(`{"order":"B-18"}`, "", "")
			t.call(done, result("c1", text), result("c2", "refunded"))
			Expect(t.facts().Run.Hidden).To(HaveLen(hidden))
		}
	})

	It("are matched with calls whose arguments the agent changed", func() {
		t := &talk{}
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17","key":1}`, failure, "error")
		t.mcp(`{"order":"A-17","key":2}`, "", "")
		t.call(done, result("c1", "refunded"))
		Expect(t.facts().Run.Hidden).To(BeEmpty())
	})

	It("are judged by the result of their own call, and not by earlier ones", func() {
		t := &talk{}
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17"}`, "", "")
		t.call(asks(llm.ToolCall{ID: "c3", Name: "mcp__shop__refund", Arguments: "{}"}), result("c1", "refunded"))
		t.mcp(`{}`, failure, "malformed")
		t.call(done, result("c3", "refunded"))
		Expect(t.facts().Run.Hidden).To(HaveLen(1))
	})

	It("are unknown for calls that the model did not ask for", func() {
		t := &talk{}
		t.mcp(`{"order":"A-17"}`, failure, "error")
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17"}`, "", "")
		t.call(done, result("c1", "refunded"))
		t.mcp(`{"order":"A-17"}`, failure, "error")
		t.call(done, user)
		Expect(t.facts().Run.Hidden).To(BeEmpty())
	})

	It("do not include results and notifications that did not fail", func() {
		t := &talk{}
		t.call(asks(one), user)
		t.mcp(`{"order":"A-17"}`, "", "list_changed")
		t.call(done, result("c1", "refunded"))
		Expect(t.facts().Run.Hidden).To(BeEmpty())
	})
})

var _ = Describe("The memory of an external agent", Label("H-04"), func() {
	conversation := func(restart string, second ...llm.Message) measure.Facts {
		t := &talk{}
		t.call(llm.Message{Role: llm.Assistant, Content: "Which order?"}, llm.Message{Role: llm.User, Content: "I want my money back."})
		t.turn(1, "I want my money back.")
		if restart != "" {
			t.Events = append(t.Events, record.Event{Event: event.New(2, restart, record.Perturbed{Restarted: restart == "turn=2:restart"})})
		}
		t.Calls = append(t.Calls, record.Call{N: 2, Messages: nil})
		for _, m := range second {
			t.Calls[1].Messages = append(t.Calls[1].Messages, t.message(m))
		}
		t.turn(2, "Order A-17.")
		return t.facts()
	}
	first := llm.Message{Role: llm.User, Content: "I want my money back."}
	second := llm.Message{Role: llm.User, Content: "Order A-17."}

	It("is seen in the requests of the turns", func() {
		f := conversation("", first, second)
		Expect(f.Run.Recalled).To(Equal([]string{"turn 1 in turn 2"}))
		Expect(measure.GoldenOf(&f).Recalled).To(Equal([]string{"turn 1 in turn 2"}))
		Expect(f.Run.Forgot).To(BeEmpty())
	})

	It("is found in any message, such as a summary", func() {
		f := conversation("turn=2:restart", llm.Message{Role: llm.System, Content: "Earlier: I want my money back. Which order?"}, second)
		Expect(f.Run.Recalled).To(Equal([]string{"turn 1 in turn 2"}))
	})

	It("includes all earlier turns", func() {
		t := &talk{}
		third := llm.Message{Role: llm.User, Content: "Thanks."}
		t.call(said("Which?"), first)
		t.turn(1, first.Content)
		t.call(said("Done."), second)
		t.turn(2, second.Content)
		t.Events = append(t.Events, record.Event{Event: event.New(3, "turn=3:restart", record.Perturbed{Restarted: true})})
		t.Calls = append(t.Calls, record.Call{N: 3, Messages: []string{t.message(second), t.message(said("Done.")), t.message(third)}})
		t.turn(3, third.Content)
		Expect(t.facts().Run.Recalled).To(Equal([]string{"turn 1 in turn 2", "turn 2 in turn 3"}))
		Expect(t.facts().Run.Forgot).To(Equal([]string{"turn 1 in turn 3"}))
	})

	DescribeTable("is found in other forms", func(content string) {
		t := &talk{}
		message := "It said \"été\":\n  C:\\new"
		t.call(llm.Message{Role: llm.Assistant, Content: "Yes?"}, llm.Message{Role: llm.User, Content: message})
		t.turn(1, message)
		t.Calls = append(t.Calls, record.Call{N: 2, Messages: []string{t.message(llm.Message{Role: llm.System, Content: content})}})
		t.turn(2, "Order A-17.")
		Expect(t.facts().Run.Recalled).To(Equal([]string{"turn 1 in turn 2"}))
	},
		Entry("with other white space", "It said \"été\": C:\\new"),
		Entry("in JSON", `[{"content": "It said \"été\":\n  C:\\new"}]`),
		Entry("in JSON of ASCII", `[{"content": "It said \"\u00e9t\u00e9\":\n  C:\\new"}]`),
		Entry("in JSON in JSON", `"[{\"content\": \"It said \\\"été\\\":\\n  C:\\\\new\"}]"`),
	)

	It("is lost only by a restart", func() {
		Expect(conversation("turn=2:restart", second).Run.Forgot).To(Equal([]string{"turn 1 in turn 2"}))
		Expect(conversation("turn=2:double", second).Run.Forgot).To(BeEmpty())
		Expect(conversation("", second).Run.Forgot).To(BeEmpty())
	})
})

var _ = Describe("The failures in a row", Label("H-04"), func() {
	DescribeTable("end when the agent gives up", func(want int, faults ...string) {
		t := &talk{}
		for _, f := range faults {
			t.Exchanges = append(t.Exchanges, record.Exchange{Fault: f, Fired: f != ""})
		}
		f := t.facts()
		Expect(f.Calls.InARow).To(Equal(want))
		data, err := json.Marshal(f.Calls)
		Expect(err).NotTo(HaveOccurred())
		if want == 0 {
			Expect(string(data)).NotTo(ContainSubstring("in_a_row"))
		}
	},
		Entry("without any", 0, "", ""),
		Entry("after one", 0, "status", ""),
		Entry("after two", 2, "", "status", "status", ""),
		Entry("after two of another kind", 0, "status", "exit", ""),
		Entry("before another kind", 2, "status", "status", "exit"),
		Entry("and not with the last of them", 2, "", "status", "status", "status"),
		Entry("twice", 3, "status", "status", "", "exit", "exit", "exit", ""),
	)
})
