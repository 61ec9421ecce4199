package openai_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// FuzzReply reads hostile answers: whatever comes, there is a reply with a
// finish reason or a typed error, and the streamed text equals the returned one.
func FuzzReply(f *testing.F) {
	for _, a := range []answer{
		whole(hello), whole(`{"choices":[],"usage":` + usageJSON + `}`), message(`"content":[{"type":"text"}]`, `"length"`),
		streamed(text("hel"), finish("stop"), "[DONE]"), streamed(`{"error":{"message":"boom","code":502}}`), streamed(manyCalls()[:3]...),
	} {
		f.Add(a.body, 200, false, "7")
		f.Add(a.body, 200, true, "")
		f.Add(a.body, 429, false, "Thu, 01 Jan 2026 00:00:20 GMT")
	}
	f.Fuzz(func(t *testing.T, body string, status int, stream bool, retryAfter string) {
		status = 200 + (status%400+400)%400
		rt := roundTrip(func(req *http.Request) (*http.Response, error) {
			return answer{status: status, header: map[string]string{"Retry-After": retryAfter}, body: body}.response(req), nil
		})
		b, err := openai.New(openai.Config{BaseURL: loopback, APIKey: key, Transport: rt, Clock: clock.NewVirtual()})
		if err != nil {
			t.Fatal(err)
		}
		var streamed strings.Builder
		reply, err := b.Complete(t.Context(), llm.Request{Stream: stream, OnText: func(s string) { streamed.WriteString(s) }})
		if err == nil {
			checkReply(t, reply, streamed.String())
			return
		}
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || !slices.Contains(kinds, e.Kind) || e.RetryAfter < 0 || e.Status < 200 || e.Status > 599 {
			t.Fatalf("not a typed error: %#v", err)
		}
		if strings.ContainsFunc(err.Error(), unicode.IsControl) || strings.Contains(err.Error(), key) {
			t.Fatalf("unsafe to show: %q", err)
		}
		if stream && streamed.String() != e.Partial {
			t.Fatalf("told %q, returned %q", streamed.String(), e.Partial)
		}
	})
}

func checkReply(t *testing.T, reply llm.Reply, streamed string) {
	if reply.Finish == "" || streamed != reply.Text || !utf8.ValidString(reply.Text) {
		t.Fatalf("streamed %q, returned %#v", streamed, reply)
	}
	if u := reply.Usage; u != nil && (min(u.Input, u.CachedInput, u.Output, u.Reasoning) < 0 || u.Reasoning > u.Output) {
		t.Fatalf("usage does not add up: %#v", *u)
	}
}

// kinds are the errors of a server that answers.
var kinds = []llm.ErrorKind{
	llm.RateLimited, llm.Timeout, llm.Unavailable, llm.Unauthorized, llm.InvalidRequest, llm.Malformed,
	llm.Refused, llm.Truncated, llm.ScriptExhausted, llm.UnexpectedCall,
}
