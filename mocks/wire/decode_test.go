package wire_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"
	openai "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// asking returns a valid request with further members.
func asking(members ...string) string {
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

// saying returns a request with these messages.
func saying(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

const (
	user   = `{"role":"user","content":"hi"}`
	call   = `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	calls  = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	result = `{"role":"tool","tool_call_id":"c1","content":"ok"}`
	second = `{"role":"tool","tool_call_id":"c2","content":"ok"}`
	// pngBase64 is the first 4 bytes of an image.
	pngBase64  = "iVBORw=="
	pngDigest  = "0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543"
	pngPart    = `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pngBase64 + `"}}`
	soundPart  = `{"type":"input_audio","input_audio":{"data":"AAA=","format":"wav"}}`
	customTool = `"tools":[{"type":"custom","custom":{"name":"sh","description":"a shell","format":{"type":"text"}}}]`
	tool       = `"tools":[{"type":"function","function":{"name":"f"}}]`
)

func callWith(id, kind, name, arguments string) string {
	return fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":%q,"type":%q,"function":{"name":%q,"arguments":%q}}]}`, id, kind, name, arguments)
}

func toolNamed(name string) string {
	return fmt.Sprintf(`"tools":[{"type":"function","function":{"name":%q}}]`, name)
}

func metadata(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":"v"`, i)
	}
	return `"metadata":{` + b.String()[1:] + `}`
}

var _ = Describe("Decode", Label("H-02"), func() {
	DescribeTable("refuses as the provider does",
		func(body, param, code, message string) {
			_, e := codec.Decode([]byte(body))
			Expect(e).To(HaveOccurred())
			Expect(e.Status).To(Equal(400))
			Expect(e.Type).To(Equal("invalid_request_error"))
			Expect(e.Param).To(Equal(param))
			Expect(e.Code).To(Equal(code))
			Expect(e.Message).To(ContainSubstring(message))
		},
		Entry("nothing", ``, "", "", "could not parse"),
		Entry("no JSON", `{"model":`, "", "", "could not parse"),
		Entry("two values", asking()+`{}`, "", "", "could not parse"),
		Entry("a member twice", asking(`"model":"n"`), "", "", "could not parse"),
		Entry("bytes that are not UTF-8", asking("\"user\":\"\xff\""), "", "", "could not parse"),
		Entry("hostile depth", asking(`"user":`+strings.Repeat("[", 100_000)), "", "", "could not parse"),
		Entry("a list", `[]`, "", "", "one JSON object"),

		Entry("no model", `{"messages":[`+user+`]}`, "model", "missing_required_parameter", "'model'"),
		Entry("a model that is no text", `{"model":7,"messages":[]}`, "model", "invalid_type", "expected a string, but got a number"),
		Entry(`stream "yes"`, asking(`"stream":"yes"`), "stream", "invalid_type", "expected a boolean, but got a string"),
		Entry("temperature 99", asking(`"temperature":99`), "temperature", "decimal_above_max_value", "<= 2, but got 99"),
		Entry("temperature above 2", asking(`"temperature":2.001`), "temperature", "decimal_above_max_value", "2.001"),
		Entry("temperature below 0", asking(`"temperature":-0.1`), "temperature", "decimal_below_min_value", "-0.1"),
		Entry("temperature as text", asking(`"temperature":"hot"`), "temperature", "invalid_type", "a decimal"),
		Entry("max_tokens 0", asking(`"max_tokens":0`), "max_tokens", "integer_below_min_value", ">= 1"),
		Entry("max_tokens 1.5", asking(`"max_tokens":1.5`), "max_tokens", "invalid_type", "an integer"),
		Entry("max_completion_tokens -1", asking(`"max_completion_tokens":-1`), "max_completion_tokens", "integer_below_min_value", "-1"),
		Entry("both limits", asking(`"max_tokens":1,"max_completion_tokens":1`), "max_tokens", "invalid_parameter_combination", "at the same time"),
		Entry("too many choices", asking(`"n":129`), "n", "integer_above_max_value", "<= 128"),
		Entry("no choice", asking(`"n":0`), "n", "integer_below_min_value", ">= 1"),
		Entry("stream options without a stream", asking(`"stream_options":{"include_usage":true}`), "stream_options", "", "when 'stream' is enabled"),

		Entry("no messages", `{"model":"m"}`, "messages", "missing_required_parameter", "'messages'"),
		Entry("an empty list of messages", saying(), "messages", "empty_array", "minimum length 1"),
		Entry("messages that are a text", `{"model":"m","messages":"hi"}`, "messages", "invalid_type", "expected an array, but got a string"),
		Entry("a message that is a text", saying(user, `"hi"`), "messages[1]", "invalid_type", "expected an object, but got a string"),
		Entry("a message without a role", saying(user, `{"content":"x"}`), "messages[1].role", "missing_required_parameter", ""),
		Entry("an unknown role", saying(`{"role":"robot","content":"x"}`), "messages[0].role", "invalid_value", "'robot'. Supported values are: 'system'"),
		Entry("a user message without content", saying(`{"role":"user"}`), "messages[0].content", "missing_required_parameter", ""),
		Entry("a user message with null", saying(`{"role":"user","content":null}`), "messages[0].content", "invalid_type", "got null"),
		Entry("an empty assistant message", saying(`{"role":"assistant"}`), "messages[0].content", "missing_required_parameter", ""),
		Entry("content that is a number", saying(`{"role":"user","content":3}`), "messages[0].content", "invalid_type", "got a number"),
		Entry("content that is a boolean", saying(`{"role":"user","content":true}`), "messages[0].content", "invalid_type", "got a boolean"),
		Entry("content that is an object", saying(`{"role":"user","content":{}}`), "messages[0].content", "invalid_type", "got an object"),
		Entry("a text that is a list", saying(`{"role":"user","content":[{"type":"text","text":[]}]}`), "messages[0].content[0].text", "invalid_type", "expected a string, but got an array"),
		Entry("options that are a list", asking(`"stream_options":[]`), "stream_options", "invalid_type", "expected an object, but got an array"),
		Entry("content without parts", saying(`{"role":"user","content":[]}`), "messages[0].content", "empty_array", ""),
		Entry("a part of another type", saying(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"video"}]}`), "messages[0].content[1].type", "invalid_value", "'video'. Supported values are: 'text', 'image_url', 'input_audio', 'file'"),
		Entry("an image that the assistant sent", saying(`{"role":"assistant","content":[`+pngPart+`]}`), "messages[0].content[0].type", "invalid_value", "'text', 'refusal'"),
		Entry("an image of the system's", saying(`{"role":"system","content":[`+pngPart+`]}`), "messages[0].content[0].type", "invalid_value", "'text'."),
		Entry("an image without a URL", saying(`{"role":"user","content":[{"type":"image_url"}]}`), "messages[0].content[0].image_url.url", "missing_required_parameter", ""),
		Entry("an image that is no base64", saying(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,@@"}}]}`), "messages[0].content[0].image_url.url", "invalid_value", "base64"),
		Entry("an image that is cut off", saying(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64"}}]}`), "messages[0].content[0].image_url.url", "invalid_value", "base64"),
		Entry("an image that is a number", saying(`{"role":"user","content":[{"type":"image_url","image_url":7}]}`), "messages[0].content[0].image_url", "invalid_type", ""),
		Entry("a sound without content", saying(`{"role":"user","content":[{"type":"input_audio"}]}`), "messages[0].content[0].input_audio", "missing_required_parameter", ""),
		Entry("a sound of another format", saying(`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAA=","format":"ogg"}}]}`), "messages[0].content[0].input_audio.format", "invalid_value", "'wav', 'mp3'"),
		Entry("a file without content", saying(`{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf"}}]}`), "messages[0].content[0].file", "missing_required_parameter", ""),
		Entry("a part that is a text", saying(`{"role":"user","content":["x"]}`), "messages[0].content[0]", "invalid_type", "expected an object"),
		Entry("a user's refusal", saying(`{"role":"user","content":[{"type":"refusal","refusal":"x"}]}`), "messages[0].content[0].type", "invalid_value", "'refusal'"),

		Entry("an orphan tool result", saying(user, result), "messages[1].tool_call_id", "", "must be a response to a preceding message"),
		Entry("a result of another call", saying(user, call, `{"role":"tool","tool_call_id":"zz","content":""}`), "messages[2].tool_call_id", "", "'zz'"),
		Entry("a result given twice", saying(user, call, result, result), "messages[3].tool_call_id", "", "no call that is still open"),
		Entry("a result after another message", saying(user, call, result, user, result), "messages[4].tool_call_id", "", ""),
		Entry("a result without an id", saying(call, `{"role":"tool","content":"x"}`), "messages[1].tool_call_id", "missing_required_parameter", ""),
		Entry("an unanswered call at the end", saying(user, call), "messages[1].tool_calls", "", "did not have response messages: c1"),
		Entry("an unanswered call before a message", saying(user, calls, result, user), "messages[1].tool_calls", "", "did not have response messages: c2"),
		Entry("an empty list of calls", saying(`{"role":"assistant","content":"x","tool_calls":[]}`), "messages[0].tool_calls", "empty_array", ""),
		Entry("a user's tool call", saying(strings.Replace(call, "assistant", "user", 1), result), "messages[0].tool_calls", "", "only messages with role 'assistant'"),
		Entry("a call without an id", saying(callWith("", "function", "f", "{}")), "messages[0].tool_calls[0].id", "missing_required_parameter", ""),
		Entry("a call of another type", saying(callWith("c1", "web", "f", "{}"), result), "messages[0].tool_calls[0].type", "invalid_value", "'web'"),
		Entry("a call without a name", saying(callWith("c1", "function", "", "{}"), result), "messages[0].tool_calls[0].function.name", "missing_required_parameter", ""),
		Entry("broken arguments JSON", saying(callWith("c1", "function", "f", `{"a":`), result), "messages[0].tool_calls[0].function.arguments", "invalid_value", "not valid JSON"),
		Entry("arguments that are an object", saying(`{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":{}}}]}`), "messages[0].tool_calls[0].function.arguments", "invalid_type", "expected a string, but got an object"),
		Entry("two calls of one id", saying(strings.Replace(calls, "c2", "c1", 1), result), "messages[0].tool_calls[1].id", "invalid_value", "Duplicate"),
		Entry("129 calls", saying(`{"role":"assistant","tool_calls":[{}`+strings.Repeat(`,{}`, 128)+`]}`), "messages[0].tool_calls", "array_above_max_length", "at most 128"),

		Entry("a tool of another type", asking(`"tools":[{"type":"retrieval"}]`), "tools[0].type", "invalid_value", "'retrieval'"),
		Entry("a tool without a name", asking(toolNamed("")), "tools[0].function.name", "missing_required_parameter", ""),
		Entry("a tool with a space in its name", asking(toolNamed("a b")), "tools[0].function.name", "invalid_value", "does not match pattern"),
		Entry("a tool with an umlaut in its name", asking(toolNamed("ä")), "tools[0].function.name", "invalid_value", "does not match pattern"),
		Entry("a tool with a name of 65 letters", asking(toolNamed(strings.Repeat("x", 65))), "tools[0].function.name", "string_above_max_length", "at most 64, but got 65"),
		Entry("parameters that are no object", asking(`"tools":[{"type":"function","function":{"name":"f","parameters":"x"}}]`), "tools[0].function.parameters", "invalid_type", "got a string"),
		Entry("129 tools", asking(`"tools":[{}`+strings.Repeat(`,{}`, 128)+`]`), "tools", "array_above_max_length", "at most 128"),
		Entry("a tool choice without tools", asking(`"tool_choice":"auto"`), "tool_choice", "", "only allowed when 'tools'"),
		Entry("an unknown tool choice", asking(tool, `"tool_choice":"maybe"`), "tool_choice", "invalid_value", "'maybe'"),
		Entry("the choice of another tool", asking(tool, `"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice", "", "'g' not found"),
		Entry("the choice of no tool", asking(tool, `"tool_choice":{"type":"function"}`), "tool_choice.function.name", "missing_required_parameter", ""),
		Entry("the choice of an unknown kind", asking(tool, `"tool_choice":{"type":"web"}`), "tool_choice.type", "invalid_value", "'allowed_tools'"),
		Entry("the choice of a function as a custom tool", asking(tool, `"tool_choice":{"type":"custom","custom":{"name":"f"}}`), "tool_choice", "", "'f' not found"),
		Entry("allowed tools without a mode", asking(tool, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"tools":[{"type":"function","function":{"name":"f"}}]}}`), "tool_choice.allowed_tools.mode", "invalid_value", "'auto', 'required'"),
		Entry("no allowed tools", asking(tool, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}`), "tool_choice.allowed_tools.tools", "missing_required_parameter", ""),
		Entry("an allowed tool that is not there", asking(tool, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`), "tool_choice", "", "'g' not found"),
		Entry("a custom tool without a name", asking(`"tools":[{"type":"custom","custom":{}}]`), "tools[0].custom.name", "missing_required_parameter", ""),
		Entry("a call of a custom tool without a name", saying(`{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"input":"x"}}]}`, result), "messages[0].tool_calls[0].custom.name", "missing_required_parameter", ""),
		Entry("a tool choice that is a number", asking(tool, `"tool_choice":1`), "tool_choice", "invalid_type", "a string"),

		Entry("JSON mode without the word", asking(`"response_format":{"type":"json_object"}`), "messages", "", "must contain the word 'json'"),
		Entry("an unknown format", asking(`"response_format":{"type":"xml"}`), "response_format.type", "invalid_value", "'xml'"),
		Entry("a schema without a name", asking(`"response_format":{"type":"json_schema","json_schema":{}}`), "response_format.json_schema.name", "missing_required_parameter", ""),
		Entry("metadata that is no text", asking(`"metadata":{"k":1}`), "metadata.k", "invalid_type", "expected a string, but got a number"),
		Entry("17 pairs of metadata", asking(metadata(17)), "metadata", "object_above_max_properties", "at most 16, but got 17"),
		Entry("a long key", asking(`"metadata":{"`+strings.Repeat("k", 65)+`":""}`), "metadata", "string_above_max_length", "at most 64"),
		Entry("a long value", asking(`"metadata":{"k":"`+strings.Repeat("v", 513)+`"}`), "metadata.k", "string_above_max_length", "at most 512"),
	)

	DescribeTable("accepts",
		func(body string) {
			_, e := codec.Decode([]byte(body))
			Expect(e).NotTo(HaveOccurred())
		},
		Entry("the least", asking()),
		Entry("unknown fields", asking(`"top_p":0.5,"future":{"a":[1]},"user":"u"`)),
		Entry("null for every optional field", asking(`"tools":null,"tool_choice":null,"stream":null,"stream_options":null,"response_format":null,"temperature":null,"max_tokens":null,"n":null,"metadata":null`)),
		Entry("the ends of the ranges", asking(`"temperature":2,"max_tokens":1,"n":1`)),
		Entry("temperature 0", asking(`"temperature":0`)),
		Entry("every role", saying(`{"role":"system","content":""}`, `{"role":"developer","content":"x"}`, user, `{"role":"assistant","content":"x"}`)),
		Entry("answers in another order", saying(user, calls, second, result, user)),
		Entry("an id used again later", saying(user, call, result, call, result)),
		Entry("an assistant's refusal", saying(user, `{"role":"assistant","refusal":"no"}`, user)),
		Entry("a name of 64 letters", asking(toolNamed(strings.Repeat("x", 64)))),
		Entry("every sign of a name", asking(toolNamed("azAZ09_-"))),
		Entry("16 pairs of metadata", asking(metadata(16))),
		Entry("each tool choice by name", asking(tool, `"tool_choice":{"type":"function","function":{"name":"f"}}`)),
		Entry("a custom tool, chosen by name", asking(customTool, `"tool_choice":{"type":"custom","custom":{"name":"sh"}}`)),
		Entry("allowed tools", asking(customTool, `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"custom","custom":{"name":"sh"}}]}}`)),
		Entry("a call without arguments", saying(user, callWith("c1", "function", "f", ""), result)),
		Entry("an image by its address, a sound and a file", saying(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png","detail":"low"}},`+soundPart+`,{"type":"file","file":{"file_id":"file-1"}}]}`)),
		Entry("base64 without padding", saying(`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAA","format":"mp3"}}]}`)),
		Entry("a spoken answer", saying(user, `{"role":"assistant","audio":{"id":"audio_1"}}`, user)),
		Entry("the word in any case, after other words", strings.Replace(asking(`"response_format":{"type":"json_object"}`), "hi", "jj Just JsOn", 1)),
	)

	It("turns a request into the neutral form", func() {
		c, e := codec.Decode([]byte(`{"model":"gpt-4.1","stream":true,"stream_options":{"include_usage":true},
			"temperature":0.5,"max_tokens":9,"seed":3,"metadata":{"purpose":"judge","block":"2A"},"response_format":{"type":"json_object"},
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
			"messages":[{"role":"system","content":[{"type":"text","text":"be "},{"type":"text","text":"JSON"}]},
				{"role":"user","name":"ann","content":"caf\u00e9 \ud83d\ude00"},` + call + `,` + result + `,{"role":"assistant","refusal":"no"}]}`))
		Expect(e).NotTo(HaveOccurred())
		half, three := 0.5, 3
		Expect(c).To(Equal(wire.Call{IncludeUsage: true, Request: llm.Request{
			Purpose: "judge", Tags: map[string]string{"block": "2A"}, Model: "gpt-4.1", JSONMode: true, Stream: true,
			MaxTokens: 9, Temperature: &half, Seed: &three,
			Tools: []llm.Tool{{Name: "f", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}},
			Messages: []llm.Message{
				{Role: llm.System, Content: "be JSON"},
				{Role: llm.User, Content: "café 😀", Name: "ann"},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}}},
				{Role: llm.ToolRole, Content: "ok", ToolCallID: "c1"},
				{Role: llm.Assistant, Content: "no"},
			},
		}}))
	})

	It("describes images, sounds and files without storing them", func() {
		c, e := codec.Decode([]byte(saying(`{"role":"user","content":[{"type":"text","text":"what is this?"},` + pngPart + `,` + soundPart + `,
			{"type":"image_url","image_url":{"url":"https://example.com/` + strings.Repeat("x", 600) + `"}},
			{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,` + pngBase64 + `"}},
			{"type":"file","file":{"file_id":"file-1"}}]}`)))
		Expect(e).NotTo(HaveOccurred())
		m := c.Messages[0]
		Expect(m.Content).To(Equal("what is this?"))
		Expect(m.Attachments).To(HaveLen(5))
		Expect(m.Attachments[0]).To(Equal(llm.Attachment{Kind: "image", MediaType: "image/png", Bytes: 4, SHA256: pngDigest}))
		Expect(m.Attachments[0].String()).To(Equal("image image/png 4 bytes sha256:" + pngDigest))
		Expect(m.Attachments[1]).To(MatchFields(IgnoreExtras, Fields{"Kind": Equal("audio"), "MediaType": Equal("audio/wav"), "Bytes": Equal(2)}))
		Expect(m.Attachments[2]).To(MatchFields(IgnoreExtras, Fields{"Kind": Equal("image"), "Bytes": BeZero(), "SHA256": BeEmpty(), "Source": SatisfyAll(HavePrefix("https://example.com/x"), HaveSuffix("…"), HaveLen(503))}))
		Expect(m.Attachments[3]).To(Equal(llm.Attachment{Kind: "file", MediaType: "application/pdf", Name: "a.pdf", Bytes: 4, SHA256: pngDigest}))
		Expect(m.Attachments[4].String()).To(Equal("file file-1"))
	})

	It("turns custom tools, and calls of them, into the neutral form", func() {
		talk := saying(user, `{"role":"assistant","tool_calls":[{"id":"c1","type":"custom","custom":{"name":"sh","input":"ls \"x\""}}]}`, result,
			callWith("c1", "function", "f", ""), result)
		c, e := codec.Decode([]byte(strings.TrimSuffix(talk, "}") + "," + customTool + "}"))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Tools).To(Equal([]llm.Tool{{Name: "sh", Description: "a shell"}}))
		Expect(c.Messages[1].ToolCalls).To(Equal([]llm.ToolCall{{ID: "c1", Name: "sh", Arguments: `{"input":"ls \"x\""}`}}))
		Expect(c.Messages[3].ToolCalls).To(Equal([]llm.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}}))
	})

	It("reads any text back, however it is escaped", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z"/\\\n\t\r\x08\f<&é😀]*`)).Draw(t, "text")
			quoted, err := json.Marshal(text) // escapes <, > and & as \u003c ...
			if err != nil {
				t.Fatal(err)
			}
			plain := string(quoted)
			slashed := strings.ReplaceAll(plain, "/", `\/`)
			ascii := strconv.AppendQuoteToASCII(nil, "é")
			ascii = append(ascii[:len(ascii)-1], plain[1:]...)
			for _, c := range []struct{ quoted, want string }{{plain, text}, {slashed, text}, {string(ascii), "é" + text}} {
				call, e := codec.Decode([]byte(saying(`{"role":"user","content":` + c.quoted + `}`)))
				if e != nil || call.Messages[0].Content != c.want {
					t.Fatalf("%s was read as %+v, %v", c.quoted, call.Messages, e)
				}
			}
		})
	})

	It("prefers the newer name of the token limit and has no tags beside a purpose", func() {
		c, e := codec.Decode([]byte(asking(`"max_completion_tokens":7,"metadata":{"purpose":"loop"}`)))
		Expect(e).NotTo(HaveOccurred())
		Expect(c.MaxTokens).To(Equal(7))
		Expect(c.Purpose).To(Equal("loop"))
		Expect(c.Tags).To(BeNil())
	})

	DescribeTable("reads which tools are offered, by",
		func(codec wire.Codec, body, offered string, any bool) {
			call, err := codec.Decode([]byte(body))
			Expect(err).NotTo(HaveOccurred())
			Expect(call.Offers(offered)).To(BeTrue())
			Expect(call.Offers("other")).To(Equal(any))
		},
		Entry("chat completions", codec, asking(`"tools":[{"type":"custom","custom":{"name":"sh"}},{"type":"function","function":{"name":"f"}}]`), "sh", false),
		Entry("functions", codec, asking(`"functions":[{"name":"f"}]`), "f", false),
		Entry("Responses", wire.OpenAIResponses{}, `{"model":"m","input":"hi","tools":[{"type":"local_shell"},{"type":"web_search"}]}`, "web_search", false),
		Entry("Responses, in a namespace", wire.OpenAIResponses{},
			`{"model":"m","input":"hi","tools":[{"type":"namespace","name":"ns","tools":[{"type":"function","name":"g"}]}]}`, "ns.g", false),
		Entry("Responses, of an MCP server of the provider's", wire.OpenAIResponses{},
			`{"model":"m","input":"hi","tools":[{"type":"mcp","server_label":"x","server_url":"https://x.example"}]}`, "any", true),
		Entry("Responses, with a prompt of the provider's", wire.OpenAIResponses{}, `{"model":"m","prompt":{"id":"pmpt_1"}}`, "any", true),
		Entry("Anthropic", wire.AnthropicMessages{}, begging(`"tools":[{"type":"bash_20250124","name":"bash"}]`), "bash", false),
		Entry("Anthropic, of an MCP server", wire.AnthropicMessages{}, begging(`"tools":[{"type":"mcp_toolset","mcp_server_name":"x"}]`), "any", true),
		Entry("Gemini", wire.Gemini{Model: "gemini-2.5-flash"}, `{"contents":[{"parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}`, "f", false),
		Entry("Gemini, on a screen", wire.Gemini{Model: "gemini-2.5-flash"}, `{"contents":[{"parts":[{"text":"hi"}]}],"tools":[{"computerUse":{}}]}`, "click_at", true),
		Entry("Converse", wire.Converse{},
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}]}}`, "f", false),
		Entry("Converse, of the provider", wire.Converse{},
			`{"messages":[{"role":"user","content":[{"text":"hi"}]}],"toolConfig":{"tools":[{"systemTool":{"name":"nova_grounding"}}]}}`, "any", true),
	)

	It("reads the requests of go-openai's client", func() {
		body, err := json.Marshal(openai.ChatCompletionRequest{
			Model: "m", Stream: true, StreamOptions: &openai.StreamOptions{IncludeUsage: true},
			Messages: []openai.ChatCompletionMessage{
				{Role: "user", MultiContent: []openai.ChatMessagePart{{Type: "text", Text: "hi"}}},
				{Role: "assistant", ToolCalls: []openai.ToolCall{{ID: "c1", Type: "function", Function: openai.FunctionCall{Name: "f", Arguments: "{}"}}}},
				{Role: "tool", ToolCallID: "c1", Content: "ok"},
			},
			Tools:      []openai.Tool{{Type: "function", Function: &openai.FunctionDefinition{Name: "f", Parameters: map[string]any{}}}},
			ToolChoice: "auto", Metadata: map[string]string{"purpose": "loop"},
		})
		Expect(err).NotTo(HaveOccurred())
		c, e := codec.Decode(body)
		Expect(e).NotTo(HaveOccurred())
		Expect(c.Messages[0].Content).To(Equal("hi"))
		Expect(c.Purpose).To(Equal("loop"))
		Expect(c.IncludeUsage).To(BeTrue())
	})
})
