package wire_test

import (
	"math"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = DescribeTable("SplitRoot", Label("H-02"),
	func(path, root, deployment, endpoint string) {
		got, rest := wire.SplitRoot(path)
		Expect(got).To(Equal(wire.Root{Path: root, Deployment: deployment}))
		Expect(rest).To(Equal(endpoint))
	},
	Entry("OpenAI", "/v1/chat/completions", "/v1", "", "/chat/completions"),
	Entry("Azure", "/openai/deployments/gpt-4o/chat/completions", "/openai/deployments/gpt-4o", "gpt-4o", "/chat/completions"),
	Entry("Azure without a deployment", "/openai/responses", "/openai", "", "/responses"),
	Entry("Azure's client with OpenAI's base URL", "/v1/deployments/d/embeddings", "/v1/deployments/d", "d", "/embeddings"),
	Entry("Groq", "/openai/v1/models/m", "/openai/v1", "", "/models/m"),
	Entry("OpenRouter", "/api/v1/chat/completions", "/api/v1", "", "/chat/completions"),
	Entry("no root", "/chat/completions", "", "", "/chat/completions"),
	Entry("a root twice", "/v1/v1/messages", "/v1", "", "/v1/messages"),
	Entry("an empty deployment", "/openai/deployments//embeddings", "/openai", "", "/deployments//embeddings"),
	Entry("a deployment alone", "/openai/deployments/x", "/openai", "", "/deployments/x"),
	Entry("a longer word", "/v1beta/models", "", "", "/v1beta/models"),
)

var _ = Describe("other services' chat completions", Label("H-02"), func() {
	thoughtful := wire.Completion{ID: "chatcmpl-1", Text: "a b", Thinking: "first this", Usage: llm.Usage{Output: 4, Reasoning: 2}}
	at := func(root, deployment string) wire.OpenAIChat {
		return wire.OpenAIChat{Root: wire.Root{Path: root, Deployment: deployment}}
	}

	DescribeTable("carry thinking",
		func(codec wire.OpenAIChat, model, field string) {
			for _, stream := range []bool{false, true} {
				call := wire.Call{Request: llm.Request{Model: model, Stream: stream}}
				body := bodyOf(codec.Encode(call, thoughtful))
				back, err := codec.ReadAnswer(stream, body)
				Expect(err).NotTo(HaveOccurred())
				Expect(back.Text).To(Equal("a b"))
				if field == "" {
					Expect(string(body)).NotTo(ContainSubstring(`"reasoning` + `_content"`))
					Expect(back.Thinking).To(BeEmpty())
					continue
				}
				Expect(string(body)).To(ContainSubstring(`"` + field + `":"first`))
				Expect(back.Thinking).To(Equal("first this"))
			}
		},
		Entry("of DeepSeek", at("/v1", ""), "deepseek-reasoner", "reasoning_content"),
		Entry("without /v1", at("", ""), "deepseek-reasoner", "reasoning_content"),
		Entry("of Groq", at("/openai/v1", ""), "qwen/qwen3-32b", "reasoning"),
		Entry("of an open model of OpenAI's", at("/openai/v1", ""), "openai/gpt-oss-120b", "reasoning"),
		Entry("of OpenRouter, for any model", at("/api/v1", ""), "openai/gpt-5", "reasoning"),
		Entry("not of OpenAI", at("/v1", ""), "gpt-5.4-mini", ""),
		Entry("not of OpenAI's o3", at("/v1", ""), "o3", ""),
		Entry("not of Azure", at("/openai/deployments/d", "d"), "d", ""),
	)

	It("give each piece of a streamed thought a chunk, before the text", func() {
		expectGolden("reasoning-stream", render(codec.Encode(wire.Call{Request: llm.Request{Model: "deepseek-reasoner", Stream: true}}, thoughtful)))
	})

	It("begin a stream of Azure with the result of its filter", func() {
		azure := at("/openai/deployments/d", "d")
		expectGolden("azure-stream", render(azure.Encode(usageCall, textAnswer)))
		call, err := azure.Decode([]byte(`{"messages":[` + user + `]}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(call.Model).To(Equal("d"))
	})

	It("read a thought that is in both fields once, and skip one that is not a text", func() {
		for body, want := range map[string]string{
			`{"reasoning_content":"hm","reasoning":"hm"}`: "hm", `{"reasoning":"hm"}`: "hm", `{"reasoning":{"effort":1}}`: "", `{"reasoning":null}`: "",
		} {
			c, err := codec.ReadAnswer(false, []byte(`{"choices":[{"index":0,"message":`+body+`,"finish_reason":"stop"}]}`))
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Thinking).To(Equal(want))
		}
	})

	It("get the usage in a stream without asking, and from Mistral whole tool calls", func() {
		for _, x := range []struct {
			codec wire.OpenAIChat
			model string
			want  bool
		}{{at("/v1", ""), "gpt-4.1", false}, {at("/api/v1", ""), "gpt-4.1", true}, {at("/v1", ""), "magistral-medium", true}} {
			call, err := x.codec.Decode([]byte(gptAsking(x.model, `"stream":true`)))
			Expect(err).NotTo(HaveOccurred())
			Expect(call.IncludeUsage).To(Equal(x.want), x.model)
			body := bodyOf(x.codec.Encode(call, toolAnswer))
			Expect(strings.Contains(string(body), `"function":{"name":"read_file","arguments":"{\"path\":\"a b.txt\"}"`)).To(Equal(x.model == "magistral-medium"))
			back, readErr := x.codec.ReadAnswer(true, body)
			Expect(readErr).NotTo(HaveOccurred())
			Expect(back.ToolCalls).To(Equal(toolAnswer.ToolCalls))
		}
	})

	It("get Mistral's usage in the last chunk with a choice, whatever they ask for", func() {
		call, err := at("/v1", "").Decode([]byte(gptAsking("mistral-large-latest", `"stream":true`)))
		Expect(err).NotTo(HaveOccurred())
		frames := codec.Encode(call, toolAnswer)
		expectGolden("mistral-stream", render(frames))
		for _, asked := range []wire.Call{{Request: call.Request}, {Request: call.Request, IncludeUsage: true}} {
			Expect(render(codec.Encode(asked, toolAnswer))).To(Equal(render(frames)))
		}
		several := toolAnswer
		several.More = []wire.Completion{textAnswer}
		body := string(bodyOf(codec.Encode(call, several)))
		Expect(strings.Count(body, `"usage":`)).To(Equal(1))
		Expect(body).To(MatchRegexp(`"index":1[^\n]*"finish_reason":"stop"}],"usage":{"prompt_tokens":20,[^\n]*\n\ndata: \[DONE\]`))
	})

	It("get no null as fingerprint or usage in OpenRouter's chunks, whatever they ask for", func() {
		openRouter := at("/api/v1", "")
		for _, options := range []string{`"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`} {
			call, err := openRouter.Decode([]byte(gptAsking("anthropic/claude-haiku-4.5", options)))
			Expect(err).NotTo(HaveOccurred())
			expectGolden("openrouter-stream", render(openRouter.Encode(call, toolAnswer)))
		}
		Expect(string(bodyOf(openRouter.Encode(plainCall, textAnswer)))).To(ContainSubstring(`"system_fingerprint":null`), "its client requires one there")
	})

	It("get Groq's usage in the last chunk with a choice, and in a chunk of its own if they ask for that", func() {
		atGroq := at("/openai/v1", "")
		call, err := atGroq.Decode([]byte(gptAsking("openai/gpt-oss-20b", `"stream":true`)))
		Expect(err).NotTo(HaveOccurred())
		frames := atGroq.Encode(call, toolAnswer)
		expectGolden("groq-stream", render(frames))
		back, readErr := atGroq.ReadAnswer(true, bodyOf(frames))
		Expect(readErr).NotTo(HaveOccurred())
		Expect(back.Usage).To(And(HaveField("Input", 20), HaveField("Output", 8), HaveField("Source", llm.UsageReported)))

		asked, err := atGroq.Decode([]byte(gptAsking("openai/gpt-oss-20b", `"stream":true,"stream_options":{"include_usage":true}`)))
		Expect(err).NotTo(HaveOccurred())
		expectGolden("groq-stream-usage", render(atGroq.Encode(asked, toolAnswer)))
		Expect(string(bodyOf(atGroq.Encode(streamCall, toolAnswer)))).NotTo(ContainSubstring("x_groq"), "Azure has the same path")

		several := toolAnswer
		several.More = []wire.Completion{textAnswer}
		body := string(bodyOf(atGroq.Encode(call, several)))
		Expect(strings.Count(body, `"x_groq"`)).To(Equal(2))
		Expect(body).To(MatchRegexp(`"index":1[^\n]*"finish_reason":"stop"}],"x_groq":{"id":"req_2","usage":{"prompt_tokens":20,`))
	})

	It("get a wrong usage from the services that always send one", func() {
		for _, x := range []struct {
			codec wire.OpenAIChat
			model string
			want  bool
		}{
			{at("/openai/v1", ""), "qwen/qwen3-32b", true},
			{at("/api/v1", ""), "gpt-4.1", true},
			{at("/v1", ""), "mistral-large-latest", true},
			{at("/v1", ""), "gpt-4.1", false},
		} {
			call, err := x.codec.Decode([]byte(gptAsking(x.model, `"stream":true`)))
			Expect(err).NotTo(HaveOccurred())
			frames, fired := newFault(wire.FaultSpec{Kind: "wrong-usage"})(x.codec, call, toolAnswer)
			Expect(fired).To(Equal(x.want), x.model)
			Expect(strings.Contains(string(bodyOf(frames)), `"prompt_tokens":1200`)).To(Equal(x.want), x.model)
		}
	})

	DescribeTable("get errors in the service's form, which ReadError gives back",
		func(root, model string, status int, body string, want wire.APIError) {
			codec := wire.ForModel(at(root, ""), model)
			call := wire.Call{Request: llm.Request{Model: model}}
			frames, _ := newFault(wire.FaultSpec{Kind: "status", Status: status, Message: "m"})(codec, call, textAnswer)
			Expect(string(frames[0].Data)).To(Equal(body))
			want.Status, want.Message = status, "m"
			Expect(*wire.ReadError(status, nil, frames[0].Data)).To(Equal(want))
		},
		Entry("OpenRouter", "/api/v1", "openai/gpt-5", 429, `{"error":{"code":429,"message":"m","metadata":{"error_type":"rate_limit_exceeded"}}}`,
			wire.APIError{Code: "rate_limit_exceeded"}),
		Entry("OpenRouter, a wrong key", "/api/v1", "openai/gpt-5", 401, `{"error":{"code":401,"message":"m","metadata":{"error_type":"authentication"}}}`,
			wire.APIError{Code: "authentication"}),
		Entry("OpenRouter, without a type", "/api/v1", "openai/gpt-5", 503, `{"error":{"code":503,"message":"m"}}`, wire.APIError{Code: "503"}),
		Entry("OpenRouter, for a model of Mistral's", "/api/v1", "mistralai/mistral-nemo", 503, `{"error":{"code":503,"message":"m"}}`,
			wire.APIError{Code: "503"}),
		Entry("Mistral", "/v1", "mistral-large-latest", 429,
			`{"object":"error","message":"m","type":"rate_limited","param":null,"code":"1300","raw_status_code":429}`,
			wire.APIError{Type: "rate_limited", Code: "1300"}),
		Entry("Mistral, without a code", "/v1", "mistral-large-latest", 503,
			`{"object":"error","message":"m","type":"server_error","param":null,"code":null,"raw_status_code":503}`,
			wire.APIError{Type: "server_error"}),
		Entry("Groq", "/openai/v1", "qwen/qwen3-32b", 429, `{"error":{"message":"m","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
			wire.APIError{Type: "requests", Code: "rate_limit_exceeded"}),
	)

	It("get OpenRouter's errors over Responses as well", func() {
		codec, ok := wire.ForPath("POST", "/api/v1/responses")
		Expect(ok).To(BeTrue())
		codec = wire.ForRequest(codec, nil, nil)
		frames, _ := newFault(wire.FaultSpec{Kind: "status", Status: 401, Message: "m"})(codec, plainCall, textAnswer)
		Expect(string(frames[0].Data)).To(Equal(`{"error":{"code":401,"message":"m","metadata":{"error_type":"authentication"}}}`))
	})

	It("get OpenRouter's errors in a stream as a chunk", func() {
		openRouter := at("/api/v1", "")
		call, err := openRouter.Decode([]byte(gptAsking("openai/gpt-5", `"stream":true`)))
		Expect(err).NotTo(HaveOccurred())
		frames, fired := newFault(wire.FaultSpec{Kind: "error-event", Status: 502, Message: "m"})(openRouter, call, textAnswer)
		Expect(fired).To(BeTrue())
		Expect(string(frames[len(frames)-1].Data)).To(And(
			HavePrefix(`data: {"id":"`+textAnswer.ID+`","object":"chat.completion.chunk",`),
			HaveSuffix(`"finish_reason":"error"}],"error":{"code":502,"message":"m"}}`+"\n\n")))
		_, readErr := openRouter.ReadAnswer(true, bodyOf(frames))
		Expect(readErr).To(MatchError(&wire.APIError{Status: 502, Code: "502", Message: "m"}))
	})

	It("get the chunks of OpenRouter and Groq for Mistral's models there", func() {
		for _, root := range []string{"/api/v1", "/openai/v1"} {
			body := string(bodyOf(at(root, "").Encode(wire.Call{Request: llm.Request{Model: "mistralai/mistral-nemo", Stream: true}}, toolAnswer)))
			Expect(body).To(ContainSubstring(`"function":{"name":"read_file","arguments":""}`))
		}
	})

	DescribeTable("get ids of tool calls", func(codec wire.Codec, model string, random uint64, want string) {
		Expect(wire.CallID(codec, model, random)).To(Equal(want))
	},
		Entry("of Mistral", codec, "mistral-large-latest", uint64(math.MaxUint64), "11264sgsf"),
		Entry("of Mistral, always 9 characters", codec, "codestral-latest", uint64(36), "000000010"),
		Entry("of OpenAI", codec, "gpt-4.1", uint64(36), "call_10"),
		Entry("of OpenRouter", at("/api/v1", ""), "mistralai/mistral-nemo", uint64(36), "call_10"),
		Entry("of Anthropic", wire.AnthropicMessages{}, "mistral-large-latest", uint64(36), "toolu_10"),
	)

	It("give Mistral's embeddings an id", func() {
		for model, has := range map[string]bool{"mistral-embed": true, "text-embedding-3-small": false} {
			body := string(codec.Embed([]byte(`{"model":"`+model+`","input":"x","dimensions":1}`), nil)[0].Data)
			Expect(strings.Contains(body, `"id":"embd-`)).To(Equal(has))
		}
		body := string(at("/openai/deployments/e", "e").Embed([]byte(`{"input":"x","dimensions":1}`), nil)[0].Data)
		Expect(body).To(ContainSubstring(`"model":"e"`))
	})

	It("send several choices, with the usage once", func() {
		second := toolAnswer
		several := textAnswer
		several.More = []wire.Completion{second}
		call := usageCall
		call.N = 2
		expectGolden("choices", "== at once\n"+render(codec.Encode(plainCall, several))+"== streamed\n"+render(codec.Encode(call, several)))
		first, err := codec.ReadAnswer(true, bodyOf(codec.Encode(call, several)))
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Text).To(Equal(textAnswer.Text))
		Expect(first.ToolCalls).To(BeEmpty())
	})
})

var _ = Describe("functions, the older form of tools,", Label("H-02"), func() {
	const functions = `"functions":[{"name":"f","description":"d","parameters":{"type":"object"}}]`
	const called = `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\":1}"}}`
	const returned = `{"role":"function","name":"f","content":"ok"}`

	It("are read as tools, calls and results", func() {
		body := saying(user, called, returned)
		call, err := codec.Decode([]byte(body[:len(body)-1] + `,` + functions + `,"function_call":{"name":"f"}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(call.Tools).To(HaveExactElements(HaveField("Name", "f")))
		Expect(call.Messages[1].ToolCalls).To(HaveExactElements(HaveField("Arguments", `{"a":1}`)))
		Expect(call.Messages[2]).To(And(HaveField("Role", llm.ToolRole), HaveField("Content", "ok"), HaveField("ToolCallID", call.Messages[1].ToolCalls[0].ID)))
		for _, call.Stream = range []bool{false, true} {
			sent := bodyOf(codec.Encode(call, wire.Completion{ID: "chatcmpl-1", ToolCalls: toolAnswer.ToolCalls[:1]}))
			Expect(string(sent)).To(ContainSubstring(`"function_call":{"name":"read_file"`))
			Expect(string(sent)).To(ContainSubstring(`"finish_reason":"function_call"`))
			Expect(string(sent)).NotTo(ContainSubstring("tool_calls"))
			back, err := codec.ReadAnswer(call.Stream, sent)
			Expect(err).NotTo(HaveOccurred())
			Expect(back.Finish).To(Equal(llm.FinishToolCalls))
			Expect(back.ToolCalls).To(HaveExactElements(And(HaveField("Name", "read_file"), HaveField("Arguments", `{"path":"a b.txt"}`))))
		}
	})

	DescribeTable("are refused as by the provider", func(body, param, message string) {
		_, err := codec.Decode([]byte(body))
		Expect(err).To(HaveOccurred())
		Expect(err.Param).To(Equal(param))
		Expect(err.Message).To(ContainSubstring(message))
	},
		Entry("beside tools", asking(functions, tool), "functions", "same time"),
		Entry("an empty list", asking(`"functions":[]`), "functions", "empty array"),
		Entry("without a name", asking(`"functions":[{}]`), "functions[0].name", "Missing"),
		Entry("a choice without functions", asking(`"function_call":"auto"`), "function_call", "only allowed when"),
		Entry("another choice", asking(functions, `"function_call":"f"`), "function_call", "'none', 'auto'"),
		Entry("an unknown function", asking(functions, `"function_call":{"name":"g"}`), "function_call", "no function named 'g'"),
		Entry("a result without a name", saying(user, called, `{"role":"function","content":"x"}`), "messages[2].name", "Missing"),
		Entry("a call by the user", saying(`{"role":"user","content":"x","function_call":{"name":"f","arguments":""}}`), "messages[0].function_call", "role 'assistant'"),
	)

	It("need no result for each call, and no call for each result", func() {
		for _, messages := range []string{saying(user, called, user), saying(user, returned)} {
			_, err := codec.Decode([]byte(messages))
			Expect(err).NotTo(HaveOccurred())
		}
	})
})
