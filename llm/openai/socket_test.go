package openai_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// Over real sockets the operating system and net/http choose the errors.
var _ = Describe("over a socket", Label("H-02"), func() {
	var rt *http.Transport

	BeforeEach(func() {
		before := gleak.Goroutines()
		DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
		rt = &http.Transport{}
		DeferCleanup(rt.CloseIdleConnections)
	})

	serve := func(h http.HandlerFunc) *openai.Backend {
		server := httptest.NewServer(h)
		DeferCleanup(server.Close)
		return backend(rt, func(c *openai.Config) { c.BaseURL = server.URL + "/v1/" })
	}

	It("completes, whole and streamed", func(ctx context.Context) {
		b := serve(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
				w.WriteHeader(http.StatusTeapot)
				return
			}
			a := whole(hello)
			if r.Header.Get("Accept") == "text/event-stream" {
				a = streamed(text("hel"), text("lo"), finish("stop"), "[DONE]")
			}
			w.Header().Set("Content-Type", a.header["Content-Type"])
			_, _ = io.WriteString(w, a.body)
		})
		for _, stream := range []bool{false, true} {
			reply, err := ask(ctx, b, stream)
			Expect(err).NotTo(HaveOccurred())
			Expect(reply.Text).To(Equal("hello"))
		}
	})

	DescribeTable("a broken connection",
		func(ctx context.Context, stream bool, body string, reset bool, kind llm.ErrorKind, partial string) {
			b := serve(func(w http.ResponseWriter, _ *http.Request) {
				if body != "" {
					a := whole("")
					if stream {
						a = streamed()
					}
					w.Header().Set("Content-Type", a.header["Content-Type"])
					_, _ = io.WriteString(w, body)
					_ = http.NewResponseController(w).Flush()
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				if reset {
					_ = conn.(*net.TCPConn).SetLinger(0)
				}
				_ = conn.Close()
			})
			_, err := ask(ctx, b, stream)
			e := failure(err)
			Expect(e.Kind).To(Equal(kind), e.Error())
			Expect(e.Partial).To(Equal(partial))
		},
		Entry("closed before the headers", false, "", false, llm.Unavailable, ""),
		Entry("reset before the headers", false, "", true, llm.Unavailable, ""),
		Entry("whole, closed within the body", false, hello[:30], false, llm.Truncated, ""),
		Entry("stream, closed within", true, streamed(text("hel")).body, false, llm.Truncated, "hel"),
		Entry("stream, closed before the headers", true, "", false, llm.Unavailable, ""),
	)

	It("finds nobody there", func(ctx context.Context) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(l.Close()).To(Succeed())
		b := backend(rt, func(c *openai.Config) { c.BaseURL = "http://" + l.Addr().String() })
		_, err = ask(ctx, b, false)
		Expect(failure(err).Kind).To(Equal(llm.Unavailable))
		Expect(err).To(MatchError(And(ContainSubstring("connection refused"), ContainSubstring(l.Addr().String()))))
	})

	It("does not follow a redirect", func(ctx context.Context) {
		hits := 0
		b := serve(func(w http.ResponseWriter, r *http.Request) {
			hits++
			http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
		})
		_, err := ask(ctx, b, false)
		Expect(failure(err).Kind).To(Equal(llm.InvalidRequest))
		Expect(hits).To(Equal(1))
	})

	It("ends a hanging stream with its context, and leaves nothing behind", func(ctx context.Context) {
		b := serve(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, streamed(text("hel")).body)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancelCause(ctx)
		_, err := b.Complete(ctx, llm.Request{Stream: true, OnText: func(string) { cancel(io.ErrClosedPipe) }})
		Expect(err).To(BeIdenticalTo(io.ErrClosedPipe))
	}, SpecTimeout(10*time.Second))
})
