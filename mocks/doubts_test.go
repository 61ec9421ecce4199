package mocks_test

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = DescribeTable("An answer that a model would not have given", Label("H-02"),
	func(line, fields string, want ...any) {
		request := map[string]any{}
		Expect(json.Unmarshal([]byte(fields), &request)).To(Succeed())
		count := func(_, text string) int { return len(text) }
		r := inProcess(compile("rules: ["+line+"]"), mocks.EngineOptions{Count: count})
		for range 2 {
			Expect(r.post(context.Background(), chat(request, user("a"))).Status).To(Equal(200))
		}
		Expect(r.engine.Report().Warnings).To(HaveExactElements(want...))
	},
	Entry("is longer than the request allows", "{text: abcdef}", `{"max_tokens":5}`,
		"rules[0]: the answer has 6 tokens, but the request allows 5: a provider would cut it off there, with finish: length"),
	Entry("is longer than the request allows, by its usage", "{text: a, usage: {output: 6}}", `{"max_completion_tokens":5}`,
		"rules[0]: the answer has 6 tokens, but the request allows 5: a provider would cut it off there, with finish: length"),
	Entry("not if it is as long", "{text: abcde}", `{"max_tokens":5}`),
	Entry("not if it was cut off", "{text: abcdef, finish: length}", `{"max_tokens":5}`),
	Entry("is no JSON", "{text: Sunny}", `{"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"JSON"}]}`,
		"rules[0]: the request demands JSON, but the text of this line is not JSON"),
	Entry("not if it is JSON", `{text: '{"a":1}'}`, `{"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"JSON"}]}`),
	Entry("not if it refuses", `{refusal: No.}`, `{"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"JSON"}]}`),
	Entry("calls a tool with misspelt, other and without required arguments", "{tool_calls: [{name: f, arguments: {citty: Rome, zone: 1}}]}", offers(`,"additionalProperties":false`),
		`rules[0]: the call of "f" has the argument "citty", which the tool does not know; did you mean "city"?`,
		`rules[0]: the call of "f" has the argument "zone", which the tool does not allow`,
		`rules[0]: the call of "f" lacks the argument "city", which the tool requires`),
	Entry("not if other arguments are allowed", "{tool_calls: [{name: f, arguments: {city: Rome, zone: 1}}]}", offers("")),
	Entry("not if the tool has no schema", "{tool_calls: [{name: f, arguments: {zone: 1}}]}", `{"tools":[{"type":"function","function":{"name":"f"}}]}`),
)

// offers returns the fields of a request that offers a tool.
func offers(more string) string {
	return `{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]` +
		more + `}}}]}`
}
