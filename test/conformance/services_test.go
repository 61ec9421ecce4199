package conformance_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	nodeChoices   = "model: " + model + "\nreplies: [{text: hello, usage: {input: 9, output: 3}}]"
	nodeFunctions = "model: " + model + `
replies:
  - {tool_calls: [{name: weather, arguments: {city: Bern}}], when: {tool_offered: weather}}
  - {text: It rains., when: {turn: 1, tool_result: rain}}`
	// nodeService has no model, so that answers name the requested one.
	nodeService = `replies:
  - {thinking: hm, tool_calls: [{name: weather, arguments: {city: Bern}}], when: {tool_offered: weather}}
  - {thinking: "Now I know.", text: "It rains, 日本.", when: {tool_result: rain, turn: 1}, ` + usage + `}`
	nodeServiceRetry = "replies: [{text: hello, " + usage + ", fault: {kind: status, status: 429, retry_after: 20ms}}]"
	nodeModeration   = nodeServiceIdle + "\nmoderations: [{input: kill, categories: [violence]}]"
	nodeServiceIdle  = "rules: [{text: hello, optional: true}]"
)

var _ = Describe("Node clients of services that imitate OpenAI's API", Label("H-02"), func() {
	DescribeTable("talk with tools at the service's paths, retry after a rate limit, and report an error",
		func(service, thinking, finish string, retries bool) {
			var cases []*nodeCase
			for _, how := range []string{"", ", streamed"} {
				cases = append(cases,
					&nodeCase{Name: "talk" + how, Feature: service, Stream: how != "", script: nodeService},
					&nodeCase{Name: "surplus" + how, Feature: service, Stream: how != "", script: "replies: [{text: hello, when: {user: bye}}]"})
				if retries {
					cases = append(cases, &nodeCase{Name: "retry" + how, Feature: service, Stream: how != "", Retries: 1, script: nodeServiceRetry})
				}
			}
			seen := asks("services", cases)
			for _, how := range []string{"", ", streamed"} {
				got := seen["talk"+how]
				Expect(got.Error).To(BeEmpty(), got.Message)
				Expect(got.Text).To(Equal("It rains, 日本."))
				Expect(got.Thinking).To(Equal(thinking))
				Expect(got.Finish).To(Equal(finish))
				Expect(got.Output).To(Equal(7))
				Expect(seen["surplus"+how].Message).To(ContainSubstring("is not the one that replies[0] expects"))
				if retries {
					Expect(seen["retry"+how].Text).To(Equal("hello"), seen["retry"+how].Message)
				}
			}
			for _, c := range cases {
				report := c.engine.Report()
				Expect(report.Invalid).To(BeEmpty(), c.Name)
				Expect(report.Warnings).To(BeEmpty(), c.Name)
				if c.script == nodeService {
					Expect(report.Unused).To(BeEmpty(), c.Name)
				}
			}
		},
		Entry("openai, AzureOpenAI", "azure", "", "stop", true),
		Entry("groq-sdk", "groq", "Now I know.", "stop", true),
		Entry("@mistralai/mistralai", "mistral", "", "stop", false),
		Entry("@openrouter/ai-sdk-provider", "openrouter", "Now I know.", "stop", true),
		Entry("@openrouter/sdk, chat completions", "openrouterChat", "Now I know.", "stop", true),
		Entry("@openrouter/sdk, Responses", "openrouterResponses", "Now I know.", "completed", true),
		Entry("@ai-sdk/groq", "ai-groq", "Now I know.", "stop", true),
		Entry("@ai-sdk/mistral", "ai-mistral", "", "stop", true),
		Entry("@ai-sdk/openai-compatible", "openai-compatible", "Now I know.", "stop", true),
	)

	It("read OpenRouter's errors, also in a stream", func() {
		for _, feature := range []string{"openrouterChat", "openrouterResponses"} {
			cases := nativeCases(map[string]string{"401": fault(401, 1), "429": fault(429, 1), "503": fault(503, 1), "event": nodeFault("error-event")})
			for _, c := range cases {
				c.Feature = feature
			}
			seen := asks("services", cases)
			for _, how := range []string{"", ", streamed"} {
				Expect(seen["401"+how]).To(And(HaveField("Error", "UnauthorizedResponseError"), HaveField("Status", 401)))
				Expect(seen["429"+how]).To(And(HaveField("Error", "TooManyRequestsResponseError"), HaveField("Status", 429)))
				Expect(seen["503"+how]).To(And(HaveField("Error", "ServiceUnavailableResponseError"), HaveField("Status", 503)))
			}
			Expect(seen["event, streamed"].Message).To(HavePrefix("The server had an error"))
		}
	})

	It("use what is beside a talk", func() {
		want := map[string]nodeSeen{
			"mistralEmbeddings": {Text: "embd-rehearse", Output: 2},
			"azureEmbeddings":   {Text: "my-embeddings", Output: 2},
			"azureResponses":    {Text: "hello"},
			"choices":           {Text: "hello|hello|hello", Output: 3},
			"functions":         {Text: "It rains."},
			"limits":            {Text: "9999"},
			"moderation":        {Text: "false,true", Output: 2},
		}
		scripts := map[string]string{"choices": nodeChoices, "functions": nodeFunctions, "moderation": nodeModeration}
		var cases []*nodeCase
		for feature := range want {
			for _, how := range []string{"", ", streamed"} {
				script := scripts[feature]
				if script == "" {
					script = nodeServiceIdle
				}
				cases = append(cases, &nodeCase{Name: feature + how, Feature: feature, Stream: how != "", script: script})
			}
		}
		seen := asks("services", cases)
		for _, c := range cases {
			Expect(seen[c.Name]).To(Equal(want[c.Feature]), c.Name)
			report := c.engine.Report()
			Expect(report.Invalid).To(BeEmpty(), c.Name)
			Expect(report.Unexpected).To(BeEmpty(), c.Name)
		}
	})
})
