package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm/openai"
	tokens "github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/mocks"
)

// crowd is how many candidates take an interview at once.
const crowd = 100

// town is a whole service as it is deployed, on loopback sockets: the server, the
// store, the real client and, behind another socket, a model that answers at
// once.
type town struct {
	store   session.Store
	persona kind.Persona
	url     string
	client  *http.Client
	latency *latencies
}

// newTown serves interviews from a store.
func newTown(tb testing.TB, dsn string) *town {
	t := &town{latency: &latencies{}, client: &http.Client{Transport: pooled(tb)}}
	must := func(err error) {
		if err != nil {
			tb.Helper()
			tb.Fatal(err)
		}
	}
	var err error
	t.persona, err = kind.LoadPersona("lea")
	must(err)
	db, err := store.Open(context.Background(), dsn)
	must(err)
	tb.Cleanup(func() { must(db.Close()) })
	metrics := web.NewMetrics()
	t.store = metrics.Store(db)

	count := tokens.NewCounter(tokens.Options{}).Count
	backend, err := openai.New(openai.Config{
		BaseURL: promptModel(tb, t.persona.Name, count), Model: "gpt-4.1", Offline: true,
		Transport: pooled(tb), Retry: openai.RetryPolicy{Max: -1},
	})
	must(err)
	service, err := interview.New(interview.Options{Model: "gpt-4.1", Instance: "one"}, interview.Deps{
		Store: t.store, Backend: backend, Clock: clock.Real(), Sink: metrics, Count: count,
	})
	must(err)
	server, err := web.New(web.Options{StartsPerMinute: -1, AllStartsPerMinute: -1}, web.Deps{Service: service, Store: t.store, Clock: clock.Real(), Metrics: metrics})
	must(err)
	t.url = listen(tb, server)
	return t
}

// pooled returns a transport with a reusable connection for each candidate.
func pooled(tb testing.TB) *http.Transport {
	t := &http.Transport{MaxIdleConnsPerHost: 10 * crowd}
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

// promptModel serves the replies to a persona without any latency, and returns
// its API's address.
func promptModel(tb testing.TB, persona string, count func(model, text string) int) string {
	script, err := kind.Replies(persona)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range script.Rules {
		script.Rules[i].Latency = nil
	}
	program, err := mocks.Compile(script)
	if err != nil {
		tb.Fatal(err)
	}
	var models mocks.Server
	if err := models.Attach("", mocks.NewEngine(program, mocks.EngineOptions{Count: count, Keep: 1})); err != nil {
		tb.Fatal(err)
	}
	server := httptest.NewServer(&models)
	tb.Cleanup(server.Close)
	return server.URL + "/v1"
}

// listen serves until the test ends, and returns the address.
func listen(tb testing.TB, server *web.Server) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	tb.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// post sends a submission and returns the view.
func (t *town) post(fields map[string]any) (v interview.View, err error) {
	body, err := json.Marshal(fields)
	if err != nil {
		return v, err
	}
	res, err := t.client.Post(t.url+"/axiom", "application/json", bytes.NewReader(body))
	if err != nil {
		return v, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return v, err
	}
	if res.StatusCode != http.StatusOK {
		return v, fmt.Errorf("status %d: %s", res.StatusCode, text)
	}
	return v, json.Unmarshal(text, &v)
}

// taken is a finished interview.
type taken struct {
	session string
	sent    []string // by the candidate
	steps   int
}

// take takes an interview. Each step begins when pace returns, and its latency
// counts from the time that pace returns, even if it is sent later.
func (t *town) take(candidate string, pace func(step int) time.Time) (taken, error) {
	house := house{persona: t.persona}
	fields := map[string]any{"event": "START", "language": t.persona.Language, "candidateId": candidate}
	var out taken
	for {
		due := pace(out.steps)
		v, err := t.post(fields)
		t.latency.add(clock.Real().Now().Sub(due))
		if err != nil {
			return out, fmt.Errorf("step %d of %s: %w", out.steps, candidate, err)
		}
		out.steps++
		out.session = v.SessionID
		if v.Finished {
			return out, nil
		}
		fields = map[string]any{"sessionId": v.SessionID, "replyTo": v.MessageID, "submissionId": fmt.Sprint("s", out.steps)}
		if text := house.reply(v); text != "" {
			fields["message"], out.sent = text, append(out.sent, text)
		} else {
			fields["event"] = "GO"
		}
	}
}

// eager returns the pace of people who answer as soon as a question is shown.
func eager(int) func(int) time.Time { return func(int) time.Time { return clock.Real().Now() } }

// fill takes a number of interviews at once.
func (t *town) fill(candidates int, pace func(candidate int) func(step int) time.Time) ([]taken, error) {
	all, errs := make([]taken, candidates), make([]error, candidates)
	var group sync.WaitGroup
	for i := range candidates {
		group.Go(func() { all[i], errs[i] = t.take(fmt.Sprint("candidate-", i), pace(i)) })
	}
	group.Wait()
	return all, errors.Join(errs...)
}

// latencies collects how long steps took.
type latencies struct {
	mu  sync.Mutex
	all []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, d)
}

// quantile returns how long so large a part of the steps took at most.
func (l *latencies) quantile(q float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.all)
	return l.all[int(q*float64(len(l.all)-1))]
}

var _ = DescribeTable("Candidates at once", Label("I-04", "I-13", "I-18"), func(ctx SpecContext, candidates int, dsn func() string) {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	town := newTown(GinkgoTB(), dsn())
	all, err := town.fill(candidates, eager)
	Expect(err).NotTo(HaveOccurred())
	sessions := map[string]bool{}
	for _, one := range all {
		sessions[one.session] = true
		s, err := town.store.Load(ctx, one.session)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Phase).To(Equal(session.Finished))
		calls, err := town.store.Calls(ctx, one.session)
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(HaveLen(24))
		Expect(calls).To(HaveEach(HaveField("Outcome", session.Accepted)))
		answers, err := town.store.Answers(ctx, one.session)
		Expect(err).NotTo(HaveOccurred())
		var texts []string
		for _, a := range answers {
			texts = append(texts, a.Text)
		}
		Expect(texts).To(Equal(one.sent))
	}
	Expect(sessions).To(HaveLen(candidates))
},
	Entry("ten, in memory", 10, func() string { return "memory:" }),
	Entry("a hundred, in a file", crowd, func() string { return filepath.Join(GinkgoT().TempDir(), "sessions.db") }),
)
