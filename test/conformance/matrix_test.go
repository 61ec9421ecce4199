package conformance_test

import (
	"cmp"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

const (
	plainScript = "model: " + model + "\nreplies: [{text: " + answer + ", when: {user: {equals: hi}}, " + usage + "}]"
	toolScript  = "model: " + model + `
replies:
  - {tool_calls: [{name: weather, arguments: {city: Bern}}], when: {turn: 0, tool_offered: weather, user: {equals: hi}}}
  - {text: "` + toolAnswer + `", when: {turn: 1, tool_result: rain in Bern}, ` + usage + `}`
	toolAnswer = "It rains, 日本."
	jsonScript = "model: " + model + "\nreplies: [{text: '" + jsonAnswer + "', " + usage + "}]"
	jsonAnswer = `{"city":"Bern","degrees":7}`
	// secondScript is for an agent that answers first, and then once more with a schema.
	secondScript = "model: " + model + "\nreplies: [{text: soon}, {text: '" + jsonAnswer + "', " + usage + "}]"
)

// jsonCall returns a script for a client that gets JSON as the arguments of a tool, after the given replies.
func jsonCall(tool, before string) string {
	return fmt.Sprintf("model: %s\nreplies: [%s{tool_calls: [{name: %s, arguments: %s}], when: {tool_offered: %[3]s}, %[5]s}]",
		model, before, tool, jsonAnswer, usage)
}

// listed is a client in the table.
type listed struct {
	name, protocol   string
	packages         []string
	program, feature string            // of node/ask.mjs, or one of goClients
	jsonScript       string            // default: the JSON is the text of the answer
	defects          map[string]string // of the client: what it does instead, by case
}

var listedClients = []listed{
	{name: "OpenAI", packages: []string{"openai"}, protocol: "chat completions", program: "chat"},
	{name: "OpenAI", packages: []string{"openai"}, protocol: "Responses", program: "responses"},
	{name: "`AzureOpenAI`", packages: []string{"openai"}, protocol: "chat completions", program: "services", feature: "azure"},
	{name: "Anthropic", packages: []string{"@anthropic-ai/sdk"}, protocol: "Messages", program: "messages"},
	{name: "Anthropic, `toolRunner`", packages: []string{"@anthropic-ai/sdk"}, protocol: "Messages", program: "features", feature: "toolRunner"},
	{name: "Google", packages: []string{"@google/genai"}, protocol: "Gemini", program: "gemini"},
	{name: "Groq", packages: []string{"groq-sdk"}, protocol: "chat completions", program: "services", feature: "groq"},
	{name: "Mistral", packages: []string{"@mistralai/mistralai"}, protocol: "chat completions", program: "services", feature: "mistral"},
	{name: "OpenRouter", packages: []string{"@openrouter/sdk"}, protocol: "chat completions", program: "services", feature: "openrouterChat"},
	{name: "OpenRouter", packages: []string{"@openrouter/sdk"}, protocol: "Responses", program: "services", feature: "openrouterResponses"},
	{name: "Ollama", packages: []string{"ollama"}, protocol: "Ollama", program: "ollama"},
	{name: "Amazon Bedrock", packages: []string{"@aws-sdk/client-bedrock-runtime"}, protocol: "Bedrock Converse", program: "converse"},
	{name: "Vercel AI", packages: []string{"ai", "@ai-sdk/openai"}, protocol: "Responses", program: "ai-openai"},
	{name: "Vercel AI", packages: []string{"ai", "@ai-sdk/openai"}, protocol: "chat completions", program: "ai-chat"},
	{
		name: "Vercel AI", packages: []string{"ai", "@ai-sdk/openai-compatible"}, protocol: "chat completions",
		program: "services", feature: "openai-compatible",
	},
	{
		name: "Vercel AI", packages: []string{"ai", "@openrouter/ai-sdk-provider"}, protocol: "chat completions",
		program: "services", feature: "openrouter",
	},
	{
		name: "Vercel AI", packages: []string{"ai", "@ai-sdk/anthropic"}, protocol: "Messages",
		program: "ai-anthropic", jsonScript: jsonCall("json", ""),
	},
	{name: "Vercel AI", packages: []string{"ai", "@ai-sdk/google"}, protocol: "Gemini", program: "ai-google"},
	{name: "Vercel AI", packages: []string{"ai", "@ai-sdk/groq"}, protocol: "chat completions", program: "services", feature: "ai-groq"},
	{name: "Vercel AI", packages: []string{"ai", "@ai-sdk/mistral"}, protocol: "chat completions", program: "services", feature: "ai-mistral"},
	{name: "Vercel AI, version 6", packages: []string{"ai6", "ai6-openai"}, protocol: "Responses", program: "ai6-openai"},
	{name: "Vercel AI, version 6", packages: []string{"ai6", "ai6-openai"}, protocol: "chat completions", program: "ai6-chat"},
	{
		name: "Vercel AI, version 6", packages: []string{"ai6", "ai6-anthropic"}, protocol: "Messages",
		program: "ai6-anthropic", jsonScript: jsonCall("json", ""),
	},
	{name: "LangChain", packages: []string{"langchain", "@langchain/openai"}, protocol: "chat completions", program: "langchain/chat"},
	{name: "LangChain", packages: []string{"langchain", "@langchain/openai"}, protocol: "Responses", program: "langchain/responses"},
	{
		name: "LangChain", packages: []string{"langchain", "@langchain/anthropic"}, protocol: "Messages",
		program: "langchain/messages", jsonScript: jsonCall("extract", ""),
	},
	{
		name: "LangGraph", packages: []string{"@langchain/langgraph", "@langchain/openai"}, protocol: "chat completions",
		program: "langchain/graphChat", jsonScript: secondScript,
	},
	{
		name: "LangGraph", packages: []string{"@langchain/langgraph", "@langchain/anthropic"}, protocol: "Messages",
		program: "langchain/graphMessages", jsonScript: jsonCall("extract", "{text: soon}, "),
	},
	{name: "OpenAI Agents", packages: []string{"@openai/agents-core"}, protocol: "Responses", program: "agents/responses"},
	{name: "OpenAI Agents", packages: []string{"@openai/agents-core"}, protocol: "chat completions", program: "agents/chat"},
	{name: "Mastra", packages: []string{"@mastra/core", "@ai-sdk/openai"}, protocol: "Responses", program: "mastra/responses"},
	{
		name: "Mastra", packages: []string{"@mastra/core", "@ai-sdk/anthropic"}, protocol: "Messages",
		program: "mastra/messages", jsonScript: jsonCall("json", ""),
	},
	{name: "Mastra, model with `url`", packages: []string{"@mastra/core"}, protocol: "chat completions", program: "mastra/url"},
	{name: "LlamaIndex", packages: []string{"@llamaindex/core", "@llamaindex/openai"}, protocol: "chat completions", program: "llamaindex/chat"},
	{
		name: "LlamaIndex", packages: []string{"@llamaindex/core", "@llamaindex/openai"}, protocol: "Responses",
		program: "llamaindex/responses", defects: map[string]string{
			"streamed": repeats, "tools": repeats, "tools, streamed": repeats,
		},
	},
	{name: "LlamaIndex", packages: []string{"@llamaindex/core", "@llamaindex/anthropic"}, protocol: "Messages", program: "llamaindex/messages"},
	{name: "OpenAI, Go", packages: []string{"github.com/openai/openai-go/v3"}, protocol: "chat completions", program: "go/chat"},
	{name: "OpenAI, Go", packages: []string{"github.com/openai/openai-go/v3"}, protocol: "Responses", program: "go/responses"},
	{name: "Anthropic, Go", packages: []string{"github.com/anthropics/anthropic-sdk-go"}, protocol: "Messages", program: "go/messages"},
	{name: "Google, Go", packages: []string{"google.golang.org/genai"}, protocol: "Gemini", program: "go/gemini"},
	{name: "go-openai", packages: []string{"github.com/sashabaranov/go-openai"}, protocol: "chat completions", program: "go/community"},
}

// repeats is a defect: each event of a stream after the last piece of text repeats that piece.
const repeats = "repeats the last piece"

var _ = Describe("A client", Label("H-02"), Ordered, ContinueOnFailure, func() {
	results := table{
		name:   "clients",
		header: []string{"client", "packages", "protocol", "plain", "streamed", "tokens", "tools", "tools, streamed", "JSON with a schema", "retries 429", "cut stream"},
		lines:  make([]string, len(listedClients)),
	}
	for i, client := range listedClients {
		It(fmt.Sprintf("hands on what the script has: %s, %v, %s", client.name, client.packages, client.protocol), func() {
			cases := []*nodeCase{
				{Name: "plain", script: plainScript},
				{Name: "streamed", script: plainScript, Stream: true},
				{Name: "tools", script: toolScript, Tool: true},
				{Name: "tools, streamed", script: toolScript, Tool: true, Stream: true},
				{Name: "JSON", script: cmp.Or(client.jsonScript, jsonScript), JSON: true},
				{Name: "retry", script: fault(429, 1), Retries: 1},
				{Name: "cut", script: nodeFault("truncated-stream"), Stream: true},
			}
			reports := map[string]mocks.Report{}
			for _, c := range cases {
				c.Feature = client.feature
			}
			seen := asks(client.program, cases)
			for _, c := range cases {
				reports[c.Name] = c.engine.Report()
				expectClean(c.Name, reports[c.Name])
				if c.Stream {
					for _, x := range reports[c.Name].Exchanges {
						Expect(x.Frames).To(BeNumerically(">", 1), "%s: the client did not ask for a stream", c.Name)
					}
				}
				if c.Name != "retry" && c.Name != "cut" { // an answer is left over when a client does not try again
					Expect(reports[c.Name].Unused).To(BeEmpty(), c.Name)
				}
			}
			results.lines[i] = row(
				client.name, versions(client.packages...), client.protocol,
				client.text(seen, "plain", Equal(answer)),
				client.text(seen, "streamed", Equal(answer)),
				tokens(seen["plain"].Output, seen["streamed"].Output),
				client.text(seen, "tools", Equal(toolAnswer)),
				client.text(seen, "tools, streamed", Equal(toolAnswer)),
				client.json(seen, cases),
				retried(seen["retry"], reports["retry"]),
				cut(seen["cut"]),
			)
		})
	}

	It("is in the table of the documentation, as this run saw it", func() { results.expectPublished() })
})

// expectClean fails if a client sent something that the script does not expect, or got no fault.
func expectClean(name string, r mocks.Report) {
	GinkgoHelper()
	Expect(r.Invalid).To(BeEmpty(), name)
	Expect(r.Unexpected).To(BeEmpty(), name)
	Expect(r.Warnings).To(BeEmpty(), name)
	Expect(r.Unfired).To(BeEmpty(), name)
}

// text returns the cell of a case whose answer is the script's.
func (l *listed) text(seen map[string]nodeSeen, name string, right OmegaMatcher) string {
	GinkgoHelper()
	got := seen[name]
	Expect(got.Error).To(BeEmpty(), "%s: %s", name, got.Message)
	if defect, ok := l.defects[name]; ok {
		Expect(got.Text).NotTo(right, "%s: the client's defect is gone", name)
		return defect
	}
	Expect(got.Text).To(right, name)
	return "yes"
}

// json returns the cell of an answer with a schema. Some clients do not send it.
func (l *listed) json(seen map[string]nodeSeen, cases []*nodeCase) string {
	GinkgoHelper()
	at := slices.IndexFunc(cases, func(c *nodeCase) bool { return c.JSON })
	if !cases[at].schema.Load() {
		return "–"
	}
	return l.text(seen, cases[at].Name, MatchJSON(jsonAnswer))
}

// tokens returns the cell with the output tokens that a client reports, which are 7 in the script.
func tokens(plain, streamed int) string {
	GinkgoHelper()
	Expect(plain).To(Equal(7))
	switch streamed {
	case plain:
		return "yes"
	case 0:
		return "not streamed"
	}
	return fmt.Sprintf("streamed: %d for %d", streamed, plain)
}

// retried returns the cell of a client that was told to retry once.
func retried(got nodeSeen, r mocks.Report) string {
	GinkgoHelper()
	if got.Error != "" {
		Expect(got.Message).To(Or(ContainSubstring("429"), ContainSubstring("too many")))
		return "no"
	}
	Expect(got.Text).To(Equal("hello"))
	Expect(r.Unused).To(BeEmpty())
	return "yes"
}

// cut returns the cell of a stream without its end.
func cut(got nodeSeen) string {
	GinkgoHelper()
	if got.Error != "" {
		return "error"
	}
	Expect(answer).To(HavePrefix(got.Text))
	return "no error"
}
