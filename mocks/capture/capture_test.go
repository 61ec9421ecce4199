package capture_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var _ = Describe("a capture", Label("H-02"), func() {
	for protocol := range requests {
		for _, stream := range []string{"true", "false"} {
			It("passes "+protocol+" on unchanged (stream "+stream+") and replays it from the script", func(ctx context.Context) {
				upstream, _ := scripted(parse(conversation))
				r := capturing(upstream, capture.Options{})
				through := r.answersOf(ctx, r.url, protocol, stream)
				same, _ := scripted(parse(conversation))
				bare := capturing(same, capture.Options{})
				Expect(slices.Equal(through, bare.answersOf(ctx, bare.direct, protocol, stream))).To(BeTrue(), "the client gets what was sent")

				script, skipped := capture.Script(r.tape(2), capture.ScriptOptions{})
				Expect(skipped).To(BeEmpty())
				Expect(script.Model).To(Equal("m-2026"))
				again, engine := scripted(script)
				replay := capturing(again, capture.Options{})
				codec, _ := wire.ForProtocol(protocol)
				for i, body := range replay.answersOf(ctx, replay.direct, protocol, stream) {
					was, err := codec.ReadAnswer(stream == "true", []byte(through[i]))
					Expect(err).NotTo(HaveOccurred())
					is, err := codec.ReadAnswer(stream == "true", []byte(body))
					Expect(err).NotTo(HaveOccurred())
					Expect(is.Text).To(Equal(forms.Text(was.Text)))
					Expect(is.FinishReason()).To(Equal(was.FinishReason()))
					Expect(is.Usage).To(Equal(was.Usage))
					Expect(is.Model).To(Equal(was.Model))
					Expect(is.ToolCalls).To(HaveLen(len(was.ToolCalls)))
					for k, c := range is.ToolCalls {
						Expect(c.ID + c.Name).To(Equal(was.ToolCalls[k].ID + was.ToolCalls[k].Name))
						Expect(c.Arguments).To(MatchJSON(was.ToolCalls[k].Arguments))
					}
				}
				report := engine.Report()
				Expect(report.Unused).To(BeEmpty())
				Expect(report.Unexpected).To(BeEmpty())
			})

			It("replays "+protocol+" byte for byte from its frames (stream "+stream+")", func(ctx context.Context) {
				upstream, _ := scripted(parse(strings.ReplaceAll(conversation, apiKey, "nothing secret")))
				r := capturing(upstream, capture.Options{Frames: true})
				through := r.answersOf(ctx, r.url, protocol, stream)
				again, _ := scripted(withFrames(r.tape(2)))
				replay := capturing(again, capture.Options{})
				Expect(slices.Equal(replay.answersOf(ctx, replay.direct, protocol, stream), through)).To(BeTrue())
			})
		}
	}

	It("forwards each piece as it arrives, and records its boundary and the gap before it", func(ctx context.Context) {
		v, seen := clock.NewVirtual(), make(chan struct{})
		pieces := []string{": hello\n\n", `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"a`, `b"},"finish_reason":"stop"}]}` + "\n\n", "data: [DONE]\n\n"}
		r := capturing(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for i, p := range pieces {
				_ = v.Sleep(ctx, time.Duration(i+1)*time.Second)
				_, _ = io.WriteString(w, p)
				_ = http.NewResponseController(w).Flush()
				<-seen // the client has it before there is more
			}
		}), capture.Options{Clock: v, Frames: true})
		response := r.begin(ctx, r.url, "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`)
		defer response.Body.Close()
		for _, p := range pieces {
			got := make([]byte, len(p))
			_, err := io.ReadFull(response.Body, got)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(got)).To(Equal(p))
			seen <- struct{}{}
		}
		x := r.exchanges(1)[0]
		Expect(x.Frames).To(Equal([]tape.Frame{
			{Gap: time.Second, Bytes: len(pieces[0])},
			{Gap: 2 * time.Second, Bytes: len(pieces[1])},
			{Gap: 3 * time.Second, Bytes: len(pieces[2])},
			{Gap: 4 * time.Second, Bytes: len(pieces[3])},
		}))
		Expect(x.First).To(Equal(time.Second))
		Expect(x.Total).To(Equal(10 * time.Second))
		Expect(string(x.Body)).To(Equal(strings.Join(pieces, "")))
	})

	It("requests no compression, forwards the key, and stores neither it nor irrelevant headers", func(ctx context.Context) {
		var got http.Header
		r := capturing(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			got = q.Header
			_, _ = io.WriteString(w, `{"id":"c","choices":[{"message":{"content":"your key is the-key-of-the-client"},"finish_reason":"stop"}]}`)
		}), capture.Options{})
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/t/sk-inthepath1234567890/v1/chat/completions?api_key=query-key-123456", strings.NewReader(
			`{"model":"m","messages":[{"role":"user","content":"I am another-key-of-the-client"}]}`))
		Expect(err).NotTo(HaveOccurred())
		request.Header = http.Header{
			"Authorization": {"Bearer the-key-of-the-client"}, "X-Api-Key": {"another-key-of-the-client"}, "Accept-Encoding": {"gzip, br"},
			"Openai-Beta": {"x"}, "Cookie": {"session=0123456789"}, "X-Mine": {"mine"},
			"Expect": {"100-continue"},
		}
		response, err := r.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		_ = response.Body.Close()
		Expect(got).To(HaveKeyWithValue("Authorization", []string{"Bearer the-key-of-the-client"}))
		Expect(got).To(HaveKeyWithValue("Accept-Encoding", []string{"identity"}))
		Expect(got).To(HaveKeyWithValue("X-Mine", []string{"mine"}))
		Expect(got).NotTo(Or(HaveKey("X-Forwarded-For"), HaveKey("Expect")))

		line, err := tape.AppendExchange(nil, r.exchanges(1)[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(string(line)).NotTo(Or(ContainSubstring("key-of-the-client"), ContainSubstring("query-key"), ContainSubstring("session="), ContainSubstring("inthepath"), ContainSubstring("mine")))
		Expect(string(line)).To(And(ContainSubstring("your key is [REDACTED:secret]"), ContainSubstring("I am [REDACTED:secret]"), ContainSubstring(`"header":{"Openai-Beta":"x"}`)))
	})

	It("declines a message thread itself, so that the capture can be replayed", func(ctx context.Context) {
		asked := 0
		r := capturing(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
		}), capture.Options{})
		status, body := r.ask(ctx, r.url, "/v1/messages", `{"model":"m","max_tokens":9,"thread":{"type":"create"},"messages":[{"role":"user","content":"hi"}]}`)
		Expect(status).To(Equal(http.StatusBadRequest))
		Expect(body).To(ContainSubstring("thread_unsupported_request"))
		Expect(asked).To(BeZero())
		status, _ = r.ask(ctx, r.url, "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a \"thread\""}]}`)
		Expect(status).To(Equal(http.StatusOK))
		Expect(r.exchanges(1)[0].N).To(Equal(1))
	})

	It("stores secrets only on request", func(ctx context.Context) {
		upstream, _ := scripted(parse(conversation))
		r := capturing(upstream, capture.Options{Unredacted: true})
		r.answersOf(ctx, r.url, "openai-chat", "false")
		Expect(string(r.exchanges(2)[1].Body)).To(ContainSubstring(apiKey))
	})

	It("reads an unrequested compressed answer, and forwards it unchanged", func(ctx context.Context) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, `{"id":"c","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
		_ = z.Close()
		r := capturing(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed.Bytes())
		}), capture.Options{Frames: true})
		_, body := r.ask(ctx, r.url, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
		Expect(body).To(Equal(packed.String()))
		x := r.exchanges(1)[0]
		Expect(string(x.Body)).To(ContainSubstring(`"hi"`))
		Expect(x.Frames).To(BeEmpty(), "there are no boundaries within what was packed")
	})

	const whole = `{"id":"c","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`
	const event = `data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}` + "\n\n"
	DescribeTable("does not store an invalid answer, and records why",
		func(ctx context.Context, status int, kind, encoding, body string, cut bool, why string) {
			r := capturing(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				if encoding != "" {
					w.Header().Set("Content-Encoding", encoding)
				}
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
				if cut {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			}), capture.Options{})
			r.ask(ctx, r.url, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
			x := r.exchanges(1)[0]
			Expect(x.Lost).To(ContainSubstring(why))
			Expect(x.Body).To(BeEmpty())
			Expect(x.Request).To(BeEmpty())
			_, skipped := capture.Script(r.tape(1), capture.ScriptOptions{})
			Expect(skipped).To(Equal([]capture.Skipped{{N: 1, Why: x.Lost}}))
		},
		Entry("an empty stream", 200, "text/event-stream", "", "", false, "the answer is empty"),
		Entry("a stream of its end alone", 200, "text/event-stream", "", "data: [DONE]\n\n", false, "the answer is empty"),
		Entry("a stream without its end", 200, "text/event-stream", "", event, false, "the stream ends before its end"),
		Entry("a stream that is cut", 200, "text/event-stream", "", event, true, "the upstream cut the answer off"),
		Entry("a stream that breaks off with an error", 200, "text/event-stream", "", event+`data: {"error":{"message":"overloaded"}}`+"\n\n", false, "ended the answer with an error: overloaded"),
		Entry("an empty document", 200, "application/json", "", "", false, "empty"),
		Entry("an answer without content", 200, "application/json", "", `{"id":"c","choices":[]}`, false, "empty"),
		Entry("no JSON", 200, "application/json", "", "<html>", false, "read the answer"),
		Entry("an unknown encoding", 200, "application/json", "zstd", whole, false, `unsupported Content-Encoding "zstd"`),
		Entry("not gzip, as Content-Encoding claims", 200, "application/json", "gzip", whole, false, "not valid gzip"),
		Entry("a redirect", 302, "application/json", "", "", false, "unexpected status 302"),
		Entry("an error that is cut", 500, "application/json", "", `{"error":`, true, "the upstream cut the answer off"),
	)

	DescribeTable("does not store an invalid request",
		func(ctx context.Context, body, why string) {
			r := capturing(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				_, _ = io.Copy(io.Discard, q.Body)
				_, _ = io.WriteString(w, whole)
			}), capture.Options{})
			_, got := r.ask(ctx, r.url, "/v1/chat/completions", body)
			Expect(got).To(Equal(whole), "it is passed on all the same")
			Expect(r.exchanges(1)[0].Lost).To(ContainSubstring(why))
		},
		Entry("no JSON", "nonsense", "not JSON"),
		Entry("nothing", "", "not JSON"),
		Entry("too much", `"`+strings.Repeat("x", 33<<20)+`"`, "longer than 32 MB"),
	)

	It("does not store an answer that the client left before its end", func(ctx context.Context) {
		ended := make(chan struct{})
		r := capturing(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, event)
			if strings.Contains(q.Header.Get("X-Ending"), "whole") {
				_, _ = io.WriteString(w, strings.Replace(event, "null", `"stop"`, 1)+"data: [DONE]\n\n")
			}
			_ = http.NewResponseController(w).Flush()
			<-q.Context().Done() // the client's leaving comes through
			ended <- struct{}{}
		}), capture.Options{})
		for i, ending := range []string{"cut", "whole"} {
			leaving, leave := context.WithCancel(ctx)
			request, err := http.NewRequestWithContext(leaving, http.MethodPost, r.url+"/v1/chat/completions",
				strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`))
			Expect(err).NotTo(HaveOccurred())
			request.Header.Set("X-Ending", ending)
			response, err := r.client.Do(request)
			Expect(err).NotTo(HaveOccurred())
			want := len(event)
			if ending == "whole" {
				want = 2*len(event) + len("data: [DONE]\n\n")
			}
			_, err = io.ReadFull(response.Body, make([]byte, want))
			Expect(err).NotTo(HaveOccurred())
			leave()
			_ = response.Body.Close()
			<-ended
			r.exchanges(i + 1)
		}
		exchanges := r.exchanges(2)
		Expect(exchanges[0].Lost).To(Equal("the client left before it had the whole answer"))
		Expect(exchanges[1].Lost).To(BeEmpty())
	})

	It("waits for exchanges that are under way", func(ctx context.Context) {
		begun, waited := make(chan struct{}), make(chan struct{})
		var stored atomic.Bool
		proxy, err := capture.New(capture.Options{
			Upstream: "http://127.0.0.1:1", Keep: func(tape.Exchange) error { stored.Store(true); return nil },
			Transport: roundTrip(func(q *http.Request) (*http.Response, error) {
				close(begun)
				<-q.Context().Done()
				return nil, context.Cause(q.Context())
			}),
		})
		Expect(err).NotTo(HaveOccurred())
		leaving, leave := context.WithCancel(ctx)
		go proxy.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(leaving, http.MethodPost, "/v1/messages", strings.NewReader("{}")))
		<-begun
		go func() { proxy.Wait(); close(waited) }()
		leave()
		<-waited
		Expect(stored.Load()).To(BeTrue())
	})

	It("answers for an unreachable upstream", func(ctx context.Context) {
		r := capturing(http.NotFoundHandler(), capture.Options{Transport: nil})
		gone := httptest.NewServer(http.NotFoundHandler())
		gone.Close()
		proxy, err := capture.New(capture.Options{Upstream: gone.URL, Keep: r.keep})
		Expect(err).NotTo(HaveOccurred())
		w := httptest.NewRecorder()
		proxy.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/messages", strings.NewReader(`{}`)))
		Expect(w.Code).To(Equal(http.StatusBadGateway))
		Expect(w.Body.String()).To(ContainSubstring("could not reach the upstream"))
		Expect(r.exchanges(1)[0].Lost).To(ContainSubstring("the upstream did not answer: "))
	})

	It("forwards everything else without storing it, except web sockets", func(ctx context.Context) {
		upstream, _ := scripted(parse(conversation))
		r := capturing(upstream, capture.Options{})
		for _, path := range []string{"/v1/models", "/v1/messages/count_tokens"} {
			response, err := r.client.Get(r.url + path)
			Expect(err).NotTo(HaveOccurred())
			_ = response.Body.Close()
		}
		response, err := r.client.Head(r.url + "/")
		Expect(err).NotTo(HaveOccurred())
		_ = response.Body.Close()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/v1/responses", http.NoBody)
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Connection", "Upgrade")
		request.Header.Set("Upgrade", "websocket")
		response, err = r.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		_ = response.Body.Close()
		Expect(response.StatusCode).To(Equal(http.StatusNotImplemented))
		r.answersOf(ctx, r.url, "openai-chat", "true")
		exchanges := r.exchanges(2)
		Expect([]int{exchanges[0].N, exchanges[1].N}).To(Equal([]int{1, 2}))
	})

	It("cuts the connection if an exchange could not be stored", func(ctx context.Context) {
		upstream, _ := scripted(parse(conversation))
		r := capturing(upstream, capture.Options{Keep: func(tape.Exchange) error { return errors.New("no space") }})
		response := r.begin(ctx, r.url, "/v1/chat/completions", strings.ReplaceAll(requests["openai-chat"].first, "STREAM", "true"))
		defer response.Body.Close()
		_, err := io.ReadAll(response.Body)
		Expect(err).To(MatchError(io.ErrUnexpectedEOF))
	})

	DescribeTable("finds the path at the upstream",
		func(ctx context.Context, root, want string) {
			var got string
			upstream := roundTrip(func(q *http.Request) (*http.Response, error) {
				got = q.URL.String()
				return &http.Response{StatusCode: 404, Header: http.Header{}, Body: http.NoBody, Request: q}, nil
			})
			proxy, err := capture.New(capture.Options{Upstream: root, Transport: upstream, Keep: func(tape.Exchange) error { return nil }})
			Expect(err).NotTo(HaveOccurred())
			proxy.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/messages?beta=true", strings.NewReader("{}")))
			Expect(got).To(Equal(want))
			o := capture.Options{Upstream: root}
			Expect(o.Address("/v1/messages?beta=true")).To(Equal(want))
		},
		Entry("a host alone", "https://api.anthropic.com", "https://api.anthropic.com/v1/messages?beta=true"),
		Entry("an API root with a slash", "https://api.anthropic.com/v1/", "https://api.anthropic.com/v1/messages?beta=true"),
		Entry("a folder before the API root", "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/messages?beta=true"),
		Entry("another version", "https://host/v1beta", "https://host/v1beta/v1/messages?beta=true"),
		Entry("the root of a trial", "http://127.0.0.1:1/t/x/v1", "http://127.0.0.1:1/t/x/v1/messages?beta=true"),
	)

	DescribeTable("refuses an upstream",
		func(root string, offline bool, want string) {
			o := capture.Options{Upstream: root, Offline: offline}
			_, err := capture.New(o)
			Expect(err).To(MatchError(ContainSubstring(want)))
			Expect(err).NotTo(MatchError(ContainSubstring("pass")))
			Expect(o.Host()).To(BeEmpty())
		},
		Entry("missing", "", false, "the upstream is missing"),
		Entry("no URL", "api.openai.com", false, "not of the form https://host/v1"),
		Entry("another scheme", "file:///etc", false, "not of the form"),
		Entry("a password", "https://me:pass@host/v1", false, "a user, a query or a fragment"),
		Entry("a query", "https://host/v1?key=pass", false, "a user, a query or a fragment"),
		Entry("another machine, offline", "https://api.openai.com/v1", true, "REHEARSE_OFFLINE forbids"),
	)
})

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// withFrames is a script that replays the frames of a tape.
func withFrames(t tape.Tape) mocks.Script {
	GinkgoHelper()
	script, skipped := capture.Script(t, capture.ScriptOptions{Tape: "x.capture.jsonl"})
	Expect(skipped).To(BeEmpty())
	var file []byte
	var err error
	for _, h := range t.Headers {
		file, err = tape.AppendHeader(file, h)
		Expect(err).NotTo(HaveOccurred())
	}
	for _, x := range t.Exchanges {
		file, err = tape.AppendExchange(file, x)
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(script.LoadFrames(folderOf(file))).To(BeEmpty())
	return script
}
