package conformance_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

var _ = DescribeTable("a fault leaves its line to the next attempt", Label("H-02"),
	func(ctx context.Context, status int) {
		By("the official client, which waits as long as the server requests")
		base, report := serve(fault(status, 2))
		got, err := clients["openai-go"](base, 2).chat(ctx, question{})
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Text).To(Equal("hello"))
		seen := report()
		Expect(seen.Calls).To(Equal(3))
		Expect(seen.Unfired).To(BeEmpty())
		Expect(seen.Unused).To(BeEmpty())

		By("the backend that agents call, which waits on its own clock")
		base, report = serve(fault(status, 2))
		v := clock.NewVirtual()
		backend, err := openai.New(openai.Config{
			BaseURL: base, Model: model, Transport: httpClient().Transport, Clock: v,
			Retry: openai.RetryPolicy{Base: time.Millisecond},
		})
		Expect(err).NotTo(HaveOccurred())
		reply, err := backend.Complete(ctx, llm.Request{Stream: true, Messages: []llm.Message{{Role: llm.User, Content: "hi"}}})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("hello"))
		Expect(reply.Usage).To(Equal(&llm.Usage{Input: 11, Output: 7, Source: llm.UsageReported}))
		Expect(reply.Retries).To(HaveLen(2))
		Expect(reply.Retries).To(HaveEach(And(HaveField("Status", status), HaveField("Wait", 20*time.Millisecond))))
		Expect(v.Elapsed()).To(Equal(40 * time.Millisecond))
		Expect(report().Calls).To(Equal(3))
	},
	Entry("429", 429), Entry("500", 500), Entry("503", 503), Entry("529", 529),
)

var _ = It("no client repeats a request with a wrong key", Label("H-02"), func(ctx context.Context) {
	base, report := serve(fault(401, 1))
	_, err := clients["openai-go"](base, 2).chat(ctx, question{})
	Expect(err).To(HaveField("Status", 401))
	Expect(report().Calls).To(Equal(1))

	base, report = serve(fault(401, 1))
	backend, err := openai.New(openai.Config{BaseURL: base, Transport: httpClient().Transport})
	Expect(err).NotTo(HaveOccurred())
	_, err = backend.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}})
	Expect(llm.KindOf(err)).To(Equal(llm.Unauthorized))
	Expect(report().Calls).To(Equal(1))
})
