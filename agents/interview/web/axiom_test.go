package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("POST /axiom", func() {
	It("takes a candidate through a whole interview, with all that a client needs in each answer", Label("I-01"), func() {
		h := newHouse("lea")
		v := h.begin().View
		Expect(v.SessionID).To(MatchRegexp(`^[A-Za-z0-9._-]{20,}$`))
		Expect(v.CurrentBlock).To(BeZero())
		Expect(v.State).To(BeEquivalentTo("collecting"))
		Expect(v.ExpectsAnswer).To(BeTrue())
		Expect(v.AutoContinue).To(BeFalse())

		v = h.until(v, at(session.Preamble, -1))
		Expect(v.State).To(BeEquivalentTo("waiting_go"))
		Expect(v.ExpectsAnswer).To(BeFalse())

		v = h.until(v, at(session.Block3, 1))
		Expect(v.CurrentBlock).To(Equal(3))
		Expect(v.Kind).To(Equal(session.KindQuestion))

		v = h.until(v, over)
		Expect(v.State).To(BeEquivalentTo("matching"))
		Expect(v.Response).To(ContainSubstring("🟢 ALIGNÉ"))
		Expect(h.model.made()).To(Equal(24))
	})

	It("names the fields of I-01 as I-01 does", func() {
		h := newHouse("lea")
		r := httptest.NewRequest(http.MethodPost, "/axiom", strings.NewReader(`{"event":"START"}`))
		r.Header.Set("Content-Type", "application/json; charset=utf-8")
		w := h.do(r)
		for _, field := range []string{"sessionId", "currentBlock", "state", "response", "step", "expectsAnswer", "autoContinue"} {
			Expect(w.Body.String()).To(ContainSubstring(fmt.Sprintf("%q:", field)))
		}
	})

	It("counts a submission once that comes twice", func() {
		h := newHouse("lea")
		v := h.begin().View
		fields := map[string]any{"sessionId": v.SessionID, "submissionId": "s1", "message": "Léa"}
		first := h.say(fields)
		before := h.everything()
		second := h.say(fields)
		Expect(second.Repeated).To(BeTrue())
		Expect(second.MessageID).To(Equal(first.MessageID))
		Expect(h.everything()).To(Equal(before))
	})

	DescribeTable("reports the failure, stores the answer and continues after RETRY",
		func(failure error, status int, code string, wait string) {
			h := newHouse("lea")
			v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
			h.model.failing(failure)
			a := h.next(v)
			Expect(a.Status).To(Equal(status), a.Error.Message)
			Expect(a.Error.Code).To(Equal(code))
			Expect(a.Header.Get("Retry-After")).To(Equal(wait))
			Expect(a.Stands).NotTo(BeNil())
			Expect(a.Stands.AutoContinue).To(BeTrue())

			h.model.failing(nil)
			a = h.say(map[string]any{"sessionId": v.SessionID, "event": "RETRY"})
			Expect(a.Status).To(Equal(http.StatusOK))
			Expect(a.Kind).To(Equal(session.KindPreamble))
		},
		Entry("a backend that is down", &llm.Error{Kind: llm.Unauthorized, Message: "no key"}, http.StatusBadGateway, "backend_failed", ""),
		Entry("a backend with Retry-After", &llm.Error{Kind: llm.RateLimited, RetryAfter: 90 * time.Second},
			http.StatusServiceUnavailable, "backend_failed", "90"),
	)

	It("reports an invalid text of the model without quoting it", func() {
		h := newHouse("lea")
		h.model.texts["profile "+string(session.Block10)] = "secret"
		v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Block9 && v.Kind == session.KindMirror })
		a := h.next(v)
		Expect(a.Error.Message).NotTo(ContainSubstring("secret"))
		Expect(a.Status).To(Equal(http.StatusBadGateway))
		Expect(a.Error.Code).To(BeElementOf("reply_invalid", "backend_failed"))
	})

	It("reports a failed store without its error text", func() {
		h := newHouse("lea")
		v := h.begin().View
		Expect(h.store.Close()).To(Succeed())
		a := h.next(v)
		Expect(a.Status).To(Equal(http.StatusServiceUnavailable))
		Expect(a.Error.Code).To(Equal("store_failed"))
		Expect(a.Error.Message).NotTo(ContainSubstring("sql"))
		Expect(h.do(httptest.NewRequest(http.MethodGet, "/healthz", nil)).Code).To(Equal(http.StatusServiceUnavailable))
	})

	It("answers a bug with an error and goes on serving", func() {
		h := newHouse("lea")
		v := h.until(h.begin().View, func(v view) bool { return v.Step == session.Tone })
		h.model.failing(errors.New("of no kind"))
		Expect(h.next(v).Status).To(BeNumerically(">=", 500))
		Expect(h.say(map[string]any{"sessionId": v.SessionID, "event": "RESUME"}).Status).To(Equal(http.StatusOK))
	})
})
