package wire_test

import (
	"fmt"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// talk returns a Messages request with these messages.
func talk(messages ...string) string {
	return `{"model":"m","max_tokens":9,"messages":[` + strings.Join(messages, ",") + `]}`
}

// begging returns a valid Messages request with further members.
func begging(members ...string) string {
	return strings.TrimSuffix(talk(user), "}") + strings.Join(append([]string{""}, members...), ",") + `}`
}

// from returns a message with these blocks.
func from(role string, blocks ...string) string {
	return fmt.Sprintf(`{"role":%q,"content":[%s]}`, role, strings.Join(blocks, ","))
}

const (
	says     = `{"type":"text","text":"x"}`
	use1     = `{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}`
	use2     = `{"type":"tool_use","id":"t2","name":"f","input":{}}`
	result1  = `{"type":"tool_result","tool_use_id":"t1","content":"ok"}`
	result2  = `{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pngBase64 + `"}},{"type":"text","text":"b"}],"is_error":true}`
	oneTool  = `"tools":[{"name":"f","input_schema":{"type":"object"}}]`
	aMessage = `{"role":"assistant","content":"fine"}`
)

var _ = Describe("Decode of Anthropic Messages", Label("H-02"), func() {
	DescribeTable("refuses as the provider does",
		func(body, message string) {
			_, e := wire.AnthropicMessages{}.Decode([]byte(body))
			Expect(e).To(HaveOccurred())
			Expect(e.Status).To(Equal(400))
			Expect(e.Type).To(Equal("invalid_request_error"))
			Expect(e.Message).To(ContainSubstring(message))
		},
		Entry("nothing", ``, "not valid JSON"),
		Entry("a list", `[]`, "not valid JSON"),
		Entry("two values", begging()+`{}`, "not valid JSON"),
		Entry("hostile depth", begging(`"x":`+strings.Repeat("[", 100_000)), "not valid JSON"),
		Entry("no model", `{"max_tokens":1,"messages":[`+user+`]}`, "model: Field required"),
		Entry("no limit", `{"model":"m","messages":[`+user+`]}`, "max_tokens: Field required"),
		Entry("a negative limit", `{"model":"m","max_tokens":-1,"messages":[`+user+`]}`, "max_tokens: Input should be greater"),
		Entry("a limit that is a text", `{"model":"m","max_tokens":"9","messages":[`+user+`]}`, "max_tokens: Input should be an integer, not a string"),
		Entry("temperature above 1", begging(`"temperature":1.1`), "temperature: range: 0..1"),
		Entry("top_p below 0", begging(`"top_p":-0.1`), "top_p: range: 0..1"),
		Entry("top_k below 0", begging(`"top_k":-1`), "top_k"),
		Entry("a blank stop sequence", begging(`"stop_sequences":["a"," "]`), "stop_sequences.1: each stop sequence"),

		Entry("an image without a source", talk(from("user", `{"type":"image"}`)), "messages.0.content.0.image.source: Field required"),
		Entry("an image without data", talk(from("user", `{"type":"image","source":{"type":"base64","media_type":"image/png"}}`)), "source.base64.data: Field required"),
		Entry("an image without a media type", talk(from("user", `{"type":"image","source":{"type":"base64","data":"AA=="}}`)), "source.base64.media_type: Field required"),
		Entry("a document that is no base64", talk(from("user", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"@"}}`)), "document.source.base64: invalid base64 data"),

		Entry("thinking without a type", begging(`"thinking":{}`), "thinking.type: Field required"),
		Entry("thinking of another type", begging(`"thinking":{"type":"deep"}`), "'deep' found using 'type'"),
		Entry("thinking without a budget", begging(`"thinking":{"type":"enabled"}`), "budget_tokens: Field required"),
		Entry("thinking with a small budget", begging(`"thinking":{"type":"enabled","budget_tokens":1023}`), "greater than or equal to 1024"),
		Entry("thinking with more than the limit", begging(`"thinking":{"type":"enabled","budget_tokens":1024}`), "`max_tokens` must be greater"),
		Entry("thinking with a temperature", strings.Replace(begging(`"thinking":{"type":"enabled","budget_tokens":1024},"temperature":0.5`), ":9,", ":9000,", 1), "may only be set to 1"),
		Entry("thinking with a forced tool", strings.Replace(begging(oneTool, `"tool_choice":{"type":"any"},"thinking":{"type":"enabled","budget_tokens":1024}`), ":9,", ":9000,", 1), "forces tool use"),

		Entry("a tool without a name", begging(`"tools":[{"input_schema":{}}]`), "tools.0.name: Field required"),
		Entry("a tool with a space in its name", begging(`"tools":[{"name":"a b","input_schema":{}}]`), "should match pattern"),
		Entry("a tool with a long name", begging(`"tools":[{"name":"`+strings.Repeat("x", 129)+`","input_schema":{}}]`), "should match pattern"),
		Entry("a tool without a schema", begging(`"tools":[{"name":"f"}]`), "tools.0.input_schema: Field required"),
		Entry("a tool whose schema is a text", begging(`"tools":[{"name":"f","input_schema":"x"}]`), "input_schema: Input should be an object"),
		Entry("a tool twice", begging(`"tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}]`), "Tool names must be unique"),
		Entry("a choice without tools", begging(`"tool_choice":{"type":"auto"}`), "while providing `tools`"),
		Entry("a choice without a type", begging(oneTool, `"tool_choice":{}`), "tool_choice.type: Field required"),
		Entry("an unknown choice", begging(oneTool, `"tool_choice":{"type":"required"}`), "'required' found using 'type'"),
		Entry("the choice of no tool", begging(oneTool, `"tool_choice":{"type":"tool"}`), "name: Field required"),
		Entry("the choice of another tool", begging(oneTool, `"tool_choice":{"type":"tool","name":"g"}`), "Tool 'g' not found"),

		Entry("no messages", `{"model":"m","max_tokens":9}`, "messages: Field required"),
		Entry("an empty list of messages", talk(), "at least one message is required"),
		Entry("a message that is a text", talk(`"hi"`), "messages.0: Input should be an object, not a string"),
		Entry("a message without a role", talk(`{"content":"x"}`), "messages.0.role: Field required"),
		Entry("an unknown role", talk(`{"role":"robot","content":"x"}`), `Unexpected role "robot"`),
		Entry("a system message", talk(user, `{"role":"system","content":"x"}`), "top-level `system` parameter"),
		Entry("an answer first", talk(aMessage, user), `first message must use the "user" role`),
		Entry("a message without content", talk(`{"role":"user"}`), "messages.0.content: Field required"),
		Entry("content that is a number", talk(`{"role":"user","content":3}`), "should be a valid list, not a number"),
		Entry("an empty text", talk(`{"role":"user","content":""}`), "messages.0: all messages must have non-empty content"),
		Entry("an empty answer before others", talk(user, `{"role":"assistant","content":[]}`, user), "messages.1: all messages must have non-empty content"),
		Entry("a block without a type", talk(from("user", `{"text":"x"}`)), "messages.0.content.0.type: Field required"),
		Entry("an empty text block", talk(from("user", says, `{"type":"text","text":""}`)), "text content blocks must be non-empty"),
		Entry("a user's tool use", talk(from("user", use1)), "can only be in `assistant` messages"),
		Entry("a tool use without an id", talk(user, from("assistant", `{"type":"tool_use","name":"f","input":{}}`)), "tool_use.id: String should match"),
		Entry("a tool use without a name", talk(user, from("assistant", `{"type":"tool_use","id":"t1","input":{}}`)), "tool_use.name: Field required"),
		Entry("a tool use without input", talk(user, from("assistant", `{"type":"tool_use","id":"t1","name":"f"}`)), "tool_use.input: Field required"),
		Entry("a tool use whose input is a text", talk(user, from("assistant", `{"type":"tool_use","id":"t1","name":"f","input":"{}"}`)), "should be a valid dictionary"),
		Entry("an assistant's result", talk(user, from("assistant", result1)), "can only be in `user` messages"),
		Entry("a result without an id", talk(user, from("assistant", use1), from("user", `{"type":"tool_result"}`)), "tool_use_id: Field required"),
		Entry("a user's thought", talk(from("user", `{"type":"thinking","thinking":"x","signature":"s"}`)), "can only be in `assistant` messages"),
		Entry("a thought without a signature", talk(user, from("assistant", `{"type":"thinking","thinking":"x"}`, says)), "signature: Field required"),
		Entry("a thought that was changed", talk(user, from("assistant", `{"type":"thinking","thinking":"x","signature":"rehearse:AAAA"}`, says)), "Invalid `signature`"),

		Entry("space at the end of an answer that is begun", talk(user, `{"role":"assistant","content":"The answer is "}`), "messages: final assistant content cannot end with trailing whitespace"),
		Entry("space at the end of the last block of one", talk(user, from("assistant", says, `{"type":"text","text":"x\n"}`)), "cannot end with trailing whitespace"),

		Entry("an orphan result", talk(from("user", result1)), "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1"),
		Entry("a result given twice", talk(user, from("assistant", use1), from("user", result1, result1)), "messages.2.content.1: unexpected"),
		Entry("a late result", talk(user, from("assistant", use1), from("user", result1), aMessage, from("user", result1)), "messages.4.content.0: unexpected"),
		Entry("a use without a result", talk(user, from("assistant", use1)), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1"),
		Entry("one of two results", talk(user, from("assistant", use1, use2), from("user", result1), aMessage), "immediately after: t2"),
		Entry("a text in place of the result", talk(user, from("assistant", use1), user), "immediately after: t1"),
		Entry("a text before the result", talk(user, from("assistant", use1), from("user", says, result1)), "immediately after: t1"),
		Entry("two uses of one id", talk(user, from("assistant", use1, use1), from("user", result1)), "ids must be unique"),
	)

	DescribeTable("accepts",
		func(body string) {
			_, e := wire.AnthropicMessages{}.Decode([]byte(body))
			Expect(e).NotTo(HaveOccurred())
		},
		Entry("the least", begging()),
		Entry("unknown members, and null for others", begging(`"future":{"a":[1]},"tools":null,"tool_choice":null,"thinking":null,"system":null,"temperature":null,"metadata":{"user_id":null}`)),
		Entry("the ends of the ranges", begging(`"temperature":1,"top_p":0,"top_k":0`)),
		Entry("an empty answer at the end", talk(user, `{"role":"assistant","content":""}`)),
		Entry("messages of one role in a row", talk(user, user, aMessage, aMessage, user)),
		Entry("results in two messages", talk(user, from("assistant", use1, use2), from("user", result2), from("user", result1, says))),
		Entry("a thought of another provider", talk(user, from("assistant", `{"type":"thinking","thinking":"x","signature":"EqQB"}`, says), user)),
		Entry("blocks of other types", talk(from("user", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`, says), from("assistant", `{"type":"redacted_thinking","data":"x"}`, `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{}}`, says), user)),
		Entry("tools of the provider's", begging(`"tools":[{"type":"bash_20250124","name":"bash"},{"type":"mcp_toolset","mcp_server_name":"x"}]`)),
		Entry("an answer that was broken and mended", talk(user, from("assistant", `{"type":"tool_use","id":"t1","name":"f","input":{"INVALID_JSON":"{"}}`), from("user", result1))),
	)

	It("lets thoughts between tool calls take more than one answer may, by the name of their beta", func() {
		body := []byte(begging(`"thinking":{"type":"enabled","budget_tokens":400000}`))
		_, e := wire.AnthropicMessages{}.Decode(body)
		Expect(e).To(HaveOccurred())
		_, e = wire.AnthropicMessages{Beta: "interleaved-thinking-2025-05-14"}.Decode(body)
		Expect(e).NotTo(HaveOccurred())
	})

	It("allows a system message by the name of its beta, before an answer or at the end", func() {
		c := wire.AnthropicMessages{Beta: "a-2025-01-01,mid-conversation-system-2026-04-07"}
		const system = `{"role":"system","content":"Be brief."}`
		for _, body := range []string{talk(user, system), talk(user, system, aMessage, user)} {
			_, e := c.Decode([]byte(body))
			Expect(e).NotTo(HaveOccurred())
		}
		_, e := c.Decode([]byte(talk(user, system, user)))
		Expect(e.Message).To(Equal("messages.1: role 'system' must precede an 'assistant' message or end the array"))
	})

	It("gives the request in neutral form", func() {
		c, e := wire.AnthropicMessages{}.Decode([]byte(`{"model":"claude","max_tokens":64,"stream":true,"temperature":0.5,
			"system":[{"type":"text","text":"Be","cache_control":{"type":"ephemeral"}},{"type":"text","text":"brief."}],
			"metadata":{"user_id":"u"},"output_config":{"format":{"type":"json_schema"}},
			"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}}],
			"messages":[` + strings.Join([]string{
			user, from("assistant", `{"type":"thinking","thinking":"hm","signature":"s"}`, says, use1, use2),
			from("user", result1, result2, `{"type":"text","text":"go on"}`), aMessage,
		}, ",") + `]}`))
		Expect(e).NotTo(HaveOccurred())
		half := 0.5
		Expect(c.Request).To(Equal(llm.Request{
			Model: "claude", MaxTokens: 64, Stream: true, Temperature: &half, JSONMode: true, Tags: map[string]string{"user_id": "u"},
			Tools: []llm.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}},
			Messages: []llm.Message{
				{Role: llm.System, Content: "Be\nbrief."},
				{Role: llm.User, Content: "hi"},
				{Role: llm.Assistant, Content: "x", ToolCalls: []llm.ToolCall{
					{ID: "t1", Name: "f", Arguments: `{"a":1}`}, {ID: "t2", Name: "f", Arguments: `{}`},
				}},
				{Role: llm.User, Content: "go on"},
				{Role: llm.ToolRole, Content: "ok", ToolCallID: "t1"},
				{Role: llm.ToolRole, Content: "a\nb", ToolCallID: "t2", ToolError: true, Attachments: []llm.Attachment{{Kind: "image", MediaType: "image/png", Bytes: 4, SHA256: pngDigest}}},
				{Role: llm.Assistant, Content: "fine"},
			},
		}))
	})

	It("describes images and documents", func() {
		c, e := wire.AnthropicMessages{}.Decode([]byte(talk(from("user", says,
			`{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`,
			`{"type":"document","title":"a","source":{"type":"base64","media_type":"application/pdf","data":"`+pngBase64+`"}}`,
			`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"\u0089PNG"}}`,
			`{"type":"document","source":{"type":"content","content":[{"type":"text","text":"x"}]}}`,
			`{"type":"document","source":{"type":"file","file_id":"file_1"}}`,
			`{"type":"search_result","source":"https://example.com","title":"t","content":[{"type":"text","text":"x"}]}`))))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages).To(HaveLen(1))
		var described []string
		for _, a := range c.Messages[0].Attachments {
			described = append(described, a.String())
		}
		Expect(described).To(HaveExactElements(
			Equal("image https://example.com/a.png"), Equal("file application/pdf a 4 bytes sha256:"+pngDigest),
			HavePrefix("file text/plain 5 bytes sha256:"), HavePrefix("file 1 bytes sha256:"), Equal("file file_1")))
	})

	It("treats an image beside tool results as part of them", func() {
		c, e := wire.AnthropicMessages{}.Decode([]byte(talk(user, from("assistant", use1), from("user", result1, `{"type":"image","source":{"type":"file","file_id":"file_1"}}`))))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages).To(HaveLen(3), "no message of the user's without a text")
		Expect(c.Messages[2].Attachments).To(Equal([]llm.Attachment{{Kind: "image", Source: "file_1"}}))
	})

	It("declines a message thread in the words at which the vendor's client goes on without it", func() {
		for _, thread := range []string{`{"type":"create"}`, `{"type":"continue","previous_message_id":"msg_1"}`} {
			_, e := wire.AnthropicMessages{}.Decode([]byte(begging(`"thread":` + thread)))
			Expect(e).To(HaveOccurred())
			Expect(e.Declined).To(BeTrue())
			frames := wire.AnthropicMessages{}.EncodeError(e)
			Expect(frames[0].Status).To(Equal(400))
			Expect(frames[0].Data).To(MatchJSON(`{"type":"error","request_id":null,"error":{"type":"invalid_request_error","message":` + strconv.Quote(e.Message) +
				`,"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}}}`))
		}
		_, e := wire.AnthropicMessages{}.Decode([]byte(begging(`"thread":null`)))
		Expect(e).NotTo(HaveOccurred())
	})

	It("counts tokens of a request without limits", func() {
		c, e := wire.AnthropicMessages{}.DecodeCount([]byte(`{"model":"m","messages":[` + user + `]}`))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages).To(HaveLen(1))
		_, e = wire.AnthropicMessages{}.DecodeCount([]byte(`{"model":"m","messages":[]}`))
		Expect(e).To(HaveOccurred())
	})

	It("accepts its own answers when clients send them back", func() {
		answer := wire.Completion{ID: "msg_1", Model: "m", Thinking: "hm", Text: "x", ToolCalls: toolAnswer.ToolCalls}
		body := string(wire.AnthropicMessages{}.Encode(plainCall, answer)[0].Data)
		content := body[strings.Index(body, `[`) : strings.LastIndex(body, `]`)+1]
		_, e := wire.AnthropicMessages{}.Decode([]byte(talk(user, `{"role":"assistant","content":`+content+`}`,
			from("user", `{"type":"tool_result","tool_use_id":"call_1","content":"a"}`, `{"type":"tool_result","tool_use_id":"call_2"}`))))
		Expect(e).NotTo(HaveOccurred())
	})
})
