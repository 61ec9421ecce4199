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
	Entry("attributes of OpenInference",
		attribute("llm.input_messages.0.message.role", "user")+attribute("llm.input_messages.0.message.content", "hi")+
			attribute("llm.output_messages.0.message.tool_calls.0.tool_call.id", "c1")+
			attribute("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "find")+
			attribute("llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments", `{\"id\":1}`), ""),
	Entry("attributes of OpenInference for several parts",
		attribute("llm.input_messages.0.message.role", "user")+
			attribute("llm.input_messages.0.message.contents.0.message_content.type", "text")+
			attribute("llm.input_messages.0.message.contents.0.message_content.text", "hi")+
			attribute("llm.output_messages.0.message.contents.0.message_content.type", "tool_use")+
			attribute("llm.output_messages.0.message.contents.0.tool_call.id", "c1")+
			attribute("llm.output_messages.0.message.contents.0.tool_call.function.name", "find")+
			attribute("llm.output_messages.0.message.contents.0.tool_call.function.arguments", `{\"id\":1}`), ""),
	Entry("events of a span with JSON in an attribute", "",
		event("gen_ai.user.message", attribute("content", "hi"))+","+
			event("gen_ai.choice", attribute("message",
				`{\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"id\\\":1}\"}}]}`))),
	Entry("events of a span with the body in an attribute", "",
		event("gen_ai.user.message", attribute("gen_ai.event.content", `{\"content\":\"hi\"}`))+","+
			event("gen_ai.choice", attribute("gen_ai.event.content",
				`{\"message\":{\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"id\\\":1}\"}}]}}`))),
	Entry("events of version 1.27", "",
		event("gen_ai.content.prompt", attribute("gen_ai.prompt", `[{\"role\":\"user\",\"content\":\"hi\"}]`))+","+
			event("gen_ai.content.completion", attribute("gen_ai.completion",
				`[{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c1\",\"function\":{\"name\":\"find\",\"arguments\":\"{\\\"id\\\":1}\"}}]}]`))),
)

var _ = It("reads the generations of Langfuse's spans", func() {
	generation := attribute("langfuse.observation.type", "generation") + attribute("langfuse.observation.model.name", "gpt-4.1-mini") +
		attribute("langfuse.observation.input", `{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}],\"tools\":[]}`)
	conversations, findings, err := read(incident.OTLP, exported(
		[3]string{"a", "", attribute("langfuse.observation.type", "span")},
		[3]string{"b", "a", generation + attribute("langfuse.observation.output", `{\"role\":\"assistant\",\"content\":\"hello\"}`) +
			attribute("langfuse.observation.usage_details", `{\"input\":3,\"output\":2,\"total\":9,\"input_cached_tokens\":4}`)},
		[3]string{"c", "a", generation + attribute("langfuse.observation.level", "ERROR") + attribute("langfuse.observation.status_message", "429 slow down")}))
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(BeEmpty())
	turns := conversations[0].Turns
	Expect(turns[0].Messages).To(Equal([]llm.Message{{Role: llm.User, Content: "hi"}}))
	Expect(turns[0].Reply).To(Equal(llm.Reply{
		Text: "hello", Model: "gpt-4.1-mini", Usage: &llm.Usage{Input: 3, CachedInput: 4, Output: 2, Source: llm.UsageReported},
	}))
	Expect(turns[1].Failure).To(Equal(&incident.Failure{Status: 429, Message: "slow down"}))
})

// attribute returns an attribute with a comma before it.
func attribute(key, text string) string {
	return fmt.Sprintf(`,{"key":%q,"value":{"stringValue":"%s"}}`, key, text)
}

func event(name, attributes string) string {
	return fmt.Sprintf(`{"name":%q,"attributes":[%s]}`, name, strings.TrimPrefix(attributes, ","))
}

// exported returns spans of one trace as a document of OTLP. Each is the id of the span and of its parent, and its attributes.
func exported(spans ...[3]string) string {
	var all []string
	for _, s := range spans {
		all = append(all, fmt.Sprintf(`{"traceId":"t1","spanId":%q,"parentSpanId":%q,"attributes":[%s]}`,
			s[0], s[1], strings.TrimPrefix(s[2], ",")))
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + strings.Join(all, ",") + `]}]}]}`
}

// chat are the attributes of a call with the answer "ok", and further ones.
func chat(more string) string {
	return attribute("gen_ai.operation.name", "chat") +
		attribute("gen_ai.output.messages", `[{\"parts\":[{\"type\":\"text\",\"content\":\"ok\"}]}]`) + more
}

var _ = Describe("spans", func() {
	It("recognizes a call by the kind of span of OpenInference, with its tokens and session", func() {
		conversations, findings, err := read(incident.OTLP, exported([3]string{"a", "", attribute("openinference.span.kind", "LLM") +
			attribute("session.id", "s1") + attribute("llm.model_name", "m1") +
			attribute("llm.output_messages.0.message.content", "ok") + attribute("llm.token_count.prompt", "10") +
			attribute("llm.token_count.prompt_details.cache_read", "4") + attribute("llm.token_count.completion", "2")}))
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(BeEmpty())
		Expect(conversations[0].ID).To(Equal("s1"))
		Expect(conversations[0].Turns[0].Reply).To(HaveField("Text", "ok"))
		Expect(conversations[0].Turns[0].Reply).To(HaveField("Model", "m1"))
		Expect(conversations[0].Turns[0].Reply.Usage).To(HaveValue(Equal(
			llm.Usage{Input: 6, CachedInput: 4, Output: 2, Source: llm.UsageReported})))
	})

	It("separates the conversations of one trace", func() {
		conversations, findings, err := read(incident.OTLP, exported(
			[3]string{"root", "", ""},
			[3]string{"a", "root", attribute("gen_ai.conversation.id", "c1")}, [3]string{"b", "a", chat("")},
			[3]string{"c", "root", attribute("gen_ai.conversation.id", "c2")}, [3]string{"d", "c", chat("")},
		))
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(BeEmpty())
		Expect(conversations).To(HaveLen(2))
		for i, id := range []string{"c1", "c2"} {
			Expect(conversations[i].ID).To(Equal(id))
			Expect(conversations[i].Traces).To(Equal([]string{"t1"}))
			Expect(conversations[i].Turns).To(HaveLen(1))
			Expect(conversations[i].Done).To(BeTrue(), "the span around the call is the root")
		}
	})

	It("names the known conventions if no span is a call", func() {
		_, findings, err := read(incident.OTLP, exported([3]string{"a", "", attribute("other.kind", "LLM")}))
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(ConsistOf(MatchRegexp(`none of 1 span is a call of a model in a known convention.*openinference\.span\.kind`)))
	})

	It("reports tokens and times that are not numbers, and orders the span by its end", func() {
		late := strings.Replace(exported([3]string{"b", "", chat(attribute("gen_ai.usage.input_tokens", "many") +
			attribute("gen_ai.usage.output_tokens", "1"))}), `"spanId":"b"`, `"spanId":"b","startTimeUnixNano":"soon","endTimeUnixNano":"9"`, 1)
		early := strings.Replace(exported([3]string{"a", "", chat(attribute("gen_ai.response.model", "first"))}),
			`"spanId":"a"`, `"spanId":"a","startTimeUnixNano":"3","endTimeUnixNano":"4"`, 1)
		conversations, findings, err := read(incident.OTLP, late+"\n"+early)
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(Equal([]string{
			"a.jsonl:1: span b: startTimeUnixNano is not a number: soon; the span is ordered by its end",
			"a.jsonl:1: span b: the attribute gen_ai.usage.input_tokens is not a number: many; it is left out",
		}))
		Expect(conversations[0].Turns[0].Reply.Model).To(Equal("first"))
		Expect(conversations[0].Turns[1].Reply.Usage).To(BeNil())
	})

	It("reads counts that are written as fractions", func() {
		conversations, findings, err := read(incident.OTLP, exported([3]string{"a", "", chat(attribute("gen_ai.usage.input_tokens", "7.0") +
			attribute("gen_ai.usage.output_tokens", "1"))}))
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(BeEmpty())
		Expect(conversations[0].Turns[0].Reply.Usage.Input).To(Equal(7))
	})

	It("names the types of parts that it does not understand", func() {
		hologram := attribute("gen_ai.operation.name", "chat") + attribute("gen_ai.input.messages", `[{\"role\":\"user\",\"content\":\"hi\"}]`) +
			attribute("gen_ai.output.messages", `[{\"parts\":[{\"type\":\"hologram\"}]}]`)
		conversations, findings, err := read(incident.OTLP, exported([3]string{"a", "", hologram}))
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations).To(BeEmpty())
		Expect(findings).To(ConsistOf(ContainSubstring("that of call 1 has only parts of the type hologram")))

		conversations, _, err = read(incident.OTLP, exported([3]string{"a", "", chat("")}, [3]string{"b", "", hologram}))
		Expect(err).NotTo(HaveOccurred())
		Expect(written(conversations[0], incident.Options{}).Notes).To(ContainElement(
			"The script ends before call 2 of 2: its answer has only parts that import does not read: hologram."))

		both := strings.Replace(chat(""), `\"content\":\"ok\"}`, `\"content\":\"ok\"},{\"type\":\"hologram\"}`, 1)
		conversations, _, err = read(incident.OTLP, exported([3]string{"a", "", both}))
		Expect(err).NotTo(HaveOccurred())
		Expect(written(conversations[0], incident.Options{}).Notes).To(ContainElement(
			"Parts of answer 1 that import does not read are left out: hologram."))
	})
})

var _ = DescribeTable("images in prompts are left out, with a note", func(format incident.Format, text, kind string) {
	conversations, _, err := read(format, text)
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations[0].Turns[0].Messages).To(Equal([]llm.Message{{Role: llm.User, Content: "what?"}}))
	Expect(conversations[0].Notes).To(ContainElement("Parts of the user's messages that import does not read are left out: " + kind + "."))
},
	Entry("of OpenInference", incident.OTLP, exported([3]string{"a", "", attribute("openinference.span.kind", "LLM") +
		attribute("llm.output_messages.0.message.content", "ok") + attribute("llm.input_messages.0.message.role", "user") +
		attribute("llm.input_messages.0.message.contents.0.message_content.type", "input_text") +
		attribute("llm.input_messages.0.message.contents.0.message_content.text", "what?") +
		attribute("llm.input_messages.0.message.contents.1.message_content.type", "image")}), "image"),
	Entry("of OpenLLMetry", incident.OTLP, exported([3]string{"a", "", attribute("gen_ai.operation.name", "chat") +
		attribute("gen_ai.completion.0.content", "ok") + attribute("gen_ai.prompt.0.role", "user") +
		attribute("gen_ai.prompt.0.content", `[{\"type\":\"text\",\"text\":\"what?\"},{\"type\":\"image_url\",\"image_url\":{}}]`)}),
		"image_url"),
	Entry("of Langfuse", incident.Langfuse, generations([2]string{
		`{"role":"user","content":[{"type":"text","text":"what?"},{"type":"image_url","image_url":{}}]}`, sayOne,
	}), "image_url"),
)

var _ = It("names operations that are not calls of a known convention", func() {
	_, findings, err := read(incident.OTLP, exported([3]string{"a", "", attribute("gen_ai.operation.name", "llm_call")},
		[3]string{"b", "", attribute("gen_ai.operation.name", "llm_call")}, [3]string{"c", "", attribute("gen_ai.operation.name", "tool_call")}))
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(ConsistOf(ContainSubstring("gen_ai.operation.name has only other values: llm_call, tool_call")))
})

var _ = It("reports log records without spans", func() {
	conversations, findings, err := read(incident.OTLP, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"eventName":"gen_ai.choice"}]}]}]}`)
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations).To(BeEmpty())
	Expect(findings).To(ConsistOf("a.jsonl: the files have log records but no spans; import both together"))
})

var _ = It("reads texts of OpenAI's Responses API in OpenInference", func() {
	text := exported([3]string{"a", "", attribute("openinference.span.kind", "LLM") +
		attribute("llm.output_messages.0.message.contents.0.message_content.type", "output_text") +
		attribute("llm.output_messages.0.message.contents.0.message_content.text", "Hi.")})
	conversations, findings, err := read(incident.OTLP, text)
	Expect(err).NotTo(HaveOccurred())
	Expect(findings).To(BeEmpty())
	Expect(conversations[0].Turns[0].Reply.Text).To(Equal("Hi."))
})

var _ = DescribeTable("the status of an error's message", func(message string, status int, rest string) {
	conversations, _, err := read(incident.Langfuse, fmt.Sprintf(`[{"id":"1","traceId":"t","type":"GENERATION","level":"ERROR",`+
		`"startTime":"2026-11-01T10:00:00.000Z","statusMessage":%q}]`, message))
	Expect(err).NotTo(HaveOccurred())
	Expect(conversations[0].Turns[0].Failure).To(Equal(&incident.Failure{Status: status, Message: rest}))
},
	Entry("of a client in Node", "400 nope", 400, "nope"),
	Entry("of its text", "Error: 400 nope", 400, "nope"),
	Entry("of its text with the error's name", "RateLimitError: 429 slow down", 429, "slow down"),
	Entry("of a client in Python", "Error code: 429 - slow down", 429, "slow down"),
	Entry("of a client in Python with the error's name", "openai.RateLimitError: Error code: 429 - {}", 429, "{}"),
	Entry("of axios", "Request failed with status code 502", 502, ""),
	Entry("of axios with the error's name", "AxiosError: Request failed with status code 502", 502, ""),
	Entry("of HTTP", "HTTP 500: boom", 500, "boom"),
	Entry("of HTTP with its version", "HTTP/1.1 503 Service Unavailable", 503, "Service Unavailable"),
	Entry("within its text", "no HTTP 500: boom", 0, "no HTTP 500: boom"),
	Entry("which has none", "Error: 4000 nope", 0, "Error: 4000 nope"),
)

var _ = It("notes that tokens are counted if the file does not have them", func() {
	conversations, _, err := read(incident.Langfuse, generations([2]string{askFirst, sayOne}))
	Expect(err).NotTo(HaveOccurred())
	sc := written(conversations[0], incident.Options{})
	Expect(sc.Notes).To(ContainElement("The file has no token counts of 1 answer; they are counted from the texts."))
})
