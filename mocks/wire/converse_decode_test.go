package wire_test

import (
	"encoding/binary"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

const (
	converseTools = `"toolConfig":{"tools":[{"toolSpec":{"name":"f","description":"d","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}]}`
	converseUser  = `{"role":"user","content":[{"text":"u"}]}`
	converseUse   = `{"role":"assistant","content":[{"text":"a"},{"toolUse":{"toolUseId":"c","name":"f","input":{"a":1}}}]}`
)

func conversing(messages string, members ...string) []byte {
	return []byte(`{` + strings.Join(append(members, `"messages":[`+messages+`]`), ",") + `}`)
}

func converseResult(id string) string {
	return `{"role":"user","content":[{"toolResult":{"toolUseId":"` + id + `","content":[{"json":{"x":1}},{"text":"r"}],"status":"error"}}]}`
}

var _ = Describe("Decode of Bedrock's Converse", Label("H-02"), func() {
	codec := wire.Converse{Model: "m", Stream: true}

	It("reads messages, tools, media and configuration", func() {
		c, err := codec.Decode(conversing(converseUser+`,{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},`+
			`{"toolUse":{"toolUseId":"c","name":"f","input":{"a":1}}}]},`+converseResult("c")+`,{"role":"assistant","content":[{"text":"b"}]},`+
			`{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"AAAA"}}},{"document":{"format":"pdf","name":"n","source":{"s3Location":{"uri":"s3://b/k"}}}},`+
			`{"document":{"format":"txt","name":"t","source":{"text":"\u0000\u0000\u0000"}}},{"cachePoint":{"type":"default"}}]}`,
			`"system":[{"text":"s"},{"cachePoint":{"type":"default"}}]`, converseTools,
			`"inferenceConfig":{"maxTokens":9,"temperature":0.5,"topP":1,"stopSequences":["x"]}`, `"requestMetadata":{"purpose":"p","k":"v"}`,
			`"additionalModelRequestFields":{"thinking":{"type":"enabled"}}`, `"outputConfig":{"textFormat":{"type":"json_schema"}}`))
		Expect(err).NotTo(HaveOccurred())
		temperature := 0.5
		Expect(c.Request).To(Equal(llm.Request{
			Model: "m", Stream: true, JSONMode: true, MaxTokens: 9, Temperature: &temperature, Purpose: "p", Tags: map[string]string{"k": "v"},
			Tools: []llm.Tool{{Name: "f", Description: "d", Parameters: []byte(`{"type":"object"}`)}},
			Messages: []llm.Message{
				{Role: llm.System, Content: "s"},
				{Role: llm.User, Content: "u"},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "c", Name: "f", Arguments: `{"a":1}`}}},
				{Role: llm.ToolRole, Content: "{\"x\":1}\nr", ToolCallID: "c", ToolError: true},
				{Role: llm.Assistant, Content: "b"},
				{Role: llm.User, Attachments: []llm.Attachment{
					{Kind: "image", MediaType: "image/png", Bytes: 3, SHA256: pixel},
					{Kind: "file", MediaType: "application/pdf", Name: "n", Source: "s3://b/k"},
					{Kind: "file", MediaType: "text/plain", Name: "t", Bytes: 3, SHA256: pixel},
				}},
			},
		}))
	})

	DescribeTable("refuses",
		func(body []byte, kind, message string) {
			_, err := codec.Decode(body)
			Expect(err).To(HaveOccurred())
			Expect(err.Status).To(Equal(400))
			Expect(err.Type).To(Equal(kind))
			Expect(err.Message).To(ContainSubstring(message))
		},
		Entry("no JSON", []byte("{"), "SerializationException", "not one JSON object"),
		Entry("a wrong type", conversing(`{"role":"user","content":"hi"}`), "SerializationException", "The field messages.0.content cannot be a string: it is an array."),
		Entry("nothing", conversing(""), "ValidationException", "messages field is required"),
		Entry("a system message", conversing(`{"role":"system","content":[{"text":"s"}]}`), "ValidationException", "'messages.1.member.role' failed"),
		Entry("a first message of the assistant", conversing(converseUse, converseTools), "ValidationException", "must start with a user message"),
		Entry("two messages of one role", conversing(converseUser+","+converseUser), "ValidationException", "must alternate"),
		Entry("an empty content", conversing(`{"role":"user","content":[]}`), "ValidationException", "messages.0 is empty"),
		Entry("a blank text", conversing(`{"role":"user","content":[{"text":" "}]}`), "ValidationException", "messages.0.content.0 is blank"),
		Entry("tool uses without tools", conversing(converseUser+","+converseUse), "ValidationException", "toolConfig field must be defined"),
		Entry("arguments in a string", conversing(converseUser+","+strings.Replace(converseUse, `{"a":1}`, `"{}"`, 1), converseTools), "ValidationException", "Provide a json object"),
		Entry("a use without a result", conversing(converseUser+","+converseUse+","+converseUser, converseTools), "ValidationException", "Expected toolResult blocks at messages.2.content for the following Ids: c"),
		Entry("a last use without a result", conversing(converseUser+","+converseUse, converseTools), "ValidationException", "Expected toolResult blocks at messages.2.content"),
		Entry("a result without a use", conversing(converseResult("c"), converseTools), "ValidationException", "exceeds the number of toolUse blocks"),
		Entry("another result", conversing(converseUser+","+converseUse+","+converseResult("d"), converseTools), "ValidationException", "exceeds the number of toolUse blocks"),
		Entry("an image without a source", conversing(`{"role":"user","content":[{"image":{"format":"png"}}]}`), "ValidationException", "source field of the image"),
		Entry("an image that is not base64", conversing(`{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"%"}}}]}`), "ValidationException", "not valid base64"),
		Entry("no tools", conversing(converseUser, `"toolConfig":{"tools":[]}`), "ValidationException", "toolConfig.tools"),
		Entry("a tool's name", conversing(converseUser, `"toolConfig":{"tools":[{"toolSpec":{"name":"a b"}}]}`), "ValidationException", "regular expression"),
		Entry("a tool without a schema", conversing(converseUser, `"toolConfig":{"tools":[{"toolSpec":{"name":"f"}}]}`), "ValidationException", "must not be null"),
		Entry("a schema of another type", conversing(converseUser, `"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{}}}}]}`), "ValidationException", "one of the following: object"),
		Entry("an unknown choice", conversing(converseUser, strings.Replace(converseTools, `]}`, `],"toolChoice":{"tool":{"name":"g"}}}`, 1)), "ValidationException", "The tool g"),
		Entry("a temperature", conversing(converseUser, `"inferenceConfig":{"temperature":1.5}`), "ValidationException", "'1.5' at 'inferenceConfig.temperature' failed to satisfy constraint: Member must have value less than or equal to 1"),
		Entry("no tokens", conversing(converseUser, `"inferenceConfig":{"maxTokens":0}`), "ValidationException", "greater than or equal to 1"),
	)
})

var _ = Describe("the event stream of Bedrock", Label("H-02"), func() {
	codec := wire.Converse{Model: "m"}
	whole := bodyOf(codec.Encode(usageCall, toolAnswer))

	It("has lengths and checksums, of which each byte counts", func() {
		n := int(binary.BigEndian.Uint32(whole)) // of the first message
		for i := range n {
			broken := append([]byte(nil), whole...)
			broken[i] ^= 0x10
			_, err := codec.ReadAnswer(true, broken)
			Expect(err).To(HaveOccurred(), "byte %d", i)
		}
	})

	It("reports exceptions with their status", func() {
		for status, name := range map[int]string{429: "ThrottlingException", 503: "ServiceUnavailableException", 500: "InternalServerException"} {
			frames, ok := newFault(wire.FaultSpec{Kind: "error-event", Status: status, Message: "no"})(codec, streamCall, textAnswer)
			Expect(ok).To(BeTrue())
			_, err := codec.ReadAnswer(true, bodyOf(frames))
			Expect(err).To(MatchError(&wire.APIError{Status: status, Type: name, Message: "no"}))
		}
	})
})

// FuzzDecodeConverse: as FuzzDecodeResponses.
func FuzzDecodeConverse(f *testing.F) {
	for _, seed := range [][]byte{
		conversing(converseUser, converseTools), conversing(converseUser+","+converseUse+","+converseResult("c"), converseTools),
		conversing(`{"role":"user","content":[{"image":{"format":"png","source":{"bytes":"AAAA"}}}]}`), nil, []byte(`{}`),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) { fuzzDecode(t, wire.Converse{Model: "m"}, body) })
}
