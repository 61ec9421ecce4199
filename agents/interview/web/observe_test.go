package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/llm"
)

// get asks for a path, with the token if it is given.
func (h *house) get(path string, bearer ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for _, b := range bearer {
		r.Header.Set("Authorization", "Bearer "+b)
	}
	return h.do(r)
}

var _ = Describe("The routes of operators", func() {
	DescribeTable("need the token",
		func(path string) {
			h := newHouse("lea")
			path = strings.ReplaceAll(path, "SESSION", h.begin().SessionID)
			for _, wrong := range []*httptest.ResponseRecorder{h.get(path), h.get(path, ""), h.get(path, "let-me-i"), h.get(path, token+"x")} {
				Expect(wrong.Code).To(Equal(http.StatusUnauthorized))
				Expect(wrong.Header().Get("WWW-Authenticate")).To(HavePrefix("Bearer"))
				Expect(read(wrong).Error.Code).To(Equal("unauthorized"))
			}
			Expect(h.get(path, token).Code).To(Equal(http.StatusOK))
		},
		Entry("/sessions", "/sessions"), Entry("/sessions/SESSION/audit", "/sessions/SESSION/audit"), Entry("/metrics", "/metrics"),
	)

	It("are not there without a token, but for the metrics", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.Token = "" })
		id := h.begin().SessionID
		for _, bearer := range []string{"", token} {
			Expect(h.get("/sessions", bearer).Code).To(Equal(http.StatusNotFound))
			Expect(h.get("/sessions/"+id+"/audit", bearer).Code).To(Equal(http.StatusNotFound))
		}
		Expect(h.get("/metrics").Code).To(Equal(http.StatusOK))
	})

	It("list the sessions page by page, newest first", func(ctx context.Context) {
		h := newHouse("lea")
		var want []string
		for range 5 {
			want = append(want, h.begin().SessionID)
			Expect(h.clock.Sleep(ctx, time.Second)).To(Succeed())
		}
		slices.Reverse(want)
		var got []string
		for path := "/sessions?limit=2&candidate=" + h.persona.Candidate; path != ""; {
			var page struct {
				Sessions []map[string]any
				Next     string
			}
			w := h.get(path, token)
			Expect(json.Unmarshal(w.Body.Bytes(), &page)).To(Succeed(), w.Body.String())
			for _, s := range page.Sessions {
				got = append(got, s["id"].(string))
				Expect(s["step"]).To(Equal("STEP_01_IDENTITY"))
			}
			if path = ""; page.Next != "" {
				path = "/sessions?limit=2&after=" + page.Next
			}
		}
		Expect(got).To(Equal(want))
		Expect(h.get("/sessions?candidate=nobody", token).Body.String()).To(Equal("{\"sessions\":[]}\n"))
	})

	DescribeTable("reject unknown values",
		func(query string) {
			Expect(newHouse("lea").get("/sessions?"+query, token).Code).To(Equal(http.StatusBadRequest))
		},
		Entry("limit=0", "limit=0"), Entry("limit=1001", "limit=1001"), Entry("limit=x", "limit=x"), Entry("limit=1&limit=2", "limit=1&limit=2"),
		Entry("before=yesterday", "before=yesterday"), Entry("order=asc", "order=asc"),
	)

	It("give the audit as JSON and as a page that may bring its style", func() {
		h := newHouse("lea")
		path := "/sessions/" + h.begin().SessionID + "/audit"
		Expect(h.get(path, token).Header().Get("Content-Type")).To(HavePrefix("application/json"))
		page := h.get(path+"?format=html", token)
		Expect(page.Body.String()).To(HavePrefix("html audit of "))
		Expect(page.Header().Get("Content-Type")).To(HavePrefix("text/html"))
		Expect(page.Header().Get("Content-Security-Policy")).To(And(ContainSubstring("style-src 'unsafe-inline'"), Not(ContainSubstring("script-src"))))
		Expect(h.get(path+"?format=pdf", token).Code).To(Equal(http.StatusBadRequest))
		Expect(h.get("/sessions/nobody/audit", token).Code).To(Equal(http.StatusNotFound))
	})
})

var _ = Describe("Metrics, spans and logs", Label("I-16"), func() {
	It("counts the calls, tokens, cost and latency of a whole interview by purpose", func() {
		h := newHouse("lea")
		h.model.set(func(ctx context.Context, _ llm.Request) error { return h.clock.Sleep(ctx, 2*time.Second) })
		h.until(h.begin().View, over)
		text := h.get("/metrics", token).Body.String()
		for _, line := range []string{
			`interview_calls_total{outcome="accepted",purpose="adaptive"} 3`,
			`interview_calls_total{outcome="accepted",purpose="matching"} 1`,
			`interview_calls_total{outcome="accepted",purpose="mirror"} 9`,
			`interview_calls_total{outcome="accepted",purpose="preamble"} 1`,
			`interview_calls_total{outcome="accepted",purpose="profile"} 1`,
			`interview_calls_total{outcome="accepted",purpose="questions"} 9`,
			`interview_call_duration_seconds_sum{purpose="mirror"} 18`,
			`interview_call_duration_seconds_bucket{purpose="mirror",le="1"} 0`,
			`interview_call_duration_seconds_bucket{purpose="mirror",le="2"} 9`,
			`interview_sessions_total{language="fr"} 1`,
			`interview_finished_total 1`,
			`interview_queued_questions_total 24`,
			`interview_transitions_total{phase="finished",step="STEP_99_MATCHING"} 1`,
			`interview_submissions_total{code="ok"} `,
			`http_server_request_duration_seconds_count{method="POST",route="POST /axiom",status="200"} `,
			`go_goroutines `,
		} {
			Expect(text).To(ContainSubstring("\n" + line))
		}
		Expect(text).To(MatchRegexp(`interview_cost_total\{currency="EUR",purpose="mirror"\} 0\.\d+`))
		Expect(text).To(MatchRegexp(`interview_tokens_total\{direction="output",purpose="profile"\} [1-9]\d+`))
		Expect(text).NotTo(ContainSubstring(`interview_guards_total{guard="transport-retry"}`))
	})

	It("counts retries, and refused and repeated submissions", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
		failures := 1
		h.model.set(func(context.Context, llm.Request) error {
			if failures--; failures >= 0 {
				return &llm.Error{Kind: llm.Unavailable}
			}
			return nil
		})
		fields := map[string]any{"sessionId": v.SessionID, "submissionId": "tone", "message": "tu"}
		Expect(h.say(fields).Status).To(Equal(http.StatusOK))
		Expect(h.say(fields).Repeated).To(BeTrue())
		h.say(map[string]any{"sessionId": v.SessionID, "event": "GO", "replyTo": "m999"})
		text := h.get("/metrics", token).Body.String()
		Expect(text).To(ContainSubstring(`interview_calls_total{outcome="broken",purpose="preamble"} 1`))
		Expect(text).To(ContainSubstring(`interview_guards_total{guard="transport-retry"} 1`))
		Expect(text).To(ContainSubstring(`interview_submissions_total{code="repeated"} 1`))
		Expect(text).To(ContainSubstring(`interview_submissions_total{code="out_of_order"} 1`))
	})

	It("creates no series from client input", func() {
		h := newHouse("lea")
		h.do(httptest.NewRequest("BREW", "/s/"+strings.Repeat("x", 50), nil))
		h.get("/made/up/path")
		text := h.get("/metrics", token).Body.String()
		Expect(text).To(ContainSubstring(`method="other",route="/s/{session}",status="405"`))
		Expect(text).To(ContainSubstring(`method="GET",route="/",status="404"`))
		Expect(text).NotTo(ContainSubstring("xxx"))
		Expect(text).NotTo(ContainSubstring("made"))
	})

	It("logs a line for each request, with enough to find the session and nothing that was said", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, at(session.Block1, 2))
		h.say(map[string]any{"sessionId": v.SessionID, "event": "GO", "replyTo": v.MessageID})
		h.get("/s/" + v.SessionID)
		log := h.log.String()
		Expect(log).To(ContainSubstring(`"route":"POST /axiom","status":200`))
		Expect(log).To(ContainSubstring(`"code":"out_of_order"`))
		Expect(log).To(ContainSubstring(`"route":"GET /s/{session}"`))
		Expect(log).To(ContainSubstring(`"session":"` + v.SessionID[:8] + `"`))
		h.expectNoMessages(log, v.SessionID)
	})

	It("accepts a proxy's id of a request, and no other text", func() {
		h := newHouse("lea")
		for sent, want := range map[string]string{
			"abc-1.2": `^abc-1\.2$`, strings.Repeat("a", 64): "^a{64}$", strings.Repeat("a", 65): `^[A-Z2-7]{26}$`, "a b": `^[A-Z2-7]{26}$`, "": `^[A-Z2-7]{26}$`,
		} {
			r := httptest.NewRequest(http.MethodGet, "/healthz", nil)
			r.Header.Set("X-Request-Id", sent)
			Expect(h.do(r).Header().Get("X-Request-Id")).To(MatchRegexp(want))
		}
	})

	It("survives a panic, without logging its message", func() {
		h := newHouse("lea", func(_ *web.Options, d *web.Deps) { d.Service = panicking{} })
		a := h.post(`{"event":"START"}`)
		Expect(a.Status).To(Equal(http.StatusInternalServerError))
		Expect(a.Error.Code).To(Equal("internal"))
		Expect(h.log.String()).To(And(ContainSubstring("panicking"), Not(ContainSubstring("secret"))))
	})
})

// expectNoMessages checks that a text contains no message and no id of a session.
func (h *house) expectNoMessages(text, id string) {
	GinkgoHelper()
	messages, err := h.store.Messages(context.Background(), id)
	Expect(err).NotTo(HaveOccurred())
	Expect(len(messages)).To(BeNumerically(">", 5))
	for _, m := range messages {
		excerpt := m.Text[:min(len(m.Text), 12)]
		Expect(text).NotTo(ContainSubstring(excerpt))
	}
	Expect(text).NotTo(ContainSubstring(id))
}

type panicking struct{}

// Handle panics.
func (panicking) Handle(context.Context, interview.Submission) (interview.View, error) {
	panic("the candidate's secret")
}

var _ = Describe("Spans", func() {
	attributes := func(all []attribute.KeyValue) map[string]any {
		m := map[string]any{}
		for _, kv := range all {
			m[string(kv.Key)] = kv.Value.AsInterface()
		}
		return m
	}

	It("follow the conventions for models, within the client's own trace, without any message text", func() {
		h := newHouse("lea")
		h.model.set(func(ctx context.Context, _ llm.Request) error { return h.clock.Sleep(ctx, 2*time.Second) })
		v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
		h.spans.Reset()
		r := httptest.NewRequest(http.MethodPost, "/axiom",
			strings.NewReader(`{"sessionId":"`+v.SessionID+`","submissionId":"t","message":"tu"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
		Expect(h.do(r).Code).To(Equal(http.StatusOK))

		spans := h.spans.Ended()
		Expect(spans).To(HaveLen(2))
		call, request := spans[0], spans[1]
		Expect(request.Name()).To(Equal("POST /axiom"))
		Expect(request.SpanKind()).To(Equal(trace.SpanKindServer))
		Expect(request.SpanContext().TraceID().String()).To(Equal("0123456789abcdef0123456789abcdef"))
		Expect(attributes(request.Attributes())).To(Equal(map[string]any{
			"http.request.method": "POST", "http.route": "/axiom", "http.response.status_code": int64(200),
		}))
		Expect(call.Name()).To(Equal("chat m-1"))
		Expect(call.SpanKind()).To(Equal(trace.SpanKindClient))
		Expect(call.Parent().SpanID()).To(Equal(request.SpanContext().SpanID()))
		Expect(call.EndTime().Sub(call.StartTime())).To(Equal(2 * time.Second))
		attrs := attributes(call.Attributes())
		delete(attrs, "gen_ai.request.max_tokens") // depends on the prompts
		Expect(attrs).To(Equal(map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.provider.name": "test.models",
			"gen_ai.request.model": "m-1", "gen_ai.response.model": "m-1-2026",
			"gen_ai.response.finish_reasons": []string{"stop"},
			"gen_ai.usage.input_tokens":      int64(120), "gen_ai.usage.cache_read.input_tokens": int64(20),
			"gen_ai.usage.cache_creation.input_tokens": int64(0),
			"gen_ai.usage.output_tokens":               int64(30), "gen_ai.usage.reasoning.output_tokens": int64(0),
			"interview.call.purpose": "preamble", "interview.step": "STEP_03_PREAMBULE", "interview.call.attempt": "1",
		}))
	})

	It("name the kind of an error and not its text", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
		h.spans.Reset()
		h.model.failing(&llm.Error{Kind: llm.Unauthorized, Message: "the prompt was: secret"})
		h.next(v)
		spans := h.spans.Ended()
		call, request := spans[0], spans[len(spans)-1]
		Expect(call.Status().Code).To(Equal(codes.Error))
		Expect(call.Status().Description).To(Equal("unauthorized"))
		Expect(attributes(call.Attributes())).To(HaveKeyWithValue("error.type", "unauthorized"))
		Expect(attributes(request.Attributes())).To(And(
			HaveKeyWithValue("error.type", "backend_failed"), HaveKeyWithValue("interview.code", "backend_failed")))
	})

	It("contain no message of a whole interview, and no id of its candidate", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, over)
		h.get("/s/" + v.SessionID)
		var text strings.Builder
		for _, span := range h.spans.Ended() {
			text.WriteString(span.Name() + " ")
			for _, value := range attributes(span.Attributes()) {
				encoded, _ := json.Marshal(value)
				text.Write(encoded)
			}
		}
		Expect(text.String()).To(ContainSubstring("BLOC_02B"))
		h.expectNoMessages(text.String(), v.SessionID)
		Expect(text.String()).NotTo(ContainSubstring(h.persona.Candidate))
	})

	It("are not made without a provider", func() {
		h := newHouse("lea", func(_ *web.Options, d *web.Deps) { d.Tracer.Provider = nil })
		Expect(h.get("/healthz").Code).To(Equal(http.StatusOK))
		Expect(h.spans.Ended()).To(BeEmpty())
	})
})
