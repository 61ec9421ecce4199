package conformance_test

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const usage = "usage: {input: 11, output: 7}"

// fault returns a script whose first attempts fail with a status.
func fault(status, times int) string {
	return fmt.Sprintf("model: %s\nreplies: [{text: hello, %s, fault: {kind: status, status: %d, times: %d, retry_after: 20ms}}]", model, usage, status, times)
}

var _ = DescribeTableSubtree("the scripted server, called by", Label("H-02"),
	func(name string) {
		dial := clients[name]

		for _, stream := range []bool{false, true} {
			It(fmt.Sprintf("answers with text and usage, streamed: %t", stream), func(ctx context.Context) {
				base, report := serve("model: " + model + "\nreplies: [{text: 'Hello, wörld 日本!', " + usage + "}]")
				got, err := dial(base, 0).chat(ctx, question{stream: stream})
				Expect(err).NotTo(HaveOccurred())
				Expect(got).To(Equal(result{Text: "Hello, wörld 日本!", Finish: "stop", Model: model, Input: 11, Output: 7}))
				Expect(report().Unused).To(BeEmpty())
			})

			It(fmt.Sprintf("calls tools, streamed: %t", stream), func(ctx context.Context) {
				base, report := serve("model: " + model + `
replies:
  - tool_calls: [{name: weather, id: call_1, arguments: {city: Zürich}}, {name: weather, arguments: {city: Bern}}]
    when: {tool_offered: weather}
    ` + usage)
				got, err := dial(base, 0).chat(ctx, question{stream: stream, tool: true})
				Expect(err).NotTo(HaveOccurred())
				Expect(got.Finish).To(Equal("tool_calls"))
				Expect(got.Calls).To(HaveLen(2))
				Expect(got.Calls[0]).To(Equal(call{"call_1", "weather", `{"city":"Zürich"}`}))
				Expect(got.Calls[1].ID).NotTo(BeEmpty())
				Expect(got.Calls[1].Arguments).To(MatchJSON(`{"city": "Bern"}`))
				Expect(got.Input).To(Equal(11))
				Expect(report().Unexpected).To(BeEmpty())
			})

			DescribeTable(fmt.Sprintf("reports a status, streamed: %t", stream),
				func(ctx context.Context, want apiError) {
					base, report := serve(fault(want.Status, 1))
					_, err := dial(base, 0).chat(ctx, question{stream: stream})
					Expect(err).To(Equal(want))
					Expect(report().Unfired).To(BeEmpty())
				},
				Entry("401", apiError{401, "invalid_request_error", "invalid_api_key", ""}),
				Entry("429", apiError{429, "requests", "rate_limit_exceeded", ""}),
				Entry("500", apiError{500, "server_error", "", ""}),
				Entry("503", apiError{503, "server_error", "", ""}),
				Entry("529", apiError{529, "overloaded_error", "", ""}),
			)

			It(fmt.Sprintf("refuses an invalid request and names the field, streamed: %t", stream), func(ctx context.Context) {
				base, report := serve("model: " + model + "\nreplies: [{text: hello}]")
				_, err := dial(base, 0).chat(ctx, question{stream: stream, stray: true})
				Expect(err).To(Equal(apiError{400, "invalid_request_error", "", "messages[1].tool_call_id"}))
				Expect(report().Invalid).To(HaveLen(1))
			})

			It(fmt.Sprintf("refuses a call that the script does not expect, streamed: %t", stream), func(ctx context.Context) {
				base, report := serve("model: " + model + "\nreplies: [{text: hello, when: {user: bye}}]")
				_, err := dial(base, 0).chat(ctx, question{stream: stream})
				Expect(err).To(HaveField("Code", "unexpected_call"))
				Expect(report().Unexpected).To(HaveLen(1))
			})
		}

		It("answers in JSON mode", func(ctx context.Context) {
			base, _ := serve("model: " + model + "\nreplies: [{text: '{\"status\": \"done\"}'}]")
			got, err := dial(base, 0).chat(ctx, question{json: true, text: "Answer in JSON."})
			Expect(err).NotTo(HaveOccurred())
			Expect(got.Text).To(MatchJSON(`{"status": "done"}`))

			_, err = dial(base, 0).chat(ctx, question{json: true, text: "Answer."})
			Expect(err).To(HaveField("Status", 400), "OpenAI wants the word in a message")
		})

		It("lists its model", func(ctx context.Context) {
			base, _ := serve("model: " + model + "\nreplies: [{text: hello}]")
			Expect(dial(base, 0).models(ctx)).To(Equal([]string{model}))
		})

		It("returns the same embedding for the same text", func(ctx context.Context) {
			base, _ := serve("model: " + model + "\nreplies: [{text: hello}]")
			vectors, err := dial(base, 0).embed(ctx, "one", "two", "one")
			Expect(err).NotTo(HaveOccurred())
			Expect(vectors).To(HaveLen(3))
			Expect(vectors).To(HaveEach(HaveLen(4)))
			Expect(vectors[0]).To(Equal(vectors[2]))
			Expect(slices.Equal(vectors[0], vectors[1])).To(BeFalse())
		})
	},
	Entry("the official client", "openai-go"),
	Entry("go-openai", "go-openai"),
)
