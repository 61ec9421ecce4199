package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

var _ = It("answers every code of the service with its status, and an unknown one as a bug", func() {
	want := map[interview.Code]int{
		"invalid": 400, "empty_answer": 400, "unknown_event": 400, "unknown_job": 400,
		"unknown_session": 404, "out_of_order": 409, "finished": 409, "busy": 409, "answer_too_long": 413,
		"session_limit": 403, "budget_spent": 429, "invitation_needed": 403, "invitation_invalid": 403, "invitation_job": 403, "backend_failed": 502, "reply_invalid": 502, "store_failed": 503,
	}
	got := map[interview.Code]int{}
	for _, code := range interview.Codes() {
		p := serviceProblem(fmt.Errorf("wrapped: %w", &interview.Error{Code: code, Message: "m"}))
		Expect(p.Code).To(BeEquivalentTo(code))
		got[code] = p.Status
	}
	Expect(got).To(Equal(want))
	for _, err := range []error{errors.New("other"), &interview.Error{Code: "new", Message: "other"}} {
		Expect(serviceProblem(err)).To(HaveField("Status", http.StatusInternalServerError))
		Expect(serviceProblem(err).Message).NotTo(ContainSubstring("other"))
	}
})

var _ = DescribeTable("Retry-After is in whole seconds, rounded up",
	func(d time.Duration, header string, body string) {
		w := httptest.NewRecorder()
		serviceProblem(&interview.Error{Code: interview.CodeBackend, Message: "later", RetryAfter: d}).write(w)
		Expect(w.Header().Get("Retry-After")).To(Equal(header))
		Expect(w.Body.String()).To(MatchJSON(body))
	},
	Entry("not known", time.Duration(0), "", `{"error": {"code": "backend_failed", "message": "later"}}`),
	Entry("a little", time.Millisecond, "1", `{"error": {"code": "backend_failed", "message": "later", "retryAfterMs": 1}}`),
	Entry("more", 2500*time.Millisecond, "3", `{"error": {"code": "backend_failed", "message": "later", "retryAfterMs": 2500}}`),
)

var _ = It("distinguishes an unknown session from an unavailable store", func() {
	Expect(storeProblem(fmt.Errorf("load: %w", session.ErrNotFound)).Status).To(Equal(http.StatusNotFound))
	Expect(storeProblem(errors.New("down")).Status).To(Equal(http.StatusServiceUnavailable))
})

var _ = It("counts requests in progress", func() {
	m := NewMetrics()
	active := func() string {
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}
	end := m.beginRequest()
	Expect(active()).To(ContainSubstring("\nhttp_server_active_requests 1\n"))
	end(http.MethodGet, "/", http.StatusOK, time.Second)
	Expect(active()).To(ContainSubstring("\nhttp_server_active_requests 0\n"))
})
