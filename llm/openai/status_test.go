package openai_test

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

var _ = DescribeTable("a status becomes a kind of error", Label("H-02"),
	func(ctx context.Context, status int, body string, kind llm.ErrorKind, part string) {
		for _, stream := range []bool{false, true} {
			rt := &transport{answers: []answer{{status: status, header: jsonType, body: body}}}
			_, err := ask(ctx, backend(rt), stream)
			e := failure(err)
			Expect(e.Kind).To(Equal(kind), e.Error())
			Expect(e.Status).To(Equal(status))
			Expect(rt.open).To(BeZero())
			Expect(e.Message).To(And(ContainSubstring(part), Not(ContainSubstring("code 0"))))
			Expect(len([]rune(e.Message))).To(BeNumerically("<=", 500))
		}
	},
	Entry("400", 400, `{"error":{"message":"bad role","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}`,
		llm.InvalidRequest, "bad role; parameter messages[0].role; code invalid_value"),
	Entry("400 of a content filter", 400, `{"error":{"message":"no","code":"content_filter"}}`, llm.Refused, "no"),
	Entry("401", 401, `{"error":{"message":"no such key"}}`, llm.Unauthorized, "no such key"),
	Entry("401 that repeats the key", 401, `{"error":{"message":"no such key: `+key+`"}}`, llm.Unauthorized, "no such key: [key]"),
	Entry("403", 403, `{}`, llm.Unauthorized, "Forbidden"),
	Entry("404", 404, `{"error":{"message":"no model"}}`, llm.InvalidRequest, "no model"),
	Entry("404 of something else", 404, `<h1>404</h1>`, llm.InvalidRequest, `begins "<h1>404</h1>"`),
	Entry("408", 408, ``, llm.Timeout, "Request Timeout"),
	Entry("409", 409, ``, llm.Unavailable, "Conflict"),
	Entry("422", 422, `{"error":{"message":["a","b"]}}`, llm.InvalidRequest, "a, b"),
	Entry("429", 429, `{"error":{"message":"slow down"}}`, llm.RateLimited, "slow down"),
	Entry("500 with code null, which go-openai reads as 0", 500, `{"error":{"message":"boom","param":null,"code":null}}`, llm.Unavailable, "boom"),
	Entry("500", 500, ``, llm.Unavailable, "Internal Server Error"),
	Entry("500 as a text", 500, `{"error":"boom"}`, llm.Unavailable, `{\"error\":\"boom\"}`),
	Entry("503", 503, `{"error":{"message":"overloaded","code":503}}`, llm.Unavailable, "code 503"),
	Entry("529", 529, `{"error":{"message":"overloaded"}}`, llm.Unavailable, "overloaded"),
	Entry("a page longer than any message", 502, strings.Repeat("x", 1<<20), llm.Unavailable, "Bad Gateway"),
	Entry("a key on the cut of a long page", 502, strings.Repeat("x", 195)+key, llm.Unavailable, "xxx"),
	Entry("colours and a new line", 500, `{"error":{"message":"a\u001b[31m\nb"}}`, llm.Unavailable, `a\x1b[31m b`),
	Entry("script: unexpected call", 400, `{"error":{"message":"no line fits","code":"unexpected_call"}}`, llm.UnexpectedCall, "no line fits"),
	Entry("script: exhausted", 500, `{"error":{"message":"no line left","code":"script_exhausted"}}`, llm.ScriptExhausted, "no line left"),
)

var _ = DescribeTable("an error within a stream has no status",
	func(code, errorType string, want llm.ErrorKind) {
		Expect(openai.KindOf(0, code, errorType)).To(Equal(want))
	},
	Entry("nothing known", "", "", llm.Unavailable),
	Entry("server", "", "server_error", llm.Unavailable),
	Entry("rate limit by code", "rate_limit_exceeded", "", llm.RateLimited),
	Entry("rate limit by type", "", "rate_limit_error", llm.RateLimited),
	Entry("quota", "insufficient_quota", "", llm.RateLimited),
	Entry("invalid", "", "invalid_request_error", llm.InvalidRequest),
	Entry("too long", "context_length_exceeded", "", llm.InvalidRequest),
	Entry("filter", "content_filter", "", llm.Refused),
	Entry("script", "unexpected_call", "", llm.UnexpectedCall),
)

var _ = DescribeTable("Retry-After",
	func(name, value string, want time.Duration) {
		header := map[string][]string{name: {value}}
		now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
		Expect(openai.RetryAfter(header, now)).To(Equal(want))
	},
	Entry("seconds", "Retry-After", "7", 7*time.Second),
	Entry("parts of seconds", "Retry-After", "0.25", 250*time.Millisecond),
	Entry("milliseconds", "Retry-After-Ms", "1500", 1500*time.Millisecond),
	Entry("a date", "Retry-After", "Thu, 01 Jan 2026 00:00:20 GMT", 20*time.Second),
	Entry("a date that is past", "Retry-After", "Wed, 31 Dec 2025 23:00:00 GMT", time.Duration(0)),
	Entry("nothing", "Retry-After", "", time.Duration(0)),
	Entry("negative", "Retry-After", "-5", time.Duration(0)),
	Entry("no number", "Retry-After", "NaN", time.Duration(0)),
	Entry("without end", "Retry-After", "Inf", time.Duration(1<<63-1)),
	Entry("beyond a duration", "Retry-After", "1e300", time.Duration(1<<63-1)),
	Entry("words", "Retry-After", "soon", time.Duration(0)),
)

var _ = It("prefers milliseconds to seconds", func() {
	header := map[string][]string{"Retry-After": {"2"}, "Retry-After-Ms": {"1100"}}
	Expect(openai.RetryAfter(header, time.Time{})).To(Equal(1100 * time.Millisecond))
})
