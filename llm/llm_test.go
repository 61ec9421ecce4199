package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
)

// adapter is available unless missing says otherwise.
type adapter struct {
	llm.Backend
	id      string
	missing error
}

func (a adapter) ID() string                      { return a.id }
func (a adapter) Available(context.Context) error { return a.missing }

var errNoKey = errors.New("set FANCY_KEY")

var _ = Describe("FindAdapter", Label("L-02"), func() {
	good, other, poor := adapter{id: "good"}, adapter{id: "other"}, adapter{id: "poor", missing: errNoKey}

	It("returns the available adapter with the id", func(ctx context.Context) {
		Expect(llm.FindAdapter(ctx, "good", poor, good)).To(Equal(llm.Adapter(good)))
	})

	DescribeTable("reports why an adapter cannot be used, and which others can",
		func(ctx context.Context, adapters []llm.Adapter, id, want string) {
			_, err := llm.FindAdapter(ctx, id, adapters...)
			Expect(err).To(MatchError(want))
		},
		Entry("unknown id", []llm.Adapter{good, poor, other}, "gud",
			`unknown backend "gud"; available: good, other (known but not available: poor)`),
		Entry("not available", []llm.Adapter{good, poor}, "poor",
			`backend "poor" is not available: set FANCY_KEY; available: good`),
		Entry("the only adapter is not available", []llm.Adapter{poor}, "poor",
			`backend "poor" is not available: set FANCY_KEY; no other backend is available`),
		Entry("unknown id, and nothing is available", []llm.Adapter{poor}, "x",
			`unknown backend "x"; no other backend is available (known but not available: poor)`),
		Entry("no adapters", nil, "x", `unknown backend "x"; no other backend is available`),
	)

	It("wraps the reason", func(ctx context.Context) {
		_, err := llm.FindAdapter(ctx, "poor", poor)
		Expect(err).To(MatchError(errNoKey))
	})
})

var _ = Describe("an error", func() {
	DescribeTable("names what is known",
		func(e llm.Error, want string) { Expect(e.Error()).To(Equal(want)) },
		Entry("all", llm.Error{Kind: llm.RateLimited, Backend: "openai", Status: 429, Message: "slow down", RetryAfter: 2 * time.Second, Err: io.EOF},
			"openai: rate-limited (429): slow down; retry after 2s"),
		Entry("the kind alone", llm.Error{Kind: llm.Timeout}, "timeout"),
		Entry("the cause, without a message", llm.Error{Kind: llm.Truncated, Err: io.ErrUnexpectedEOF}, "truncated: unexpected EOF"),
	)

	It("gives its cause and, however deep it is wrapped, its kind", func() {
		err := fmt.Errorf("iteration 3: %w", &llm.Error{Kind: llm.Truncated, Err: io.ErrUnexpectedEOF})
		Expect(err).To(MatchError(io.ErrUnexpectedEOF))
		Expect(llm.KindOf(err)).To(Equal(llm.Truncated))
		Expect(llm.KindOf(io.EOF)).To(BeEmpty())
		Expect(llm.KindOf(nil)).To(BeEmpty())
	})

	DescribeTable("is transient if the same request may succeed a moment later",
		func(kind llm.ErrorKind, want bool) { Expect(kind.Transient()).To(Equal(want)) },
		Entry("rate-limited", llm.RateLimited, true),
		Entry("timeout", llm.Timeout, true),
		Entry("unavailable", llm.Unavailable, true),
		Entry("truncated", llm.Truncated, true),
		Entry("unauthorized", llm.Unauthorized, false),
		Entry("invalid-request", llm.InvalidRequest, false),
		Entry("malformed", llm.Malformed, false),
		Entry("refused", llm.Refused, false),
		Entry("failed", llm.Failed, false),
		Entry("script-exhausted", llm.ScriptExhausted, false),
		Entry("unexpected-call", llm.UnexpectedCall, false),
		Entry("an error of another type", llm.ErrorKind(""), false),
	)
})

var _ = It("counts every token once", func() {
	Expect(llm.Usage{Input: 1, CachedInput: 20, CacheWrite: 300, Output: 4000, Reasoning: 3000}.Total()).To(Equal(4321))
})

var _ = It("turns a reply into the message that a conversation keeps", func() {
	calls := []llm.ToolCall{{ID: "a", Name: "f", Arguments: "{}"}}
	Expect(llm.Reply{Text: "t", ToolCalls: calls, Finish: llm.FinishToolCalls}.Message()).
		To(Equal(llm.Message{Role: llm.Assistant, Content: "t", ToolCalls: calls}))
})

var _ = It("lets a function be a backend", func(ctx context.Context) {
	b := llm.BackendFunc(func(got context.Context, req llm.Request) (llm.Reply, error) {
		Expect(got).To(BeIdenticalTo(ctx))
		return llm.Reply{Text: req.Purpose}, io.EOF
	})
	reply, err := b.Complete(ctx, llm.Request{Purpose: "judge"})
	Expect(reply.Text).To(Equal("judge"))
	Expect(err).To(BeIdenticalTo(io.EOF))
})

// Recordings hold these values, so that a field that JSON loses is lost for ever.
var _ = DescribeTable("survives a round trip through JSON with every field set",
	func(value any) {
		filled := reflect.New(reflect.TypeOf(value))
		fill(filled.Elem())
		encoded, err := json.Marshal(filled.Interface())
		Expect(err).NotTo(HaveOccurred())
		back := reflect.New(reflect.TypeOf(value))
		Expect(json.Unmarshal(encoded, back.Interface())).To(Succeed())
		Expect(back.Interface()).To(Equal(filled.Interface()))
	},
	Entry("request", llm.Request{}), Entry("reply", llm.Reply{}), Entry("usage", llm.Usage{}), Entry("retry", llm.Retry{}),
)

// fill sets every field to something other than zero, except functions.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"x":1}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{"k": "v"}))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Func:
	default:
		Fail("fill does not know " + v.Type().String())
	}
}
