package openai_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

func TestOpenAI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "llm/openai")
}

const (
	key      = "sk-very-secret"
	loopback = "http://127.0.0.1/v1"
)

// answer is the response of a test's server; the zero value is a 200 without a body.
type answer struct {
	status int
	header map[string]string
	body   string
	err    error // of the transport
	cut    error // of the body, after its last byte
}

// transport answers in process, in order, the last answer again and again.
type transport struct {
	answers  []answer
	requests []string
	headers  []http.Header
	open     int // bodies of responses not closed yet
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	t.requests = append(t.requests, string(body))
	t.headers = append(t.headers, req.Header)
	a := t.answers[min(len(t.requests), len(t.answers))-1]
	if a.err != nil {
		return nil, a.err
	}
	res := a.response(req)
	t.open++
	res.Body = closer{res.Body, func() { t.open-- }}
	return res, nil
}

func (a answer) response(req *http.Request) *http.Response {
	rec := httptest.NewRecorder()
	for k, v := range a.header {
		rec.Header().Set(k, v)
	}
	if a.status != 0 {
		rec.WriteHeader(a.status)
	}
	res := rec.Result()
	res.Request = req
	var body io.Reader = strings.NewReader(a.body)
	if a.cut != nil {
		body = io.MultiReader(body, failing{a.cut})
	}
	res.Body = io.NopCloser(body)
	return res
}

type closer struct {
	io.Reader
	closed func()
}

func (c closer) Close() error {
	c.closed()
	return nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// whole and streamed give body the right type.
func whole(body string) answer {
	return answer{header: map[string]string{"Content-Type": "application/json"}, body: body}
}

func streamed(events ...string) answer {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "data: %s\n\n", e)
	}
	return answer{header: map[string]string{"Content-Type": "text/event-stream; charset=utf-8"}, body: b.String()}
}

// backend is one on a virtual clock that makes no second attempt unless asked.
func backend(rt http.RoundTripper, with ...func(*openai.Config)) *openai.Backend {
	GinkgoHelper()
	cfg := openai.Config{BaseURL: loopback, APIKey: key, Transport: rt, Clock: clock.NewVirtual(), Retry: openai.RetryPolicy{Max: -1}}
	for _, f := range with {
		f(&cfg)
	}
	b, err := openai.New(cfg)
	Expect(err).NotTo(HaveOccurred())
	return b
}

// ask makes one call that asks "hi".
func ask(ctx context.Context, b llm.Backend, stream bool) (llm.Reply, error) {
	return b.Complete(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}, Stream: stream})
}

// failure returns err as the *llm.Error that it must be.
func failure(err error) *llm.Error {
	GinkgoHelper()
	var e *llm.Error
	Expect(errors.As(err, &e)).To(BeTrue(), "%T: %v", err, err)
	Expect(err.Error()).NotTo(ContainSubstring(key[:4]), "not even the beginning of the key")
	Expect(e.Backend).To(Equal("openai"))
	return e
}
