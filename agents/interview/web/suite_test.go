package web_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

func TestWeb(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "interview web")
}

const token = "let-me-in"

// house is a whole service in this process with a scripted model.
type house struct {
	*web.Server
	store   session.Store
	disk    *disk
	model   *model
	clock   *clock.Virtual
	metrics *web.Metrics
	spans   *tracetest.SpanRecorder
	log     *safeBuffer
	// provider records the spans.
	provider *sdktrace.TracerProvider
	persona  kind.Persona
}

// newHouse serves a persona; change may change the options and dependencies.
func newHouse(name string, change ...func(*web.Options, *web.Deps)) *house {
	GinkgoHelper()
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	h := &house{
		clock: clock.NewVirtual(), metrics: web.NewMetrics(), spans: tracetest.NewSpanRecorder(),
		log: &safeBuffer{}, model: newModel(name),
	}
	var err error
	h.persona, err = kind.LoadPersona(name)
	Expect(err).NotTo(HaveOccurred())
	db, err := store.Open(context.Background(), "memory:")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(db.Close)
	h.disk = &disk{Store: db}
	h.store = h.metrics.Store(h.disk)
	h.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(h.spans))
	tracer := web.Tracer{
		Provider: h.provider, Clock: h.clock, System: "test.models",
	}
	logger := slog.New(slog.NewJSONHandler(h.log, nil))
	service, err := interview.New(interview.Options{Model: "m-1", Instance: "one"}, interview.Deps{
		Store: h.store, Backend: tracer.Backend(h.model), Clock: h.clock, Sink: h.metrics, Log: logger,
		Count: func(_, text string) int { return len(strings.Fields(text)) },
		Price: func(_ string, u llm.Usage) (quantity.Money, bool) {
			return quantity.Money{Amount: float64(u.Total()) / 1e6, Currency: quantity.EUR}, true
		},
	})
	Expect(err).NotTo(HaveOccurred())
	options := web.Options{
		Token: token, Instance: "one", Hosts: []string{"example.com"}, // that of httptest
		StartsPerMinute: -1, AllStartsPerMinute: -1,
	}
	deps := web.Deps{
		Service: service, Store: h.store, Clock: h.clock, Log: logger, Metrics: h.metrics, Tracer: tracer,
		Audit: func(_ context.Context, w io.Writer, id string, html bool, share *session.Share) error {
			if _, err := h.store.Load(context.Background(), id); err != nil {
				return err
			}
			if share != nil {
				id = share.Shown().Session + " for " + share.For
			}
			_, err := fmt.Fprintf(w, "%s audit of %s", map[bool]string{true: "html", false: "json"}[html], id)
			return err
		},
	}
	for _, c := range change {
		c(&options, &deps)
	}
	h.Server, err = web.New(options, deps)
	Expect(err).NotTo(HaveOccurred())
	return h
}

// disk is a store that can be made to fail.
type disk struct {
	session.Store
	full atomic.Bool
}

// Commit implements session.Store.
func (d *disk) Commit(ctx context.Context, s session.Session, c session.Change) (int64, error) {
	if d.full.Load() {
		return 0, errors.New("the disk is full")
	}
	return d.Store.Commit(ctx, s, c)
}

// model is a backend with the scripted replies to a persona.
type model struct {
	mu    sync.Mutex
	texts map[string]string
	// before, if set, is called before each reply; its error fails the call.
	before func(context.Context, llm.Request) error
	calls  int
}

func newModel(name string) *model {
	GinkgoHelper()
	m := &model{texts: map[string]string{}}
	script, err := kind.Replies(name)
	Expect(err).NotTo(HaveOccurred())
	for _, rule := range script.Rules {
		m.texts[key(rule.When.Purpose, rule.When.Metadata)] = cmp.Or(rule.Text.String(), rule.Template)
	}
	return m
}

func key(purpose string, tags map[string]string) string {
	return strings.TrimSpace(purpose + " " + tags["step"] + " " + tags["index"])
}

// Complete implements llm.Backend.
func (m *model) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	m.mu.Lock()
	m.calls++
	before := m.before
	text, ok := m.texts[key(req.Purpose, req.Tags)]
	m.mu.Unlock()
	if before != nil {
		if err := before(ctx, req); err != nil {
			return llm.Reply{}, err
		}
	}
	if !ok {
		return llm.Reply{}, &llm.Error{Kind: llm.UnexpectedCall, Message: "no reply for " + req.Purpose}
	}
	return llm.Reply{
		Text: text, Model: "m-1-2026", Finish: llm.FinishStop,
		Usage: &llm.Usage{Input: 100, CachedInput: 20, Output: 30, Source: llm.UsageReported},
	}, nil
}

// failing makes all further calls fail; nil makes none fail.
func (m *model) failing(err error) {
	m.set(func(context.Context, llm.Request) error { return err })
}

func (m *model) set(before func(context.Context, llm.Request) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = before
}

func (m *model) made() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// answer is a response of POST /axiom.
type answer struct {
	interview.View
	Status int `json:"-"`
	Header http.Header
	Error  struct {
		Code, Message string
		RetryAfterMs  int64
	}
	Stands *interview.View `json:"view"`
}

// do sends a request.
func (h *house) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// post sends a body to POST /axiom.
func (h *house) post(body string) answer {
	GinkgoHelper()
	r := httptest.NewRequest(http.MethodPost, "/axiom", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return read(h.do(r))
}

func read(w *httptest.ResponseRecorder) answer {
	GinkgoHelper()
	a := answer{Status: w.Code, Header: w.Header()}
	Expect(w.Header().Get("Content-Type")).To(HavePrefix("application/json"))
	Expect(json.Unmarshal(w.Body.Bytes(), &a)).To(Succeed(), w.Body.String())
	a.Header = w.Header()
	return a
}

// say sends fields to POST /axiom.
func (h *house) say(fields map[string]any) answer {
	GinkgoHelper()
	body, err := json.Marshal(fields)
	Expect(err).NotTo(HaveOccurred())
	return h.post(string(body))
}

// begin starts an interview in the persona's language.
func (h *house) begin() answer {
	GinkgoHelper()
	a := h.say(map[string]any{"event": "START", "language": h.persona.Language, "candidateId": h.persona.Candidate})
	Expect(a.Status).To(Equal(http.StatusOK), a.Error.Message)
	return a
}

// next submits the response of the persona to a view.
func (h *house) next(v interview.View) answer {
	GinkgoHelper()
	fields := map[string]any{"sessionId": v.SessionID, "replyTo": v.MessageID}
	if text := h.reply(v); text != "" {
		fields["message"] = text
	} else {
		fields["event"] = "GO"
	}
	return h.say(fields)
}

// reply returns the answer of the persona; empty to continue.
func (h *house) reply(v interview.View) string {
	switch {
	case v.Kind == session.KindMirror:
		return h.persona.Comment(v.Step)
	case v.Kind == session.KindQuestion:
		return h.persona.Answer(v.Step, v.QuestionIndex)
	case v.ExpectsAnswer:
		return h.persona.Answer(v.Step, 0)
	}
	return ""
}

// until continues the interview until there returns true.
func (h *house) until(v interview.View, there func(interview.View) bool) interview.View {
	GinkgoHelper()
	for range 100 {
		if there(v) {
			return v
		}
		a := h.next(v)
		Expect(a.Status).To(Equal(http.StatusOK), "at %s: %s: %s", v.Step, a.Error.Code, a.Error.Message)
		v = a.View
	}
	Fail("never got there")
	return v
}

func over(v interview.View) bool { return v.Finished }

func at(step session.Step, question int) func(interview.View) bool {
	return func(v interview.View) bool { return v.Step == step && v.QuestionIndex == question }
}

// everything returns the content of the store for comparisons.
func (h *house) everything() string {
	GinkgoHelper()
	ctx := context.Background()
	all, err := h.store.List(ctx, session.Listing{})
	Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	encode := json.NewEncoder(&out)
	for _, s := range all {
		messages, err := h.store.Messages(ctx, s.ID)
		Expect(err).NotTo(HaveOccurred())
		answers, err := h.store.Answers(ctx, s.ID)
		Expect(err).NotTo(HaveOccurred())
		queues, err := h.store.Queues(ctx, s.ID)
		Expect(err).NotTo(HaveOccurred())
		calls, err := h.store.Calls(ctx, s.ID)
		Expect(err).NotTo(HaveOccurred())
		for _, part := range []any{s, messages, answers, queues, calls} {
			Expect(encode.Encode(part)).To(Succeed())
		}
	}
	return out.String()
}

// safeBuffer is a buffer for several goroutines.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
