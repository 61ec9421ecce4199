package wire_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// input returns a Responses request with these items.
func input(items ...string) string {
	return `{"model":"m","input":[` + strings.Join(items, ",") + `]}`
}

// wanting returns a valid Responses request with further members.
func wanting(members ...string) string {
	return `{"model":"m","input":"hi"` + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	fnCall   = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"}`
	fnOutput = `{"type":"function_call_output","call_id":"c1","output":"ok"}`
	jsCall   = `{"type":"custom_tool_call","id":"ctc_1","call_id":"c2","name":"exec","input":"text(\"hi\")"}`
	jsOutput = `{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}`
	shCall   = `{"type":"local_shell_call","id":"lsh_1","call_id":"c3","action":{"type":"exec","command":["ls"]},"status":"completed"}`
	shOutput = `{"type":"local_shell_call_output","id":"c3","output":"{}"}`
	answered = `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"x","annotations":[]}]}`
	thought  = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":null}`
)

var _ = Describe("Decode of OpenAI Responses", Label("H-02"), func() {
	DescribeTable("refuses as the provider does",
		func(body, param, code, message string) {
			_, e := wire.OpenAIResponses{}.Decode([]byte(body))
			Expect(e).To(HaveOccurred())
			Expect(e.Status).To(Equal(400))
			Expect(e.Type).To(Equal("invalid_request_error"))
			Expect(e.Param).To(Equal(param))
			Expect(e.Code).To(Equal(code))
			Expect(e.Message).To(ContainSubstring(message))
		},
		Entry("nothing", ``, "", "", "could not parse"),
		Entry("hostile depth", wanting(`"x":`+strings.Repeat("[", 100_000)), "", "", "could not parse"),
		Entry("no model", `{"input":"hi"}`, "model", "missing_required_parameter", "'model'"),
		Entry("no input", `{"model":"m"}`, "input", "missing_required_parameter", "'input'"),
		Entry("an input that is a number", `{"model":"m","input":3}`, "input", "invalid_type", "string or array of input items, but got a number"),
		Entry("an empty input", input(), "input", "empty_array", "minimum length 1"),
		Entry("an item that is a text", input(`"hi"`), "input[0]", "invalid_type", "expected an object, but got a string"),
		Entry("temperature above 2", wanting(`"temperature":2.1`), "temperature", "decimal_above_max_value", "<= 2, but got 2.1"),
		Entry("top_p above 1", wanting(`"top_p":1.1`), "top_p", "decimal_above_max_value", "<= 1, but got 1.1"),
		Entry("a small limit", wanting(`"max_output_tokens":15`), "max_output_tokens", "integer_below_min_value", ">= 16, but got 15"),
		Entry("a background response", wanting(`"background":true`), "background", "unsupported_value", "scripted server"),
		Entry("an unknown truncation", wanting(`"truncation":"half"`), "truncation", "invalid_value", "'half'"),
		Entry("17 pairs of metadata", wanting(metadata(17)), "metadata", "object_above_max_properties", "at most 16"),

		Entry("a tool without a type", wanting(`"tools":[{"name":"f"}]`), "tools[0].type", "missing_required_parameter", ""),
		Entry("a function without a name", wanting(`"tools":[{"type":"function","function":{"name":"f"}}]`), "tools[0].name", "missing_required_parameter", ""),
		Entry("a function with a space in its name", wanting(`"tools":[{"type":"function","name":"a b"}]`), "tools[0].name", "invalid_value", "does not match pattern"),
		Entry("parameters that are a text", wanting(`"tools":[{"type":"function","name":"f","parameters":"x"}]`), "tools[0].parameters", "invalid_type", "got a string"),
		Entry("a tool of a namespace without a name", wanting(`"tools":[{"type":"namespace","name":"ns","tools":[{"type":"custom"}]}]`), "tools[0].tools[0].name", "missing_required_parameter", ""),
		Entry("an additional tool without a name", input(`{"type":"additional_tools","tools":[{"type":"function"}]}`, user), "input[0].tools[0].name", "missing_required_parameter", ""),

		Entry("a message without a role", input(`{"type":"message","content":"x"}`), "input[0].role", "missing_required_parameter", ""),
		Entry("a tool's message", input(`{"role":"tool","content":"x"}`), "input[0].role", "invalid_value", "'tool'. Supported values are: 'assistant', 'system', 'developer', 'user'"),
		Entry("a message without content", input(`{"role":"user"}`), "input[0].content", "missing_required_parameter", ""),
		Entry("content that is a number", input(`{"role":"user","content":1}`), "input[0].content", "invalid_type", "got a number"),
		Entry("a user's output", input(`{"role":"user","content":[{"type":"output_text","text":"x"}]}`), "input[0].content[0]", "invalid_value", "'output_text'. Supported values are: 'input_text'"),
		Entry("an assistant's input", input(user, `{"role":"assistant","content":[{"type":"input_text","text":"x"}]}`), "input[1].content[0]", "invalid_value", "'input_text'. Supported values are: 'output_text', 'refusal'"),
		Entry("a part of the chat protocol", input(`{"role":"user","content":[{"type":"text","text":"x"}]}`), "input[0].content[0]", "invalid_value", "'text'"),

		Entry("a call without an id", input(user, `{"type":"function_call","name":"f","arguments":"{}"}`), "input[1].call_id", "missing_required_parameter", ""),
		Entry("a call without a name", input(user, `{"type":"function_call","call_id":"c","arguments":"{}"}`), "input[1].name", "missing_required_parameter", ""),
		Entry("a call without arguments", input(user, `{"type":"function_call","call_id":"c","name":"f"}`), "input[1].arguments", "missing_required_parameter", ""),
		Entry("a call whose arguments are an object", input(user, `{"type":"function_call","call_id":"c","name":"f","arguments":{}}`), "input[1].arguments", "invalid_type", "got an object"),
		Entry("a call's id of its item", input(user, strings.Replace(fnCall, `"call_id"`, `"id":"call_9","call_id"`, 1), fnOutput), "input[1].id", "invalid_value", "Expected an ID that begins with 'fc'"),
		Entry("a message's id of another item", input(strings.Replace(answered, "msg_1", "resp_1", 1)), "input[0].id", "invalid_value", "begins with 'msg'"),
		Entry("an output without an id", input(user, `{"type":"function_call_output","output":"x"}`), "input[1].call_id", "missing_required_parameter", ""),
		Entry("an output without output", input(user, fnCall, `{"type":"function_call_output","call_id":"c1"}`), "input[2].output", "missing_required_parameter", ""),
		Entry("an output that is an object", input(user, fnCall, `{"type":"function_call_output","call_id":"c1","output":{"a":1}}`), "input[2].output", "invalid_type", "got an object"),
		Entry("an orphan output", input(user, fnOutput), "input", "", "No tool call found for function call output with call_id c1."),
		Entry("an orphan output of a custom tool", input(user, jsOutput), "input", "", "with call_id c2."),
		Entry("an output before its call", input(user, fnOutput, fnCall), "input", "", "No tool call found"),
		Entry("an output given twice", input(user, fnCall, fnOutput, fnOutput), "input", "", "Duplicate"),
		Entry("a call without output", input(user, fnCall), "input", "", "No tool output found for function call c1."),
		Entry("a call without output, of another kind", input(user, shCall, user), "input", "", "No tool output found for function call c3."),

		Entry("an item without type and content", input(user, `{}`), "input[1].role", "missing_required_parameter", ""),
		Entry("a choice of no mode", wanting(`"tool_choice":"always"`), "tool_choice", "invalid_value", "'always'"),
		Entry("a choice of a tool that is not there", wanting(`"tools":[{"type":"function","name":"f"}],"tool_choice":{"type":"function","name":"g"}`), "tool_choice", "", "Tool choice 'g' not found in 'tools' parameter."),
		Entry("an orphan output of no conversation", `{"model":"m","conversation":null,"prompt":null,"input":[`+fnOutput+`]}`, "input", "", "No tool call found"),

		Entry("JSON mode without the word", wanting(`"text":{"format":{"type":"json_object"}}`), "input", "", "must contain the word 'json'"),
		Entry("a schema without a name", wanting(`"text":{"format":{"type":"json_schema"}}`), "text.format.name", "missing_required_parameter", ""),
		Entry("an unknown format", wanting(`"text":{"format":{"type":"xml"}}`), "text.format.type", "invalid_value", "'xml'"),
	)

	DescribeTable("accepts",
		func(body string) {
			_, e := wire.OpenAIResponses{}.Decode([]byte(body))
			Expect(e).NotTo(HaveOccurred())
		},
		Entry("the least", wanting()),
		Entry("unknown members, and null for others", wanting(`"future":{"a":[1]},"tools":null,"tool_choice":null,"temperature":null,"instructions":null,"metadata":null,"reasoning":null,"include":null,"text":{}`)),
		Entry("no background", wanting(`"background":false`)),
		Entry("the ends of the ranges", wanting(`"temperature":2,"top_p":1,"max_output_tokens":16,"truncation":"auto"`)),
		Entry("the continuation of a response", `{"model":"m","previous_response_id":"resp_1","input":[`+fnOutput+`]}`),
		Entry("the continuation of a response without more", `{"model":"m","previous_response_id":"resp_1"}`),
		Entry("the output of a call that is only referred to", input(user, `{"type":"item_reference","id":"fc_1"}`, fnOutput)),
		Entry("a conversation", `{"model":"m","conversation":{"id":"conv_1"},"input":[]}`),
		Entry("items of other types", input(user, `{"type":"web_search_call","id":"ws_1","status":"completed"}`, `{"type":"item_reference","id":"x"}`, `{"type":"compaction","encrypted_content":"x"}`, `{"type":"future"}`)),
		Entry("calls of the provider's tools, whatever their ids", input(user, strings.Replace(shCall, "lsh_1", "x", 1), shOutput)),
		Entry("tools of the provider's", wanting(`"tools":[{"type":"web_search"},{"type":"mcp","server_label":"x"}]`)),
		Entry("a reference without a type", input(user, `{"id":"fc_1"}`, fnOutput)),
		Entry("a prompt that the provider keeps", `{"model":"m","prompt":{"id":"pmpt_1"},"tool_choice":{"type":"function","name":"f"}}`),
		Entry("a choice of a mode", wanting(`"tool_choice":"required"`)),
		Entry("a choice of a tool in a namespace", wanting(`"tools":[{"type":"namespace","name":"n","tools":[{"type":"custom","name":"exec"}]}],"tool_choice":{"type":"custom","name":"exec"}`)),
		Entry("a choice of a tool of the input", `{"model":"m","tool_choice":{"type":"custom","name":"exec"},"input":[`+user+`,{"type":"additional_tools","tools":[{"type":"custom","name":"exec"}]}]}`),
		Entry("a choice of the provider's tools", wanting(`"tools":[{"type":"web_search"}],"tool_choice":{"type":"web_search"}`)),
		Entry("JSON mode", `{"model":"m","input":"as json","text":{"format":{"type":"json_object"}}}`),
		Entry("arguments that are not JSON, which it gave itself", input(user, strings.Replace(fnCall, `{\"a\":1}`, `{\"a\":`, 1), fnOutput)),
		Entry("outputs in another order", input(user, fnCall, jsCall, jsOutput, fnOutput)),
	)

	It("reads no content from a reference", func() {
		c, e := wire.OpenAIResponses{}.Decode([]byte(input(user, `{"id":"msg_1"}`)))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages).To(HaveLen(1))
	})

	It("gives the request in neutral form", func() {
		c, e := wire.OpenAIResponses{}.Decode([]byte(`{"model":"gpt","instructions":"Be brief.","stream":true,"temperature":0.5,"max_output_tokens":64,
			"metadata":{"purpose":"loop","k":"v"},"text":{"format":{"type":"json_schema","name":"s"}},
			"tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object"}},{"type":"local_shell"}],
			"input":[` + strings.Join([]string{
			`{"type":"additional_tools","tools":[{"type":"namespace","name":"ns","tools":[{"type":"custom","name":"exec"}]}]}`,
			`{"role":"developer","content":"dev"}`,
			`{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,` + pngBase64 + `"},{"type":"input_text","text":"b"}]}`,
			thought, answered, fnCall, jsCall, shCall, fnOutput, jsOutput, shOutput, thought, answered, answered, user,
		}, ",") + `]}`))
		Expect(e).NotTo(HaveOccurred())
		half := 0.5
		Expect(c.IncludeUsage).To(BeTrue())
		Expect(c.Request).To(Equal(llm.Request{
			Purpose: "loop", Tags: map[string]string{"k": "v"},
			Model: "gpt", MaxTokens: 64, Stream: true, Temperature: &half, JSONMode: true,
			Tools: []llm.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}, {Name: "local_shell"}, {Name: "exec"}},
			Messages: []llm.Message{
				{Role: llm.System, Content: "Be brief."},
				{Role: llm.Developer, Content: "dev"},
				{Role: llm.User, Content: "a\nb", Attachments: []llm.Attachment{{Kind: "image", MediaType: "image/png", Bytes: 4, SHA256: pngDigest}}},
				{Role: llm.Assistant, Content: "x", ToolCalls: []llm.ToolCall{
					{ID: "c1", Name: "f", Arguments: `{"a":1}`},
					{ID: "c2", Name: "exec", Arguments: `{"input":"text(\"hi\")"}`},
					{ID: "c3", Name: "local_shell", Arguments: `{"type":"exec","command":["ls"]}`},
				}},
				{Role: llm.ToolRole, Content: "ok", ToolCallID: "c1"},
				{Role: llm.ToolRole, Content: "a\nb", ToolCallID: "c2"},
				{Role: llm.ToolRole, Content: "{}", ToolCallID: "c3"},
				{Role: llm.Assistant, Content: "x\nx"},
				{Role: llm.User, Content: "hi"},
			},
		}))
	})

	It("describes attachments of messages and outputs", func() {
		c, e := wire.OpenAIResponses{}.Decode([]byte(input(
			`{"role":"user","content":[{"type":"input_image","file_id":"file-1"},{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,`+pngBase64+`"},{"type":"input_file","file_url":"https://example.com/a.pdf"}]}`,
			fnCall, `{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,`+pngBase64+`"}]}`)))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages[0].Attachments).To(Equal([]llm.Attachment{
			{Kind: "image", Source: "file-1"},
			{Kind: "file", MediaType: "application/pdf", Name: "a.pdf", Bytes: 4, SHA256: pngDigest},
			{Kind: "file", Source: "https://example.com/a.pdf"},
		}))
		Expect(c.Messages[2].Content).To(Equal("a"))
		Expect(c.Messages[2].Attachments).To(Equal([]llm.Attachment{{Kind: "image", MediaType: "image/png", Bytes: 4, SHA256: pngDigest}}))
	})

	It("reads a text as the user's message", func() {
		c, e := wire.OpenAIResponses{}.Decode([]byte(wanting()))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages).To(Equal([]llm.Message{{Role: llm.User, Content: "hi"}}))
	})

	It("accepts its own answers when clients send them back", func() {
		call, e := wire.OpenAIResponses{}.Decode([]byte(wanting(`"tools":[{"type":"custom","name":"list"}]`)))
		Expect(e).NotTo(HaveOccurred())
		answer := wire.Completion{ID: "resp_1", Model: "m", Thinking: "hm", Text: "x", ToolCalls: toolAnswer.ToolCalls}
		var response struct {
			Output []json.RawMessage `json:"output"`
		}
		Expect(json.Unmarshal(wire.OpenAIResponses{}.Encode(call, answer)[0].Data, &response)).To(Succeed())
		Expect(response.Output).To(HaveLen(4))
		items := []string{user}
		for _, item := range response.Output {
			items = append(items, string(item))
		}
		items = append(items, strings.Replace(fnOutput, "c1", "call_1", 1), strings.Replace(jsOutput, "c2", "call_2", 1))
		back, e := wire.OpenAIResponses{}.Decode([]byte(input(items...)))
		Expect(e).NotTo(HaveOccurred())
		Expect(back.Messages[1].ToolCalls[0]).To(Equal(toolAnswer.ToolCalls[0]))
	})
})
