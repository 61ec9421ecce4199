package wire_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/web/wire"
)

func TestWire(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "interview wire")
}

var _ = It("answers every code of the service with a status of its own making, and others as a bug", func() {
	for _, code := range interview.Codes() {
		p := wire.FromService(fmt.Errorf("wrapped: %w", &interview.Error{Code: code, Message: "m"}))
		Expect(p.Code).To(BeEquivalentTo(code))
		Expect(p.Status).To(And(BeNumerically(">=", 400), BeNumerically("<", 600), Not(Equal(http.StatusInternalServerError))), string(code))
	}
	for _, err := range []error{errors.New("other"), &interview.Error{Code: "new"}} {
		Expect(wire.FromService(err)).To(HaveField("Status", http.StatusInternalServerError))
		Expect(wire.FromService(err).Message).NotTo(ContainSubstring("other"))
	}
})

var _ = DescribeTable("says when to come back, in whole seconds that are not too few",
	func(d time.Duration, header string, body string) {
		w := httptest.NewRecorder()
		wire.FromService(&interview.Error{Code: interview.CodeBackend, Message: "later", RetryAfter: d}).Write(w)
		Expect(w.Header().Get("Retry-After")).To(Equal(header))
		Expect(w.Body.String()).To(MatchJSON(body))
	},
	Entry("not known", time.Duration(0), "", `{"error": {"code": "backend_failed", "message": "later"}}`),
	Entry("a little", time.Millisecond, "1", `{"error": {"code": "backend_failed", "message": "later", "retryAfterMs": 1}}`),
	Entry("more", 2500*time.Millisecond, "3", `{"error": {"code": "backend_failed", "message": "later", "retryAfterMs": 2500}}`),
)

var _ = It("tells a session that is not there from a store that does not answer", func() {
	Expect(wire.FromStore(fmt.Errorf("load: %w", session.ErrNotFound)).Status).To(Equal(http.StatusNotFound))
	Expect(wire.FromStore(errors.New("down")).Status).To(Equal(http.StatusServiceUnavailable))
})
