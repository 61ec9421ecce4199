package mocks_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = Describe("images in a request", Label("H-02"), func() {
	const look = `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},
		{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]}]}`

	It("are matched by their description, and their tokens are not counted", func() {
		e := mocks.NewEngine(compile(`
rules:
  - {when: {attachment: image/jpeg}, text: a photograph, optional: true}
  - {when: {attachment: {matches: "^image image/png 4 bytes sha256:0f4636c7"}, user: {equals: what is this?}}, text: a drawing}
`), mocks.EngineOptions{Count: func(_, text string) int { return len(text) }})
		x := e.Begin(context.Background(), wire.OpenAIChat{}, nil, []byte(look))
		for i := range x.Frames() {
			Expect(x.Send(i, handOver)).To(Succeed())
		}
		x.End()
		Expect(string(x.Frames()[0].Data)).To(ContainSubstring("a drawing"))
		r := e.Report()
		Expect(r.Unexpected).To(BeEmpty())
		Expect(r.Exchanges[0].Usage).To(Equal(&llm.Usage{Input: len("what is this?"), Output: len("a drawing"), Source: llm.UsageTextOnly}))
	})

	It("are named where no rule matches them", func() {
		e := mocks.NewEngine(compile(`rules: [{when: {attachment: image/jpeg}, text: x, optional: true}]`), mocks.EngineOptions{})
		e.Begin(context.Background(), wire.OpenAIChat{}, nil, []byte(look)).End()
		Expect(e.Report().Unexpected).To(ConsistOf(ContainSubstring(`when.attachment.contains: expected "image/jpeg", got "image image/png 4 bytes`)))
	})
})

var _ = It("declines a message thread without a finding, because clients can do without it", Label("H-02"), func() {
	e := mocks.NewEngine(compile(`replies: [{text: hi}]`), mocks.EngineOptions{})
	x := e.Begin(context.Background(), wire.AnthropicMessages{}, nil,
		[]byte(`{"model":"m","max_tokens":9,"thread":{"type":"create"},"messages":[{"role":"user","content":"hi"}]}`))
	Expect(x.Frames()[0].Status).To(Equal(400))
	x.End()
	r := e.Report()
	Expect(r.Calls).To(BeZero())
	Expect(r.Invalid).To(BeEmpty())
	Expect(r.Unexpected).To(BeEmpty())
})
