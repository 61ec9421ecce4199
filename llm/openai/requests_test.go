package openai_test

import (
	"context"
	"encoding/json"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// similar are requests of which many differ in one field only.
var similar = rapid.Custom(func(t *rapid.T) llm.Request {
	pick := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	req := llm.Request{
		Model: pick("model", "", "m-1"), Purpose: pick("purpose", "loop", "judge"), MaxTokens: rapid.IntRange(0, 1).Draw(t, "limit"),
		Stream: rapid.IntRange(0, 9).Draw(t, "stream") == 0,
	}
	for range rapid.IntRange(1, 3).Draw(t, "messages") {
		m := llm.Message{
			Role: llm.Role(pick("role", "user", "assistant", "tool")), Content: pick("content", "", "a", "b<&>\u2028", "ab"),
			Name: pick("name", "", "ann"), ToolCallID: pick("call", "", "c1"),
		}
		if rapid.Bool().Draw(t, "tools") {
			m.ToolCalls = []llm.ToolCall{{ID: "c1", Name: "f", Arguments: pick("arguments", "", `{"x":1}`)}}
		}
		req.Messages = append(req.Messages, m)
	}
	if rapid.Bool().Draw(t, "tool") {
		req.Tools = []llm.Tool{{Name: "f", Parameters: json.RawMessage(pick("schema", `{}`, `{"type":"object"}`))}}
	}
	return req
})

// unlike are answers that decoders may read differently.
var unlike = []answer{
	whole(hello), whole(hello + "x"), whole("{"), whole("{}"), whole(`{"choices":7}`),
	{status: http.StatusServiceUnavailable, body: `{"error":{"message":"no"}}`},
	whole(`{"choices":[{"message":{"content":[{"type":"text","text":"parts"}]}}]}`),
	whole(`{"choices":[{"message":{"CONTENT":"a","content":"b\ud800","content":null,"MultiContent":[]},"finish_reason":"stop"}]}`),
	whole(`{"choices":[{"message":{"content":"<a>&","refusal":"no","reasoning_content":"why",` +
		`"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},"finish_reason":"tool_calls"}],` +
		`"usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}}`),
	whole(`{"choices":[{"message":{"content":3}}]}`),
	whole(`{"choices":[{"message":{"content":"a","function_call":{"name":"f","arguments":"{}"}}}],"usage":{"prompt_tokens":"3"}}`),
}

var _ = Describe("Remembered requests", Label("H-02"), func() {
	It("are those that are sent without a memory, and so are the replies", func(ctx context.Context) {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			answers := rapid.SliceOfN(rapid.SampledFrom(unlike), 3, 3).Draw(t, "answers")
			plain, remembered := &transport{answers: answers}, &transport{answers: answers}
			requests := new(openai.Requests)
			remember := func(cfg *openai.Config) { cfg.Requests = requests }
			some := rapid.SliceOfN(similar, 1, 3).Draw(t, "requests")
			for _, req := range rapid.SliceOfN(rapid.SampledFrom(some), 1, 12).Draw(t, "order") {
				want, wantErr := backend(plain).Complete(ctx, req)
				got, err := backend(remembered, remember).Complete(ctx, req)
				Expect(got).To(Equal(want))
				Expect(err == nil).To(Equal(wantErr == nil))
				if err != nil {
					Expect(err).To(MatchError(wantErr.Error()))
				}
			}
			Expect(remembered.requests).To(Equal(plain.requests))
			Expect(remembered.headers).To(Equal(plain.headers))
			Expect(remembered.open).To(BeZero())
		})
	})

	It("can be shared", func(ctx context.Context) {
		requests, done := new(openai.Requests), make(chan error)
		for range 4 {
			go func() {
				b := backend(fixed(whole(hello)), func(cfg *openai.Config) { cfg.Requests = requests })
				var err error
				for range 50 {
					if _, err = b.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}}); err != nil {
						break
					}
				}
				done <- err
			}()
		}
		for range 4 {
			Expect(<-done).To(Succeed())
		}
	})
})
