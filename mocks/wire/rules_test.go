package wire_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// gptAsking returns a valid chat request for a model with further fields.
func gptAsking(model string, members ...string) string {
	return strings.Replace(asking(members...), `"model":"m"`, `"model":"`+model+`"`, 1)
}

// inputAsking does the same over Responses, claudeAsking over Messages.
func inputAsking(model, members string) string {
	return `{"model":"` + model + `","input":"hi",` + members + `}`
}

func claudeAsking(members string) string {
	return `{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{"role":"user","content":"hi"}],` + members + `}`
}

func geminiAsking(members string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],` + members + `}`
}

func strictTool(parameters string) string {
	return `"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":` + parameters + `}}]`
}

func strictFormat(schema string) string {
	return `"response_format":{"type":"json_schema","json_schema":{"name":"s","strict":true,"schema":` + schema + `}}`
}

// claudeHeader is the header that all requests of Anthropic's clients have.
var claudeHeader = http.Header{"Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"k"}}

// broken returns the error of a decoded request.
func broken(codec wire.Codec, rules wire.Rules, header http.Header, body string) *wire.APIError {
	GinkgoHelper()
	call, err := codec.Decode([]byte(body))
	Expect(err).NotTo(HaveOccurred())
	return rules.Check(codec, &call, header, []byte(body))
}

const (
	block    = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	closed   = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	unlisted = `{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`
)

var _ = Describe("Rules", Label("H-02"), func() {
	chat, responses, messages, gemini := wire.OpenAIChat{}, wire.OpenAIResponses{}, wire.AnthropicMessages{}, wire.Gemini{Model: "gemini-3.1-pro"}
	azure := wire.OpenAIChat{Root: wire.Root{Path: "/openai/deployments/d", Deployment: "d"}}

	DescribeTable("refuse",
		func(codec wire.Codec, rule string, status int, body, param, code, message string) {
			header := http.Header{"Authorization": {"Bearer k"}, "Content-Type": {"application/json; charset=utf-8"}}
			if codec == messages {
				header = claudeHeader
			}
			err := broken(codec, wire.Rules{}, header, body)
			Expect(err).To(HaveOccurred())
			Expect([]any{err.Rule, err.Status, err.Param, err.Code}).To(Equal([]any{rule, status, param, code}))
			Expect(err.Message).To(ContainSubstring(message))
			Expect(broken(codec, wire.Rules{Relax: []string{rule}}, header, body)).To(Succeed(), "relaxed")
			if codec == chat {
				other := strings.NewReplacer(`"gpt-4.1-mini"`, `"qwen3"`, `"o3"`, `"qwen3"`, `"gpt-5"`, `"qwen3"`, `"gpt-5.4"`, `"qwen3"`).Replace(body)
				Expect(broken(codec, wire.Rules{}, header, other)).To(Succeed(), "for another service's model")
			}
		},
		Entry("an unknown parameter", chat, "unknown-parameter", 400, gptAsking("gpt-4.1-mini", `"temprature":1`), "", "",
			"Unrecognized request argument supplied: temprature"),
		Entry("two of them", chat, "unknown-parameter", 400, gptAsking("gpt-4.1-mini", `"top_k":1`, `"b":1`), "", "",
			"Unrecognized request arguments supplied: b, top_k"),
		Entry("one for Azure", azure, "unknown-parameter", 400, gptAsking("x", `"top_k":1`), "", "", "supplied: top_k"),
		Entry("top_p 2", chat, "ranges", 400, gptAsking("gpt-4.1-mini", `"top_p":2`), "top_p", "decimal_above_max_value", "<= 1, but got 2"),
		Entry("a penalty of 5", chat, "ranges", 400, gptAsking("gpt-4.1-mini", `"presence_penalty":5`), "presence_penalty", "decimal_above_max_value", "<= 2"),
		Entry("a penalty of -5", chat, "ranges", 400, gptAsking("gpt-4.1-mini", `"frequency_penalty":-5`), "frequency_penalty", "decimal_below_min_value", ">= -2"),
		Entry("5 stop sequences", chat, "ranges", 400, gptAsking("gpt-4.1-mini", `"stop":["a","b","c","d","e"]`), "stop", "array_above_max_length", "length 5"),
		Entry("top_logprobs alone", chat, "ranges", 400, gptAsking("gpt-4.1-mini", `"top_logprobs":2`), "top_logprobs", "", "when 'logprobs' is enabled"),
		Entry("21 top_logprobs", chat, "ranges", 400, gptAsking("gpt-4.1-mini", `"logprobs":true,"top_logprobs":21`), "top_logprobs", "integer_above_max_value", "<= 20"),
		Entry("max_tokens for o3", chat, "reasoning-max-tokens", 400, gptAsking("o3", `"max_tokens":9`), "max_tokens", "unsupported_parameter", "Use 'max_completion_tokens'"),
		Entry("max_tokens for GPT-5.4", chat, "reasoning-max-tokens", 400, gptAsking("gpt-5.4", `"max_tokens":9`), "max_tokens", "unsupported_parameter", ""),
		Entry("temperature for o3", chat, "reasoning-sampling", 400, gptAsking("o3", `"temperature":0.5`), "temperature", "unsupported_value",
			"'temperature' does not support 0.5 with this model. Only the default (1) value"),
		Entry("temperature for GPT-5.4 that reasons", chat, "reasoning-sampling", 400, gptAsking("gpt-5.4", `"temperature":0`, `"reasoning_effort":"low"`), "temperature", "unsupported_value", ""),
		Entry("logprobs for GPT-5", chat, "reasoning-sampling", 400, gptAsking("gpt-5", `"logprobs":true`), "logprobs", "unsupported_parameter", ""),
		Entry("an open schema of a tool", chat, "strict-schema", 400, gptAsking("gpt-4.1-mini", strictTool(`{"type":"object","properties":{}}`)),
			"tools[0].function.parameters", "invalid_function_parameters", "function 'f': In context=(), 'additionalProperties' is required to be supplied and to be false."),
		Entry("an open schema within", chat, "strict-schema", 400, gptAsking("gpt-4.1-mini", strictTool(`{"type":"object","properties":{"a":{"type":["object","null"]}},"required":["a"],"additionalProperties":false}`)),
			"tools[0].function.parameters", "invalid_function_parameters", "context=('properties', 'a'), 'additionalProperties'"),
		Entry("a property that is not required", chat, "strict-schema", 400, gptAsking("gpt-4.1-mini", strictFormat(unlisted)),
			"response_format", "", "Missing 'a'."),
		Entry("a format without a schema", chat, "strict-schema", 400, gptAsking("gpt-4.1-mini", strictFormat("null")),
			"response_format.json_schema.schema", "missing_required_parameter", ""),

		Entry("an unknown parameter over Responses", responses, "unknown-parameter", 400, inputAsking("gpt-5", `"max_tokens":9`), "max_tokens", "unknown_parameter", "Unknown parameter: 'max_tokens'."),
		Entry("temperature over Responses", responses, "reasoning-sampling", 400, inputAsking("gpt-5.4", `"temperature":0,"reasoning":{"effort":"high"}`), "temperature", "unsupported_value", ""),
		Entry("top_logprobs over Responses", responses, "ranges", 400, inputAsking("gpt-4.1", `"top_logprobs":-1`), "top_logprobs", "integer_below_min_value", ""),
		Entry("a strict tool over Responses", responses, "strict-schema", 400, inputAsking("gpt-4.1", `"tools":[{"type":"function","name":"f","strict":true,"parameters":`+unlisted+`}]`), "tools[0].parameters", "invalid_function_parameters", "Missing 'a'"),
		Entry("a strict format over Responses", responses, "strict-schema", 400, inputAsking("gpt-4.1", `"text":{"format":{"type":"json_schema","name":"s","strict":true,"schema":{"type":"array","items":{"type":"object"}}}}`), "text.format.schema", "", "context=('items',), 'additionalProperties'"),

		Entry("an unknown field", messages, "unknown-parameter", 400, claudeAsking(`"n":1`), "n", "", "n: Extra inputs are not permitted"),
		Entry("more output than the model has", messages, "max-tokens", 400, strings.Replace(claudeAsking(`"top_k":1`), ":9,", ":10000000,", 1), "max_tokens", "",
			"max_tokens: 10000000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5"),
		Entry("5 marks for the cache", messages, "cache-control", 400, claudeAsking(`"system":[`+strings.Repeat(block+",", 4)+block+`]`), "", "", "A maximum of 4 blocks with cache_control may be provided. Found 5."),
		Entry("an image of another type", messages, "media-type", 400, strings.Replace(claudeAsking(`"top_k":1`), `"hi"`, `[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"AAAA"}}]`, 1),
			"messages.0.content.0.image.source.base64.media_type", "", "Input should be 'image/jpeg'"),

		Entry("an unknown field of Gemini", gemini, "unknown-parameter", 400, geminiAsking(`"generationConfg":{}`), "", "",
			`Invalid JSON payload received. Unknown name "generationConfg": Cannot find field.`),
		Entry("unknown fields in its configuration", gemini, "unknown-parameter", 400, geminiAsking(`"generation_config":{"topP":1,"maxTokens":9,"n":1}`), "", "",
			"Invalid JSON payload received. Unknown name \"maxTokens\" at 'generation_config': Cannot find field.\n"+
				"Invalid JSON payload received. Unknown name \"n\" at 'generation_config': Cannot find field."),
	)

	DescribeTable("accept",
		func(codec wire.Codec, body string) {
			Expect(broken(codec, wire.Rules{}, claudeHeader, body)).To(Succeed())
		},
		Entry("the default temperature for o3", chat, gptAsking("o3", `"temperature":1`, `"presence_penalty":0`)),
		Entry("temperature for GPT-5.4 that does not reason", chat, gptAsking("gpt-5.4", `"temperature":0`)),
		Entry("max_tokens for a model that does not reason", chat, gptAsking("gpt-5-chat-latest", `"max_tokens":9`, `"temperature":0`)),
		Entry("a closed schema", chat, gptAsking("gpt-4.1-mini", strictTool(closed), strictFormat(closed))),
		Entry("an open schema that is not strict", chat, gptAsking("gpt-4.1-mini", strings.Replace(strictTool(`{}`), "true", "false", 1))),
		Entry("null for a parameter", chat, gptAsking("o3", `"max_tokens":null,"temperature":null,"stop":null`)),
		Entry("Azure's data sources", azure, gptAsking("gpt-4.1-mini", `"data_sources":[]`)),
		Entry("OpenRouter's parameters", wire.OpenAIChat{Root: wire.Root{Path: "/api/v1"}}, gptAsking("openai/gpt-5", `"provider":{}`, `"max_tokens":9`)),
		Entry("4 marks for the cache", messages, claudeAsking(`"system":[`+block+`,`+block+`],"tools":[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]`)),
		Entry("Gemini's fields in both spellings", gemini, geminiAsking(`"safetySettings":[],"cached_content":"","labels":{},`+
			`"generationConfig":{"max_output_tokens":9,"responseMimeType":"text/plain","thinkingConfig":{},"_responseJsonSchema":null}`)),
		Entry("a schema of hostile depth", chat, gptAsking("gpt-4.1", strictTool(strings.Repeat(`{"items":`, 500)+`{"type":"object"}`+strings.Repeat("}", 500)))),
	)

	It("look at headers", func() {
		demand := wire.Rules{Demand: []string{"missing-key"}}
		Expect(broken(chat, wire.Rules{}, nil, gptAsking("gpt-4.1"))).To(Succeed())
		for _, x := range []struct {
			codec   wire.Codec
			header  http.Header
			body    string
			rule    string
			status  int
			message string
		}{
			{chat, nil, gptAsking("gpt-4.1"), "missing-key", 401, "You didn't provide an API key."},
			{azure, nil, gptAsking("gpt-4.1"), "missing-key", 401, "invalid subscription key"},
			{messages, http.Header{"Anthropic-Version": {"x"}}, claudeAsking(`"top_k":1`), "missing-key", 401, "x-api-key header is required"},
			{messages, http.Header{"X-Api-Key": {"k"}}, claudeAsking(`"top_k":1`), "missing-version", 400, "anthropic-version: header is required"},
			{chat, http.Header{"Api-Key": {"k"}, "Content-Type": {"text/plain"}}, gptAsking("gpt-4.1"), "content-type", 415, "'text/plain'"},
			{chat, http.Header{"Api-Key": {"k"}, "Content-Type": {"application/x-www-form-urlencoded"}}, gptAsking("gpt-4.1"), "content-type", 400, "you must provide a model parameter"},
		} {
			err := broken(x.codec, demand, x.header, x.body)
			Expect(err).To(HaveOccurred(), x.message)
			Expect([]any{err.Rule, err.Status}).To(Equal([]any{x.rule, x.status}))
			Expect(err.Message).To(ContainSubstring(x.message))
		}
	})

	It("refuse what is optional only on demand", func() {
		unknownBlock := strings.Replace(claudeAsking(`"top_k":1`), `"hi"`, `[{"type":"hologram"}]`, 1)
		Expect(broken(messages, wire.Rules{}, claudeHeader, unknownBlock)).To(Succeed())
		err := broken(messages, wire.Rules{Demand: []string{"block-type"}}, claudeHeader, unknownBlock)
		Expect(err).To(MatchError(ContainSubstring("Input tag 'hologram' found using 'type'")))

		rules := wire.Rules{Demand: []string{"unknown-model"}, Model: "gpt-4.1"}
		Expect(broken(chat, wire.Rules{Model: "gpt-4.1"}, nil, gptAsking("gpt-9"))).To(Succeed())
		Expect(broken(chat, rules, nil, gptAsking("gpt-4.1"))).To(Succeed())
		err = broken(chat, rules, nil, gptAsking("gpt-9"))
		Expect([]any{err.Status, err.Code}).To(Equal([]any{404, "model_not_found"}))
		err = broken(messages, rules, claudeHeader, claudeAsking(`"top_k":1`))
		Expect([]any{err.Status, err.Message}).To(Equal([]any{404, "model: claude-sonnet-4-5"}))
	})

	It("have names that are listed", func() {
		Expect(wire.RuleNames()).To(ContainElements(wire.OptionalRules()))
	})
})
