package wire_test

import (
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// pixel is the digest of the image "AAAA" in base64.
const pixel = "709e80c88487a2411e1ee4dfb9f22a861492d20c4765150c0c794abd70f8147c"

var _ = Describe("Decode of Ollama", Label("H-02"), func() {
	It("reads messages, tools, images and options", func() {
		c, err := wire.Ollama{}.Decode([]byte(`{"model":"m","think":"low","format":{"type":"object"},"keep_alive":"5m",
			"options":{"temperature":0.5,"num_predict":20,"seed":7,"stop":["x"],"unknown":{}},
			"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}],
			"messages":[{"role":"System","content":"s"},{"role":"user","content":"u","images":["AAAA"]},
				{"role":"assistant","content":"","thinking":"hm","tool_calls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}},{"function":{"name":"f"}}]},
				{"role":"tool","content":"r","tool_name":"f","tool_call_id":"c"}]}`))
		Expect(err).NotTo(HaveOccurred())
		temperature, seed := 0.5, 7
		Expect(c.Request).To(Equal(llm.Request{
			Model: "m", Stream: true, JSONMode: true, MaxTokens: 20, Temperature: &temperature, Seed: &seed,
			Tools: []llm.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}},
			Messages: []llm.Message{
				{Role: llm.System, Content: "s"},
				{Role: llm.User, Content: "u", Attachments: []llm.Attachment{{Kind: "image", Bytes: 3, SHA256: pixel}}},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "f", Arguments: `{"a":1}`}, {Name: "f"}}},
				{Role: llm.ToolRole, Content: "r", Name: "f", ToolCallID: "c"},
			},
		}))
	})

	It("reads the prompt of /api/generate", func() {
		c, err := wire.Ollama{Generate: true}.Decode([]byte(`{"model":"m","system":"s","prompt":"p","images":["AAAA"],"stream":false,"format":""}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Request).To(Equal(llm.Request{Model: "m", Messages: []llm.Message{
			{Role: llm.System, Content: "s"},
			{Role: llm.User, Content: "p", Attachments: []llm.Attachment{{Kind: "image", Bytes: 3, SHA256: pixel}}},
		}}))
	})

	DescribeTable("refuses",
		func(members string, status int, message string) {
			body := `{"model":"m","messages":[{"role":"user","content":"u"}],` + members + `}`
			if !strings.HasPrefix(members, `"`) {
				body = members
			}
			_, err := wire.Ollama{}.Decode([]byte(body))
			Expect(err).To(HaveOccurred())
			Expect(err.Status).To(Equal(status))
			Expect(err.Message).To(ContainSubstring(message))
		},
		Entry("nothing", " ", 400, "missing request body"),
		Entry("no object", "[", 400, "not one JSON object"),
		Entry("no model", "{}", 400, "model is required"),
		Entry("a wrong type", `"tools":"x"`, 400, "json: cannot unmarshal a string into the field tools: expected an array"),
		Entry("arguments in a string", `"messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}]`, 400,
			"cannot unmarshal a string into the field messages.0.tool_calls.0.function.arguments"),
		Entry("a data URL", `"messages":[{"role":"user","images":["data:image/png;base64,AAAA"]}]`, 400, "illegal base64 data at input byte 4"),
		Entry("a level of thought", `"think":"max"`, 400, `invalid think value: "max"`),
		Entry("a number of thoughts", `"think":3`, 400, "think must be a boolean or string"),
		Entry("too many probabilities", `"top_logprobs":21`, 400, "top_logprobs must be between 0 and 20"),
		Entry("a raw system", `"raw":true,"system":"s"`, 400, "raw mode does not support"),
		Entry("an option of another type", `"options":{"temperature":"hot"}`, 500, `option "temperature" must be of type float32`),
		Entry("stop in a string", `"options":{"stop":"x"}`, 500, `option "stop" must be of type array`),
		Entry("an unknown format", `"format":"yaml"`, 500, "invalid format"),
	)

	It("reports a missing model of /api/generate as an unknown one", func() {
		_, err := wire.Ollama{Generate: true}.Decode([]byte(`{"prompt":"p"}`))
		Expect(err).To(HaveField("Status", http.StatusNotFound))
	})

	DescribeTable("answers a request that only loads a model",
		func(generate bool, body, reason string) {
			frames, ok := wire.Ollama{Generate: generate}.Preload([]byte(body), time.Unix(1_700_000_000, 0))
			Expect(ok).To(Equal(reason != ""))
			if ok {
				Expect(string(frames[0].Data)).To(ContainSubstring(`"done_reason":"` + reason + `"`))
			}
		},
		Entry("chat", false, `{"model":"m","messages":[]}`, "load"),
		Entry("generate", true, `{"model":"m","keep_alive":"5m"}`, "load"),
		Entry("unload", true, `{"model":"m","keep_alive":0}`, "unload"),
		Entry("unload with a unit", true, `{"model":"m","keep_alive":"0s"}`, "unload"),
		Entry("a question", false, `{"model":"m","messages":[{"role":"user"}]}`, ""),
		Entry("a prompt", true, `{"model":"m","prompt":"p"}`, ""),
		Entry("no model", false, `{}`, ""),
		Entry("no JSON", false, `{`, ""),
	)
})

var _ = DescribeTable("ForExchange returns the codec", Label("H-02"),
	func(protocol, path string, want wire.Reader) {
		got, ok := wire.ForExchange(protocol, path)
		Expect(ok).To(Equal(want != nil))
		if ok {
			Expect(got).To(Equal(want))
		}
	},
	Entry("of the path", "ollama", "/api/generate", wire.Ollama{Generate: true}),
	Entry("of a path with a query", "anthropic-messages", "/messages?beta=true", wire.AnthropicMessages{}),
	Entry("of the name if the path has another protocol", "openai-chat", "/api/chat", wire.OpenAIChat{}),
	Entry("of no protocol", "x", "/api/chat", nil),
)
