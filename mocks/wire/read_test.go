package wire_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// protocol is a protocol with what its wire format loses.
type protocol struct {
	wire.Reader
	// visible returns the part of an answer that its client can read.
	visible func(c wire.Completion, streamed bool) wire.Completion
}

// protocols are all of them.
var protocols = []protocol{
	{wire.OpenAIChat{}, func(c wire.Completion, _ bool) wire.Completion {
		c.Thinking = ""
		return c
	}},
	{wire.OpenAIResponses{}, func(c wire.Completion, _ bool) wire.Completion {
		if c.Finish != llm.FinishLength && c.Finish != llm.FinishContentFilter {
			c.Finish = wire.Completion{ToolCalls: c.ToolCalls}.FinishReason()
		}
		return c
	}},
	{wire.AnthropicMessages{}, messagesVisible},
	{wire.Ollama{}, ollamaVisible},
	{wire.Ollama{Generate: true}, ollamaVisible},
	{wire.Converse{Model: "gpt-4.1-mini"}, func(c wire.Completion, streamed bool) wire.Completion {
		c = messagesVisible(c, streamed)
		c.ID, c.Model, c.Usage.Reasoning = "", "gpt-4.1-mini", 0
		return c
	}},
	{wire.Gemini{Model: "m"}, func(c wire.Completion, _ bool) wire.Completion {
		c.Created = time.Time{}
		c.Usage.Input, c.Usage.CacheWrite = c.Usage.Input+c.Usage.CacheWrite, 0
		var calls []llm.ToolCall
		for _, t := range c.ToolCalls {
			t.Arguments = cmp.Or(t.Arguments, "{}")
			if v := jsontext.Value(t.Arguments); v.Kind() == '{' && v.Compact() == nil { // the others are malformed
				t.Arguments = string(v)
				calls = append(calls, t)
			}
		}
		switch {
		case c.Refusal != "" || c.Finish == llm.FinishContentFilter:
			c.Finish, c.Text, c.Refusal = llm.FinishContentFilter, "", c.Text+c.Refusal
		case c.Finish == llm.FinishLength:
		case len(calls) < len(c.ToolCalls):
			c.Finish = llm.FinishStop
		default:
			c.Finish = wire.Completion{ToolCalls: calls}.FinishReason()
		}
		c.ToolCalls = calls
		return c
	}},
}

// messagesVisible: Anthropic's answers have no time, and a refusal is their only text.
func messagesVisible(c wire.Completion, streamed bool) wire.Completion {
	c.Created = time.Time{}
	for i, t := range c.ToolCalls {
		if t.Arguments == "" {
			c.ToolCalls[i].Arguments = "{}"
		}
		if !streamed && json.Valid([]byte(t.Arguments)) { // a JSON value, without the space around it
			c.ToolCalls[i].Arguments = strings.TrimSpace(t.Arguments)
		}
	}
	if c.Refusal != "" || c.Finish == llm.FinishContentFilter { // one text, and it is a refusal
		c.Finish, c.Text, c.Refusal = llm.FinishContentFilter, "", c.Text+c.Refusal
	}
	return c
}

// ollamaVisible: Ollama's answers have no id, no refusals, no filter and no details of the usage.
func ollamaVisible(c wire.Completion, _ bool) wire.Completion {
	c.ID, c.Text, c.Refusal = "", c.Text+c.Refusal, ""
	if c.Finish != llm.FinishLength {
		c.Finish = wire.Completion{ToolCalls: c.ToolCalls}.FinishReason()
	}
	for i, t := range c.ToolCalls {
		if t.Arguments == "" {
			c.ToolCalls[i].Arguments = "{}"
		}
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(t.Arguments)) == nil {
			c.ToolCalls[i].Arguments = compact.String()
		}
	}
	c.Usage.Input += c.Usage.CachedInput + c.Usage.CacheWrite
	c.Usage.CachedInput, c.Usage.CacheWrite, c.Usage.Reasoning = 0, 0, 0
	return c
}

// nameOf names a protocol, and its endpoint if there are several.
func nameOf(p wire.Codec) string {
	if r, ok := p.(protocol); ok {
		p = r.Reader
	}
	if p == (wire.Ollama{Generate: true}) {
		return "ollama-generate"
	}
	return p.Protocol()
}

// sse reports whether the streams of a protocol are server-sent events.
func sse(p wire.Codec) bool {
	return strings.HasPrefix(p.Encode(streamCall, textAnswer)[0].Header.Get("Content-Type"), "text/event-stream")
}

// bodyOf returns the bytes that a client has read after some frames.
func bodyOf(frames []wire.Frame) []byte {
	var b []byte
	for _, f := range frames {
		b = append(b, f.Data...)
	}
	return b
}

// drawAnswer draws any answer that a script can give.
func drawAnswer(t *rapid.T) wire.Completion {
	c := wire.Completion{
		ID: rapid.StringN(1, 9, 99).Draw(t, "id"), Model: rapid.StringN(1, 9, 99).Draw(t, "model"),
		Created:  time.Unix(rapid.Int64Range(1, 1<<32).Draw(t, "created"), 0),
		Text:     rapid.String().Draw(t, "text"),
		Thinking: rapid.String().Draw(t, "thinking"),
		Refusal:  rapid.String().Draw(t, "refusal"),
		Finish: rapid.SampledFrom([]llm.FinishReason{
			"", llm.FinishStop, llm.FinishLength, llm.FinishToolCalls, llm.FinishContentFilter,
		}).Draw(t, "finish"),
		Usage: llm.Usage{
			Input: rapid.IntRange(0, 1e6).Draw(t, "input"), CachedInput: rapid.IntRange(0, 1e6).Draw(t, "cached"),
			CacheWrite: rapid.IntRange(0, 1e6).Draw(t, "written"), Output: rapid.IntRange(1, 1e6).Draw(t, "output"),
			Source: llm.UsageReported,
		},
	}
	c.Usage.Reasoning = rapid.IntRange(0, c.Usage.Output).Draw(t, "reasoning")
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		c.ToolCalls = append(c.ToolCalls, llm.ToolCall{
			ID: rapid.StringN(1, 9, 99).Draw(t, "id"), Name: rapid.StringN(1, 9, 99).Draw(t, "name"),
			Arguments: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `{}`, `{"a":[1,"é"]}`, `"x"`, ` 12`, `{ "a": 1 }`, "{\n\"a\": 1}", `{"cut":`})).Draw(t, "arguments"),
		})
	}
	return c
}

var _ = Describe("ReadAnswer", Label("H-02"), func() {
	for _, p := range protocols {
		for _, call := range []wire.Call{plainCall, usageCall} {
			how := map[bool]string{false: "at once", true: "streamed"}[call.Stream]
			It(fmt.Sprintf("gives any answer back that %s encoded, %s", nameOf(p), how), func() {
				rapid.Check(GinkgoT(), func(t *rapid.T) {
					c := drawAnswer(t)
					got, err := p.ReadAnswer(call.Stream, bodyOf(p.Encode(call, c)))
					if err != nil {
						t.Fatal(err)
					}
					c.Finish = c.FinishReason()
					want := p.visible(c, call.Stream)
					if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
						t.Fatalf("got\n%+v, want\n%+v", got, want)
					}
				})
			})
		}

		It("distinguishes a stream that is cut off, at any place, from a whole one, of "+nameOf(p), func() {
			for _, answer := range []wire.Completion{textAnswer, toolAnswer} {
				frames := p.Encode(usageCall, answer)
				body := bodyOf(frames)
				for n := range len(body) - len(frames[len(frames)-1].Data) {
					got, err := p.ReadAnswer(true, body[:n])
					Expect(errors.Is(err, wire.ErrCutAnswer) || errors.Is(err, wire.ErrEmptyAnswer)).To(BeTrue(), "%d of %d: %v", n, len(body), err)
					Expect(answer.Text).To(HavePrefix(got.Text))
				}
				_, err := p.ReadAnswer(true, body)
				Expect(err).NotTo(HaveOccurred())
			}
		})

		if sse(p) {
			It("reads streams with comments, other line ends and other events, of "+nameOf(p), func() {
				body := string(bodyOf(p.Encode(usageCall, toolAnswer)))
				body = ": hello\n\nretry: 5\nevent: other\ndata: {\"type\":\"other\",\ndata: \"x\":1}\n\n" + body
				want, err := p.ReadAnswer(true, []byte(body))
				Expect(err).NotTo(HaveOccurred())
				Expect(want.ToolCalls).To(Equal(toolAnswer.ToolCalls))
				for _, end := range []string{"\r\n", "\r"} {
					Expect(p.ReadAnswer(true, []byte(strings.ReplaceAll(body, "\n", end)))).To(Equal(want))
				}
			})
		}

		It("reports answers without content as empty, of "+nameOf(p), func() {
			for _, streamed := range []bool{false, true} {
				for _, body := range []string{"", " \n\n", ": nothing\n\n"} {
					if !sse(p) && (strings.TrimSpace(body) != "" || body != "" && p.Protocol() == "bedrock-converse") {
						continue // not a comment, and white space is a part of a message
					}
					_, err := p.ReadAnswer(streamed, []byte(body))
					if streamed || strings.TrimSpace(body) == "" {
						Expect(err).To(MatchError(wire.ErrEmptyAnswer))
					}
				}
			}
			_, err := p.ReadAnswer(false, []byte(`{}`))
			Expect(err).To(MatchError(wire.ErrEmptyAnswer))
		})

		It("reports where an answer is malformed, of "+nameOf(p), func() {
			_, err := p.ReadAnswer(false, []byte(`{"id":`))
			Expect(err).To(MatchError(ContainSubstring("read the answer's body")))
			if !sse(p) {
				return
			}
			_, err = p.ReadAnswer(true, []byte("data: {\"type\":\"ping\"}\n\ndata: {\"id\":\n\ndata: {}\n\n"))
			Expect(err).To(MatchError(ContainSubstring("event 2")))
			Expect(errors.Is(err, wire.ErrCutAnswer)).To(BeFalse())
		})

		if sse(p) {
			It("gives the error back that came in place of the answer, of "+nameOf(p), func() {
				const failure = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded","code":null}}`
				for streamed, body := range map[bool]string{false: failure, true: "event: error\ndata: " + failure + "\n\n"} {
					_, err := p.ReadAnswer(streamed, []byte(body))
					e, ok := errors.AsType[*wire.APIError](err)
					Expect(ok).To(BeTrue(), "%v", err)
					Expect(*e).To(Equal(wire.APIError{Status: 529, Type: "overloaded_error", Message: "Overloaded"}))
				}
			})
		}

		It("gives back the errors that are encoded, of "+nameOf(p), func() {
			rapid.Check(GinkgoT(), func(t *rapid.T) {
				e := &wire.APIError{
					Status:     rapid.IntRange(400, 599).Draw(t, "status"),
					Type:       rapid.SampledFrom([]string{"rate_limit_error", "overloaded_error", "api_error"}).Draw(t, "type"),
					Message:    rapid.StringN(1, 20, 90).Draw(t, "message"),
					RetryAfter: time.Duration(rapid.IntRange(0, 100).Draw(t, "wait")) * time.Second,
				}
				if e.Status == 400 {
					e.Type = "invalid_request_error"
				}
				f := p.EncodeError(e)[0]
				got := wire.ReadError(f.Status, f.Header, f.Data)
				switch p.Protocol() {
				case "gemini":
					e.Type = got.Type // it follows from the status
				case "ollama": // only the message
					e.Type = ""
				case "bedrock-converse":
					if !strings.HasSuffix(got.Type, "Exception") {
						t.Fatalf("the type is %q", got.Type)
					}
					e.Type = got.Type
				}
				if *got != *e {
					t.Fatalf("got %+v, want %+v", *got, *e)
				}
			})
		})
	}

	DescribeTable("reads as others send it",
		func(codec wire.Reader, body string, want wire.Completion, wantErr error) {
			got, err := codec.ReadAnswer(true, []byte(body))
			if wantErr != nil {
				Expect(err).To(MatchError(wantErr))
			} else {
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(got).To(Equal(want))
		},
		Entry("a chat that is done without a reason to", wire.OpenAIChat{},
			`data: {"choices":[{"index":0,"delta":{"content":"a"}}]}`+"\n\ndata: [DONE]\n\n",
			wire.Completion{Text: "a"}, wire.ErrCutAnswer),
		Entry("another choice of a chat", wire.OpenAIChat{},
			`data: {"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n",
			wire.Completion{}, wire.ErrEmptyAnswer),
		Entry("tool calls of a chat that have no index", wire.OpenAIChat{},
			`data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n",
			wire.Completion{Finish: llm.FinishToolCalls, ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}}}, nil),
		Entry("a response whose last event repeats no items", wire.OpenAIResponses{},
			`data: {"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}`+"\n\n"+
				`data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}`+"\n\n",
			wire.Completion{ID: "r", Text: "a", Finish: llm.FinishStop}, nil),
		Entry("a tool that Anthropic runs itself", wire.AnthropicMessages{},
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}`+"\n\n"+
				`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`+"\n\n"+
				`data: {"type":"content_block_stop","index":0}`+"\n\n"+
				`data: {"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`+"\n\n"+`data: {"type":"message_stop"}`+"\n\n",
			wire.Completion{Finish: llm.FinishStop}, nil),
		Entry("a block that begins with a text", wire.AnthropicMessages{},
			`data: {"type":"content_block_start","content_block":{"type":"text","text":"a"}}`+"\n\n"+
				`data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"b"}}`+"\n\n"+`data: {"type":"content_block_stop"}`+"\n\n"+
				`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}`+"\n\n"+`data: {"type":"message_stop"}`+"\n\n",
			wire.Completion{Text: "ab", Finish: llm.FinishStop}, nil),
		Entry("an error without words", wire.AnthropicMessages{}, `data: {"type":"error","error":{"type":"timeout_error"}}`+"\n\n",
			wire.Completion{}, &wire.APIError{Status: 408, Type: "timeout_error"}),
		Entry("lines of Ollama with white space, and one cut off", wire.Ollama{},
			"{\"model\":\"m\",\"message\":{\"content\":\"a\",\"thinking\":\"b\"}}\r\n\n{\"message\":", wire.Completion{Model: "m", Text: "a", Thinking: "b"}, wire.ErrCutAnswer),
		Entry("an error in a stream of Ollama", wire.Ollama{}, `{"message":{"content":"a"}}`+"\n"+`{"error":"out of memory"}`+"\n",
			wire.Completion{Text: "a"}, &wire.APIError{Status: 500, Message: "out of memory"}),
		Entry("an error event of Responses", wire.OpenAIResponses{}, `data: {"type":"error","code":"rate_limit_exceeded","message":"m","param":null}`+"\n\n",
			wire.Completion{}, &wire.APIError{Status: 429, Code: "rate_limit_exceeded", Message: "m"}),
	)

	It("has the beginning of the cut answer", func() {
		for _, p := range protocols {
			frames := p.Encode(usageCall, textAnswer)
			got, err := p.ReadAnswer(true, bodyOf(frames[:len(frames)/2]))
			Expect(err).To(MatchError(wire.ErrCutAnswer))
			Expect(got.Text).NotTo(BeEmpty())
			Expect(got.ID).To(Equal(p.visible(textAnswer, true).ID))
		}
	})
})

var _ = Describe("ReadError", Label("H-02"), func() {
	DescribeTable("tolerates",
		func(body string, want wire.APIError) {
			want.Status = 502
			Expect(*wire.ReadError(502, nil, []byte(body))).To(Equal(want))
		},
		Entry("OpenAI's error", `{"error":{"message":"m","type":"t","param":"p","code":"c"}}`, wire.APIError{Message: "m", Type: "t", Param: "p", Code: "c"}),
		Entry("Anthropic's error", `{"type":"error","error":{"type":"api_error","message":"m"},"request_id":"r"}`, wire.APIError{Message: "m", Type: "api_error"}),
		Entry("a number for a code", `{"error":{"message":"m","code":502}}`, wire.APIError{Message: "m", Code: "502"}),
		Entry("a text for an error", `{"error":"m"}`, wire.APIError{Message: "m"}),
		Entry("a page", "<h1>Bad gateway</h1>\n", wire.APIError{Message: "<h1>Bad gateway</h1>"}),
		Entry("nothing", "", wire.APIError{Message: "Bad Gateway"}),
		Entry("an error of another form", `{"error":[1]}`, wire.APIError{Message: `{"error":[1]}`}),
		Entry("bytes that are no text", "a\xff", wire.APIError{Message: "a"}),
		Entry("too much", strings.Repeat("x", 5000), wire.APIError{Message: strings.Repeat("x", 2048)}),
	)

	DescribeTable("reads how long to wait from",
		func(want time.Duration, header ...string) {
			h := http.Header{}
			for i := 0; i < len(header); i += 2 {
				h.Set(header[i], header[i+1])
			}
			Expect(wire.ReadError(429, h, nil).RetryAfter).To(Equal(want))
		},
		Entry("seconds", 3*time.Second, "Retry-After", "3"),
		Entry("milliseconds", 1500*time.Millisecond, "Retry-After-Ms", "1500", "Retry-After", "2"),
		Entry("a date", time.Minute, "Retry-After", "Sun, 06 Nov 1994 08:50:37 GMT", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
		Entry("a date that is past", time.Duration(0), "Retry-After", "Sun, 06 Nov 1994 08:48:37 GMT", "Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
		Entry("a date alone", time.Duration(0), "Retry-After", "Sun, 06 Nov 1994 08:48:37 GMT"),
		Entry("less than nothing", time.Duration(0), "Retry-After", "-3"),
		Entry("no number", time.Duration(0), "Retry-After", "NaN"),
		Entry("forever", time.Duration(0), "Retry-After", "1e300"),
	)
})
