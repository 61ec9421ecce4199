package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
)

// text is a stream event with a piece of text; finish one with a finish reason.
func text(s string) string {
	return fmt.Sprintf(`{"model":"m","choices":[{"index":0,"delta":{"content":%q}}]}`, s)
}

func finish(reason string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)
}

// message is a whole answer.
func message(fields, reason string) answer {
	return whole(fmt.Sprintf(`{"model":"m","choices":[{"index":0,"message":{"role":"assistant",%s},"finish_reason":%s}]}`, fields, reason))
}

const usageJSON = `{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":30},"completion_tokens_details":{"reasoning_tokens":5}}`

var wantUsage = &llm.Usage{Input: 70, CachedInput: 30, Output: 20, Reasoning: 5, Source: llm.UsageReported}

var _ = DescribeTable("an answer becomes a reply",
	func(ctx context.Context, stream bool, a answer, want llm.Reply) {
		var heard strings.Builder
		rt := &transport{answers: []answer{a}}
		reply, err := backend(rt).Complete(ctx, llm.Request{Stream: stream, OnText: func(s string) { heard.WriteString(s) }})
		Expect(err).NotTo(HaveOccurred())
		Expect(reply).To(Equal(want))
		Expect(heard.String()).To(Equal(want.Text))
		Expect(rt.open).To(BeZero())
	},
	Entry("whole", false, message(`"content":"hello"`, `"stop"`), llm.Reply{Text: "hello", Finish: "stop", Model: "m"}),
	Entry("whole, with usage", false, whole(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":`+usageJSON+`}`),
		llm.Reply{Text: "x", Finish: "stop", Usage: wantUsage}),
	Entry("whole, empty text", false, message(`"content":""`, `"stop"`), llm.Reply{Finish: "stop", Model: "m"}),
	Entry("whole, null text", false, message(`"content":null`, `"stop"`), llm.Reply{Finish: "stop", Model: "m"}),
	Entry("whole, text in parts", false, message(`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `"stop"`),
		llm.Reply{Text: "ab", Finish: "stop", Model: "m"}),
	Entry("whole, cut by the token limit", false, message(`"content":"hel"`, `"length"`), llm.Reply{Text: "hel", Finish: "length", Model: "m"}),
	Entry("whole, tool calls with bad arguments", false,
		message(`"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{bad"}}]`, `"tool_calls"`),
		llm.Reply{ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{bad"}}, Finish: "tool_calls", Model: "m"}),
	Entry("whole, absurd usage", false, whole(`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":-3,"prompt_tokens_details":{"cached_tokens":99}}}`),
		llm.Reply{Text: "x", Finish: "stop", Usage: &llm.Usage{CachedInput: 10, Source: llm.UsageReported}}),
	Entry("whole, no Content-Type", false, answer{body: hello}, llm.Reply{Text: "hello", Finish: "stop", Model: "m"}),

	Entry("stream", true, streamed(text("hel"), text("lo"), finish("stop"), "[DONE]"), llm.Reply{Text: "hello", Finish: "stop", Model: "m"}),
	Entry("stream, with usage chunk", true, streamed(text("x"), finish("stop"), `{"choices":[],"usage":`+usageJSON+`}`, "[DONE]"),
		llm.Reply{Text: "x", Finish: "stop", Model: "m", Usage: wantUsage}),
	Entry("stream, cut by the token limit", true, streamed(text("hel"), finish("length"), "[DONE]"), llm.Reply{Text: "hel", Finish: "length", Model: "m"}),
	Entry("stream without [DONE]", true, streamed(text("hello"), finish("stop")), llm.Reply{Text: "hello", Finish: "stop", Model: "m"}),
	Entry("stream with a repeated chunk, which cannot be told from the text", true,
		streamed(text("ha"), text("ha"), finish("stop"), "[DONE]"), llm.Reply{Text: "haha", Finish: "stop", Model: "m"}),
	Entry("stream with other choices", true,
		streamed(text("a"), `{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"}]}`, finish("stop"), "[DONE]"),
		llm.Reply{Text: "a", Finish: "stop", Model: "m"}),
	Entry("stream with comments, more than go-openai's own limit", true,
		answer{header: map[string]string{"Content-Type": "text/event-stream"}, body: strings.Repeat(": wait\n\n", 400) + streamed(text("x"), finish("stop"), "[DONE]").body},
		llm.Reply{Text: "x", Finish: "stop", Model: "m"}),
	Entry("stream of interleaved tool calls", true,
		streamed(
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":":1}"}}]}}]}`,
			finish("tool_calls"), "[DONE]"),
		llm.Reply{ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: "{}"}}, Finish: "tool_calls"}),
	Entry("stream of tool calls without index", true,
		streamed(
			`{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}`,
			`{"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"[]"}}]}}]}`,
			finish("tool_calls"), "[DONE]"),
		llm.Reply{ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: `{}`}, {ID: "b", Name: "g", Arguments: "[]"}}, Finish: "tool_calls"}),
)

var jsonType = map[string]string{"Content-Type": "application/json"}

func cut(a answer, err error) answer {
	a.cut = err
	return a
}

var _ = DescribeTable("an answer that is none becomes a typed error", Label("H-02"),
	func(ctx context.Context, stream bool, a answer, kind llm.ErrorKind, partial, part string) {
		rt := &transport{answers: []answer{a}}
		_, err := ask(ctx, backend(rt), stream)
		e := failure(err)
		Expect(e.Kind).To(Equal(kind), e.Error())
		Expect(rt.open).To(BeZero())
		Expect(e.Partial).To(Equal(partial))
		Expect(e.Message).To(ContainSubstring(part))
	},
	Entry("no choices", false, whole(`{"choices":[]}`), llm.Malformed, "", "no choices"),
	Entry("an error with status 200", false, whole(`{"error":{"message":"oops"}}`), llm.Malformed, "", "oops"),
	Entry("no finish reason", false, message(`"content":"hel"`, `null`), llm.Malformed, "hel", "finish reason"),
	Entry("refusal", false, message(`"content":"well","refusal":"I cannot"`, `"stop"`), llm.Refused, "well", "I cannot"),
	Entry("content filter", false, message(`"content":"hel"`, `"content_filter"`), llm.Refused, "hel", "content filter"),
	Entry("not JSON", false, whole("<html>"), llm.Malformed, "", `begins "<html>"`),
	Entry("JSON of another form", false, whole(`{"choices":7}`), llm.Malformed, "", "cannot unmarshal"),
	Entry("empty body", false, whole(""), llm.Malformed, "", "body is empty"),
	Entry("JSON broken off by the server itself", false, whole(hello[:20]), llm.Malformed, "", "unexpected EOF"),
	Entry("wrong Content-Type", false, answer{header: map[string]string{"Content-Type": "text/html"}, body: hello}, llm.Malformed, "", `"text/html"`),
	Entry("not UTF-8", false, message("\"content\":\"a\xffb\"", `"stop"`), llm.Malformed, "", "UTF-8"),
	Entry("body cut", false, cut(whole(hello[:20]), io.ErrUnexpectedEOF), llm.Truncated, "", "cut off after 20 bytes"),
	Entry("reset within the body", false, cut(whole(hello[:20]), syscall.ECONNRESET), llm.Truncated, "", "reset"),
	Entry("reset after the headers", false, cut(whole(""), syscall.ECONNRESET), llm.Unavailable, "", "reset"),
	Entry("refused connection", false, answer{err: syscall.ECONNREFUSED}, llm.Unavailable, "", "OPENAI_BASE_URL"),
	Entry("closed before the headers", false, answer{err: io.EOF}, llm.Unavailable, "", "EOF"),
	Entry("network timeout", false, answer{err: fmt.Errorf("dial: %w", syscall.ETIMEDOUT)}, llm.Timeout, "", "timed out"),
	Entry("a wait that nothing on the virtual clock ends", false, answer{err: fmt.Errorf("mock: %w", clock.ErrStalled)}, llm.Timeout, "", "stalled"),
	Entry("redirect", false, answer{status: 302, header: map[string]string{"Location": "https://evil.example/\x1b?key=hunter2"}}, llm.InvalidRequest, "", `evil.example/\\x1b?***"`),

	Entry("stream: JSON in its place", true, whole(hello), llm.Malformed, "", "application/json"),
	Entry("stream: chunk that is not JSON", true, streamed(text("hel"), "{oops"), llm.Malformed, "hel", "{oops"),
	Entry("stream: chunk of another form", true, streamed(text("hel"), `{"choices":7}`), llm.Malformed, "hel", "choices"),
	Entry("stream: not UTF-8", true, streamed(text("hel"), "{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}"), llm.Malformed, "hel", "UTF-8"),
	Entry("stream: ends without finish reason and [DONE]", true, streamed(text("hel")), llm.Truncated, "hel", "without a finish reason"),
	Entry("stream: [DONE] without finish reason", true, streamed(text("hel"), "[DONE]"), llm.Malformed, "hel", "no finish reason"),
	Entry("stream: nothing at all", true, streamed(), llm.Truncated, "", "without a finish reason"),
	Entry("stream: only [DONE]", true, streamed("[DONE]"), llm.Malformed, "", "no finish reason"),
	Entry("stream: cut", true, cut(streamed(text("hel")), io.ErrUnexpectedEOF), llm.Truncated, "hel", "cut off"),
	Entry("stream: cut within a chunk", true, cut(answer{body: streamed(text("hel")).body + "data: {\"cho"}, io.ErrUnexpectedEOF), llm.Truncated, "hel", "cut off"),
	Entry("stream: reset", true, cut(streamed(text("hel")), syscall.ECONNRESET), llm.Truncated, "hel", "reset"),
	Entry("stream: cut after the finish reason", true, cut(streamed(text("hel"), finish("stop")), io.ErrUnexpectedEOF), llm.Truncated, "hel", "cut off"),
	Entry("stream: reset after the headers", true, cut(streamed(), syscall.ECONNRESET), llm.Unavailable, "", "reset"),
	Entry("stream: refusal", true, streamed(`{"choices":[{"delta":{"refusal":"I "}}]}`, `{"choices":[{"delta":{"refusal":"won't"}}]}`, finish("stop"), "[DONE]"),
		llm.Refused, "", "I won't"),
	Entry("stream: content filter", true, streamed(text("hel"), finish("content_filter"), "[DONE]"), llm.Refused, "hel", "content filter"),
	Entry("stream: error event", true, streamed(text("hel"), `{"error":{"message":"boom","type":"server_error"}}`), llm.Unavailable, "hel", "boom"),
	Entry("stream: error event with a space, which go-openai overlooks", true, streamed(text("hel"), `{ "error": {"message":"boom","code":502}}`), llm.Unavailable, "hel", "boom"),
	Entry("stream: error event with a status that came too late", true, streamed(text("hel"), `{"error":{"message":"boom","code":429}}`), llm.RateLimited, "hel", "boom"),
	Entry("stream: error event that is none", true, streamed(text("hel"), `{"error":null}`), llm.Malformed, "hel", ""),
	Entry("stream: rate limit event", true, streamed(`{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`), llm.RateLimited, "", "slow down"),
	Entry("stream: too many tool calls", true, streamed(manyCalls()...), llm.Malformed, "", "too many tool calls"),
)

func manyCalls() (events []string) {
	for i := range 2000 {
		events = append(events, fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d,"function":{"name":"f"}}]}}]}`, i*1_000_003))
	}
	return events
}

// endless is a body that repeats its bytes and never ends.
type endless struct {
	bytes string
	at    int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		written := copy(p[n:], e.bytes[e.at:])
		n, e.at = n+written, (e.at+written)%len(e.bytes)
	}
	return n, nil
}

func (e *endless) Close() error { return nil }

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

var _ = DescribeTable("an answer without end is given up at 64 MiB",
	func(ctx context.Context, stream bool, bytes, part string) {
		rt := roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: &endless{bytes: strings.Repeat(bytes, 1+4096/len(bytes))}}, nil
		})
		_, err := ask(ctx, backend(rt), stream)
		e := failure(err)
		Expect(e.Kind).To(Equal(llm.Malformed))
		Expect(e.Message).To(ContainSubstring(part))
	},
	Entry("whole", false, " ", "64 MiB"),
	Entry("stream of one line", true, "x", "64 MiB"),
	Entry("stream of text", true, "data: "+text(strings.Repeat("x", 4000))+"\n", "64 MiB"),
	Entry("stream of empty lines", true, "\n", "too many empty messages"),
)

var _ = It("keeps the usage of an answer without choices, and the cause of a cut", func(ctx context.Context) {
	_, err := ask(ctx, backend(&transport{answers: []answer{whole(`{"choices":[],"usage":` + usageJSON + `}`)}}), false)
	Expect(failure(err).Usage).To(Equal(wantUsage))
	_, err = ask(ctx, backend(&transport{answers: []answer{cut(whole("{"), syscall.ECONNRESET)}}), false)
	Expect(errors.Is(err, syscall.ECONNRESET)).To(BeTrue())
})
