package openai_test

import (
	"context"
	"encoding/json"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

const hello = `{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`

// sent returns the one request body that req became.
func sent(ctx context.Context, req llm.Request, with ...func(*openai.Config)) map[string]any {
	GinkgoHelper()
	reply := whole(hello)
	if req.Stream {
		reply = streamed(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
	}
	rt := &transport{answers: []answer{reply}}
	_, err := backend(rt, with...).Complete(ctx, req)
	Expect(err).NotTo(HaveOccurred())
	Expect(rt.requests).To(HaveLen(1))
	var body map[string]any
	Expect(json.Unmarshal([]byte(rt.requests[0]), &body)).To(Succeed())
	return body
}

var _ = Describe("a request on the wire", func() {
	It("carries everything that was asked", func(ctx context.Context) {
		temperature, seed := 0.7, 7
		rt := &transport{answers: []answer{streamed(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]")}}
		_, err := backend(rt).Complete(ctx, llm.Request{
			Purpose: "judge", Tags: map[string]string{"block": "3", "purpose": "forged"}, Model: "m-1",
			Messages: []llm.Message{
				{Role: llm.System, Content: "S"},
				{Role: llm.Developer, Content: "D"},
				{Role: llm.User, Content: "U", Name: "ann"},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"x":1}`}, {ID: "c2", Name: "g"}}},
				{Role: llm.ToolRole, Content: "R", ToolCallID: "c1"},
				{Role: llm.ToolRole, ToolCallID: "c2"},
			},
			Tools:    []llm.Tool{{Name: "f", Description: "does", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "g"}},
			JSONMode: true, Stream: true, MaxTokens: 9, Temperature: &temperature, Seed: &seed,
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(rt.headers[0].Get("Authorization")).To(Equal("Bearer " + key))
		Expect(rt.requests[0]).To(MatchJSON(`{
			"model": "m-1", "stream": true, "stream_options": {"include_usage": true},
			"max_tokens": 9, "temperature": 0.7, "seed": 7, "response_format": {"type": "json_object"},
			"metadata": {"purpose": "judge", "block": "3"},
			"messages": [
				{"role": "system", "content": "S"}, {"role": "developer", "content": "D"}, {"role": "user", "content": "U", "name": "ann"},
				{"role": "assistant", "tool_calls": [
					{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
					{"id": "c2", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
				{"role": "tool", "content": "R", "tool_call_id": "c1"}, {"role": "tool", "content": " ", "tool_call_id": "c2"}],
			"tools": [
				{"type": "function", "function": {"name": "f", "description": "does", "parameters": {"type": "object"}}},
				{"type": "function", "function": {"name": "g", "parameters": {"type": "object", "properties": {}}}}]}`))
	})

	It("has only the given fields", func(ctx context.Context) {
		Expect(sent(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}})).To(Equal(map[string]any{
			"model": "gpt-4.1-mini", "stream": false, "messages": []any{map[string]any{"role": "user", "content": "hi"}},
		}))
	})

	It("sends a temperature of zero, which go-openai would leave out", func(ctx context.Context) {
		zero := 0.0
		Expect(sent(ctx, llm.Request{Temperature: &zero})["temperature"]).To(BeNumerically("~", 0, 1e-40))
	})

	DescribeTable("caps the output under the name that the server knows",
		func(ctx context.Context, base, model, want string) {
			body := sent(ctx, llm.Request{Model: model, MaxTokens: 5}, func(c *openai.Config) { c.BaseURL = base })
			Expect(body).To(HaveKeyWithValue(want, 5.0))
			Expect([]bool{body["max_tokens"] != nil, body["max_completion_tokens"] != nil}).To(ConsistOf(true, false))
		},
		Entry("OpenAI", "", "gpt-4.1", "max_completion_tokens"),
		Entry("OpenAI in Europe", "https://eu.api.openai.com/v1", "gpt-4.1", "max_completion_tokens"),
		Entry("another server", "https://example.com/v1", "llama", "max_tokens"),
		Entry("a reasoning model elsewhere", "https://example.com/v1", "o3-mini", "max_completion_tokens"),
		Entry("a local server", loopback, "llama", "max_tokens"),
	)

	DescribeTable("sends metadata where it is wanted",
		func(ctx context.Context, base string, store, want bool) {
			body := sent(ctx, llm.Request{Purpose: "loop"}, func(c *openai.Config) { c.BaseURL, c.Store = base, store })
			Expect(body["metadata"] != nil).To(Equal(want))
			_, stored := body["store"]
			Expect(stored).To(Equal(store))
		},
		Entry("scripted backend", loopback, false, true),
		Entry("OpenAI refuses it without store", "", false, false),
		Entry("OpenAI with store", "", true, true),
		Entry("others may refuse an unknown field", "https://example.com/v1", false, false),
	)

	DescribeTable("that cannot be sent is invalid and never tried",
		func(ctx context.Context, req llm.Request, part string) {
			rt := &transport{answers: []answer{whole(hello)}}
			_, err := backend(rt).Complete(ctx, req)
			e := failure(err)
			Expect(e.Kind).To(Equal(llm.InvalidRequest))
			Expect(e.Message).To(ContainSubstring(part))
			Expect(rt.requests).To(BeEmpty())
		},
		Entry("parameters that are not JSON", llm.Request{Tools: []llm.Tool{{Name: "f", Parameters: json.RawMessage("{")}}}, "cannot be sent"),
		Entry("temperature that is no number", llm.Request{Temperature: new(math.NaN())}, "unsupported value"),
		Entry("what a reasoning model does not take", llm.Request{Model: "gpt-5", Temperature: new(0.3)}, "temperature"),
		Entry("the same, streamed", llm.Request{Model: "gpt-5", Temperature: new(0.3), Stream: true}, "temperature"),
	)
})
