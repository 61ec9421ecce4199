package incident_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
	"github.com/rehearse-dev/rehearse/llm"
)

// These forms are written by hand, after the conventions; the forms of otlp-*.jsonl by real instrumentations.
var _ = DescribeTable("places of a call's content", func(attributes, events string) {
	span := fmt.Sprintf(`{"traceId":"t","spanId":"s","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}%s],"events":[%s]}`,
		attributes, events)
	conversations, findings, err := read(incident.OTLP, `{"resourceSpans":[{"scopeSpans":[{"spans":[`+span+`]}]}]}`)
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(BeEmpty())
	turn := conversations[0].Turns[0]
	Expect(turn.Messages).To(Equal([]llm.Message{{Role: llm.User, Content: "hi"}}))
	Expect(turn.Reply.ToolCalls).To(Equal([]llm.ToolCall{{ID: "c1", Name: "find", Arguments: `{"id":1}`}}))
},
	Entry("attributes of OpenLLMetry",
		attribute("gen_ai.prompt.0.role", "user")+attribute("gen_ai.prompt.0.content", "hi")+
			attribute("gen_ai.completion.0.tool_calls.0.id", "c1")+attribute("gen_ai.completion.0.tool_calls.0.name", "find")+
			attribute("gen_ai.completion.0.tool_calls.0.arguments", `{\"id\":1}`), ""),
	Entry("an event with the details of the call", "", event("gen_ai.client.inference.operation.details",
		attribute("gen_ai.input.messages", `[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"hi\"}]}]`)+
			attribute("gen_ai.output.messages",
				`[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"find\",\"arguments\":{\"id\":1}}]}]`))),
	Entry("events of version 1.27", "",
		event("gen_ai.content.prompt", attribute("gen_ai.prompt", `[{\"role\":\"user\",\"content\":\"hi\"}]`))+","+
			event("gen_ai.content.completion", attribute("gen_ai.completion",
				`[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"id\\\":1}\"}}]}]`))),
)

// attribute returns an attribute with a comma before it.
func attribute(key, text string) string {
	return fmt.Sprintf(`,{"key":%q,"value":{"stringValue":"%s"}}`, key, text)
}

func event(name, attributes string) string {
	return fmt.Sprintf(`{"name":%q,"attributes":[%s]}`, name, strings.TrimPrefix(attributes, ","))
}
