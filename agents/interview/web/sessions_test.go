package web_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// browse asks for a page as a browser whose user typed the token as the password.
func (h *house) browse(path string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	r.SetBasicAuth("anyone", token)
	return h.do(r)
}

var _ = Describe("The list for operators", func() {
	// stored is a session that was stuck for an hour.
	stored := func(h *house, id, candidate string) {
		GinkgoHelper()
		Expect(h.store.Create(context.Background(), session.Session{
			ID: id, Candidate: candidate, Language: session.French, Step: session.Block1, Phase: session.Owing,
			Owed:    &session.Owed{Purpose: session.PurposeMirror, Failed: "reply_invalid", Since: h.clock.Now().Add(-time.Hour)},
			Created: h.clock.Now().Add(-2 * time.Hour), Updated: h.clock.Now(), Calls: 2, Unpriced: 1,
			Spent: quantity.Money{Amount: 0.5, Currency: quantity.EUR},
		}, session.Change{Calls: []session.Call{
			{N: 1, Purpose: session.PurposeMirror, Step: session.Block1, At: h.clock.Now(), Outcome: session.Accepted, Cost: &quantity.Money{Amount: 2, Currency: quantity.USD}},
			{N: 2, Purpose: session.PurposeMirror, Step: session.Block1, At: h.clock.Now(), Outcome: session.Lost},
		}})).To(Succeed())
	}

	It("is a page without scripts, which shows totals, filters and a link to each audit", func() {
		h := newHouse("lea", func(o *web.Options, _ *web.Deps) { o.EURPerUSD = 0.5 })
		begun := h.begin().SessionID
		stored(h, "stuck-one-is-this", "<script>alert(1)</script>")
		w := h.browse("/sessions")
		Expect(w.Code).To(Equal(http.StatusOK))
		Expect(w.Header().Get("Content-Security-Policy")).To(HavePrefix("default-src 'none'; script-src 'self'"))
		page := w.Body.String()
		Expect(page).NotTo(Or(ContainSubstring("<script"), ContainSubstring(" style="), ContainSubstring(`name="format" value="csv"`)))
		Expect(page).To(ContainSubstring("&lt;script&gt;alert(1)&lt;/script&gt;"))
		Expect(page).To(ContainSubstring(`href="/sessions/` + begun + `/audit?format=html"`))
		Expect(page).To(ContainSubstring("about 0.500 <i>(1 of unknown cost)</i>"))
		Expect(page).To(MatchRegexp(`status=stuck">stuck</a></dt><dd class="fail">1<span>longest: 1h 0m</span>`))
		Expect(page).To(ContainSubstring("at least 1.00 EUR<span>2 calls, 1 of unknown cost</span>"))
		for _, address := range regexp.MustCompile(`(?:href|src)="(/assets/[^"]+)"`).FindAllStringSubmatch(page, -1) {
			Expect(h.get(address[1]).Code).To(Equal(http.StatusOK), address[1])
		}
	})

	It("keeps the filters from page to page and in the export", func() {
		h := newHouse("lea")
		for range 3 {
			h.begin()
		}
		stored(h, "stuck-one-is-this", "tom")
		page := h.browse("/sessions?limit=2&status=open&candidate=" + h.persona.Candidate).Body.String()
		Expect(strings.Count(page, "<tr><th scope=\"row\">")).To(Equal(2))
		next := strings.ReplaceAll(regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(page)[1], "&amp;", "&")
		Expect(next).To(And(ContainSubstring("status=open"), ContainSubstring("candidate="+h.persona.Candidate)))
		last := h.browse(next).Body.String()
		Expect(strings.Count(last, "<tr><th scope=\"row\">")).To(Equal(1))
		Expect(last).To(And(Not(ContainSubstring(`rel="next"`)), ContainSubstring("First page")))
		export := strings.ReplaceAll(regexp.MustCompile(`href="([^"]+)">Export`).FindStringSubmatch(last)[1], "&amp;", "&")
		w := h.browse(export)
		Expect(w.Header().Get("Content-Type")).To(HavePrefix("text/csv"))
		Expect(strings.Split(strings.TrimSpace(w.Body.String()), "\n")).To(HaveLen(1 + 3))
		Expect(w.Body.String()).NotTo(ContainSubstring("stuck"))
	})

	It("shows what is wrong with a filter, and a store that fails", func() {
		h := newHouse("lea", func(_ *web.Options, d *web.Deps) { d.Store = failing{d.Store} })
		w := h.browse("/sessions?from=yesterday")
		Expect(w.Code).To(Equal(http.StatusServiceUnavailable))
		Expect(w.Body.String()).To(ContainSubstring("the store of the interviews is not available"))
		Expect(h.get("/sessions?format=csv", token).Code).To(Equal(http.StatusServiceUnavailable))
		Expect(h.get("/sessions?format=pdf", token).Code).To(Equal(http.StatusBadRequest))
		Expect(h.get("/metrics", token).Body.String()).To(And(ContainSubstring("\ninterview_store_up 0"), Not(ContainSubstring("\ninterview_sessions{"))))
		w = newHouse("lea").browse("/sessions?from=yesterday")
		Expect(w.Code).To(Equal(http.StatusBadRequest))
		Expect(w.Body.String()).To(ContainSubstring(`role="alert">from must be a day such as 2026-01-31`))
	})

	It("measures sessions by status, and how long messages have been owed", func() {
		h := newHouse("lea")
		h.begin()
		Expect(h.get("/metrics", token).Body.String()).To(ContainSubstring("\ninterview_oldest_owed_seconds 0\n"))
		stored(h, "stuck-one-is-this", "tom")
		text := h.get("/metrics", token).Body.String()
		for _, line := range []string{
			`interview_sessions{status="open"} 1`, `interview_sessions{status="stuck"} 1`, `interview_sessions{status="finished"} 0`,
			`interview_overdue_sessions{status="stuck"} 1`, `interview_overdue_sessions{status="owing"} 0`,
			`interview_oldest_owed_seconds 3600`, `interview_store_up 1`,
		} {
			Expect(text).To(ContainSubstring("\n" + line + "\n"))
		}
	})
})

// failing is a store that cannot be read.
type failing struct{ session.Store }

var errBroken = errors.New("broken")

// List fails.
func (failing) List(context.Context, session.Listing) ([]session.Session, error) {
	return nil, errBroken
}

// Counts fails.
func (failing) Counts(context.Context, time.Time) ([]session.StatusCount, error) {
	return nil, errBroken
}

var _ = Describe("The span of a call", func() {
	It("has its cost in EUR, and none if it is unknown", func() {
		h := newHouse("lea")
		for _, known := range []bool{true, false} {
			h.spans.Reset()
			tracer := web.Tracer{Provider: h.provider, Clock: h.clock, CostEUR: func(model string, u llm.Usage) (float64, bool) {
				Expect(model).To(Equal("m-2"))
				return float64(u.Output) / 1000, known
			}}
			_, err := tracer.Backend(llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
				return llm.Reply{Model: "m-2", Usage: &llm.Usage{Output: 5}}, nil
			})).Complete(context.Background(), llm.Request{Model: "m-1"})
			Expect(err).NotTo(HaveOccurred())
			var costs []float64
			for _, a := range h.spans.Ended()[0].Attributes() {
				if a.Key == "interview.call.cost_eur" {
					costs = append(costs, a.Value.AsFloat64())
				}
			}
			if known {
				Expect(costs).To(Equal([]float64{0.005}))
			} else {
				Expect(costs).To(BeEmpty())
			}
		}
	})
})
