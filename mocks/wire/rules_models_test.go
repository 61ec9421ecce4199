package wire_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// claude returns a valid request to Messages for a model with further fields.
func claude(model, members string) string {
	return strings.Replace(claudeAsking(members), "claude-sonnet-4-5", model, 1)
}

// begun returns a request to Messages whose last message is the assistant's.
func begun(model, content string) string {
	return `{"model":"` + model + `","max_tokens":9,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":` + content + `}]}`
}

func clientTool(schema string) string { return `"tools":[{"name":"f","input_schema":` + schema + `}]` }

func ttl(value string) string { return `{"type":"ephemeral","ttl":` + value + `}` }

func marked(value string) string {
	return `{"type":"text","text":"x","cache_control":` + ttl(value) + `}`
}

func outputSchema(schema string) string {
	return `"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`
}

func named(name string) string {
	return `"response_format":{"type":"json_schema","json_schema":{"name":"` + name + `","schema":{"type":"object"}}}`
}

func namedText(name string) string {
	return `"text":{"format":{"type":"json_schema","name":"` + name + `","schema":{"type":"object"}}}`
}

const search = `"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}]`

// otherVendors replaces the models of a request by those of other vendors, who serve them over the same protocols.
var otherVendors = strings.NewReplacer("gpt-4.1", "qwen3", "gpt-4o", "qwen3", "gpt-5", "qwen3", `"o3`, `"qwen3`, `"o4`, `"qwen4`, "claude-", "kimi-")

var _ = Describe("Rules about models and combinations", Label("H-02"), func() {
	chat, responses, messages, gemini := wire.OpenAIChat{}, wire.OpenAIResponses{}, wire.AnthropicMessages{}, wire.Gemini{Model: "gemini-2.5-flash"}
	azure := wire.OpenAIChat{Root: wire.Root{Path: "/openai/deployments/gpt-4o", Deployment: "gpt-4o"}}

	DescribeTable("refuse one request and accept the nearest",
		func(codec wire.Codec, rule, refused, accepted, param, code, message string) {
			err := broken(codec, wire.Rules{}, claudeHeader, refused)
			Expect(err).To(HaveOccurred())
			Expect([]any{err.Status, err.Rule, err.Param, err.Code}).To(Equal([]any{http.StatusBadRequest, rule, param, code}))
			Expect(err.Message).To(ContainSubstring(message))
			Expect(broken(codec, wire.Rules{Relax: []string{rule}}, claudeHeader, refused)).To(Succeed(), "relaxed")
			if codec != gemini {
				Expect(broken(codec, wire.Rules{}, claudeHeader, otherVendors.Replace(refused))).To(Succeed(), "for another vendor's model")
			}
			Expect(broken(codec, wire.Rules{}, claudeHeader, accepted)).To(Succeed(), "the nearest")
		},
		Entry("parallel_tool_calls", chat, "parameter-combination",
			gptAsking("gpt-4.1-mini", `"parallel_tool_calls":false`), gptAsking("gpt-4.1-mini", `"parallel_tool_calls":false`, tool),
			"parallel_tool_calls", "", "'parallel_tool_calls' is only allowed when 'tools' are specified."),
		Entry("the modality audio", chat, "parameter-combination",
			gptAsking("gpt-4o-audio-preview", `"modalities":["text","audio"]`), gptAsking("gpt-4o-audio-preview", `"modalities":["text"]`),
			"audio", "missing_required_parameter", "Missing required parameter: 'audio'."),
		Entry("no tools", chat, "ranges", gptAsking("gpt-5", `"tools":[]`), gptAsking("gpt-5", `"tools":null`), "tools", "empty_array", "minimum length 1"),
		Entry("the name of a format", chat, "schema-name", gptAsking("gpt-4.1-mini", named("a b")), gptAsking("gpt-4.1-mini", named("a_B-9")),
			"response_format.json_schema.name", "invalid_value", "pattern '^[a-zA-Z0-9_-]+$'"),
		Entry("a long name of a format", chat, "schema-name",
			gptAsking("gpt-4.1-mini", named(strings.Repeat("x", 65))), gptAsking("gpt-4.1-mini", named(strings.Repeat("x", 64))),
			"response_format.json_schema.name", "string_above_max_length", "at most 64"),
		Entry("the effort of GPT-4.1", chat, "model-support",
			gptAsking("gpt-4.1-2025-04-14", `"reasoning_effort":"low"`), gptAsking("gpt-4.1-2025-04-14", `"reasoning_effort":null`),
			"", "", "Unrecognized request argument supplied: reasoning_effort"),
		Entry("the effort of GPT-4o", chat, "model-support",
			gptAsking("gpt-4o-mini", `"reasoning_effort":"none"`), gptAsking("gpt-5.4", `"reasoning_effort":"none"`), "", "", "supplied: reasoning_effort"),
		Entry("an unknown effort", chat, "unknown-value",
			gptAsking("gpt-5", `"reasoning_effort":"huge"`), gptAsking("gpt-5", `"reasoning_effort":"max"`),
			"reasoning_effort", "invalid_value", "Invalid value: 'huge'. Supported values are: 'none'"),
		Entry("stop of o4-mini", chat, "model-support", gptAsking("o4-mini", `"stop":"x"`), gptAsking("o3-mini", `"stop":"x"`),
			"stop", "unsupported_parameter", "'stop' is not supported with this model."),
		Entry("stop of o3", chat, "model-support", gptAsking("o3-2025-04-16", `"stop":["x"]`), gptAsking("o3-2025-04-16", `"stop":null`),
			"stop", "unsupported_parameter", ""),

		Entry("the effort of GPT-4.1 over Responses", responses, "model-support",
			inputAsking("gpt-4.1", `"reasoning":{"effort":"low"}`), inputAsking("gpt-4.1", `"reasoning":{"effort":null}`),
			"reasoning.effort", "unsupported_parameter", "'reasoning.effort' is not supported with this model."),
		Entry("an unknown effort over Responses", responses, "unknown-value",
			inputAsking("gpt-5", `"reasoning":{"effort":"huge"}`), inputAsking("gpt-5", `"reasoning":{"effort":"xhigh"}`),
			"reasoning.effort", "invalid_value", "'huge'"),
		Entry("an unknown include", responses, "unknown-value",
			inputAsking("gpt-5", `"include":["reasoning.encrypted_content","foo"]`), inputAsking("gpt-5", `"include":["reasoning.encrypted_content"]`),
			"include[1]", "invalid_value", "Invalid value: 'foo'. Supported values are: 'file_search_call.results'"),
		Entry("the name of a format over Responses", responses, "schema-name",
			inputAsking("gpt-4.1", namedText("a.b")), inputAsking("gpt-4.1", namedText("ab")), "text.format.name", "invalid_value", "does not match pattern"),

		Entry("a tool's schema without a type", messages, "tool-schema", claudeAsking(clientTool(`{"properties":{}}`)), claudeAsking(clientTool(`{"type":"object"}`)),
			"tools.0.custom.input_schema.type", "", "tools.0.custom.input_schema.type: Field required"),
		Entry("a tool's schema of a text", messages, "tool-schema", claudeAsking(clientTool(`{"type":"string"}`)),
			claudeAsking(`"tools":[{"type":"custom","name":"f","input_schema":{"type":"object"}}]`), "tools.0.custom.input_schema.type", "", "Input should be 'object'"),
		Entry("a server's tool by another name", messages, "unknown-value",
			claudeAsking(`"tools":[{"type":"web_search_20250305","name":"search"}]`), claudeAsking(`"tools":[{"type":"web_search_29990101","name":"search"}]`),
			"tools.0.web_search_20250305.name", "", "Input should be 'web_search'"),
		Entry("instructions in the cache for 2 hours", messages, "cache-control", claudeAsking(`"system":[`+marked(`"2h"`)+`]`), claudeAsking(`"system":[`+marked(`"1h"`)+`]`),
			"system.0.cache_control.ephemeral.ttl", "", "Input should be '5m' or '1h'"),
		Entry("a block in the cache for a number", messages, "cache-control",
			strings.Replace(claudeAsking(`"top_k":1`), `"hi"`, `[`+marked(`300`)+`]`, 1), strings.Replace(claudeAsking(`"top_k":1`), `"hi"`, `[`+marked(`"5m"`)+`]`, 1),
			"messages.0.content.0.text.cache_control.ephemeral.ttl", "", "Input should be '5m' or '1h'"),
		Entry("a tool in the cache for a day", messages, "cache-control",
			claudeAsking(`"tools":[{"name":"f","input_schema":{"type":"object"},"cache_control":`+ttl(`"1d"`)+`}]`),
			claudeAsking(`"tools":[{"name":"f","input_schema":{"type":"object"},"cache_control":`+ttl(`null`)+`}]`),
			"tools.0.custom.cache_control.ephemeral.ttl", "", ""),
		Entry("all in the cache for 2 hours", messages, "cache-control", claudeAsking(`"cache_control":`+ttl(`"2h"`)), claudeAsking(`"cache_control":`+ttl(`"1h"`)),
			"cache_control.ephemeral.ttl", "", ""),
		Entry("temperature and top_p", messages, "model-support",
			claude("claude-opus-4-1-20250805", `"temperature":0,"top_p":1`), claude("claude-opus-4-20250514", `"temperature":0,"top_p":1`),
			"", "", "`temperature` and `top_p` cannot both be specified for this model."),
		Entry("either of them", messages, "model-support",
			claude("claude-haiku-4-5", `"temperature":0.5,"top_p":0.5`), claude("claude-haiku-4-5", `"temperature":0.5,"top_p":null`), "", "", "Please use only one."),
		Entry("adaptive thinking", messages, "model-support",
			claude("claude-sonnet-4-5", `"thinking":{"type":"adaptive"}`), claude("claude-sonnet-4-6", `"thinking":{"type":"adaptive"}`),
			"", "", "adaptive thinking is not supported on this model"),
		Entry("a begun answer", messages, "model-support", begun("claude-opus-4-6", `"{"`), begun("claude-opus-4-5", `"{"`),
			"", "", "This model does not support assistant message prefill."),
		Entry("a begun answer in blocks", messages, "model-support",
			begun("claude-sonnet-4-6", `[{"type":"text","text":"{"}]`),
			begun("claude-sonnet-4-6", `[{"type":"text","text":"{"},{"type":"server_tool_use","id":"s","name":"web_search","input":{}}]`),
			"", "", "The conversation must end with a user message."),
		Entry("an open format", messages, "strict-schema", claudeAsking(outputSchema(`{"type":"object","properties":{}}`)), claudeAsking(outputSchema(unlisted)),
			"output_config.format.schema", "", "For 'object' type, 'additionalProperties' must be explicitly set to false"),
		Entry("an open object in a format of a beta", messages, "strict-schema",
			claudeAsking(`"output_format":{"type":"json_schema","schema":{"type":"array","items":{"type":"object","additionalProperties":true}}}`),
			claudeAsking(`"output_format":{"type":"json_schema","schema":{"type":"array","items":{"type":"string"}}}`),
			"output_format.schema", "", "'additionalProperties: true' is not supported."),

		Entry("a search and functions", gemini, "model-support", geminiAsking(search), geminiAsking(`"tools":[{"googleSearch":{}}]`),
			"", "", "Tool use with function calling is unsupported by the model."),
		Entry("both in one tool", gemini, "model-support", geminiAsking(`"tools":{"google_search":{},"function_declarations":[{"name":"f"}]}`),
			geminiAsking(`"tools":{"google_search":{},"function_declarations":[]}`), "", "", "unsupported by the model."),
	)

	DescribeTable("accept what depends on an unknown model",
		func(codec wire.Codec, body string) {
			Expect(broken(codec, wire.Rules{}, claudeHeader, body)).To(Succeed())
		},
		Entry("a deployment of Azure", azure, gptAsking("gpt-4o", `"reasoning_effort":"low"`)),
		Entry("a model that a gateway names", chat, gptAsking("openai/gpt-4o", `"reasoning_effort":"low"`)),
		Entry("a later model with a similar name", chat, gptAsking("gpt-4.15", `"reasoning_effort":"low"`)),
		Entry("a fine-tuned model", chat, gptAsking("ft:gpt-4o:x", `"reasoning_effort":"low"`)),
		Entry("functions, the older form of tools", chat, gptAsking("gpt-4.1", `"parallel_tool_calls":true`, `"functions":[{"name":"f"}]`)),
		Entry("a later model of Anthropic", messages, claude("claude-opus-4-70", `"temperature":1,"top_p":1`)),
		Entry("Gemini 3", wire.Gemini{Model: "gemini-3.5-flash"}, geminiAsking(search)),
		Entry("a preview of Gemini", wire.Gemini{Model: "gemini-2.5-flash-native-audio"}, geminiAsking(search)),
	)

	It("recognize Azure by its key", func() {
		Expect(broken(chat, wire.Rules{}, http.Header{"Api-Key": {"k"}}, gptAsking("gpt-4o", `"reasoning_effort":"low"`))).To(Succeed())
	})

	It("accept an answer that a fallback continues", func() {
		body := strings.Replace(begun("claude-opus-4-6", `"x"`), `"max_tokens"`, `"fallback_credit_token":"t","max_tokens"`, 1)
		Expect(broken(messages, wire.Rules{}, claudeHeader, body)).To(Succeed())
	})
})
