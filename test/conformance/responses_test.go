package conformance_test

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	official "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

func gpt(base string, retries int) official.Client {
	return official.NewClient(option.WithBaseURL(base), option.WithAPIKey("k"), option.WithHTTPClient(httpClient()), option.WithMaxRetries(retries))
}

func gptAsks(ctx context.Context, c official.Client, stream bool) (answered, error) {
	p := responses.ResponseNewParams{
		Model: model, Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt("hi")},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
			Name: toolName, Parameters: map[string]any{"type": "object"}, Strict: param.NewOpt(false),
		}}},
	}
	return gptSends(ctx, c, p, stream)
}

// gptSends sends a request, and returns the whole answer.
func gptSends(ctx context.Context, c official.Client, p responses.ResponseNewParams, stream bool) (answered, error) {
	if !stream {
		r, err := c.Responses.New(ctx, p)
		if err != nil {
			return answered{}, officialError(err)
		}
		return gptAnswer(r), nil
	}
	s := c.Responses.NewStreaming(ctx, p)
	defer s.Close()
	var got answered
	for s.Next() {
		switch e := s.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			got.Text += e.Delta
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			got.Thinking += e.Delta
		case responses.ResponseCompletedEvent:
			return gptAnswer(&e.Response), nil
		case responses.ResponseIncompleteEvent:
			return gptAnswer(&e.Response), nil
		case responses.ResponseFailedEvent:
			return got, apiError{Status: 200, Type: string(e.Response.Status), Code: string(e.Response.Error.Code)}
		}
	}
	if err := s.Err(); err != nil {
		return got, officialError(err)
	}
	return got, nil // without a finish reason, because the stream ended without an end mark
}

func gptAnswer(r *responses.Response) answered {
	got := answered{Finish: string(r.Status), Input: r.Usage.InputTokens, Cached: r.Usage.InputTokensDetails.CachedTokens, Output: r.Usage.OutputTokens}
	if reason := r.IncompleteDetails.Reason; reason != "" {
		got.Finish = reason
	}
	for _, item := range r.Output {
		switch t := item.AsAny().(type) {
		case responses.ResponseOutputMessage:
			for _, part := range t.Content {
				got.Text += part.Text + part.Refusal
			}
		case responses.ResponseReasoningItem:
			for _, part := range t.Summary {
				got.Thinking += part.Text
			}
		case responses.ResponseFunctionToolCall:
			got.Calls = append(got.Calls, call{t.CallID, t.Name, t.Arguments})
		}
	}
	return got
}

var _ = Describe("OpenAI's official client, over Responses", Label("H-02"), func() {
	for _, stream := range []bool{false, true} {
		It(fmt.Sprintf("parses thoughts, texts, tool calls and usage, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve(rich)
			got, err := gptAsks(ctx, gpt(base, 0), stream)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(answered{
				Thinking: "Let me think.", Text: "Hello, wörld 日本!", Finish: "completed",
				Calls: []call{{"call_1", "weather", `{"city":"Zürich"}`}}, Input: 18, Cached: 5, Output: 7,
			}))
			Expect(report().Unused).To(BeEmpty())
		})

		DescribeTable(fmt.Sprintf("reports a status, streamed: %t", stream),
			func(ctx context.Context, want apiError) {
				base, report := serve(fault(want.Status, 1))
				_, err := gptAsks(ctx, gpt(base, 0), stream)
				Expect(err).To(Equal(want))
				Expect(report().Unfired).To(BeEmpty())
			},
			Entry("401", apiError{401, "invalid_request_error", "invalid_api_key", ""}),
			Entry("429", apiError{429, "requests", "rate_limit_exceeded", ""}),
			Entry("503", apiError{503, "server_error", "", ""}),
		)

		It(fmt.Sprintf("retries after a rate limit, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve(fault(429, 1))
			got, err := gptAsks(ctx, gpt(base, 1), stream)
			Expect(err).NotTo(HaveOccurred())
			Expect(got.Text).To(Equal("hello"))
			Expect(report().Calls).To(Equal(2))
		})
	}

	It("holds a conversation with tools", func(ctx context.Context) {
		base, report := serve("model: " + model + `
replies:
  - {thinking: hm, tool_calls: [{name: weather, arguments: {city: Bern}}]}
  - {text: It rains., when: {tool_result: rain, turn: 1}}`)
		c := gpt(base, 0)
		input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("hi", responses.EasyInputMessageRoleUser)}
		ask := func() *responses.Response {
			GinkgoHelper()
			r, err := c.Responses.New(ctx, responses.ResponseNewParams{Model: model, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input}})
			Expect(err).NotTo(HaveOccurred())
			return r
		}
		r := ask()
		use := r.Output[len(r.Output)-1].AsFunctionCall()
		Expect(use.Name).To(Equal("weather"))
		for _, item := range r.Output {
			input = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
		}
		input = append(input, functionOutput(use.CallID, "rain"))
		Expect(ask().OutputText()).To(Equal("It rains."))
		seen := report()
		Expect(seen.Invalid).To(BeEmpty())
		Expect(seen.Unused).To(BeEmpty())
	})

	for _, kind := range wire.FaultKinds() {
		It("sees "+kind+" in a stream", func(ctx context.Context) {
			got, err, fired := withFault(ctx, kind, func(ctx context.Context, base string) (answered, error) {
				return gptAsks(ctx, gpt(base, 0), true)
			})
			Expect(fired).To(BeTrue())
			gptSees[kind](got, err)
		})
	}
})

// gptSees has a row for each kind of fault.
var gptSees = map[string]sees{
	"status":               failsWith(apiError{500, "server_error", "", ""}),
	"timeout":              failsWith(context.DeadlineExceeded),
	"reset-before-headers": fails,
	"reset-after-headers":  fails,
	"reset-mid-stream":     fails,
	"truncated-stream":     fails,
	"missing-done": func(got answered, err error) {
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Finish).To(BeEmpty(), "only the missing event shows it")
	},
	"error-event":        failsWith(apiError{200, "failed", "server_error", ""}),
	"malformed-json":     fails,
	"wrong-content-type": func(got answered, _ error) { Expect(got).To(BeZero()) },
	"empty-choices":      finishesWith("completed", ""),
	"empty-text":         finishesWith("completed", ""),
	"finish-length":      cutAt("max_output_tokens", ""),
	"content-filter":     finishesWith("content_filter", ""),
	"refusal":            finishesWith("completed", "I'm sorry, but I can't help with that."),
	"slow-drip":          whollySeen("completed"),
	"duplicate-chunk":    whollySeen("completed"),
	"wrong-usage": func(got answered, err error) {
		whollySeen("completed")(got, err)
		Expect(got.Output).To(Equal(int64(1070)))
	},
	"invalid-tool-arguments": cutAt("completed", `{"city"`),
	"not-utf8":               func(got answered, _ error) { Expect(got.Calls).To(HaveLen(1)) },
}

func functionOutput(id, text string) responses.ResponseInputItemUnionParam {
	return responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{
		CallID: param.NewOpt(id), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: param.NewOpt(text)},
	}}
}
