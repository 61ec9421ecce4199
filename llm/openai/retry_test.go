package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

var _ = DescribeTable("the decision to try again",
	func(p openai.RetryPolicy, failed llm.Error, earlier int, wait time.Duration, again bool) {
		gotWait, gotAgain := openai.Next(openai.Defaults(p), &failed, earlier)
		Expect(gotAgain).To(Equal(again))
		Expect(gotWait).To(Equal(wait))
	},
	Entry("first", openai.RetryPolicy{}, llm.Error{Kind: llm.Unavailable}, 0, 500*time.Millisecond, true),
	Entry("second waits twice as long", openai.RetryPolicy{}, llm.Error{Kind: llm.Timeout}, 1, time.Second, true),
	Entry("two is enough", openai.RetryPolicy{}, llm.Error{Kind: llm.Unavailable}, 2, time.Duration(0), false),
	Entry("none wanted", openai.RetryPolicy{Max: -1}, llm.Error{Kind: llm.Unavailable}, 0, time.Duration(0), false),
	Entry("never above the cap", openai.RetryPolicy{Max: 99, Cap: 3 * time.Second}, llm.Error{Kind: llm.Truncated}, 50, 3*time.Second, true),
	Entry("a base above the cap", openai.RetryPolicy{Base: time.Minute, Cap: time.Second}, llm.Error{Kind: llm.Truncated}, 0, time.Second, true),
	Entry("not shorter than asked", openai.RetryPolicy{}, llm.Error{Kind: llm.RateLimited, RetryAfter: 7 * time.Second}, 0, 7*time.Second, true),
	Entry("not shorter than the backoff", openai.RetryPolicy{}, llm.Error{Kind: llm.RateLimited, RetryAfter: time.Millisecond}, 0, 500*time.Millisecond, true),
	Entry("asked for exactly the cap", openai.RetryPolicy{}, llm.Error{Kind: llm.RateLimited, RetryAfter: 30 * time.Second}, 0, 30*time.Second, true),
	Entry("asked for more than the cap", openai.RetryPolicy{}, llm.Error{Kind: llm.RateLimited, RetryAfter: 31 * time.Second}, 0, time.Duration(0), false),
	Entry("jitter shortens by up to a quarter", openai.RetryPolicy{Rand: func() float64 { return 0.8 }}, llm.Error{Kind: llm.Unavailable}, 0, 400*time.Millisecond, true),
	Entry("jitter does not shorten what was asked", openai.RetryPolicy{Rand: func() float64 { return 0.8 }}, llm.Error{Kind: llm.RateLimited, RetryAfter: time.Second}, 0, time.Second, true),
)

var _ = It("tries again only what may succeed a moment later", func() {
	for _, kind := range kinds {
		_, again := openai.Next(openai.Defaults(openai.RetryPolicy{}), &llm.Error{Kind: kind}, 0)
		Expect(again).To(Equal(kind.Transient()), string(kind))
	}
})

var _ = It("waits at least three quarters of the backoff, and never longer than the cap", func() {
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		p := openai.Defaults(openai.RetryPolicy{
			Max:  rapid.IntRange(1, 200).Draw(t, "max"),
			Base: time.Duration(rapid.Int64Range(1, 1<<62).Draw(t, "base")),
			Cap:  time.Duration(rapid.Int64Range(1, 1<<62).Draw(t, "cap")),
			Rand: func() float64 { return rapid.Float64Range(0, 0.999999).Draw(t, "rand") },
		})
		asked := time.Duration(rapid.Int64Range(0, int64(p.Cap)).Draw(t, "asked"))
		wait, again := openai.Next(p, &llm.Error{Kind: llm.RateLimited, RetryAfter: asked}, rapid.IntRange(0, p.Max-1).Draw(t, "earlier"))
		if !again || wait > p.Cap || wait < asked || wait < min(p.Base, p.Cap)/4*3-time.Second {
			t.Fatalf("wait %s, again %t", wait, again)
		}
	})
})

func retrying(v *clock.Virtual) func(*openai.Config) {
	return func(c *openai.Config) { c.Clock, c.Retry = v, openai.RetryPolicy{} }
}

var _ = Describe("attempts", Label("H-02", "L-02"), func() {
	var v *clock.Virtual
	busy := answer{status: 429, header: map[string]string{"Retry-After": "7"}, body: `{"error":{"message":"slow down"}}`}
	down := answer{status: 503}
	BeforeEach(func() { v = clock.NewVirtual() })

	It("go on until one succeeds, and are listed in the reply", func(ctx context.Context) {
		rt := &transport{answers: []answer{busy, down, whole(hello)}}
		reply, err := ask(ctx, backend(rt, retrying(v)), false)
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Text).To(Equal("hello"))
		Expect(reply.Retries).To(Equal([]llm.Retry{
			{Kind: llm.RateLimited, Status: 429, Wait: 7 * time.Second}, {Kind: llm.Unavailable, Status: 503, Wait: time.Second},
		}))
		Expect(v.Elapsed()).To(Equal(8 * time.Second))
		Expect(rt.requests).To(HaveLen(3))
		Expect(rt.requests[2]).To(Equal(rt.requests[0]))
	})

	It("end after the last, and are listed in the error", func(ctx context.Context) {
		rt := &transport{answers: []answer{down}}
		_, err := ask(ctx, backend(rt, retrying(v)), false)
		Expect(failure(err).Retries).To(HaveLen(2))
		Expect(rt.requests).To(HaveLen(3))
		Expect(v.Elapsed()).To(Equal(1500 * time.Millisecond))
	})

	DescribeTable("are not repeated where that cannot help",
		func(ctx context.Context, a answer, part string) {
			rt := &transport{answers: []answer{a}}
			_, err := ask(ctx, backend(rt, retrying(v)), false)
			Expect(failure(err).Error()).To(ContainSubstring(part))
			Expect(rt.requests).To(HaveLen(1))
			Expect(v.Elapsed()).To(BeZero())
		},
		Entry("a wait beyond the cap is named", answer{status: 429, header: map[string]string{"Retry-After": "3600"}}, "longer than the cap of 30s); retry after 1h0m0s"),
		Entry("the server says so", answer{status: 503, header: map[string]string{"X-Should-Retry": "false"}}, "503"),
		Entry("no quota left", answer{status: 429, body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}, "pay"),
		Entry("no quota left, by type", answer{status: 429, body: `{"error":{"message":"pay","type":"insufficient_quota"}}`}, "pay"),
		Entry("a wrong key", answer{status: 401}, "unauthorized"),
		Entry("a stalled clock", answer{err: clock.ErrStalled}, "stalled"),
	)

	It("are not repeated once text was streamed, or the caller would receive it twice", func(ctx context.Context) {
		for _, c := range []struct{ listening, again bool }{{true, false}, {false, true}} {
			rt := &transport{answers: []answer{streamed(text("hel")), streamed(text("hello"), finish("stop"), "[DONE]")}}
			var heard []string
			req := llm.Request{Stream: true}
			if c.listening {
				req.OnText = func(s string) { heard = append(heard, s) }
			}
			reply, err := backend(rt, retrying(clock.NewVirtual())).Complete(ctx, req)
			if c.again {
				Expect(err).NotTo(HaveOccurred())
				Expect(reply.Text).To(Equal("hello"))
				Expect(reply.Retries).To(HaveLen(1))
				continue
			}
			Expect(failure(err).Kind).To(Equal(llm.Truncated))
			Expect(heard).To(Equal([]string{"hel"}))
		}
	})

	It("are repeated before any text was streamed", func(ctx context.Context) {
		rt := &transport{answers: []answer{streamed(), streamed(text("hello"), finish("stop"))}}
		var heard []string
		_, err := backend(rt, retrying(v)).Complete(ctx, llm.Request{Stream: true, OnText: func(s string) { heard = append(heard, s) }})
		Expect(err).NotTo(HaveOccurred())
		Expect(heard).To(Equal([]string{"hello"}))
	})

	It("are not made after the context ended, and give its cause", func(ctx context.Context) {
		stop := errors.New("the user stopped")
		ctx, cancel := context.WithCancelCause(ctx)
		rt := roundTrip(func(*http.Request) (*http.Response, error) {
			cancel(stop)
			return nil, io.EOF
		})
		_, err := ask(ctx, backend(rt, retrying(v)), false)
		Expect(err).To(BeIdenticalTo(stop))
		_, err = ask(ctx, backend(&transport{}), false)
		Expect(err).To(BeIdenticalTo(stop))
	})

	It("stop waiting when the context's deadline comes", func(ctx context.Context) {
		ctx, cancel := v.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		_, err := ask(ctx, backend(&transport{answers: []answer{busy}}, retrying(v)), false)
		Expect(err).To(BeIdenticalTo(context.DeadlineExceeded))
		Expect(v.Elapsed()).To(Equal(3 * time.Second))
	})

	It("time out independently", func(ctx context.Context) {
		calls := 0
		rt := roundTrip(func(req *http.Request) (*http.Response, error) {
			if calls++; calls == 3 {
				return whole(hello).response(req), nil
			}
			return nil, v.Sleep(req.Context(), time.Hour)
		})
		reply, err := ask(ctx, backend(rt, retrying(v), func(c *openai.Config) { c.AttemptTimeout = time.Minute }), false)
		Expect(err).NotTo(HaveOccurred())
		Expect(reply.Retries).To(HaveEach(HaveField("Kind", llm.Timeout)))
		Expect(v.Elapsed()).To(Equal(2*time.Minute + 1500*time.Millisecond))
	})

	It("report a timeout, whatever error the transport returns", func(ctx context.Context) {
		rt := roundTrip(func(req *http.Request) (*http.Response, error) {
			_ = v.Sleep(req.Context(), time.Hour)
			return nil, io.EOF
		})
		_, err := ask(ctx, backend(rt, func(c *openai.Config) { c.Clock, c.AttemptTimeout = v, time.Minute }), false)
		Expect(failure(err).Kind).To(Equal(llm.Timeout))
	})

	It("that time out in a stream keep what had come", func(ctx context.Context) {
		rt := roundTrip(func(req *http.Request) (*http.Response, error) {
			res := streamed(text("hel")).response(req)
			res.Body = io.NopCloser(io.MultiReader(res.Body, reader(func([]byte) (int, error) {
				return 0, v.Sleep(req.Context(), clock.Forever)
			})))
			return res, nil
		})
		_, err := ask(ctx, backend(rt, func(c *openai.Config) { c.Clock, c.AttemptTimeout = v, time.Minute }), true)
		e := failure(err)
		Expect(e.Kind).To(Equal(llm.Timeout))
		Expect(e.Partial).To(Equal("hel"))
		Expect(e.Message).To(ContainSubstring("1m0s"))
	})
})

type reader func([]byte) (int, error)

func (f reader) Read(p []byte) (int, error) { return f(p) }

// pacer records how it is used.
type pacer struct {
	waits  int
	pauses []time.Duration
	err    error
}

func (p *pacer) Wait(context.Context) error {
	p.waits++
	return p.err
}

func (p *pacer) Pause(_ context.Context, d time.Duration) error {
	p.pauses = append(p.pauses, d)
	return nil
}

var _ = Describe("attempts with a pacer", Label("H-02", "H-04"), func() {
	limited := func(after string) answer {
		return answer{status: 429, header: map[string]string{"Retry-After": after}, body: `{"error":{"message":"slow down"}}`}
	}
	paced := func(p *pacer, v *clock.Virtual) func(*openai.Config) {
		return func(c *openai.Config) { c.Pacer, c.Clock = p, v }
	}

	It("wait before each, and repeat a rate limit in addition to the retries, without moving the clock", func(ctx context.Context) {
		p, v := &pacer{}, clock.NewVirtual()
		reply, err := ask(ctx, backend(&transport{answers: []answer{limited("7"), limited("60"), whole(hello)}}, paced(p, v)), false)
		Expect(err).NotTo(HaveOccurred())
		Expect(p.waits).To(Equal(3))
		Expect(p.pauses).To(Equal([]time.Duration{7 * time.Second, time.Minute}))
		Expect(reply.Retries).To(HaveLen(2))
		Expect(v.Elapsed()).To(BeZero())
	})

	DescribeTable("do not wait together", func(ctx context.Context, a answer) {
		p := &pacer{}
		rt := &transport{answers: []answer{a}}
		_, err := ask(ctx, backend(rt, paced(p, clock.NewVirtual())), false)
		Expect(err).To(HaveOccurred())
		Expect(p.pauses).To(BeEmpty())
		Expect(rt.requests).To(HaveLen(1))
	},
		Entry("for longer than five minutes", limited("301")),
		Entry("without being asked to", answer{status: 429}),
		Entry("for a server that is down", answer{status: 503, header: map[string]string{"Retry-After": "7"}}),
		Entry("for a quota that no wait lifts", answer{
			status: 429, header: map[string]string{"Retry-After": "7"}, body: `{"error":{"message":"pay","code":"insufficient_quota"}}`,
		}),
	)

	It("give up after 20 pauses", func(ctx context.Context) {
		p := &pacer{}
		_, err := ask(ctx, backend(&transport{answers: []answer{limited("1")}}, paced(p, clock.NewVirtual())), false)
		Expect(failure(err).Kind).To(Equal(llm.RateLimited))
		Expect(p.pauses).To(HaveLen(20))
	})

	It("are not made when the pacer fails", func(ctx context.Context) {
		rt := &transport{}
		_, err := ask(ctx, backend(rt, paced(&pacer{err: io.ErrClosedPipe}, clock.NewVirtual())), false)
		Expect(err).To(MatchError(io.ErrClosedPipe))
		Expect(rt.requests).To(BeEmpty())
	})
})
