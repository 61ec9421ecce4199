package mocks_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = Describe("tools of a call", Label("H-02"), func() {
	const schema = `{"type":"object","properties":{"id":{"type":"string"}}}`

	DescribeTable("are part of its input, whatever white space the client sends",
		func(parameters string) {
			e := mocks.NewEngine(compile("replies: [{text: done}]"), mocks.EngineOptions{Count: func(_, text string) int { return len(text) }})
			e.Begin(context.Background(), wire.OpenAIChat{}, nil, []byte(`{"model":"m","messages":[{"role":"user","content":"where?"}],
				"tools":[{"type":"function","function":{"name":"lookup","description":"an order","parameters":`+parameters+`}}]}`)).End()
			Expect(e.Report().Exchanges[0].Usage.Input).To(Equal(len("where?") + len("lookup") + len("an order") + len(schema)))
		},
		Entry("none", schema),
		Entry("indented", "{ \"type\": \"object\",\n \"properties\": {\"id\": {\"type\": \"string\"}}}"))
})
