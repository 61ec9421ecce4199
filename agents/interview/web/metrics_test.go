package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// shown returns the metrics in the text format of Prometheus.
func shown(m *web.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// writer is a store that accepts every change, or fails.
type writer struct {
	session.Store
	err error
}

// Create implements session.Store.
func (w writer) Create(context.Context, session.Session, session.Change) error { return w.err }

// Commit implements session.Store.
func (w writer) Commit(context.Context, session.Session, session.Change) (int64, error) {
	return 2, w.err
}

var _ = Describe("The metrics of the ledger", func() {
	cost := &quantity.Money{Amount: 0.25, Currency: quantity.EUR}
	change := session.Change{
		Answers: []session.Answer{{}, {}},
		Calls: []session.Call{
			{Purpose: "mirror", Outcome: session.Begun},
			{Purpose: "mirror", Outcome: session.Accepted, Repeats: 1, Latency: 3 * time.Second, Counted: llm.Usage{Input: 7, CachedInput: 3, Output: 5}, Cost: cost, Trimmed: 4},
			{Purpose: "mirror", Outcome: session.Rejected, Latency: time.Second, Counted: llm.Usage{Input: 99}, Reported: &llm.Usage{Input: 1}},
			{Purpose: "mirror", Outcome: session.Lost},
		},
	}

	It("count stored data, each call once it has ended", func(ctx context.Context) {
		m := web.NewMetrics()
		store := m.Store(writer{})
		Expect(store.Create(ctx, session.Session{Language: session.English}, session.Change{})).To(Succeed())
		Expect(store.Commit(ctx, session.Session{}, change)).To(BeEquivalentTo(2))
		text := shown(m)
		for _, line := range []string{
			`interview_calls_total{outcome="accepted",purpose="mirror"} 1`,
			`interview_calls_total{outcome="rejected",purpose="mirror"} 1`,
			`interview_calls_total{outcome="lost",purpose="mirror"} 1`,
			`interview_repeated_calls_total{purpose="mirror"} 1`,
			`interview_tokens_total{direction="input",purpose="mirror"} 11`,
			`interview_tokens_total{direction="output",purpose="mirror"} 5`,
			`interview_cost_total{currency="EUR",purpose="mirror"} 0.25`,
			`interview_unpriced_calls_total{purpose="mirror"} 1`,
			`interview_trimmed_total{what="calls"} 1`,
			`interview_trimmed_total{what="messages"} 4`,
			`interview_call_duration_seconds_sum{purpose="mirror"} 4`,
			`interview_call_duration_seconds_count{purpose="mirror"} 2`,
			`interview_sessions_total{language="en"} 1`,
			`interview_commits_total 2`,
			`interview_answers_total 2`,
		} {
			Expect(text).To(ContainSubstring("\n" + line + "\n"))
		}
		Expect(text).NotTo(ContainSubstring("begun"))
	})

	It("count nothing that was not stored", func(ctx context.Context) {
		m := web.NewMetrics()
		store := m.Store(writer{err: errors.New("full")})
		Expect(store.Create(ctx, session.Session{}, change)).NotTo(Succeed())
		_, err := store.Commit(ctx, session.Session{}, change)
		Expect(err).To(HaveOccurred())
		Expect(shown(m)).To(And(ContainSubstring("\ninterview_commits_total 0\n"), Not(ContainSubstring("interview_calls_total{"))))
	})
})

var _ = Describe("The metrics of events", func() {
	It("name the rule that a text broke, of invalid texts alone", func() {
		m := web.NewMetrics()
		for _, valid := range []bool{true, false} {
			m.Emit(event.New(1, "", interview.Validated{Purpose: "mirror", Valid: valid, Rule: "words"}))
		}
		Expect(shown(m)).To(And(
			ContainSubstring(`interview_verdicts_total{purpose="mirror",rule="",valid="true"} 1`),
			ContainSubstring(`interview_verdicts_total{purpose="mirror",rule="words",valid="false"} 1`)))
	})

	It("ignore events with attributes of other types, or of another agent", func() {
		m := web.NewMetrics()
		for _, kind := range []event.Kind{event.Iteration, event.Guard, event.Verdict, event.Checkpoint, event.State, event.HandOver, event.End} {
			m.Emit(event.Event{Kind: kind})
			for _, name := range []string{"submission", "interview", "validator"} {
				m.Emit(event.Event{Kind: kind, Name: name, Attrs: map[string]any{"code": 7, "step": true, "purpose": 1}})
			}
		}
		m.Emit(event.New(1, "", interview.Submitted{}))
		text := shown(m)
		Expect(text).To(ContainSubstring(`interview_submissions_total{code="ok"} 1`))
		Expect(text).NotTo(Or(ContainSubstring("interview_verdicts_total{"), ContainSubstring("interview_transitions_total{")))
	})
})
