package mocks_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// replyWatcher keeps the replies and the errors of the calls that it observes.
type replyWatcher struct {
	replies []llm.Reply
	errs    []error
}

func (w *replyWatcher) Begin(string, llm.Request) (func(llm.Reply, error), error) {
	return func(r llm.Reply, err error) { w.replies, w.errs = append(w.replies, r), append(w.errs, err) }, nil
}

var _ = DescribeTable("an observer gets the reply that a fault left", Label("H-02"),
	func(fault string, want llm.Reply) {
		w := &replyWatcher{}
		r := inProcess(compile("replies: [{text: I look., tool_calls: [{name: find, arguments: {q: a}}], usage: {input: 10, output: 5}}]"),
			mocks.EngineOptions{Observer: w, Inject: []mocks.Injection{{Call: 1, Fault: &mocks.Fault{Kind: fault}}}})
		Expect(r.ask("x").Status).To(Equal(200))
		Expect(w.replies).To(HaveLen(1))
		got := w.replies[0]
		Expect(*got.Usage).To(Equal(llm.Usage{Input: 10, Output: 5, Source: llm.UsageReported}), "the usage of the script")
		for i := range got.ToolCalls {
			got.ToolCalls[i].ID = ""
		}
		got.Usage, got.Model = nil, ""
		Expect(got).To(Equal(want))
	},
	Entry("no content", "empty-text", llm.Reply{Finish: llm.FinishStop}),
	Entry("all of it", "wrong-usage", llm.Reply{
		Text: "I look.", ToolCalls: []llm.ToolCall{{Name: "find", Arguments: `{"q":"a"}`}}, Finish: llm.FinishToolCalls,
	}),
)

var _ = It("An observer gets the usage of the whole answer for a client that left before it had it", Label("H-02"), func() {
	w := &replyWatcher{}
	r := inProcess(compile("replies: [{text: one two, latency: 1h, usage: {input: 10, output: 5}}]"), mocks.EngineOptions{Observer: w})
	ctx, cancel := r.clock.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	Expect(r.post(ctx, chat(map[string]any{"stream": true}, user("x"))).Err).To(Equal("deadline"))
	left, ok := errors.AsType[*llm.Error](w.errs[0])
	Expect(ok).To(BeTrue())
	Expect(left.Kind).To(BeEquivalentTo("cancelled"))
	Expect(*left.Usage).To(Equal(llm.Usage{Input: 10, Output: 5, Source: llm.UsageReported}))
	Expect(w.replies[0]).To(Equal(llm.Reply{}))
})
