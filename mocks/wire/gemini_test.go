package wire_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// prompting returns a request to Gemini with these contents and further members.
func prompting(contents string, members ...string) string {
	return `{"contents":[` + contents + `]` + strings.Join(append([]string{""}, members...), ",") + `}`
}

const (
	askGemini    = `{"role":"user","parts":[{"text":"go"}]}`
	callGemini   = `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"YQ=="},{"functionCall":{"name":"f"}}]}`
	resultGemini = `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"one"}}},{"functionResponse":{"name":"f","response":{"n":2}}}]}`
	toolGemini   = `"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}]`
)

var _ = Describe("Decode of Gemini", Label("H-02"), func() {
	DescribeTable("refuses as the provider does",
		func(body, message string) {
			_, e := wire.Gemini{Model: "gemini-2.5-pro"}.Decode([]byte(body))
			Expect(e).To(HaveOccurred())
			Expect(e.Status).To(Equal(400))
			Expect(e.Type).To(Equal("INVALID_ARGUMENT"))
			Expect(e.Message).To(ContainSubstring(message))
		},
		Entry("nothing", ``, "Invalid JSON payload received."),
		Entry("hostile depth", prompting(askGemini, `"x":`+strings.Repeat("[", 100_000)), "Invalid JSON payload received."),
		Entry("a text for parts", prompting(`{"parts":["x"]}`), "Invalid value at 'contents[0].parts[0]'"),
		Entry("no contents", `{}`, "* GenerateContentRequest.contents: contents is not specified"),
		Entry("another role", prompting(`{"role":"assistant","parts":[{"text":"x"}]}`), "Please use a valid role: user, model."),
		Entry("no parts", prompting(`{"role":"user"}`), "contents[0].parts: contents.parts must not be empty."),
		Entry("an empty part", prompting(`{"parts":[{"text":"x"},{}]}`), "contents[0].parts[1].data: required oneof field 'data' must have one initialized field"),
		Entry("an empty instruction", prompting(askGemini, `"systemInstruction":{"parts":[{"text":""}]}`), "system_instruction.parts[0].data"),
		Entry("a temperature above 2", prompting(askGemini, `"generationConfig":{"temperature":2.1}`), "temperature must be in the range [0.0, 2.0]."),
		Entry("top_p above 1", prompting(askGemini, `"generation_config":{"top_p":1.1}`), "top_p must be in the range [0.0, 1.0]."),
		Entry("no tokens", prompting(askGemini, `"generationConfig":{"maxOutputTokens":0}`), "max_output_tokens must be positive."),
		Entry("two candidates", prompting(askGemini, `"generationConfig":{"candidateCount":2}`), "Multiple candidates is not enabled"),
		Entry("a level and a budget", prompting(askGemini, `"generationConfig":{"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"LOW"}}`), "one of thinking budget and thinking level"),
		Entry("a schema without JSON", prompting(askGemini, `"generationConfig":{"responseSchema":{"type":"OBJECT"}}`), "generation_config.response_schema"),
		Entry("another format", prompting(askGemini, `"generationConfig":{"responseMimeType":"image/png"}`), "allowed mimetypes are `text/plain`"),
		Entry("JSON and functions, before Gemini 3", prompting(askGemini, toolGemini, `"generationConfig":{"responseMimeType":"application/json"}`), "Function calling with a response mime type"),
		Entry("a bad name", prompting(askGemini, `"tools":[{"functionDeclarations":[{"name":"a b"}]}]`), "tools[0].function_declarations[0].name: Invalid function name."),
		Entry("a function twice", prompting(askGemini, `"tools":[{"functionDeclarations":[{"name":"f"},{"name":"f"}]}]`), "Duplicate function declaration found: f"),
		Entry("an unknown mode", prompting(askGemini, toolGemini, `"toolConfig":{"functionCallingConfig":{"mode":"required"}}`), "Invalid value at 'tool_config.function_calling_config.mode'"),
		Entry("a mode without functions", prompting(askGemini, `"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`), "without function_declarations"),
		Entry("names for another mode", prompting(askGemini, toolGemini, `"toolConfig":{"functionCallingConfig":{"mode":"AUTO","allowedFunctionNames":["f"]}}`), "allowed_function_names only when"),
		Entry("an undeclared name", prompting(askGemini, toolGemini, `"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`), "'g' is not declared"),
		Entry("a call that is first", prompting(callGemini+`,`+resultGemini), "function call turn comes immediately after a user turn"),
		Entry("a call without a response", prompting(askGemini+`,`+callGemini), "number of function response parts is equal"),
		Entry("one response for two calls", prompting(askGemini+`,`+callGemini+`,{"parts":[{"functionResponse":{"name":"f","response":{}}}]}`), "number of function response parts is equal"),
		Entry("responses in two contents", prompting(askGemini+`,`+callGemini+strings.Repeat(`,{"parts":[{"functionResponse":{"name":"f","response":{}}}]}`, 2)), "number of function response parts is equal"),
		Entry("a response of another function", prompting(askGemini+`,`+callGemini+`,`+strings.Replace(resultGemini, `"name":"f"`, `"name":"g"`, 1)), "number of function response parts is equal"),
		Entry("a response without a call", prompting(askGemini+`,`+resultGemini), "function response turn comes immediately after a function call turn"),
		Entry("arguments that are a list", prompting(askGemini+`,{"role":"model","parts":[{"functionCall":{"name":"f","args":[]}}]}`), "function_call.args'"),
		Entry("a response that is a text", prompting(askGemini+`,`+callGemini+`,{"parts":[{"functionResponse":{"name":"f","response":"x"}}]}`), "function_response.response'"),
		Entry("a call by the user", prompting(strings.Replace(callGemini, "model", "user", 1)), "has the role model"),
		Entry("bad base64", prompting(`{"parts":[{"inlineData":{"mimeType":"image/png","data":"*"}}]}`), "(TYPE_BYTES), Base64 decoding failed"),
		Entry("no media type", prompting(`{"parts":[{"inlineData":{"data":"YQ=="}}]}`), "Unsupported MIME type: "),
		Entry("a signature that is not base64", prompting(askGemini+`,{"role":"model","parts":[{"text":"x","thoughtSignature":"*"}]}`), "thought_signature' (TYPE_BYTES)"),
	)

	It("requires the signature of the first call of each content in the current turn, from Gemini 3 on", func() {
		unsigned := strings.Replace(callGemini, `,"thoughtSignature":"YQ=="`, "", 1)
		body := []byte(prompting(askGemini + `,` + unsigned + `,` + resultGemini))
		_, e := wire.Gemini{Model: "gemini-3.1-pro"}.Decode(body)
		Expect(e).To(MatchError(ContainSubstring("missing a thought_signature in functionCall parts")))
		for _, c := range []struct{ model, body string }{
			{"gemini-2.5-pro", string(body)},
			{"gemini-3.1-pro", prompting(askGemini + `,` + callGemini + `,` + resultGemini)},
			{"gemini-3.1-pro", prompting(askGemini + `,` + unsigned + `,` + resultGemini + `,{"role":"model","parts":[{"text":"x"}]},` + askGemini)},
		} {
			_, e := wire.Gemini{Model: c.model}.Decode([]byte(c.body))
			Expect(e).NotTo(HaveOccurred(), c.body)
		}
	})

	It("returns the neutral form, of either spelling of names", func() {
		body := `{"system_instruction":{"parts":{"text":"Be brief."}},"tool_config":{"function_calling_config":{"mode":"ANY","allowed_function_names":["f"]}},
			"tools":{"function_declarations":[{"name":"f","description":"d","parameters_json_schema":{"type":"object"}},{"name":"g"}]},
			"generationConfig":{"temperature":0.5,"max_output_tokens":9,"responseMimeType":"application/json"},"contents":[
			{"parts":[{"text":"look"},{"text":"here"},{"inline_data":{"mime_type":"image/png","data":"-_8="}},{"fileData":{"mimeType":"video/mp4","fileUri":"https://x/files/1"}}]},
			{"role":"model","parts":[{"text":"hm","thought":true},{"text":"I call."},{"functionCall":{"name":"f","args":{"a":1}},"thoughtSignature":"YQ"},{"functionCall":{"name":"g"}},{"functionCall":{"id":"x","name":"f"}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"x","name":"f","response":{"error":"no"}}},{"functionResponse":{"name":"f","response":{"output":"one"}}},
				{"functionResponse":{"name":"g","response":{"n":2},"parts":[{"inlineData":{"mimeType":"audio/wav","data":"YQ=="}}]}},{"text":"go on"}]}]}`
		for _, g := range []wire.Gemini{{Model: "gemini-3.1-pro"}, {Model: "gemini-3.1-pro", Stream: true}, {Model: "gemini-3.1-pro", Array: true}} {
			c, e := g.Decode([]byte(body))
			Expect(e).NotTo(HaveOccurred())
			Expect(c.Model).To(Equal("gemini-3.1-pro"))
			Expect(c.Stream).To(Equal(g.Stream))
			Expect(c.JSONMode).To(BeTrue())
			Expect(*c.Temperature).To(Equal(0.5))
			Expect(c.MaxTokens).To(Equal(9))
			Expect(c.Tools[0]).To(Equal(llm.Tool{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}))
			sum := sha(0xfb, 0xff)
			Expect(c.Messages).To(Equal([]llm.Message{
				{Role: llm.System, Content: "Be brief."},
				{Role: llm.User, Content: "look\nhere", Attachments: []llm.Attachment{
					{Kind: "image", MediaType: "image/png", Bytes: 2, SHA256: sum}, {Kind: "file", MediaType: "video/mp4", Source: "https://x/files/1"},
				}},
				{Role: llm.Assistant, Content: "I call.", ToolCalls: []llm.ToolCall{
					{ID: "call_1_2", Name: "f", Arguments: `{"a":1}`}, {ID: "call_1_3", Name: "g", Arguments: "{}"}, {ID: "x", Name: "f", Arguments: "{}"},
				}},
				{Role: llm.User, Content: "go on"},
				{Role: llm.ToolRole, ToolCallID: "x", Content: "no", ToolError: true},
				{Role: llm.ToolRole, ToolCallID: "call_1_2", Content: "one"},
				{Role: llm.ToolRole, ToolCallID: "call_1_3", Content: `{"n":2}`, Attachments: []llm.Attachment{{Kind: "audio", MediaType: "audio/wav", Bytes: 1, SHA256: sha('a')}}},
			}))
		}
	})
})

var _ = Describe("Gemini", Label("H-02"), func() {
	DescribeTable("is found by the path",
		func(path string, want wire.Reader) {
			got, ok := wire.ForPath(http.MethodPost, path)
			Expect(ok).To(Equal(want != nil))
			if ok {
				Expect(got).To(Equal(want))
			}
		},
		Entry("whole", "/v1beta/models/gemini-3.1-pro:generateContent", wire.Gemini{Model: "gemini-3.1-pro"}),
		Entry("below /v1", "/v1/models/m:generateContent?key=x", wire.Gemini{Model: "m"}),
		Entry("a tuned model", "/v1beta/tunedModels/m:generateContent", wire.Gemini{Model: "m"}),
		Entry("events", "/v1beta/models/m:streamGenerateContent?key=x&alt=sse", wire.Gemini{Model: "m", Stream: true}),
		Entry("a list", "/v1beta/models/m:streamGenerateContent", wire.Gemini{Model: "m", Array: true}),
		Entry("a model with a colon", "/v1/models/a:b:generateContent", wire.Gemini{Model: "a:b"}),
		Entry("Vertex AI", "/v1/projects/p/locations/global/publishers/google/models/m:generateContent", wire.Gemini{Model: "m"}),
		Entry("events of Vertex AI", "/v1beta1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse", wire.Gemini{Model: "m", Stream: true}),
		Entry("Vertex AI with a key", "/v1/publishers/google/models/m:streamGenerateContent", wire.Gemini{Model: "m", Array: true}),
		Entry("a recorded path", "/projects/p/locations/l/publishers/google/models/m:generateContent", wire.Gemini{Model: "m"}),
		Entry("another publisher", "/v1/projects/p/locations/l/publishers/anthropic/models/m:generateContent", nil),
		Entry("another method", "/v1beta/models/m:countTokens", nil),
		Entry("no model", "/v1beta/models/:generateContent", nil),
		Entry("no models", "/v1beta/m:generateContent", nil),
		Entry("a bare colon", ":", nil),
	)

	It("answers an array as a stream would, at once", func() {
		call := wire.Call{}
		frames := wire.Gemini{Array: true}.Encode(call, textAnswer)
		Expect(frames).To(HaveLen(1))
		Expect(frames[0].Delay).To(Equal(320 * time.Millisecond))
		list, err := wire.Gemini{}.ReadAnswer(false, frames[0].Data)
		Expect(err).NotTo(HaveOccurred())
		events, err := wire.Gemini{}.ReadAnswer(true, bodyOf(wire.Gemini{}.Encode(streamCall, textAnswer)))
		Expect(err).NotTo(HaveOccurred())
		Expect(list).To(Equal(events))
	})

	DescribeTable("reads what Google sends",
		func(streamed bool, body string, want wire.Completion, wantErr error) {
			got, err := wire.Gemini{}.ReadAnswer(streamed, []byte(body))
			if wantErr != nil {
				Expect(err).To(MatchError(wantErr))
			} else {
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(got).To(Equal(want))
		},
		Entry("a blocked prompt", false, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, wire.Completion{Finish: llm.FinishContentFilter}, nil),
		Entry("a recitation", false, `{"candidates":[{"finishReason":"RECITATION"}]}`, wire.Completion{Finish: llm.FinishContentFilter}, nil),
		Entry("a call without arguments and an id", false, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"}}]},"finishReason":"STOP"}]}`,
			wire.Completion{Finish: llm.FinishToolCalls, ToolCalls: []llm.ToolCall{{Name: "f", Arguments: "{}"}}}, nil),
		Entry("usage with a cache and tools", false, `{"candidates":[{"content":{},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":3,"thoughtsTokenCount":2,"toolUsePromptTokenCount":1}}`,
			wire.Completion{Finish: llm.FinishStop, Usage: llm.Usage{Input: 7, CachedInput: 4, Output: 5, Reasoning: 2, Source: llm.UsageReported}}, nil),
		Entry("a list that is cut", false, `[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}]`, wire.Completion{Text: "a"}, wire.ErrCutAnswer),
		Entry("an error in a list", false, `[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]`, wire.Completion{}, &wire.APIError{Status: 503, Type: "UNAVAILABLE", Message: "m"}),
		Entry("another candidate", true, `data: {"candidates":[{"index":1,"content":{"parts":[{"text":"b"}]}}]}`+"\n\n"+`data: {"candidates":[{"finishReason":"STOP"}]}`+"\n\n", wire.Completion{Finish: llm.FinishStop}, nil),
	)

	It("reads Google's errors, with the wait in their details", func() {
		body := `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}`
		want := wire.APIError{Status: 429, Type: "RESOURCE_EXHAUSTED", Message: "m", RetryAfter: 1500 * time.Millisecond}
		Expect(*wire.ReadError(429, nil, []byte(body))).To(Equal(want))
		Expect(*wire.ReadError(429, nil, []byte("["+body+"]"))).To(Equal(want))
	})
})

// sha returns the digest of a content.
func sha(content ...byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
